import numpy as np
import pytest
from stressreel import corrupt, list_corruptions
from stressreel.core.errors import InputError

NAMES = [corruption.name for corruption in list_corruptions()]
ALONE = [corruption.name for corruption in list_corruptions() if corruption.scope in ("frame", "clip")]
RANDOM = [corruption.name for corruption in list_corruptions() if corruption.random]


def clip(count=12, height=48, width=64):
    """Moving stripes and a ramp: structure for blurs, every frame another."""
    t, y, x = np.mgrid[:count, :height, :width]
    green = np.where((x // 8 + y // 8 + t) % 2, 230, 20)
    return np.stack([(x * 4 + t * 9) % 256, green, (y * 5 + t * 3) % 256], -1).astype(np.uint8)


@pytest.mark.parametrize("name", NAMES)
def test_what_every_perturbation_keeps(name):
    frames = clip(80, 24, 32)
    before = frames.copy()
    changed = corrupt(frames, name, severity=3, seed=1, key="a")
    assert (changed.dtype, changed.shape) == (np.uint8, frames.shape)
    assert np.array_equal(frames, before)
    assert not np.shares_memory(changed, frames)
    assert not np.array_equal(changed, frames)
    assert np.array_equal(changed, corrupt(frames, name, severity=3, seed=1, key="a"))
    for other in ({"seed": 2, "key": "a"}, {"seed": 1, "key": "b"}):
        assert np.array_equal(changed, corrupt(frames, name, severity=3, **other)) == (name not in RANDOM)
    for number in (0, 79) if name in ALONE else ():
        alone = corrupt(frames[number], name, severity=3, seed=1, key="a", first_index=number)
        assert np.array_equal(alone, changed[number])
    if name in RANDOM and name in ALONE:  # every frame has its own draw
        still = corrupt(np.repeat(frames[:1], 12, axis=0), name, severity=5, key="a")
        assert len({frame.tobytes() for frame in still}) > 9
    for shape in ((1, 1, 1, 3), (2, 2, 2, 3), (3, 33, 21, 3), (2, 17, 16, 1)):
        odd = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
        assert all(corrupt(odd, name, severity=severity).shape == shape for severity in (1, 5))


@pytest.mark.parametrize("name", NAMES)
def test_every_layout_gives_the_same_pictures(name):
    def done(frames, **given):
        return corrupt(frames, name, severity=3, key="a", **given)

    frames = clip(5)
    changed, one = done(frames), done(frames[0])
    channels_first = done(frames.transpose(0, 3, 1, 2))
    assert channels_first.flags.c_contiguous
    assert np.array_equal(channels_first, changed.transpose(0, 3, 1, 2))
    assert np.array_equal(done(frames[:, ::-1, ::2]), done(frames[:, ::-1, ::2].copy()))
    assert np.array_equal(done(frames[0].transpose(2, 0, 1), layout="CHW"), one.transpose(2, 0, 1))
    grey = frames[..., :1]
    changed = done(grey)
    assert np.array_equal(done(grey[..., 0]), changed[..., 0])
    assert np.array_equal(done(grey.transpose(0, 3, 1, 2))[:, 0], changed[..., 0])
    assert np.array_equal(done(grey[0, ..., 0]), done(grey[0])[..., 0])


@pytest.mark.parametrize(
    ("frames", "given", "says"),
    [
        *((clip(1), {"severity": value}, "severity must be 1, 2, 3, 4 or 5; got") for value in (0, 2.5, True)),
        *((clip(1), {"name": name}, "unknown perturbation") for name in (3, ["jpeg"])),
        (clip(1).astype(float), {}, "array of float64"),
        ([[1]], {}, "got list"),
        (np.zeros((1, 2, 3, 4, 5), np.uint8), {}, "shape"),
        (clip(2), {"name": "jumble", "first_index": 1}, "needs the whole clip"),
        *((clip(1), {"seed": seed}, "seed must be a non-negative integer") for seed in (-1, 1.0, np.ones(2))),
        (clip(1), {"first_index": 1.0}, "first_index must be a non-negative integer"),
        (clip(1), {"key": 3}, "key must be a string; got 3"),
        (np.zeros((2, 3, 8, 8), np.uint8), {"layout": "NCHW"}, "layout must be"),
        (np.zeros((2, 3, 8, 8), np.uint8), {"layout": "THWC"}, "shape THWC"),
        (np.zeros((3, 8, 8), np.uint8), {"layout": "TCHW"}, "shape TCHW"),
        (np.zeros((2, 4, 8, 8), np.uint8), {}, r"1 or 3 channels or another layout, .*; got \(2, 4, 8, 8\)"),
        (np.zeros((0, 8, 8, 3), np.uint8), {}, "with no empty axis"),
    ],
)
def test_what_is_refused(frames, given, says):
    with pytest.raises(InputError, match=says):
        corrupt(frames, given.pop("name", "jpeg"), **{"severity": 1, **given})


def test_numpy_s_integers_draw_as_python_s():
    frames = clip(3)
    whole = corrupt(frames, "gaussian_noise", severity=1, seed=2, key="a")
    given = {"seed": np.uint8(2), "key": "a", "first_index": np.int64(1)}
    assert np.array_equal(corrupt(frames[1], "gaussian_noise", severity=1, **given), whole[1])


@pytest.mark.parametrize(
    ("shape", "read", "other"),
    [((4, 3, 50, 3), "THWC", "TCHW"), ((3, 50, 40), "THW", "CHW"), ((5, 60, 3), "HWC", "THW")],
)
def test_what_could_be_two_layouts_is_read_as_documented(shape, read, other):
    frames = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    layouts = ("auto", read, other)
    auto, as_read, as_other = (corrupt(frames, "translation", severity=5, key="a", layout=each) for each in layouts)
    assert np.array_equal(auto, as_read)
    assert not np.array_equal(auto, as_other)


class TestTensors:
    @pytest.mark.parametrize("name", NAMES)
    def test_a_tensor_gives_the_array_s_pictures_as_a_tensor(self, name):
        torch = pytest.importorskip("torch")
        frames = clip(5)
        changed = corrupt(frames, name, severity=4, key="a")
        tensor = torch.from_numpy(frames.copy()).permute(0, 3, 1, 2)
        before = tensor.clone()
        found = corrupt(tensor, name, severity=4, key="a")
        assert (type(found), found.dtype, found.device) == (torch.Tensor, torch.uint8, tensor.device)
        assert found.is_contiguous()
        assert torch.equal(tensor, before)
        assert np.array_equal(found.permute(0, 2, 3, 1).numpy(), changed)

    def test_other_kinds_stay_or_are_refused(self):
        torch = pytest.importorskip("torch")

        class Video(torch.Tensor):
            pass

        assert type(corrupt(torch.from_numpy(clip(2)).as_subclass(Video), "jpeg", severity=1)) is Video
        for tensor, says in (
            (torch.zeros(2, 3, 8, 8), r"a tensor of torch\.float32"),
            (torch.zeros((2, 3, 8, 8), dtype=torch.uint8, device="meta"), "dense tensor"),
            (torch.zeros((2, 3), dtype=torch.uint8).to_sparse(), "dense tensor"),
        ):
            with pytest.raises(InputError, match=says):
                corrupt(tensor, "jpeg", severity=1)

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
def test_perturbation_depends_on_seed_and_key(name):
    frames = clip(80, 24, 32)
    frames.flags.writeable = False
    changed = corrupt(frames, name, severity=3, seed=1, key="a")
    assert (changed.dtype, changed.shape) == (np.uint8, frames.shape)
    assert not np.shares_memory(changed, frames)
    assert not np.array_equal(changed, frames)
    assert np.array_equal(changed, corrupt(frames, name, severity=3, seed=1, key="a"))
    for other in ({"seed": 2, "key": "a"}, {"seed": 1, "key": "b"}):
        assert np.array_equal(changed, corrupt(frames, name, severity=3, **other)) == (name not in RANDOM)
    for index in (0, 79) if name in ALONE else ():
        alone = corrupt(frames[index], name, severity=3, seed=np.uint8(1), key="a", first_index=np.int64(index))
        assert np.array_equal(alone, changed[index])
    if name in RANDOM and name in ALONE:  # every frame has its own draw
        still = corrupt(np.repeat(frames[:1], 12, axis=0), name, severity=5, key="a")
        assert len({frame.tobytes() for frame in still}) > 9
    for shape in ((1, 1, 1, 3), (2, 2, 2, 3), (3, 33, 21, 3), (2, 17, 16, 1)):
        odd = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
        assert all(corrupt(odd, name, severity=severity).shape == shape for severity in (1, 5))


@pytest.mark.parametrize("name", NAMES)
def test_every_layout_gives_the_same_pictures(name):
    def apply(frames, **options):
        return corrupt(frames, name, severity=3, key="a", **options)

    frames = clip(5)
    changed, first = apply(frames), apply(frames[0])
    channels_first = apply(frames.transpose(0, 3, 1, 2))
    assert channels_first.flags.c_contiguous
    assert np.array_equal(channels_first, changed.transpose(0, 3, 1, 2))
    assert np.array_equal(apply(frames[:, ::-1, ::2]), apply(frames[:, ::-1, ::2].copy()))
    assert np.array_equal(apply(frames[0].transpose(2, 0, 1), layout="CHW"), first.transpose(2, 0, 1))
    grey = frames[..., :1]
    changed = apply(grey)[..., 0]
    assert np.array_equal(apply(grey[..., 0]), changed)
    assert np.array_equal(apply(grey.transpose(0, 3, 1, 2))[:, 0], changed)
    assert np.array_equal(apply(grey[0, ..., 0]), apply(grey[0])[..., 0])


@pytest.mark.parametrize(
    ("frames", "options", "message"),
    [
        *((clip(1), {"severity": value}, f"severity.*{value}") for value in (0, 2.5, True)),
        *((clip(1), {"name": name}, "unknown perturbation") for name in (3, ["jpeg"])),
        (clip(1).astype(float), {}, "array of float64"),
        ([[1]], {}, "list"),
        (np.zeros((1, 2, 3, 4, 5), np.uint8), {}, r"\(1, 2, 3, 4, 5\)"),
        (clip(2), {"name": "jumble", "first_index": 1}, "first_index.*1"),
        *((clip(1), {"seed": seed}, "seed") for seed in (-1, 1.0, np.ones(2))),
        (clip(1), {"first_index": 1.0}, "first_index.*1.0"),
        (clip(1), {"key": 3}, "key.*3"),
        (np.zeros((2, 3, 8, 8), np.uint8), {"layout": "NCHW"}, "NCHW"),
        (np.zeros((2, 3, 8, 8), np.uint8), {"layout": "THWC"}, "THWC"),
        (np.zeros((3, 8, 8), np.uint8), {"layout": "TCHW"}, "TCHW"),
        (np.zeros((2, 4, 8, 8), np.uint8), {}, r"\(2, 4, 8, 8\)"),
        (np.zeros((0, 8, 8, 3), np.uint8), {}, r"\(0, 8, 8, 3\)"),
    ],
)
def test_invalid_arguments_are_refused(frames, options, message):
    with pytest.raises(InputError, match=message):
        corrupt(frames, **{"name": "jpeg", "severity": 1, **options})


@pytest.mark.parametrize(
    ("shape", "layout", "other"),
    [((4, 3, 50, 3), "THWC", "TCHW"), ((3, 50, 40), "THW", "CHW"), ((5, 60, 3), "HWC", "THW")],
)
def test_ambiguous_layouts_are_read_as_documented(shape, layout, other):
    frames = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    auto, same, different = (
        corrupt(frames, "translation", severity=5, key="a", layout=name) for name in ("auto", layout, other)
    )
    assert np.array_equal(auto, same)
    assert not np.array_equal(auto, different)


@pytest.mark.parametrize("name", NAMES)
def test_tensor_gives_the_same_as_an_array(name):
    torch = pytest.importorskip("torch")
    frames = clip(5)
    tensor = torch.from_numpy(frames.copy()).permute(0, 3, 1, 2)
    changed = corrupt(tensor, name, severity=4, key="a")
    assert (type(changed), changed.dtype, changed.device) == (torch.Tensor, torch.uint8, tensor.device)
    assert changed.is_contiguous()
    assert np.array_equal(tensor.permute(0, 2, 3, 1).numpy(), frames)
    assert np.array_equal(changed.permute(0, 2, 3, 1).numpy(), corrupt(frames, name, severity=4, key="a"))


def test_subclasses_of_tensors_stay_and_others_are_refused():
    torch = pytest.importorskip("torch")
    tv_video = type("Video", (torch.Tensor,), {})
    assert type(corrupt(torch.from_numpy(clip(2)).as_subclass(tv_video), "jpeg", severity=1)) is tv_video
    for tensor, message in (
        (torch.zeros(2, 3, 8, 8), r"torch\.float32"),
        (torch.zeros((2, 3, 8, 8), dtype=torch.uint8, device="meta"), "dense tensor"),
        (torch.zeros((2, 3), dtype=torch.uint8).to_sparse(), "dense tensor"),
    ):
        with pytest.raises(InputError, match=message):
            corrupt(tensor, "jpeg", severity=1)

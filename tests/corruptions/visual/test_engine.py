import numpy as np
import pytest
from stressreel import corrupt, list_corruptions
from stressreel.core.errors import InputError

BY_NAME = {corruption.name: corruption for corruption in list_corruptions()}


def clip(count=12, height=48, width=64):
    """Moving stripes and a ramp: structure for blurs, every frame another."""
    t, y, x = np.mgrid[:count, :height, :width]
    green = np.where((x // 8 + y // 8 + t) % 2, 230, 20)
    return np.stack([(x * 4 + t * 9) % 256, green, (y * 5 + t * 3) % 256], -1).astype(np.uint8)


@pytest.mark.parametrize("name", BY_NAME)
def test_perturbation_depends_on_seed_and_key(name):
    random, alone = BY_NAME[name].random, BY_NAME[name].scope in ("frame", "clip")
    frames = clip(80, 24, 32)
    frames.flags.writeable = False
    changed = corrupt(frames, name, severity=3, seed=1, key="a")
    assert (changed.dtype, changed.shape) == (np.uint8, frames.shape)
    assert not np.shares_memory(changed, frames)
    assert not np.array_equal(changed, frames)
    for other in ({"seed": 1, "key": "a"}, {"seed": 2, "key": "a"}, {"seed": 1, "key": "b"}):
        same = other == {"seed": 1, "key": "a"} or not random
        assert np.array_equal(changed, corrupt(frames, name, severity=3, **other)) == same
    for index in (0, 79) if alone else ():
        frame = corrupt(frames[index], name, severity=3, seed=np.uint8(1), key="a", first_index=np.int64(index))
        assert np.array_equal(frame, changed[index])
    if random and alone:  # every frame has its own draw
        still = corrupt(np.repeat(frames[:1], 12, axis=0), name, severity=5, key="a")
        assert len({frame.tobytes() for frame in still}) > 9
    for shape in ((1, 1, 1, 3), (2, 2, 2, 3), (3, 33, 21, 3), (2, 17, 16, 1)):
        odd = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
        assert all(corrupt(odd, name, severity=severity).shape == shape for severity in (1, 5))


@pytest.mark.parametrize("name", BY_NAME)
def test_layouts_and_tensors_give_the_same_pictures(name):
    torch = pytest.importorskip("torch")

    def apply(frames, **options):
        return corrupt(frames, name, severity=3, key="a", **options)

    frames, grey = clip(5), clip(5)[..., :1]
    changed, first, channels_first = apply(frames), apply(frames[0]), frames.transpose(0, 3, 1, 2)
    for given, layout, expected in (
        (channels_first, "auto", changed.transpose(0, 3, 1, 2)),
        (frames[:, ::-1, ::2], "auto", apply(frames[:, ::-1, ::2].copy())),
        (frames[0].transpose(2, 0, 1), "CHW", first.transpose(2, 0, 1)),
        (grey[..., 0], "auto", apply(grey)[..., 0]),
        (grey.transpose(0, 3, 1, 2), "auto", apply(grey).transpose(0, 3, 1, 2)),
        (grey[0, ..., 0], "auto", apply(grey[0])[..., 0]),
    ):
        got = apply(given, layout=layout)
        assert np.array_equal(got, expected), layout
        assert got.flags.c_contiguous
    tensor = torch.from_numpy(channels_first.copy())
    got = apply(tensor)
    assert (type(got), got.dtype, got.device) == (torch.Tensor, torch.uint8, tensor.device)
    assert got.is_contiguous()
    assert np.array_equal(tensor.numpy(), channels_first)
    assert np.array_equal(got.permute(0, 2, 3, 1).numpy(), changed)


@pytest.mark.parametrize(
    ("frames", "options", "message"),
    [
        *((clip(1), {"severity": value}, f"severity.*{value}") for value in (0, 2.5, True)),
        *((clip(1), {"name": name}, "unknown perturbation") for name in (3, ["jpeg"])),
        *((clip(1), {"seed": seed}, "seed") for seed in (-1, 1.0, np.ones(2))),
        (clip(1), {"first_index": 1.0}, "first_index.*1.0"),
        (clip(2), {"name": "jumble", "first_index": 1}, "first_index.*1"),
        (clip(1), {"key": 3}, "key.*3"),
        (clip(1).astype(float), {}, "array of float64"),
        ([[1]], {}, "list"),
        *((np.zeros((2, 3, 8, 8), np.uint8), {"layout": layout}, layout) for layout in ("NCHW", "THWC")),
        *((np.zeros(shape, np.uint8), {}, str(shape[-1])) for shape in ((1, 2, 3, 4, 5), (2, 4, 8, 8), (0, 8, 8, 3))),
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

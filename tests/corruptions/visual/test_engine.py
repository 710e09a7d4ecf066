"""What holds for every perturbation, walked over the registry."""

import subprocess
import sys
from itertools import pairwise

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from stressreel import corrupt, list_corruptions
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import check_name
from stressreel.corruptions.visual.engine import Recipe

NAMES = [corruption.name for corruption in list_corruptions()]
ALONE = [corruption.name for corruption in list_corruptions() if corruption.scope in ("frame", "clip")]
RANDOM = [corruption.name for corruption in list_corruptions() if corruption.random]


def clip(count: int = 40, height: int = 48, width: int = 64) -> NDArray[np.uint8]:
    """Moving stripes and a ramp: structure for blurs, every frame another."""
    t, y, x = np.mgrid[:count, :height, :width]
    red = (x * 4 + t * 9) % 256
    green = np.where((x // 8 + y // 8 + t) % 2, 230, 20)
    blue = (y * 5 + t * 3) % 256
    return np.stack([red, green, blue], -1).astype(np.uint8)


@pytest.mark.parametrize("name", NAMES)
def test_shape_type_input_and_repeatability(name: str) -> None:
    frames = clip()
    before = frames.copy()
    changed = corrupt(frames, name, severity=5, seed=1, key="a")
    assert changed.dtype == np.uint8
    assert changed.shape == frames.shape
    assert np.array_equal(frames, before)
    assert not np.shares_memory(changed, frames)
    assert not np.array_equal(changed, frames)
    assert np.array_equal(changed, corrupt(frames, name, severity=5, seed=1, key="a"))


@pytest.mark.parametrize("name", RANDOM)
def test_other_seed_or_key_other_draw(name: str) -> None:
    frames = clip(80)
    one = corrupt(frames, name, severity=3, seed=1, key="a")
    assert not np.array_equal(one, corrupt(frames, name, severity=3, seed=2, key="a"))
    assert not np.array_equal(one, corrupt(frames, name, severity=3, seed=1, key="b"))


@pytest.mark.parametrize("name", ALONE)
def test_a_frame_alone_is_the_frame_in_its_clip(name: str) -> None:
    frames = clip(6)
    whole = corrupt(frames, name, severity=4, seed=3, key="video9771")
    for number in (0, 5):
        alone = corrupt(frames[number], name, severity=4, seed=3, key="video9771", first_index=number)
        assert np.array_equal(alone, whole[number])


@pytest.mark.parametrize("name", [n for n in RANDOM if n in ALONE])
def test_every_frame_has_its_own_draw(name: str) -> None:
    still = np.repeat(clip(1), 12, axis=0)
    changed = corrupt(still, name, severity=5, key="a")
    assert len({frame.tobytes() for frame in changed}) > 9


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(1, 2, 2, 3), (2, 2, 2, 3), (1, 1, 1, 3), (3, 33, 21, 3), (2, 17, 16, 1)])
def test_odd_and_tiny_sizes(name: str, shape: tuple[int, ...]) -> None:
    frames = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    for severity in (1, 5):
        assert corrupt(frames, name, severity=severity).shape == shape


@pytest.mark.parametrize("name", NAMES)
def test_simpler_forms(name: str) -> None:
    frames = clip(3)
    assert corrupt(frames[0], name, severity=2).shape == frames[0].shape
    assert corrupt(frames[..., 0], name, severity=2).shape == frames[..., 0].shape
    assert corrupt(frames[0, ..., 0], name, severity=2).shape == frames[0, ..., 0].shape
    strided = frames[:, ::-1, ::2]
    assert np.array_equal(corrupt(strided, name, severity=2), corrupt(strided.copy(), name, severity=2))


@pytest.mark.parametrize("name", [n for n in ALONE if n != "static_rotate"])
def test_psnr_falls_with_severity(name: str) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (9, 12, 3), np.uint8)
    cloud = cv2.resize(noise, (176, 120), interpolation=cv2.INTER_CUBIC)
    cloud[30:70, 60:100] = (200, 40, 30)
    frames = np.stack([cloud[:, shift : shift + 160] for shift in range(8)])
    errors = [
        float(((corrupt(frames, name, severity=s, key="k").astype(float) - frames) ** 2).mean()) for s in range(1, 6)
    ]
    assert errors == sorted(errors)


@pytest.mark.parametrize("severity", [0, 6, -1, 2.5, "3", True, None])
def test_severity_is_1_to_5(severity: object) -> None:
    with pytest.raises(InputError, match="severity must be 1, 2, 3, 4 or 5; got"):
        corrupt(clip(1), "jpeg", severity=severity)  # type: ignore[arg-type]


def test_wrong_names_and_arrays_are_refused() -> None:
    with pytest.raises(InputError, match="Did you mean 'jpeg'"):
        corrupt(clip(1), "jpg", severity=1)
    with pytest.raises(InputError, match="array of float64"):
        corrupt(clip(1).astype(float), "jpeg", severity=1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="got list"):
        corrupt([[1]], "jpeg", severity=1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="shape"):
        corrupt(np.zeros((1, 2, 3, 4, 5), np.uint8), "jpeg", severity=1)
    with pytest.raises(InputError, match="needs the whole clip"):
        corrupt(clip(2), "jumble", severity=1, first_index=1)


@pytest.mark.parametrize("name", [3, None, ["jpeg"]])
def test_a_name_is_a_text(name: object) -> None:
    with pytest.raises(InputError, match="unknown perturbation"):
        corrupt(clip(1), name, severity=1)  # type: ignore[arg-type]


def test_numpy_s_integers_draw_as_python_s() -> None:
    frames = clip(3)
    whole = corrupt(frames, "gaussian_noise", severity=1, seed=2, key="a")
    number, seed = np.int64(1), np.uint8(2)
    alone = corrupt(frames[1], "gaussian_noise", severity=1, seed=seed, key="a", first_index=number)  # type: ignore[arg-type]
    assert np.array_equal(alone, whole[1])


@pytest.mark.parametrize("given", [{"seed": -1}, {"seed": "a"}, {"seed": 1.0}, {"seed": True}, {"seed": np.arange(2)}])
@pytest.mark.parametrize("name", ["gaussian_noise", "jpeg"])
def test_a_seed_and_an_index_are_whole_numbers(name: str, given: dict) -> None:
    with pytest.raises(InputError, match="seed must be a whole number from 0 on; got"):
        corrupt(clip(1), name, severity=1, **given)
    with pytest.raises(InputError, match="first_index must be a whole number from 0 on; got"):
        corrupt(clip(1), name, severity=1, first_index=given["seed"])


def test_a_key_is_a_text() -> None:
    with pytest.raises(InputError, match="key must be a text; got 3"):
        corrupt(clip(1), "gaussian_noise", severity=1, key=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", NAMES)
def test_every_layout_gives_the_same_pictures(name: str) -> None:
    frames = clip(5)
    changed = corrupt(frames, name, severity=3, key="a")
    channels_first = corrupt(frames.transpose(0, 3, 1, 2), name, severity=3, key="a")
    assert channels_first.flags.c_contiguous
    assert np.array_equal(channels_first, changed.transpose(0, 3, 1, 2))
    grey = frames[..., :1]
    changed = corrupt(grey, name, severity=3, key="a")
    assert np.array_equal(corrupt(grey[..., 0], name, severity=3, key="a"), changed[..., 0])
    assert np.array_equal(corrupt(grey.transpose(0, 3, 1, 2), name, severity=3, key="a")[:, 0], changed[..., 0])
    one = corrupt(frames[0], name, severity=3, key="a")
    named = corrupt(frames[0].transpose(2, 0, 1), name, severity=3, key="a", layout="CHW")
    assert np.array_equal(named, one.transpose(2, 0, 1))


def test_what_could_be_two_layouts_is_read_as_documented() -> None:
    def noisy(frames: NDArray[np.uint8], layout: str = "auto") -> NDArray[np.uint8]:
        return corrupt(frames, "translation", severity=5, key="a", layout=layout)

    rng = np.random.default_rng(0)
    narrow = rng.integers(0, 256, (4, 3, 50, 3), np.uint8)
    assert np.array_equal(noisy(narrow), noisy(narrow, "THWC"))
    assert not np.array_equal(noisy(narrow), noisy(narrow, "TCHW"))
    three = rng.integers(0, 256, (3, 50, 40), np.uint8)
    assert np.array_equal(noisy(three), noisy(three, "THW"))
    assert not np.array_equal(noisy(three), noisy(three, "CHW"))
    narrow = rng.integers(0, 256, (5, 60, 3), np.uint8)
    assert np.array_equal(noisy(narrow), noisy(narrow, "HWC"))
    assert not np.array_equal(noisy(narrow), noisy(narrow, "THW"))


@pytest.mark.parametrize(
    ("shape", "layout", "says"),
    [
        ((2, 3, 8, 8), "NCHW", "layout must be"),
        ((2, 3, 8, 8), None, "layout must be"),
        ((2, 3, 8, 8), "THWC", "shape THWC"),
        ((3, 8, 8), "TCHW", "shape TCHW"),
        ((2, 4, 8, 8), "auto", r"1 or 3 channels or another layout, no axis empty; got \(2, 4, 8, 8\)"),
        ((0, 8, 8, 3), "auto", "no axis empty"),
        ((8,), "auto", "shape"),
    ],
)
def test_other_layouts_are_refused(shape: tuple[int, ...], layout: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        corrupt(np.zeros(shape, np.uint8), "jpeg", severity=1, layout=layout)


class TestTensors:
    @pytest.mark.parametrize("name", NAMES)
    def test_a_tensor_gives_the_array_s_pictures_as_a_tensor(self, name: str) -> None:
        torch = pytest.importorskip("torch")
        frames = clip(5)
        changed = corrupt(frames, name, severity=4, key="a")
        tensor = torch.from_numpy(frames.copy()).permute(0, 3, 1, 2)
        before = tensor.clone()
        found = corrupt(tensor, name, severity=4, key="a")
        assert type(found) is torch.Tensor
        assert found.dtype == torch.uint8
        assert found.shape == tensor.shape
        assert found.device == tensor.device
        assert found.is_contiguous()
        assert torch.equal(tensor, before)
        assert np.array_equal(found.permute(0, 2, 3, 1).numpy(), changed)
        assert torch.equal(corrupt(tensor.permute(0, 2, 3, 1), name, severity=4, key="a"), found.permute(0, 2, 3, 1))

    def test_a_kind_of_tensor_stays(self) -> None:
        torch = pytest.importorskip("torch")

        class Video(torch.Tensor):
            pass

        frames = torch.from_numpy(clip(2)).as_subclass(Video)
        assert type(corrupt(frames, "jpeg", severity=1)) is Video

    def test_other_tensors_are_refused(self) -> None:
        torch = pytest.importorskip("torch")
        with pytest.raises(InputError, match=r"a tensor of torch\.float32"):
            corrupt(torch.zeros(2, 3, 8, 8), "jpeg", severity=1)
        with pytest.raises(InputError, match="plain content"):
            corrupt(torch.zeros((2, 3, 8, 8), dtype=torch.uint8, device="meta"), "jpeg", severity=1)
        with pytest.raises(InputError, match="plain content"):
            corrupt(torch.zeros((2, 3), dtype=torch.uint8).to_sparse(), "jpeg", severity=1)

    def test_torch_is_not_imported_for_arrays(self) -> None:
        code = (
            "import sys, numpy, stressreel; "
            "stressreel.corrupt(numpy.zeros((2, 8, 8, 3), 'uint8'), 'jpeg', severity=1); "
            "sys.exit('torch' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["gaussian_noise", "zoom_blur", "rotation", "jpeg"])
def test_4k(name: str) -> None:
    frame = np.random.default_rng(0).integers(0, 256, (2160, 3840, 3), np.uint8)
    assert corrupt(frame, name, severity=3).shape == frame.shape


@pytest.mark.parametrize("grey", [30, 100, 200])
@pytest.mark.parametrize(("name", "least"), [("gaussian_noise", 0.92), ("shot_noise", 0.87), ("speckle_noise", 0.94)])
def test_severities_of_a_noise_go_together(name: str, least: float, grey: int) -> None:
    frames = np.full((2, 240, 320, 3), grey, np.uint8)
    noises = [corrupt(frames, name, severity=severity, key="k").ravel() for severity in range(1, 6)]
    assert np.corrcoef(noises).min() >= least


def test_severities_of_impulse_noise_are_nested() -> None:
    frames = np.full((2, 120, 160, 3), 100, np.uint8)
    noises = [corrupt(frames, "impulse_noise", severity=severity, key="k") for severity in range(1, 6)]
    for less, more in pairwise(noises):
        assert ((less == 100) | (less == more)).all()


def test_severities_of_freeze_keep_fewer_of_the_same_frames() -> None:
    kept = [set(Recipe(check_name("freeze"), severity, 0, "k").index_map(300).tolist()) for severity in range(1, 6)]
    assert all(one > other for one, other in pairwise(kept))

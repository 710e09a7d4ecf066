from __future__ import annotations

import hashlib
import math
from itertools import combinations, pairwise

import cv2
import numpy as np
import pytest
from stressreel.core.seeds import rng_for
from stressreel.corruptions.visual import noise

NOISES = {
    "gaussian": (noise.gaussian_noise, (0.08, 0.12, 0.18, 0.26, 0.38)),
    "shot": (noise.shot_noise, (250, 100, 50, 30, 15)),
    "impulse": (noise.impulse_noise, (0.03, 0.06, 0.09, 0.17, 0.27)),
    "speckle": (noise.speckle_noise, (0.15, 0.2, 0.25, 0.3, 0.35)),
}
LEVELS = [(name, level) for name, (_, levels) in NOISES.items() for level in levels]
GREYS = (0, 1, 17, 128, 254, 255)
Z = 3.719  # P(N > Z) = 1e-4


def apply(name: str, frame: np.ndarray, level: float, *key: str | int) -> np.ndarray:
    return NOISES[name][0](frame, level, rng_for(0, name, *key))


def grey(value: int, shape: tuple[int, ...] = (240, 320, 3)) -> np.ndarray:
    return np.full(shape, value, np.uint8)


def picture(height: int = 240, width: int = 320) -> np.ndarray:
    y, x = np.mgrid[:height, :width]
    return np.stack([(x * 3 + y) % 256, 128 + 127 * np.sin(x / 9) * np.cos(y / 7), y * 255 / height], 2).astype(
        np.uint8
    )


# The definitions, in float64


def normal_law(x: int, deviation: float) -> np.ndarray:
    """Law of clip(round(x + deviation N)), from the nearer tail of each interval."""
    if deviation == 0:
        return np.eye(256)[x]

    def between(low: float, high: float) -> float:
        if low > 0:
            return (math.erfc(low) - math.erfc(high)) / 2
        return (math.erfc(-high) - math.erfc(-low)) / 2 if high < 0 else (math.erf(high) - math.erf(low)) / 2

    edges = [-math.inf, *((k + 0.5 - x) / (deviation * math.sqrt(2)) for k in range(255)), math.inf]
    return np.array([between(low, high) for low, high in pairwise(edges)])


def poisson_law(x: int, photons: int) -> np.ndarray:
    law = np.zeros(256)
    chance = math.exp(-x / 255 * photons)
    for count in range(1000):
        law[min(255, round(count * 255 / photons))] += chance
        chance *= x / 255 * photons / (count + 1)
    return law


def law_of(name: str, x: int, level: float) -> np.ndarray:
    if name == "gaussian":
        return normal_law(x, 255 * level)
    if name == "speckle":
        return normal_law(x, x * level)
    if name == "shot":
        return poisson_law(x, int(level))
    return (1 - level) * np.eye(256)[x] + level / 2 * (np.eye(256)[0] + np.eye(256)[255])


def alias_law(alias: noise._Alias) -> np.ndarray:
    keep = alias.keep.reshape(-1, alias.width) / 2.0**64 * alias.width - np.arange(alias.width)
    assert keep.min() >= 0
    assert keep.max() <= 1
    law = keep.copy()
    for row, (kept, other) in enumerate(zip(keep, alias.other.reshape(keep.shape), strict=True)):
        law[row] += np.bincount(other, 1 - kept, alias.width)
    return law / alias.width


# Exactness, by going through all words


@pytest.mark.parametrize(("name", "level"), [at for at in LEVELS if at[0] != "impulse"])
def test_words_and_residual_add_up_to_the_definition(name: str, level: float) -> None:
    table = getattr(noise, f"_{name}_table")(float(level))
    residual = alias_law(table.residual)
    every = np.arange(65536, dtype=np.uint16)
    assert table.escapes < 0.015 * every.size
    out = np.empty(every.size, np.uint8)
    for x in range(256):
        table.paint(np.full(every.size, x, np.uint8), every.copy(), out)
        law = np.bincount(out[table.escapes :], minlength=256) / every.size
        if name == "gaussian":
            again = np.bincount(np.clip(x + np.arange(512) - 255, 0, 255), residual[0], 256)
        else:
            again = residual[x]
        law += table.escapes / every.size * again
        assert np.abs(law - law_of(name, x, level)).max() < 1e-12


@pytest.mark.parametrize("amount", [*NOISES["impulse"][1], 0, 1e-9, 0.5, 1 - 1e-9, 1])
def test_bytes_of_impulses_add_up_to_the_definition(amount: float, monkeypatch: pytest.MonkeyPatch) -> None:
    sure, rest = noise._impulse_bytes(amount)
    assert 2 * (sure + int(rest) / 2**64) / 256 == pytest.approx(amount, rel=1e-15)

    def every_byte(stream: object, count: int, out: np.ndarray) -> np.ndarray:
        out[:count].view(np.uint8)[:] = np.arange(2 * count) % 256
        return out[:count]

    monkeypatch.setattr(noise, "_draw", every_byte)
    drawn = np.arange(256)
    out = apply("impulse", grey(7, (256, 256, 1)), amount).reshape(256, 256)
    assert (out[:, drawn < sure] == 0).all()
    assert (out[:, drawn > 255 - sure] == 255).all()
    assert (out[:, (drawn > sure) & (drawn < 255 - sure)] == 7).all()
    if sure < 128:
        edges = np.concatenate([out[:, sure] == 0, out[:, 255 - sure] == 255])
        share = int(rest) / 2**64
        assert abs(edges.mean() - share) <= 5 * math.sqrt(share * (1 - share) / edges.size) + 1e-9


@pytest.mark.parametrize("pair", [*combinations(NOISES["impulse"][1], 2), (0.031, 0.038), (0.27, 1)])
def test_impulses_are_nested(pair: tuple[float, float]) -> None:
    for frame in (grey(7), picture(), grey(9, (900, 1000, 3))):
        low, high = (apply("impulse", frame, amount, "nested").astype(int) for amount in pair)
        assert ((low == frame) | (low == high)).all()
        assert (high != frame).mean() > (low != frame).mean()


def test_alias_tables_give_any_law() -> None:
    rng = np.random.default_rng(0)
    masses = rng.exponential(size=(50, 64)) * (rng.random((50, 64)) < rng.random((50, 1)))
    masses[0] = 1
    masses[1:3] = np.eye(64)[[0, 63]]
    masses = masses[masses.sum(axis=1) > 0]
    law = alias_law(noise._Alias.of(masses))
    assert np.allclose(law, masses / masses.sum(axis=1, keepdims=True), rtol=0, atol=1e-14)


# Samples


def check_sample(out: np.ndarray, law: np.ndarray) -> None:
    """Chi-square (Wilson-Hilferty), Kolmogorov-Smirnov, mean and variance, all at p > 1e-4."""
    counts = cv2.calcHist([out.reshape(-1, 1)], [0], None, [256], [0, 256]).reshape(-1).astype(np.float64)
    assert counts.sum() == out.size
    assert not counts[law == 0].any()
    expected = law * out.size
    distance = np.abs(np.cumsum(counts - expected)).max() / out.size
    assert distance <= math.sqrt(math.log(2 / 1e-4) / 2 / out.size)
    value = np.arange(256)
    mean = law @ value
    variance, fourth = law @ (value - mean) ** 2, law @ (value - mean) ** 4
    assert abs(counts @ value / out.size - mean) <= 4 * math.sqrt(variance / out.size) + 1e-9
    spread = math.sqrt(max(fourth - variance**2, 0) / out.size)
    assert abs(counts @ (value - mean) ** 2 / out.size - variance) <= 4 * spread + 1e-6
    common = expected >= 8
    counts, expected = (np.append(part[common], part[~common].sum()) for part in (counts, expected))
    freedom = int((expected > 0).sum()) - 1
    if freedom > 0:
        statistic = ((counts - expected) ** 2 / np.maximum(expected, 1)).sum()
        assert statistic <= freedom * (1 - 2 / (9 * freedom) + Z * math.sqrt(2 / (9 * freedom))) ** 3


@pytest.mark.parametrize(("name", "level"), LEVELS)
def test_five_million_samples_follow_the_law(name: str, level: float) -> None:
    for x in GREYS:
        out = apply(name, grey(x, (1000, 1668, 3)), level, "sample", x)
        check_sample(out, law_of(name, x, level))


@pytest.mark.parametrize(("name", "level"), LEVELS)
def test_every_channel_and_every_grey_level_follows_the_law(name: str, level: float) -> None:
    frame = np.repeat(np.arange(256, dtype=np.uint8), 900).reshape(-1, 300, 3)
    out = apply(name, frame, level, "greys")
    for channel in range(3):
        chances = np.array([law_of(name, x, level) for x in range(256)])
        expected = 300 * chances.sum(axis=0)
        variance = 300 * (chances * (1 - chances)).sum(axis=0)
        found = np.bincount(out[..., channel].reshape(-1), minlength=256)
        assert (np.abs(found - expected) <= 5 * np.sqrt(variance) + 3).all()


def correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Circular correlation of two flat samples at every lag, in standard deviations."""
    first, second = ((part - part.mean()) / part.std() for part in (first, second))
    size = first.size
    return np.fft.irfft(np.fft.rfft(first) * np.conj(np.fft.rfft(second)), size) / math.sqrt(size)


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("severity", [1, 5])
@pytest.mark.parametrize("feature", [lambda out: out, lambda out: np.abs(out - 128)], ids=["value", "size"])
def test_noise_is_white_in_space_and_between_frames(name: str, severity: int, feature) -> None:
    level = NOISES[name][1][severity - 1]
    frames = [feature(apply(name, grey(128), level, "white", k).astype(np.float64)).reshape(-1) for k in range(3)]
    assert np.abs(correlations(frames[0], frames[0])[1:]).max() < 6  # every lag, so also every channel and row
    assert np.abs(correlations(frames[0], frames[1])).max() < 6
    assert np.abs(correlations(frames[1], frames[2])).max() < 6


@pytest.mark.parametrize(("name", "level"), LEVELS)
def test_channels_and_neighbours_are_independent(name: str, level: float) -> None:
    out = apply(name, grey(128, (1000, 1000, 3)), level, "pairs")
    law = law_of(name, 128, level)
    bins = np.minimum(np.cumsum(law) * 8, 7.999).astype(np.intp)  # eight classes, about equally likely
    kinds, chance = bins[out], np.bincount(bins, law, 8)
    pairs = [(kinds[..., 0], kinds[..., 1]), (kinds[..., 0], kinds[..., 2]), (kinds[..., 1], kinds[..., 2])]
    pairs += [(kinds[:, 1:], kinds[:, :-1]), (kinds[1:], kinds[:-1])]
    for one, other in pairs:
        counts = np.bincount((one * 8 + other).reshape(-1), minlength=64)
        expected = one.size * np.outer(chance, chance).reshape(-1)
        used = expected > 0
        freedom = int(used.sum()) - 1
        statistic = ((counts - expected)[used] ** 2 / expected[used]).sum()
        assert statistic <= freedom * (1 - 2 / (9 * freedom) + Z * math.sqrt(2 / (9 * freedom))) ** 3


# What the pixels keep


@pytest.mark.parametrize("amount", NOISES["impulse"][1])
def test_impulses_replace_values_and_leave_the_rest(amount: float) -> None:
    frame = picture()
    out = apply("impulse", frame, amount)
    changed = out != frame
    assert set(np.unique(out[changed])) == {0, 255}
    assert abs(changed.mean() - amount) < 0.01


@pytest.mark.parametrize("name", ["shot", "speckle"])
def test_black_stays_black_where_noise_is_in_proportion(name: str) -> None:
    for level in NOISES[name][1]:
        assert not apply(name, grey(0), level).any()


def test_impulses_of_amount_0_and_1() -> None:
    frame = picture()
    assert np.array_equal(apply("impulse", frame, 0), frame)
    assert set(np.unique(apply("impulse", grey(7), 1))) == {0, 255}


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (1, 1, 3), (2, 2, 3), (1, 4, 1), (3, 1, 1), (7, 5, 3), (241, 319, 3), (13, 17, 1), (720, 1280, 3)],
)
def test_any_size_and_the_input_is_never_modified(name: str, shape: tuple[int, ...]) -> None:
    frame = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    before = frame.copy()
    frame.setflags(write=False)
    for level in NOISES[name][1][::2]:
        out = apply(name, frame, level)
        assert out.shape == shape
        assert out.dtype == np.uint8
        assert out.flags.c_contiguous
        assert out.flags.writeable
        assert not np.shares_memory(out, frame)
    assert np.array_equal(frame, before)


@pytest.mark.parametrize("name", NOISES)
def test_a_view_gives_what_its_copy_gives(name: str) -> None:
    view = picture()[::2, ::-1, ::-1]
    level = NOISES[name][1][2]
    assert np.array_equal(apply(name, view, level), apply(name, view.copy(), level))


@pytest.mark.parametrize("name", NOISES)
def test_psnr_falls_with_severity(name: str) -> None:
    frame = picture()
    errors = [np.mean((apply(name, frame, level).astype(np.float64) - frame) ** 2) for level in NOISES[name][1]]
    assert errors == sorted(errors)
    assert errors[0] > 0


# Determinism

GOLDEN = {
    "gaussian": ["7eab7587d4d07bb1", "9dc12b047dae3a9f", "6ab0331c09078af5", "cebb754db8d94e01", "1828889fdad42942"],
    "shot": ["c4c42ef88550eaa4", "4383fd6d864c1a89", "7cf6a8e6cda0b4c1", "a8aafe4a3e7fb8fe", "4c0135e851d236bb"],
    "impulse": ["ad678e64daf3d387", "b1735bdb5eedc757", "aa55fb73c48584cc", "3f16c1984c466be7", "bce12096391f1d71"],
    "speckle": ["8006311391eadd8f", "594959878275bee5", "b3239b4a1aacb1d5", "5732fa2bbaf9d875", "b9a4827124d512a4"],
}


@pytest.mark.parametrize("name", NOISES)
def test_stream_is_the_one_of_all_versions(name: str) -> None:
    frame = picture(90, 121)
    function, levels = NOISES[name]
    rng = np.random.Generator(np.random.Philox(key=[1, 2]))
    found = [hashlib.sha256(function(frame, level, rng).tobytes()).hexdigest()[:16] for level in levels]
    assert found == GOLDEN[name]


@pytest.mark.parametrize("name", NOISES)
def test_only_the_generator_decides(name: str) -> None:
    frame, level = picture(), NOISES[name][1][2]
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first = apply(name, frame, level, 1)
    cv2.setRNGSeed(5)
    np.random.default_rng(0)
    assert np.array_equal(apply(name, frame, level, 1), first)
    assert not np.array_equal(apply(name, frame, level, 2), first)
    rng = rng_for(0, name, 1)
    assert np.array_equal(NOISES[name][0](frame, level, rng), first)
    assert not np.array_equal(NOISES[name][0](frame, level, rng), first)
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize(
    ("name", "level", "says"),
    [
        ("gaussian", 0, "sigma must be above 0"),
        ("gaussian", math.nan, "sigma must be above 0"),
        ("speckle", -0.1, "sigma must be above 0"),
        ("speckle", math.inf, "sigma must be above 0"),
        ("shot", 0, "photons must be above 0"),
        ("shot", 5000, "photons must be at most 4096"),
        ("impulse", 1.1, r"amount must be 0\.\.1"),
        ("impulse", math.nan, r"amount must be 0\.\.1"),
    ],
)
def test_impossible_levels_are_refused(name: str, level: float, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        apply(name, grey(1), level)


@pytest.mark.parametrize(
    ("name", "level"),
    [("gaussian", 1e-4), ("gaussian", 5), ("speckle", 1e-4), ("speckle", 0.01), ("speckle", 2)],
)
def test_other_levels_of_normal_noise_are_exact_too(name: str, level: float) -> None:
    for x in (5, 100):
        out = apply(name, grey(x, (1000, 1000, 1)), level, "other")
        check_sample(out, normal_law(x, level * (255 if name == "gaussian" else x)))


@pytest.mark.parametrize("photons", [1, 2.5, 700, 4096])
def test_other_counts_of_photons_keep_mean_and_variance(photons: float) -> None:
    x = 20
    out = apply("shot", grey(x, (1000, 1000, 1)), photons, "other")
    counts = np.random.default_rng(3).poisson(x / 255 * photons, out.size)
    expected = np.rint(255 * np.minimum(counts / photons, 1))
    assert abs(out.mean() - expected.mean()) < 5 * expected.std() * math.sqrt(2 / out.size)
    assert abs(out.std() / expected.std() - 1) < 0.02

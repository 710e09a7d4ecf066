import hashlib
import math
from itertools import combinations

import cv2
import numpy as np
import pytest
from scipy.stats import norm, poisson
from stressreel.core.seeds import rng_for
from stressreel.corruptions.visual import noise

NOISES = {
    "gaussian": (noise.gaussian_noise, (0.08, 0.12, 0.18, 0.26, 0.38)),
    "shot": (noise.shot_noise, (250, 100, 50, 30, 15)),
    "impulse": (noise.impulse_noise, (0.03, 0.06, 0.09, 0.17, 0.27)),
    "speckle": (noise.speckle_noise, (0.15, 0.2, 0.25, 0.3, 0.35)),
}
LEVELS = [(name, level) for name, (_, levels) in NOISES.items() for level in levels]


def apply(name, frame, level, *key):
    return NOISES[name][0](frame, level, rng_for(0, name, *key))


def grey(value, shape=(240, 320, 3)):
    return np.full(shape, value, np.uint8)


def picture(height=240, width=320):
    y, x = np.mgrid[:height, :width]
    return np.stack([(x * 3 + y) % 256, 128 + 127 * np.sin(x / 9) * np.cos(y / 7), y * 255 / height], 2).astype(
        np.uint8
    )


def normal_law(x, deviation):
    """Return the distribution of clip(round(x + deviation N))."""
    if deviation == 0:
        return np.eye(256)[x]
    below = norm.cdf(np.arange(257) - 0.5, x, deviation)
    below[[0, -1]] = 0, 1
    return np.diff(below)


def poisson_law(x, photons):
    law, counts = np.zeros(256), np.arange(1000)
    np.add.at(law, np.rint(counts * 255 / photons).astype(int).clip(0, 255), poisson.pmf(counts, x / 255 * photons))
    return law


def law_of(name, x, level):
    if name == "shot":
        return poisson_law(x, int(level))
    if name == "impulse":
        return (1 - level) * np.eye(256)[x] + level / 2 * (np.eye(256)[0] + np.eye(256)[255])
    return normal_law(x, level * (255 if name == "gaussian" else x))


def alias_law(alias):
    keep = alias.keep.reshape(-1, alias.width) / 2.0**64 * alias.width - np.arange(alias.width)
    assert 0 <= keep.min() <= keep.max() <= 1
    law = keep.copy()
    for row, (kept, other) in enumerate(zip(keep, alias.other.reshape(keep.shape), strict=True)):
        law[row] += np.bincount(other, 1 - kept, alias.width)
    return law / alias.width


@pytest.mark.parametrize(("name", "level"), [at for at in LEVELS if at[0] != "impulse"])
def test_words_and_residual_add_up_to_the_distribution(name, level):
    """Exactness, by going through all words."""
    table = getattr(noise, f"_{name}_table")(float(level))
    residual = alias_law(table.residual)
    every = np.arange(65536, dtype=np.uint16)
    assert table.escapes < 0.015 * every.size
    out = np.empty(every.size, np.uint8)
    for x in (*range(0, 256, 25), 1, 254):
        table.paint(np.full(every.size, x, np.uint8), every.copy(), out)
        law = np.bincount(out[table.escapes :], minlength=256) / every.size
        redrawn = residual[0 if name == "gaussian" else x]
        if name == "gaussian":
            redrawn = np.bincount(np.clip(x + np.arange(512) - 255, 0, 255), redrawn, 256)
        law += table.escapes / every.size * redrawn
        assert np.abs(law - law_of(name, x, level)).max() < 1e-12


@pytest.mark.parametrize("amount", [*NOISES["impulse"][1], 0, 1e-9, 0.5, 1 - 1e-9, 1])
def test_impulse_bytes_add_up_to_the_amount(amount, monkeypatch):
    sure, rest = noise._impulse_bytes(amount)
    assert 2 * (sure + int(rest) / 2**64) / 256 == pytest.approx(amount, rel=1e-15)

    def every_byte(stream, count, out):
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


@pytest.mark.parametrize("pair", [*combinations(NOISES["impulse"][1], 2), (0.27, 1)])
def test_larger_amounts_keep_the_same_impulses(pair):
    frame = picture()
    low, high = (apply("impulse", frame, amount, "nested").astype(int) for amount in pair)
    assert ((low == frame) | (low == high)).all()
    assert set(np.unique(high[high != frame])) == {0, 255}
    assert np.array_equal(apply("impulse", frame, 0), frame)


def test_alias_tables_give_any_distribution():
    rng = np.random.default_rng(0)
    masses = rng.exponential(size=(50, 64)) * (rng.random((50, 64)) < rng.random((50, 1)))
    masses[0] = 1
    masses[1:3] = np.eye(64)[[0, 63]]
    masses = masses[masses.sum(axis=1) > 0]
    law = alias_law(noise._Alias.of(masses))
    assert np.allclose(law, masses / masses.sum(axis=1, keepdims=True), rtol=0, atol=1e-14)


GOLDEN = {
    "gaussian": ["7eab7587d4d07bb1", "9dc12b047dae3a9f", "6ab0331c09078af5", "cebb754db8d94e01", "1828889fdad42942"],
    "shot": ["c4c42ef88550eaa4", "4383fd6d864c1a89", "7cf6a8e6cda0b4c1", "a8aafe4a3e7fb8fe", "4c0135e851d236bb"],
    "impulse": ["ad678e64daf3d387", "b1735bdb5eedc757", "aa55fb73c48584cc", "3f16c1984c466be7", "bce12096391f1d71"],
    "speckle": ["8006311391eadd8f", "594959878275bee5", "b3239b4a1aacb1d5", "5732fa2bbaf9d875", "b9a4827124d512a4"],
}


@pytest.mark.parametrize("name", NOISES)
def test_noise_is_the_same_in_all_versions(name):
    function, levels = NOISES[name]
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    rng = np.random.Generator(np.random.Philox(key=[1, 2]))
    hashes = [hashlib.sha256(function(picture(90, 121), level, rng).tobytes()).hexdigest()[:16] for level in levels]
    assert hashes == GOLDEN[name]
    cv2.setRNGSeed(5)
    assert np.array_equal(apply(name, picture(), levels[2], 1), apply(name, picture(), levels[2], 1))
    assert not np.array_equal(apply(name, picture(), levels[2], 1), apply(name, picture(), levels[2], 2))
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize(
    ("name", "level", "value"),
    [
        ("speckle", math.inf, "sigma.*inf"),
        ("shot", math.nan, "photons.*nan"),
        ("shot", 5000, "4096.*5000"),
        ("impulse", math.nan, "amount.*nan"),
    ],
)
def test_invalid_levels_are_refused(name, level, value):
    with pytest.raises(ValueError, match=value):
        apply(name, grey(1), level)

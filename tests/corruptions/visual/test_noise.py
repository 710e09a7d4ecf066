import hashlib
import math
from itertools import pairwise

import cv2
import numpy as np
import pytest
from scipy.stats import norm, poisson
from stressreel.core.numerics import rng_for
from stressreel.corruptions.registry import visual_corruptions
from stressreel.corruptions.visual import noise

LEVELS = {
    name: [level for (level,) in visual_corruptions()[f"{name}_noise"].levels]
    for name in ("gaussian", "shot", "impulse", "speckle")
}
TABLES = [(name, level) for name in ("gaussian", "shot", "speckle") for level in LEVELS[name]]


def apply(name, frame, level, *key):
    return getattr(noise, f"{name}_noise")(frame, level, rng_for(0, name, *key))


def picture(height=240, width=320):
    y, x = np.mgrid[:height, :width]
    channels = [(x * 3 + y) % 256, 128 + 127 * np.sin(x / 9) * np.cos(y / 7), y * 255 / height]
    return np.stack(channels, 2).astype(np.uint8)


def law_of(name, x, level):
    """Return the distribution that the definition gives to the output for grey level x."""
    law = np.zeros(256)
    if name == "shot":
        counts = np.arange(1000)
        np.add.at(law, np.rint(counts * 255 / level).astype(int).clip(0, 255), poisson.pmf(counts, x / 255 * level))
        return law
    deviation = level * (255 if name == "gaussian" else x)
    if deviation == 0:
        return np.eye(256)[x]
    below = norm.cdf(np.arange(257) - 0.5, x, deviation)
    below[[0, -1]] = 0, 1
    return np.diff(below)


def alias_law(alias):
    keep = alias.keep.reshape(-1, alias.width) / 2.0**64 * alias.width - np.arange(alias.width)
    assert 0 <= keep.min() <= keep.max() <= 1
    law = keep.copy()
    for row, (kept, other) in enumerate(zip(keep, alias.other.reshape(keep.shape), strict=True)):
        law[row] += np.bincount(other, 1 - kept, alias.width)
    return law / alias.width


@pytest.mark.parametrize(("name", "level"), TABLES)
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


@pytest.mark.parametrize("amount", [*LEVELS["impulse"], 0, 1e-9, 0.5, 1 - 1e-9, 1])
def test_impulse_bytes_add_up_to_the_amount(amount, monkeypatch):
    sure, rest = noise._impulse_bytes(amount)
    share = int(rest) / 2**64
    assert 2 * (sure + share) / 256 == pytest.approx(amount, rel=1e-15)

    def every_byte(stream, count, out):
        out[:count].view(np.uint8)[:] = np.arange(2 * count) % 256
        return out[:count]

    monkeypatch.setattr(noise, "_draw", every_byte)
    drawn = np.arange(256)
    out = apply("impulse", np.full((256, 256, 1), 7, np.uint8), amount).reshape(256, 256)
    assert (out[:, drawn < sure] == 0).all()
    assert (out[:, drawn > 255 - sure] == 255).all()
    assert (out[:, (drawn > sure) & (drawn < 255 - sure)] == 7).all()
    if sure < 128:
        edges = np.concatenate([out[:, sure] == 0, out[:, 255 - sure] == 255])
        assert abs(edges.mean() - share) <= 5 * math.sqrt(share * (1 - share) / edges.size) + 1e-9


def test_larger_amounts_keep_the_same_impulses():
    frame = picture()
    frames = [apply("impulse", frame, amount, "nested").astype(int) for amount in (0, *LEVELS["impulse"], 1)]
    assert np.array_equal(frames[0], frame)
    for low, high in pairwise(frames):
        assert ((low == frame) | (low == high)).all()
        assert set(np.unique(high[high != frame])) == {0, 255}


GOLDEN = {
    "gaussian": ["7eab7587d4d07bb1", "9dc12b047dae3a9f", "6ab0331c09078af5", "cebb754db8d94e01", "1828889fdad42942"],
    "shot": ["c4c42ef88550eaa4", "4383fd6d864c1a89", "7cf6a8e6cda0b4c1", "a8aafe4a3e7fb8fe", "4c0135e851d236bb"],
    "impulse": ["ad678e64daf3d387", "b1735bdb5eedc757", "aa55fb73c48584cc", "3f16c1984c466be7", "bce12096391f1d71"],
    "speckle": ["8006311391eadd8f", "594959878275bee5", "b3239b4a1aacb1d5", "5732fa2bbaf9d875", "b9a4827124d512a4"],
}


@pytest.mark.parametrize("name", GOLDEN)
def test_noise_is_the_same_in_all_versions(name):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    cv2.setRNGSeed(5)
    rng, function = np.random.Generator(np.random.Philox(key=[1, 2])), getattr(noise, f"{name}_noise")
    noisy = [function(picture(90, 121), level, rng).tobytes() for level in LEVELS[name]]
    assert [hashlib.sha256(content).hexdigest()[:16] for content in noisy] == GOLDEN[name]
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.parametrize(
    ("name", "level", "value"),
    [("speckle", math.inf, "inf"), ("shot", math.nan, "nan"), ("shot", 5000, "5000"), ("impulse", math.nan, "nan")],
)
def test_invalid_levels_are_refused(name, level, value):
    with pytest.raises(ValueError, match=value):
        apply(name, picture(1, 1), level)

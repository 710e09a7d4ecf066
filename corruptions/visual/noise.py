"""The four noises of MSRVTT-P and YouCook2-P on one frame: exact in distribution, in integers.

Source: Schiappa et al. 2022, "Multi-modal Robustness Analysis Against Language and Visual Perturbations"
(arXiv 2207.02159), after Hendrycks & Dietterich 2019, "Benchmarking Neural Network Robustness to Common Corruptions
and Perturbations" (arXiv 1903.12261). On x / 255 the noise is independent for every pixel and channel and fresh for
every frame; the result is clipped to [0, 1], multiplied by 255 and ROUNDED to the nearest integer. The released code
truncates instead, which darkens a frame by half a level, and draws from NumPy's global generator.

How a value is drawn. The input is an integer 0..255, so the output y has a law P(y | x) on 0..255 that float64 gives
to its last bits. Each value gets a 16-bit word, and integer tables map word and x to an output: y owns C(y | x) of the
65,536 words, never more than 65536 P(y | x). The words below E, the same for all x (0.2 to 1.8 % of all at the paper's
levels), escape: there the output is drawn from the residual law (65536 P - C) / E instead, by Walker's alias method
with 53 random bits. The mixture of the two is P itself, up to the rounding of float64.

Reproducibility. The words are the raw output of an SFC64 that 256 bits of `rng` seed: half the cost of Philox, and no
method of `numpy.random.Generator` whose stream may change. Equal generators give equal frames on every machine,
whatever the number of threads; a call advances `rng`, so the next call with it gives fresh noise.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

Frame = NDArray[np.uint8]
"""(H, W, C) uint8, C = 1 or 3, any size from 1 x 1."""

_Bytes = NDArray[np.uint8]
_Words = NDArray[np.uint16]
_Floats = NDArray[np.float64]
_Index = NDArray[np.intp]
_Stream = np.random.BitGenerator

_WORDS = 1 << 16  # what one word can be
_BLOCK = 1 << 18  # values per draw, which bounds the memory at 4K; part of the definition of the stream
_ROW_BITS = 12  # log2 of the slots of one grey level in the table of shot noise
_SALT, _PEPPER = 255, 1  # codes of impulse noise; 0 keeps the value


def gaussian_noise(frame: Frame, sigma: float, rng: np.random.Generator) -> Frame:
    """Add Gaussian noise: x / 255 + N(0, sigma^2).

    The law of round(255 sigma N) doesn't depend on x, and a sum outside 0..255 saturates as the clipping asks.

    Args:
        frame: (H, W, C) uint8; not modified.
        sigma: Standard deviation as a fraction of the full range, above 0; .08 .12 .18 .26 .38 in the paper.
        rng: All that decides the noise.

    Returns:
        A new (H, W, C) uint8 frame. It differs from the released code's in rounding (see the module).
    """
    return _render(frame, _gaussian_table(_positive("sigma", sigma)), rng)


def shot_noise(frame: Frame, photons: float, rng: np.random.Generator) -> Frame:
    """Count photons: Poisson(x / 255 * photons) / photons.

    Where 255 n / photons lies halfway between two integers, n photons round to the even one, as in `numpy.rint`.

    Args:
        frame: (H, W, C) uint8; not modified.
        photons: Mean count of a white value, above 0 and at most 4096; 250 100 50 30 15 in the released code (the
            paper's text repeats the amounts of impulse noise here by mistake).
        rng: All that decides the noise.

    Returns:
        A new (H, W, C) uint8 frame. It differs from the released code's in rounding (see the module).
    """
    if photons > 4096:
        raise ValueError(f"photons must be at most 4096, got {photons}")
    return _render(frame, _shot_table(_positive("photons", photons)), rng)


def impulse_noise(frame: Frame, amount: float, rng: np.random.Generator) -> Frame:
    """Salt and pepper: each value, so each channel on its own, becomes 255 or 0 with probability amount / 2 each.

    One word draws eight neighbouring values at once, from the 3^8 patterns of kept, salted and peppered values.

    Args:
        frame: (H, W, C) uint8; not modified.
        amount: Probability that a value is replaced, 0..1; .03 .06 .09 .17 .27 in the paper.
        rng: All that decides the noise.

    Returns:
        A new (H, W, C) uint8 frame, with the released code's law (which needs no rounding).
    """
    if not 0 <= amount <= 1:
        raise ValueError(f"amount must be 0..1, got {amount}")
    table = _impulse_table(float(amount))
    stream = _stream(rng)
    out = np.empty(frame.shape, np.uint8)
    x, y = frame.reshape(-1), out.reshape(-1)
    for start in range(0, x.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        codes = table.draw(stream, -(-x[part].size // 8)).view(np.uint8)[: x[part].size]
        np.bitwise_or(x[part], codes, out=y[part])
        y[part] *= (codes != _PEPPER).view(np.uint8)
    return out


def speckle_noise(frame: Frame, sigma: float, rng: np.random.Generator) -> Frame:
    """Add noise in proportion to the light: x + x N(0, sigma^2).

    A word gives the size of sigma N as a 16-bit fraction and its sign; the change is round(x * fraction).

    Args:
        frame: (H, W, C) uint8; not modified.
        sigma: Standard deviation as a fraction of the value, above 0; .15 .2 .25 .3 .35 in the released code.
        rng: All that decides the noise.

    Returns:
        A new (H, W, C) uint8 frame. It differs from the released code's in rounding (see the module).
    """
    return _render(frame, _speckle_table(_positive("sigma", sigma)), rng)


class _Table(Protocol):
    """The law of one noise at one level, as words that give an output at once and words that escape."""

    @property
    def escapes(self) -> int:
        """Words below this are redrawn."""

    def paint(self, x: _Bytes, words: _Words, out: _Bytes) -> None:
        """Write the output of every value whose word doesn't escape, and anything elsewhere; may spoil the words."""

    def redraw(self, x: _Bytes, stream: _Stream) -> NDArray[np.integer[Any]]:
        """Draw outputs from the residual law."""


def _render(frame: Frame, table: _Table, rng: np.random.Generator) -> Frame:
    stream = _stream(rng)
    out = np.empty(frame.shape, np.uint8)
    x, y = frame.reshape(-1), out.reshape(-1)
    escaped = []
    for start in range(0, x.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        words = _draw(stream, x[part].size)
        escaped.append(_below(words, table.escapes) + start)
        table.paint(x[part], words, y[part])
    at = np.concatenate(escaped)
    y[at] = table.redraw(x[at], stream)
    return out


def _positive(name: str, value: float) -> float:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be above 0 and finite, got {value}")
    return float(value)


# Random words, and what is done with them


def _stream(rng: np.random.Generator) -> _Stream:
    return np.random.SFC64([int(word) for word in rng.bit_generator.random_raw(4)])


def _draw(stream: _Stream, count: int) -> _Words:
    """Draw words, the low ones of each 64 bits first on every machine."""
    raw: NDArray[np.uint64] = stream.random_raw(-(-count // 4))
    return raw.astype("<u8", copy=False).view("<u2")[:count]


def _uniform(stream: _Stream, count: int) -> _Floats:
    """Draw from [0, 1) with 53 bits."""
    raw: NDArray[np.uint64] = stream.random_raw(count)
    place = (raw >> np.uint64(11)).astype(np.float64)
    place *= 2.0**-53
    return place


def _below(words: _Words, limit: int) -> _Index:
    """Find the words below a limit, in order: few, so look through eight at a time."""
    low = np.zeros(-(-words.size // 8) * 8, np.bool_)
    np.less(words, limit, out=low[: words.size])
    eights = np.flatnonzero(low.view(np.uint64) != 0)
    inside = np.flatnonzero(low.view(np.uint64)[eights].view(np.bool_))
    found: _Index = (eights[inside >> 3] << 3) + (inside & 7)
    return found


def _wide_lut() -> bool:
    try:
        cv2.LUT(np.zeros(8, np.uint16), np.zeros(_WORDS, np.uint8))
    except cv2.error:  # OpenCV before 4.12
        return False
    return True


_WIDE_LUT = _wide_lut()


def _lookup(table: NDArray[Any], words: _Words) -> NDArray[Any]:
    """Take from a table of 65,536 entries."""
    return cv2.LUT(words, table).reshape(-1) if _WIDE_LUT else table.take(words)


def _minus(words: _Words, escapes: int) -> _Bytes:
    """The sign of a symmetric noise: 255 for the upper half of the words that don't escape, or 0."""
    sign = (words >= (_WORDS + escapes) // 2).view(np.uint8)
    return np.negative(sign, out=sign)


def _add_signed(x: _Bytes, size: _Bytes, sign: _Bytes, out: _Bytes) -> None:
    """Saturating x + size, or where the sign is 255 x - size, as 255 - min(255, (255 - x) + size)."""
    np.bitwise_xor(x, sign, out=out)
    cv2.add(out, size, dst=out)
    np.bitwise_xor(out, sign, out=out)


class _Alias(NamedTuple):
    """Walker's alias tables for one law per row, flat."""

    keep: _Floats  # column + probability of keeping it
    other: NDArray[np.int16]  # the column it is exchanged for
    width: int

    @classmethod
    def of(cls, mass: _Floats) -> _Alias:
        """Build the tables of the laws in proportion to the rows, all rows in step.

        Each column holds 1 / width of its row's mass: its own share and, above it, a part of a heavy column's.
        Light columns are filled in order from one heavy column; when that has become light, the next one fills it.

        Args:
            mass: (rows, width), at least 0 but for rounding errors.

        Returns:
            The tables.
        """
        rows, width = mass.shape
        mass = np.maximum(mass, 0)
        share = mass * (width / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300))
        order = np.argsort(share > 1, axis=1, kind="stable")  # the light columns, then the heavy ones
        row = np.arange(rows)
        keep, other = np.ones((rows, width)), np.tile(np.arange(width), (rows, 1))
        light, lights = np.zeros(rows, np.intp), (share <= 1).sum(axis=1)
        heavy = np.minimum(lights, width - 1)
        left = share[row, order[row, heavy]]  # of the heavy column
        for _ in range(width - 1):  # each step settles one column of every row
            spent = left <= 1
            after = np.minimum(heavy + 1, width - 1)
            column = order[row, np.where(spent, heavy, light)]
            filler = order[row, np.where(spent, after, heavy)]
            kept = np.where(spent, left, share[row, column])
            live = np.where(spent, after > heavy, light < lights)
            keep[row[live], column[live]], other[row[live], column[live]] = kept[live], filler[live]
            left = np.where(live, np.where(spent, share[row, filler], left) - (1 - kept), left)
            heavy, light = np.where(spent, after, heavy), light + ~spent
        return cls((keep + np.arange(width)).reshape(-1), other.astype(np.int16).reshape(-1), width)

    def draw(self, rows: NDArray[np.integer[Any]], stream: _Stream) -> _Index:
        """Draw a column for each of the rows."""
        place = _uniform(stream, rows.size)
        place *= self.width
        column = place.astype(np.intp)
        at = np.multiply(rows, self.width, dtype=np.intp)
        at += column
        return np.where(place < self.keep[at], column, self.other[at])


# The tables of one level: under 2 MB, built in under 50 ms


def _upper_tail(z: NDArray[np.floating[Any]]) -> _Floats:
    """P(N > z) of the standard normal."""
    return np.fromiter(map(math.erfc, (z / math.sqrt(2)).flat), np.float64, z.size).reshape(z.shape) / 2


class _GaussianTable(NamedTuple):
    sizes: _Bytes  # |change| by word
    escapes: int
    residual: _Alias  # one row; column = change + 255

    def paint(self, x: _Bytes, words: _Words, out: _Bytes) -> None:
        _add_signed(x, _lookup(self.sizes, words), _minus(words, self.escapes), out)

    def redraw(self, x: _Bytes, stream: _Stream) -> _Index:
        change = self.residual.draw(np.zeros(x.size, np.intp), stream)
        output: _Index = np.clip(x + change - 255, 0, 255)
        return output


@lru_cache(maxsize=16)
def _gaussian_table(sigma: float) -> _GaussianTable:
    tail = _upper_tail((np.arange(256) - 0.5) / (255 * sigma))  # P(change >= n); 255 stands for all beyond
    mass = _WORDS * np.append(-np.diff(tail), tail[255])  # changes n = 0..255
    mass[0] = _WORDS * (0.5 - tail[1])  # no change: half for either sign
    counts = np.floor(mass).astype(np.intp)
    sizes = np.repeat(np.arange(256, dtype=np.uint8), counts)
    escapes = _WORDS - 2 * sizes.size
    left = mass - counts
    residual = np.concatenate([left[:0:-1], 2 * left[:1], left[1:], [0]])
    return _GaussianTable(
        np.concatenate([np.zeros(escapes, np.uint8), sizes, sizes]), escapes, _Alias.of(residual[np.newaxis])
    )


class _ShotTable(NamedTuple):
    outputs: _Bytes  # 256 rows of 2^_ROW_BITS slots, flat
    escapes: int
    residual: _Alias

    def paint(self, x: _Bytes, words: _Words, out: _Bytes) -> None:
        slot = np.left_shift(x, _ROW_BITS, dtype=np.uint32)
        words >>= 16 - _ROW_BITS
        slot += words
        out[:] = self.outputs.take(slot)

    def redraw(self, x: _Bytes, stream: _Stream) -> _Index:
        return self.residual.draw(x, stream)


@lru_cache(maxsize=16)
def _shot_table(photons: float) -> _ShotTable:
    count = np.arange(math.ceil(photons))  # as many or more are white
    mean = np.arange(256)[:, np.newaxis] * (photons / 255)
    log_factorial = np.fromiter(map(math.lgamma, count + 1.0), np.float64, count.size)
    chance = np.exp(count * np.log(np.maximum(mean, 1e-300)) - mean - log_factorial)
    law = np.zeros((256, 256))
    np.add.at(law.T, np.rint(255 * count / photons).astype(np.intp), chance.T)
    law[:, 255] += np.maximum(1 - law.sum(axis=1), 0)
    slots = 1 << _ROW_BITS
    owned = np.cumsum(np.floor(slots * law).astype(np.intp), axis=1)
    kept = int(owned[:, -1].min())  # slots with an output in each row: rows that could have more give some up
    owned = np.diff(np.minimum(owned, kept), axis=1, prepend=0)
    outputs = np.zeros((256, slots), np.uint8)
    outputs[:, slots - kept :] = np.tile(np.arange(256, dtype=np.uint8), 256).repeat(owned.flat).reshape(256, kept)
    return _ShotTable(outputs.reshape(-1), (slots - kept) * (_WORDS // slots), _Alias.of(slots * law - owned))


class _ImpulseTable(NamedTuple):
    codes: NDArray[np.uint64]  # eight values' codes by word
    escapes: int
    patterns: NDArray[np.uint64]  # the codes of all 3^8 patterns
    residual: _Floats  # their cumulative residual law

    def draw(self, stream: _Stream, count: int) -> NDArray[np.uint64]:
        """Draw patterns of eight codes."""
        words = _draw(stream, count)
        codes = self.codes.take(words)
        at = np.flatnonzero(words < self.escapes)
        codes[at] = self.patterns[np.searchsorted(self.residual, _uniform(stream, at.size), side="right")]
        return codes


@lru_cache(maxsize=16)
def _impulse_table(amount: float) -> _ImpulseTable:
    kinds = np.ascontiguousarray(np.indices((3,) * 8).reshape(8, -1).T)
    patterns = np.array([0, _SALT, _PEPPER], np.uint8)[kinds].view(np.uint64).reshape(-1)
    hits = (kinds > 0).sum(axis=1)
    mass = _WORDS * (1 - amount) ** (8 - hits) * (amount / 2) ** hits
    counts = np.floor(mass).astype(np.intp)
    codes = patterns.repeat(counts)
    escapes = _WORDS - codes.size
    residual = np.cumsum(mass - counts)
    return _ImpulseTable(
        np.concatenate([np.zeros(escapes, np.uint64), codes]), escapes, patterns, residual / max(residual[-1], 1e-300)
    )


class _SpeckleTable(NamedTuple):
    sizes: _Words  # |sigma N| by word, in 1/65536
    escapes: int
    residual: _Alias

    def paint(self, x: _Bytes, words: _Words, out: _Bytes) -> None:
        sign = _minus(words, self.escapes)
        size = cv2.multiply(x.astype(np.uint16), _lookup(self.sizes, words), dst=words, scale=1 / _WORDS)
        _add_signed(x, size.reshape(-1).astype(np.uint8), sign, out)

    def redraw(self, x: _Bytes, stream: _Stream) -> _Index:
        return self.residual.draw(x, stream)


@lru_cache(maxsize=16)
def _speckle_table(sigma: float) -> _SpeckleTable:
    """Place the words' fractions so that no output of any grey level gets more words than its probability.

    Of fractions at the quantiles of |sigma N|, an interval of probability p holds up to 65536 p + 1. So their density
    is lowered by one per 1/255, the shortest interval that rounds to one output, and by as much more as the rounding
    of the fractions needs. Sizes of 1 and more escape. No product ends in .5, so no rounding rule matters: that
    would take a fraction divisible by 256.
    """
    x = np.arange(256)[:, np.newaxis]
    change = np.arange(1, 256) - x  # output >= k where change >= k - x, k = 1..255
    tail = np.zeros((256, 257))
    tail[:, 0] = 1
    tail[1:, 1:-1] = _upper_tail((change[1:] - 0.5) / (sigma * x[1:]))
    mass = -_WORDS * np.diff(tail)
    least = (_WORDS * np.maximum(change, 1 - change) - _WORDS // 2) // np.maximum(x, 1) + 1  # fraction, for |change|
    density = np.exp(-(((np.arange(_WORDS) + 0.5) / (_WORDS * sigma)) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))
    margin, residual = 1.0, np.full(1, -1.0)
    while residual.min() < -1e-6:
        margin *= 1.25
        quantile = np.cumsum(np.maximum(density - (1 + margin * density) * 255 / _WORDS, 0))
        sizes = np.searchsorted(quantile, np.arange(int(quantile[-1])) + 0.5).astype(np.uint16)
        sizes += sizes % 256 == 0
        reach = sizes.size - np.searchsorted(sizes, least)  # words of one sign
        owned = np.zeros((256, 257))
        owned[:, 0] = 2 * sizes.size
        owned[1:, 1:-1] = np.where(change > 0, reach, 2 * sizes.size - reach)[1:]
        residual = mass + np.diff(owned)
    escapes = _WORDS - 2 * sizes.size
    return _SpeckleTable(np.concatenate([np.zeros(escapes, np.uint16), sizes, sizes]), escapes, _Alias.of(residual))

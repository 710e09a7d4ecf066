"""Add noise to individual frames, with the exact distribution and in integer arithmetic.

Source: Schiappa et al. 2022 (arXiv 2207.02159), after Hendrycks & Dietterich 2019 (arXiv 1903.12261). Noise is added to
x / 255, independently for every pixel, channel and frame. The result is clipped to [0, 1], multiplied by 255 and
rounded to the nearest integer. The released code truncates instead, which darkens a frame by half a level, and uses
NumPy's global generator.

Sampling: the input is an integer from 0 to 255, so the output y has a distribution P(y | x) on 0..255, known to float64
precision. Each value is assigned a 16-bit word, and integer tables map the word and x to an output: C(y | x) of the
65,536 words map to y, never more than 65536 P(y | x). Words below E, which is the same for all x (0.1 to 2.3% of all
words at the paper's levels), have no output in the table. For these, the output is sampled from the residual
distribution (65536 P - C) / E by Walker's alias method with 64 random bits. The mixture of the two is exactly P, up to
float64 rounding. Impulse noise needs only a byte per value and no table.

Reproducibility: the words are the raw output of an SFC64 seeded with 192 bits of `rng`. SFC64 has half the cost of
Philox, and raw output avoids methods of `numpy.random.Generator` whose stream may change. Equal generators give equal
frames on every machine and with any number of threads. Each call advances `rng`.
"""

from __future__ import annotations

import math
import threading
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any, NamedTuple, cast

import cv2
import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray

from . import Frame

_Bytes = NDArray[np.uint8]
_Words = NDArray[np.uint16]
_Floats = NDArray[np.float64]
_Index = NDArray[np.intp]
_Stream = np.random.BitGenerator

_WORDS = 1 << 16  # number of possible values of a word
_BLOCK = 1 << 18  # values sampled at a time, which limits the memory at 4K; changing this number changes the stream
_ROW_BITS = 12  # log2 of the number of slots per grey level in the table for shot noise
_PIECE = 12 << 10  # 64-bit words requested at once: small enough that glibc does not map new pages each time


def gaussian_noise(frame: Frame, sigma: float, rng: np.random.Generator) -> Frame:
    """Add Gaussian noise: x / 255 + N(0, sigma^2).

    The distribution of round(255 sigma N) does not depend on x. Sums outside 0..255 saturate.

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        sigma: Standard deviation as a fraction of the full range, above 0; .08 .12 .18 .26 .38 in the paper.
        rng: Random generator, which fully determines the noise.
    """
    return _render(frame, _gaussian_table(_positive("sigma", sigma)), rng)


def shot_noise(frame: Frame, photons: float, rng: np.random.Generator) -> Frame:
    """Add shot noise: Poisson(x / 255 * photons) / photons, rounded half to even like `numpy.rint`.

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        photons: Mean count of a white value, above 0 and at most 4096; 250 100 50 30 15 in the released code (the
            paper's text repeats the amounts of impulse noise here by mistake).
        rng: Random generator, which fully determines the noise.
    """
    if photons > 4096:
        raise ValueError(f"photons must be at most 4096; got {photons}")
    return _render(frame, _shot_table(_positive("photons", photons)), rng)


def impulse_noise(frame: Frame, amount: float, rng: np.random.Generator) -> Frame:
    """Add salt and pepper noise: each value of each channel becomes 255 or 0, with probability amount / 2 each.

    With equal generators, a value replaced at one amount is replaced by the same value at every larger amount.

    Each value is assigned a byte: the lowest 128 amount of the 256 bytes are pepper, the highest are salt. If that is
    not a whole number, the next byte at either end is a hit with the remaining probability, decided by 64 more bits.

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        amount: Probability that a value is replaced, from 0 to 1; .03 .06 .09 .17 .27 in the paper.
        rng: Random generator, which fully determines the noise.
    """
    if not 0 <= amount <= 1:
        raise ValueError(f"amount must be from 0 to 1; got {amount}")
    stream = _stream(rng)
    out = np.empty(frame.shape, np.uint8)
    x, y = frame.reshape(-1), out.reshape(-1)
    sure, rest = _impulse_bytes(amount)
    between, salty = [], []
    for start in range(0, x.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        size = x[part].size
        drawn = _draw(stream, -(-size // 2), _SCRATCH.words).view(np.uint8)[:size]
        mask, edge, upper_edge = _SCRATCH.sizes[:size], _SCRATCH.low[:size], _SCRATCH.signs[:size].view(np.bool_)
        cv2.threshold(drawn, 255 - sure, 255, cv2.THRESH_BINARY, dst=mask)
        np.bitwise_or(x[part], mask, out=y[part])
        cv2.threshold(drawn, sure - 1, 255, cv2.THRESH_BINARY, dst=mask)
        np.bitwise_and(y[part], mask, out=y[part])
        np.equal(drawn, sure, out=edge)
        np.equal(drawn, 255 - sure, out=upper_edge)
        at = np.flatnonzero(np.logical_or(edge, upper_edge, out=edge))
        between.append(at + start)
        salty.append(drawn[at] > 127)
    at, salt = np.concatenate(between), np.concatenate(salty)
    hit = stream.random_raw(at.size) < rest
    y[at[hit]] = np.negative(salt[hit].view(np.uint8))
    return out


def _impulse_bytes(amount: float) -> tuple[int, np.uint64]:
    """Return how many bytes at either end are always hits, and the share of the next byte in units of 1 / 2^64."""
    sure = math.floor(128 * amount)
    return sure, np.uint64(int(math.ldexp(128 * amount - sure, 64)))


def speckle_noise(frame: Frame, sigma: float, rng: np.random.Generator) -> Frame:
    """Add speckle noise, which is proportional to intensity: x + x N(0, sigma^2).

    A word encodes the magnitude of sigma N as a 16-bit fraction and its sign. The change is round(x * fraction).

    Args:
        frame: uint8 array of shape (H, W, C); not modified.
        sigma: Standard deviation as a fraction of the value, above 0; .15 .2 .25 .3 .35 in the released code.
        rng: Random generator, which fully determines the noise.
    """
    return _render(frame, _speckle_table(_positive("sigma", sigma)), rng)


def _render(frame: Frame, table: _GaussianTable | _ShotTable | _SpeckleTable, rng: np.random.Generator) -> Frame:
    stream = _stream(rng)
    out = np.empty(frame.shape, np.uint8)
    x, y = frame.reshape(-1), out.reshape(-1)
    escaped = []
    for start in range(0, x.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        words = _draw(stream, x[part].size, _SCRATCH.words)
        escaped.append(_below(words, table.escapes) + start)
        table.paint(x[part], words, y[part])
    at = np.concatenate(escaped)
    y[at] = table.redraw(x[at], stream)
    return out


def _positive(name: str, value: float) -> float:
    if not 0 < value < math.inf:
        raise ValueError(f"{name} must be above 0 and finite; got {value}")
    return float(value)


# Random words and operations on them


class _Seed(ISeedSequence):
    """Seeds a generator with raw words from another, in a third of the time that a SeedSequence takes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._source = rng.bit_generator

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> NDArray[Any]:
        words: NDArray[np.uint64] = self._source.random_raw(n_words)
        return words.astype(dtype)


def _stream(rng: np.random.Generator) -> _Stream:
    return np.random.SFC64(cast(Any, _Seed(rng)))  # NumPy accepts any ISeedSequence, but its stubs do not declare this


class _Scratch(threading.local):
    """Work arrays of each thread for one block of values. Allocating new ones would cost more than the noise."""

    def __init__(self) -> None:
        self.words: _Words = np.empty(_BLOCK, np.uint16)
        self.sizes: _Bytes = np.empty(_BLOCK, np.uint8)
        self.signs: _Bytes = np.empty(_BLOCK, np.uint8)
        self.low: NDArray[np.bool_] = np.empty(_BLOCK, np.bool_)


_SCRATCH = _Scratch()


def _draw(stream: _Stream, count: int, out: _Words) -> _Words:
    """Fill the start of an array with random words, taking the low bits of each 64-bit number first."""
    wide = out[: -(-count // 4) * 4].view("<u8")
    for start in range(0, wide.size, _PIECE):
        piece = wide[start : start + _PIECE]
        piece[:] = stream.random_raw(piece.size)
    return out[:count]


def _below(words: _Words, limit: int) -> _Index:
    """Return the indices of words below a limit. As hits are rare, groups of eight words are searched first.

    `numpy.flatnonzero` branches at every hit, which costs more than the search unless a tenth of the values are set;
    `filler` ensures that they are.
    """
    eights = -(-words.size // 8)
    low = _SCRATCH.low[: 8 * eights]
    low[words.size :] = False
    np.less(words, limit, out=low[: words.size])
    filler = eights // 8 if limit > 300 else 0
    some = np.ones(eights + filler, np.bool_)
    np.not_equal(low.view(np.uint64), 0, out=some[:eights])
    where = np.flatnonzero(some)
    where = where[: where.size - filler]
    inside = np.flatnonzero(low.view(np.uint64)[where].view(np.bool_))
    hits: _Index = (where[inside >> 3] << 3) + (inside & 7)
    return hits


def _lookup(table: NDArray[Any], words: _Words, out: NDArray[Any]) -> NDArray[Any]:
    try:
        return cv2.LUT(words, table, dst=out).reshape(-1)
    except cv2.error:  # before 4.13, OpenCV looks up bytes only
        return np.take(table, words, out=out, mode="clip")


def _minus(words: _Words, escapes: int) -> _Bytes:
    """Return the sign of symmetric noise: 255 for the upper half of the words that are not redrawn, else 0."""
    sign = _SCRATCH.signs[: words.size]
    np.greater_equal(words, (_WORDS + escapes) // 2, out=sign.view(np.bool_))
    return np.negative(sign, out=sign)


def _add_signed(x: _Bytes, size: _Bytes, sign: _Bytes, out: _Bytes) -> None:
    """Compute x + size, or x - size where the sign is 255, with saturation: 255 - min(255, (255 - x) + size)."""
    np.bitwise_xor(x, sign, out=out)
    cv2.add(out, size, dst=out)
    np.bitwise_xor(out, sign, out=out)


class _Alias(NamedTuple):
    """Alias tables after Walker, flattened, with one distribution per row."""

    keep: NDArray[np.uint64]  # (column + probability of keeping it) / width, in 1 / 2^64
    other: NDArray[np.int16]  # the alias of the column
    width: int  # a power of 2

    @classmethod
    def of(cls, mass: _Floats) -> _Alias:
        """Build tables for distributions proportional to the rows of `mass`, all rows in parallel.

        Each column gets 1 / width of its row's mass: its own share, topped up from a heavy column. A heavy column fills
        light ones in order until it is light itself; the next heavy column then fills it.
        """
        rows, width = mass.shape
        mass = np.maximum(mass, 0)
        share = mass * (width / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300))
        order = np.argsort(share > 1, axis=1, kind="stable")  # light columns first, then heavy ones
        row = np.arange(rows)
        keep, other = np.ones((rows, width)), np.tile(np.arange(width), (rows, 1))
        light, lights = np.zeros(rows, np.intp), (share <= 1).sum(axis=1)
        heavy = np.minimum(lights, width - 1)
        left = share[row, order[row, heavy]]  # in the heavy column
        for _ in range(width - 1):  # each step completes one column of every row
            spent = left <= 1
            after = np.minimum(heavy + 1, width - 1)
            column = order[row, np.where(spent, heavy, light)]
            filler = order[row, np.where(spent, after, heavy)]
            kept = np.where(spent, left, share[row, column])
            live = np.where(spent, after > heavy, light < lights)
            keep[row[live], column[live]], other[row[live], column[live]] = kept[live], filler[live]
            left = np.where(live, np.where(spent, share[row, filler], left) - (1 - kept), left)
            heavy, light = np.where(spent, after, heavy), light + ~spent
        keep = np.minimum((keep + np.arange(width)) / width, 1 - 2.0**-53) * 2.0**64
        return cls(keep.astype(np.uint64).reshape(-1), other.astype(np.int16).reshape(-1), width)

    def draw(self, rows: NDArray[np.integer[Any]], stream: _Stream) -> _Index:
        random: NDArray[np.uint64] = stream.random_raw(rows.size)
        column = (random >> np.uint64(65 - self.width.bit_length())).astype(np.intp)
        at = np.multiply(rows, self.width, dtype=np.intp)
        at += column
        return np.where(random < self.keep[at], column, self.other[at])


# The noise distribution at one level: tables of under 2 MB, built in under 50 ms. Words of `escapes` or more map to an
# output, which `paint` writes; it may overwrite the words, and writes arbitrary values elsewhere. `redraw` samples the
# outputs of the other words.


def _upper_tail(z: NDArray[np.floating[Any]]) -> _Floats:
    return np.fromiter(map(math.erfc, (z / math.sqrt(2)).flat), np.float64, z.size).reshape(z.shape) / 2


class _GaussianTable(NamedTuple):
    sizes: _Bytes  # |change| by word
    escapes: int
    residual: _Alias  # one row; column = change + 255

    def paint(self, x: _Bytes, words: _Words, out: _Bytes) -> None:
        size = _lookup(self.sizes, words, _SCRATCH.sizes[: words.size])
        _add_signed(x, size, _minus(words, self.escapes), out)

    def redraw(self, x: _Bytes, stream: _Stream) -> _Index:
        change = self.residual.draw(np.zeros(x.size, np.intp), stream)
        output: _Index = np.clip(x + change - 255, 0, 255)
        return output


@lru_cache(maxsize=16)
def _gaussian_table(sigma: float) -> _GaussianTable:
    tail = _upper_tail((np.arange(256) - 0.5) / (255 * sigma))  # P(change >= n); 255 stands for all larger changes
    mass = _WORDS * np.append(-np.diff(tail), tail[255])  # changes n = 0..255
    mass[0] = _WORDS * (0.5 - tail[1])  # no change counts half for each sign
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
    count = np.arange(math.ceil(photons))  # photon counts that are below white
    mean = np.arange(256)[:, np.newaxis] * (photons / 255)
    log_factorial = np.fromiter(map(math.lgamma, count + 1.0), np.float64, count.size)
    chance = np.exp(count * np.log(np.maximum(mean, 1e-300)) - mean - log_factorial)
    law = np.zeros((256, 256))
    np.add.at(law.T, np.rint(255 * count / photons).astype(np.intp), chance.T)
    law[:, 255] += np.maximum(1 - law.sum(axis=1), 0)
    slots = 1 << _ROW_BITS
    owned = np.cumsum(np.floor(slots * law).astype(np.intp), axis=1)
    kept = int(owned[:, -1].min())  # slots per row that hold an output, limited by the row with the fewest
    owned = np.diff(np.minimum(owned, kept), axis=1, prepend=0)
    outputs = np.zeros((256, slots), np.uint8)
    outputs[:, slots - kept :] = np.tile(np.arange(256, dtype=np.uint8), 256).repeat(owned.flat).reshape(256, kept)
    return _ShotTable(outputs.reshape(-1), (slots - kept) * (_WORDS // slots), _Alias.of(slots * law - owned))


class _SpeckleTable(NamedTuple):
    sizes: _Words  # |sigma N| by word, in 1/65536
    escapes: int
    residual: _Alias

    def paint(self, x: _Bytes, words: _Words, out: _Bytes) -> None:
        sign = _minus(words, self.escapes)
        size = _lookup(self.sizes, words, words)
        cv2.multiply(size, x.astype(np.uint16), dst=size, scale=1 / _WORDS)
        small = _SCRATCH.sizes[: words.size]
        small[:] = size
        _add_signed(x, small, sign, out)

    def redraw(self, x: _Bytes, stream: _Stream) -> _Index:
        return self.residual.draw(x, stream)


@lru_cache(maxsize=16)
def _speckle_table(sigma: float) -> _SpeckleTable:
    """Build a table with as many sizes as possible in which no output has more words than its probability.

    A size is an odd multiple of 1/65536, so that no product ends in .5 and no rounding rule matters. A change of a grey
    level by m corresponds to an interval of sizes, with capacity for `room` of them. The maximum number below a size
    equals the capacity of the cheapest cover. Intervals are processed in order of their starts, each extending the
    cheapest cover that reaches it. The residual distribution handles sizes of 1 or more.
    """
    half = _WORDS // 2
    x, m = np.arange(256)[:, np.newaxis], np.arange(257)
    upper = _upper_tail((m - 0.5) / (sigma * np.maximum(x, 1e-9)))  # P(change >= m)
    upper[:, 0] = 0.5  # no change counts half for each sign
    start = np.minimum(((_WORDS * m - half) // np.maximum(x, 1) + 1) // 2, half)  # sizes from 2 start + 1 change by m
    start[:, 0], start[0, 1:] = 0, half
    room = np.floor(-_WORDS * np.diff(upper)).astype(np.intp)
    row, column = np.nonzero(start[:, :-1] < half)
    order = np.argsort(start[row, column], kind="stable")
    row, column = row[order], column[order]
    ends = start[row, column + 1]
    covers, costs = [(0, 0)], []
    for begin, end, cost in zip(start[row, column].tolist(), ends.tolist(), room[row, column].tolist(), strict=True):
        while covers[0][1] < begin:
            heappop(covers)
        costs.append(covers[0][0] + cost)
        heappush(covers, (costs[-1], end))
    fit = np.full(half + 1, _WORDS)
    np.minimum.at(fit, ends, costs)
    fit = np.minimum.accumulate(fit[::-1])[::-1]  # number of sizes below 2 i + 1
    fit[0] = 0
    sizes = np.repeat(np.arange(1, _WORDS, 2, dtype=np.uint16), np.diff(fit))
    escapes = _WORDS - 2 * sizes.size
    residual = _signed(_WORDS * upper, _WORDS) - _signed(sizes.size - fit[start], 2 * sizes.size)
    return _SpeckleTable(np.concatenate([np.zeros(escapes, np.uint16), sizes, sizes]), escapes, _Alias.of(residual))


def _signed(upper: NDArray[Any], total: int) -> _Floats:
    """Return the mass of each output for each grey level, given a symmetric change of m = 0..256 or more."""
    change = np.arange(1, 256) - np.arange(256)[:, np.newaxis]  # output >= k if change >= k - x
    beyond = np.take_along_axis(upper, np.maximum(change, 1 - change), axis=1)
    tail = np.where(change > 0, beyond, total - beyond)
    mass: _Floats = -np.diff(tail, axis=1, prepend=total, append=0).astype(np.float64)
    return mass

"""Compare two encodings of the same video."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

import av
import numpy as np
from numpy.typing import NDArray

from .pyav import open_input, plane_view
from .thumbnails import UNDECODABLE, error_line, frames_of, psnr

ALIKE_DB = 30.0
APART_S = 0.001

LikenessKind = Literal["alike", "pictures", "frames", "size", "times", "undecodable"]


@dataclass(frozen=True)
class Likeness:
    """The result of comparing two videos.

    Attributes:
        kind: "alike" if frames agree in number, size and time (within 1 ms) and each has a PSNR of at least 30 dB;
            otherwise the first difference.
        decibels: PSNR over all planes of the frame that differs most, at most 100; None if no frames were compared.
        detail: Description of the difference, or an empty string.
        same_sound: Whether the audio tracks consist of the same packets; True if neither file has one.
    """

    kind: LikenessKind
    decibels: float | None = None
    detail: str = ""
    same_sound: bool = True


def compare_videos(one: bytes, other: bytes) -> Likeness:
    """Compare two files frame by frame. The reported PSNR is that of the worst frame, so one wrong frame is noticed."""
    worst, apart_s, counts = 0.0, 0.0, [0, 0]
    starts: tuple[float, float] | None = None
    try:
        same_sound = _sound_hash(one) == _sound_hash(other)
        for shown, meant in zip_longest(frames_of(one), frames_of(other)):
            counts[0] += shown is not None
            counts[1] += meant is not None
            if shown is None or meant is None:
                continue
            if (shown.width, shown.height) != (meant.width, meant.height):
                sizes = f"{shown.width}x{shown.height} → {meant.width}x{meant.height}"
                return Likeness("size", None, sizes, same_sound)
            worst = max(worst, _squared_error(shown, meant))
            times = shown.time or 0.0, meant.time or 0.0
            starts = starts or times
            apart_s = max(apart_s, abs((times[0] - starts[0]) - (times[1] - starts[1])))
    except UNDECODABLE as error:
        return Likeness("undecodable", None, error_line(error))
    decibels = psnr(worst)
    if counts[0] != counts[1]:
        return Likeness("frames", None, f"{counts[0]} → {counts[1]} frames", same_sound)
    if apart_s > APART_S:
        return Likeness("times", decibels, f"frames up to {apart_s:.3f} s apart", same_sound)
    if decibels < ALIKE_DB:
        return Likeness("pictures", decibels, f"{decibels:.1f} dB", same_sound)
    return Likeness("alike", decibels, "", same_sound)


def _squared_error(shown: av.VideoFrame, meant: av.VideoFrame) -> float:
    """Return the mean squared error of two frames in grey levels², computed in RGB if their formats differ."""
    planes = [_planes(frame, same_format=shown.format.name == meant.format.name) for frame in (shown, meant)]
    squares = sum(float(((a.astype(np.float32) - b) ** 2).sum(dtype=np.float64)) for a, b in zip(*planes, strict=True))
    return squares / sum(plane.size for plane in planes[0])


def _planes(frame: av.VideoFrame, *, same_format: bool) -> list[NDArray[np.uint8]]:
    if same_format and len(frame.planes) > 1:
        return [plane_view(frame, number) for number in range(len(frame.planes))]
    return [np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)]


def _sound_hash(content: bytes) -> str:
    with open_input(io.BytesIO(content)) as container:
        stream = container.streams.best("audio")
        if stream is None:
            return ""
        digest = hashlib.sha256()
        for packet in container.demux(stream):
            digest.update(bytes(packet))
        return digest.hexdigest()

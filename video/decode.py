"""Frames of a video, exactly the ones asked for, upright and ready to encode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

import av
import numpy as np
from av.video.frame import PictureType
from av.video.reformatter import ColorRange
from numpy.typing import NDArray

from ..errors import VideoError
from .index import FrameIndex, IndexMismatchError, index_frames, open_video

T = TypeVar("T")


def decode(index: FrameIndex, frames: range) -> Iterator[av.VideoFrame]:
    """Decode a run of frames, starting at the last keyframe before it.

    Every frame is checked against the index by its timestamp. A file in which seeking lands elsewhere is decoded from
    its beginning.

    Args:
        index: The video.
        frames: Frame indices, step 1.

    Yields:
        The frames as decoded, one for each index, in order.

    Raises:
        VideoError: The decoder refuses (`undecodable`), or says that a frame asked for is damaged.
        IndexMismatchError: The decoder delivers other frames than the index lists, even from the beginning.
    """
    done = 0
    if frames and index.timed:
        earlier = index.keyframes[index.keyframes <= index.pts[frames.start]]
        if len(earlier) and earlier[-1] > index.pts[0]:
            for frame in _run(index, frames, int(earlier[-1])):
                if frame.pts != index.pts[frames.start + done] or frame.is_corrupt:
                    break
                yield frame
                done += 1
    if done < len(frames):
        for frame in _run(index, frames[done:], None):
            if index.timed and frame.pts != index.pts[frames.start + done]:
                raise IndexMismatchError
            if frame.is_corrupt:
                raise VideoError("undecodable", f"{index.path.name}: frame {frames.start + done} is damaged")
            yield frame
            done += 1
    if done < len(frames):
        raise IndexMismatchError


def _run(index: FrameIndex, frames: range, keyframe: int | None) -> Iterator[av.VideoFrame]:
    """Decode from a keyframe (or the beginning) and give what comes from the first frame asked for onwards."""
    with open_video(index.path) as (container, stream):
        if keyframe is not None:
            container.seek(keyframe, stream=stream)
        if not index.timed:
            yield from islice(container.decode(stream), frames.start, frames.stop)
            return
        first = int(index.pts[frames.start])
        wanted = (frame for frame in container.decode(stream) if frame.pts is None or frame.pts >= first)
        yield from islice(wanted, len(frames))


def upright(frame: av.VideoFrame) -> av.VideoFrame:
    """Bring a decoded frame into the form that is encoded: yuv420p, rotation applied, even sizes.

    8-bit 4:2:0 limited-range frames with even sizes pass untouched. Anything else is converted once: other chroma
    layouts, depths and full range by FFmpeg's scaler; rotations by multiples of 90° without loss; an odd width or
    height grows by one pixel that repeats the edge.

    Raises:
        VideoError: The rotation is not a multiple of 90° (`undecodable`).
    """
    turns, rest = divmod(frame.rotation, 90)
    if rest:
        raise VideoError("undecodable", f"it is rotated by {frame.rotation}°; only multiples of 90° can be applied")
    full = frame.format.name.startswith("yuvj") or frame.color_range == ColorRange.JPEG
    if frame.format.name != "yuv420p" or full:
        frame = frame.reformat(
            format="yuv420p",
            src_color_range=ColorRange.JPEG if full else None,
            dst_color_range=ColorRange.MPEG if full else None,
            threads=1,
        )
    if turns % 4 or frame.width % 2 or frame.height % 2:
        frame = _turn_and_pad(frame, turns)
    # Otherwise the encoder would copy the source's choice of I, P and B frames.
    frame.pict_type = PictureType.NONE
    return frame


def _turn_and_pad(frame: av.VideoFrame, turns: int) -> av.VideoFrame:
    planes = [np.rot90(plane_view(frame, number), turns) for number in range(3)]
    height, width = planes[0].shape
    planes[0] = np.pad(planes[0], ((0, height % 2), (0, width % 2)), mode="edge")
    turned = av.VideoFrame(width + width % 2, height + height % 2, "yuv420p")
    for number, plane in enumerate(planes):
        plane_view(turned, number)[...] = plane
    turned.color_range, turned.colorspace = frame.color_range, frame.colorspace
    return turned


def plane_view(frame: av.VideoFrame, number: int) -> NDArray[np.uint8]:
    """Look at one 8-bit plane of a frame as an array of shape (height, width), without copying."""
    plane = frame.planes[number]
    rows: NDArray[np.uint8] = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    return rows[: plane.height, : plane.width]


def with_index(path: Path, work: Callable[[FrameIndex], T]) -> T:
    """Do something with the frames of a video, indexed by its packets, or by decoding it if those are wrong.

    Raises:
        VideoError: The file cannot be used.
    """
    try:
        return work(index_frames(path))
    except IndexMismatchError:
        pass
    try:
        return work(index_frames(path, decode=True))
    except IndexMismatchError:
        raise VideoError("undecodable", f"{path.name}: decoding it twice gives different frames") from None

"""What PyAV 15 to 19 say differently, said once; everything else of `video/` is the same for all of them.

* `metadata_errors` is gone in 19, which reads any metadata.
* PyAV 15 (FFmpeg 7) gives packets of MP4 files with B-frames no duration, or a guess. FFmpeg 8 takes the distance to
  the next one in the order of decoding; so do we.
* Frames know their colour primaries and transfer since 17. Before, they are noted from the decoder as frames come.
* Since 17 pictures are converted with the matrix and range that the frame names, and `threads` can be said. Before,
  the matrix was BT.601 whatever the frame said, unless both sides were named and differed.
  Nor was the range changed between formats of one layout, unless the name of the format (yuvj420p) said it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import av
import av.container
import numpy as np
from av.sidedata.sidedata import Type as SideDataType
from av.video.reformatter import ColorRange
from av.video.stream import VideoStream
from numpy.typing import NDArray

from ..records.objects import local_copy

Frame = av.VideoFrame

MAJOR = int(av.__version__.split(".")[0])
UNSPECIFIED, BT601 = 2, 5  # AVCOL_PRI_UNSPECIFIED and AVCOL_TRC_UNSPECIFIED; SWS_CS_ITU601


def open_input(path: Path) -> av.container.InputContainer:
    """Open a media file to read it, whatever bytes its metadata hold; one in object storage by a copy of it.

    Raises:
        FFmpegError, OSError, ValueError: It cannot be opened.
    """
    path = local_copy(path)
    return av.open(str(path), metadata_errors="ignore") if MAJOR < 19 else av.open(str(path))


def demuxed(container: av.container.InputContainer, stream: VideoStream) -> Iterator[av.Packet[VideoStream]]:
    """Read the packets of a stream; those of MP4 and QuickTime files know their durations."""
    if MAJOR >= 16 or "mp4" not in container.format.name:
        yield from container.demux(stream)
        return
    before: av.Packet[VideoStream] | None = None
    first: int | None = None
    for packet in container.demux(stream):  # ends with an empty one
        if before is not None and before.dts is not None:
            first = before.dts if first is None else first
            if packet.dts is not None:
                before.duration = packet.dts - before.dts
            elif not before.duration:
                before.duration = max(first + (stream.duration or 0) - before.dts, 0)
        if before is not None:
            yield before
        before = packet
    if before is not None:
        yield before


def decoded(container: av.container.InputContainer, stream: VideoStream) -> Iterator[Frame]:
    """Decode the frames of a stream; each knows its colours (see `colours`) and its duration."""
    for packet in demuxed(container, stream):
        yield from decoded_packet(packet, stream)


def decoded_packet(packet: av.Packet[VideoStream], stream: VideoStream) -> Iterator[Frame]:
    """Decode the frames that one packet of a stream brings out; each knows its colours (see `colours`)."""
    for frame in packet.decode():
        if MAJOR < 17:
            frame.opaque = (stream.codec_context.color_primaries, stream.codec_context.color_trc)
        yield frame


def colours(frame: Frame) -> tuple[int, int, int, int]:
    """Return a frame's colour range, matrix, primaries and transfer, as FFmpeg numbers them."""
    if MAJOR < 17:
        return (frame.color_range, frame.colorspace, *(cast(Any, frame.opaque) or (UNSPECIFIED, UNSPECIFIED)))
    return frame.color_range, frame.colorspace, frame.color_primaries, frame.color_trc


def like(frame: Frame, other: Frame) -> Frame:
    """Put the colour tags of another frame on a frame."""
    frame.color_range, frame.colorspace, *rest = colours(other)
    if MAJOR < 17:
        frame.opaque = tuple(rest)
    else:
        frame.color_primaries, frame.color_trc = rest
    return frame


def plane_view(frame: Frame, number: int) -> NDArray[np.uint8]:
    """Look at one 8-bit plane of a frame as an array of shape (height, width), without copying."""
    plane = frame.planes[number]
    rows: NDArray[np.uint8] = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    return rows[: plane.height, : plane.width]


def is_full(frame: Frame) -> bool:
    """Return whether a frame uses all 256 levels, by its format's name or its tag."""
    return frame.format.name.startswith("yuvj") or frame.color_range == ColorRange.JPEG


def to_yuv420p(frame: Frame) -> Frame:
    """Convert a frame to yuv420p of limited range, on one thread; the matrix stays that of its tag (RGB: BT.601)."""
    full = is_full(frame)
    source, target = (ColorRange.JPEG, ColorRange.MPEG) if full else (None, None)
    if MAJOR >= 17:
        return frame.reformat(format="yuv420p", src_color_range=source, dst_color_range=target, threads=1)
    if frame.format.is_rgb:
        shown = _rgb_before_17(frame, frame.colorspace)
        shown.color_range = target or frame.color_range
        return shown
    if full and (MAJOR < 16 or frame.format.name == "yuv420p"):
        plain = frame.reformat(format="yuvj420p" if frame.format.name.startswith("yuvj") else "yuv420p")
        named = av.VideoFrame(frame.width, frame.height, "yuvj420p")
        for number in range(3):
            plane_view(named, number)[...] = plane_view(plain, number)
        frame = like(named, frame)
    shown = frame.reformat(format="yuv420p", src_color_range=source, dst_color_range=target)
    shown.color_range = target or shown.color_range
    return shown


def rgb_frame(picture: NDArray[np.uint8]) -> Frame:
    """Return uint8 RGB of shape (height, width, 3) as a frame."""
    return av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), "rgb24")


def rgb_to_yuv420p(picture: NDArray[np.uint8], matrix: int = UNSPECIFIED) -> Frame:
    """Convert a picture to yuv420p of limited range, on one thread.

    Args:
        picture: uint8 RGB, shape (height, width, 3).
        matrix: AVColorSpace; unspecified is BT.601.
    """
    frame = rgb_frame(picture)
    frame.colorspace = matrix  # the converted frame's, which it is copied to
    return frame.reformat(format="yuv420p", threads=1) if MAJOR >= 17 else _rgb_before_17(frame, matrix)


def _rgb_before_17(frame: Frame, matrix: int) -> Frame:
    other = BT601 if matrix != BT601 else UNSPECIFIED
    return frame.reformat(
        format="yuv420p",
        src_colorspace=other,
        dst_colorspace=matrix,
        src_color_range=ColorRange.JPEG,
        dst_color_range=ColorRange.MPEG,
    )


def to_rgb(frame: Frame) -> NDArray[np.uint8]:
    """Convert a frame to uint8 RGB of shape (height, width, 3), as decord, OpenCV and FFmpeg do; on one thread."""
    if MAJOR >= 17:
        shown = frame.reformat(format="rgb24", threads=1)
    else:
        other = BT601 if frame.colorspace != BT601 else UNSPECIFIED
        full = ColorRange.JPEG if is_full(frame) else ColorRange.MPEG
        shown = frame.reformat(
            format="rgb24",
            src_colorspace=frame.colorspace,
            dst_colorspace=other,
            src_color_range=full,
            dst_color_range=ColorRange.JPEG,
        )
    return np.asarray(shown.to_ndarray(), np.uint8)


def display_matrix(frame: Frame) -> NDArray[np.int64] | None:
    """Return the nine numbers of a frame's display matrix, int64, in 16.16 fixed point; None if it has none."""
    data = cast(Any, frame.side_data).get(SideDataType.DISPLAYMATRIX)  # typed as names, but gives the data
    return None if data is None else np.frombuffer(memoryview(data), np.int32)[:9].astype(np.int64)

"""Decode exact frames of a video, upright and in the pixel format of the encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import av
import numpy as np
from av.container import InputContainer
from av.video.frame import PictureType
from av.video.stream import VideoStream

from ..core.errors import VideoError
from .index import FrameIndex, IndexMismatchError, index_frames, open_video
from .pyav import copy_colours, decoded_packet, demuxed, display_matrix, is_full, memory_check, plane_view, to_yuv420p

T = TypeVar("T")
BT601 = 6  # AVCOL_SPC_SMPTE170M


def decode(index: FrameIndex, frames: range) -> Iterator[av.VideoFrame]:
    """Decode consecutive frames, starting at the last keyframe before them.

    Every timestamp is checked against the index. If seeking ends up at another position, the file is decoded from its
    beginning.

    Raises:
        VideoError: The decoder fails, or a frame since the keyframe is damaged (`undecodable`).
        IndexMismatchError: The decoded frames differ from the index even when decoding from the beginning.
    """
    done = 0
    if frames:
        earlier = index.keyframes[index.keyframes <= index.pts[frames.start]]
        if len(earlier) and earlier[-1] > index.pts[0]:
            with suppress(IndexMismatchError, VideoError):  # decoding from the beginning may still succeed
                for frame in _decode_run(index, frames, int(earlier[-1])):
                    yield frame
                    done += 1
    if done < len(frames):
        yield from _decode_run(index, frames[done:], None)


def decode_at(index: FrameIndex, frames: Sequence[int]) -> Iterator[av.VideoFrame]:
    """Decode individual frames without decoding everything between them.

    The decoder seeks to keyframes and skips frames that no other frame references. `frames` must increase. Every
    timestamp is checked against the index. If a check fails, the remaining frames are decoded by `decode`, which may
    raise its errors.
    """
    done = 0
    for frame in _decode_sparsely(index, frames):
        if frame.pts != index.pts[frames[done]]:
            break
        yield frame
        done += 1
    if done < len(frames):
        wanted = set(frames[done:])
        run = range(frames[done], frames[-1] + 1)
        for number, frame in zip(run, decode(index, run), strict=True):
            if number in wanted:
                yield frame


def _decode_sparsely(index: FrameIndex, frames: Sequence[int]) -> Iterator[av.VideoFrame]:
    """Decode individual frames and skip others. Stop at the first mismatch with the index."""
    known = set(index.pts.tolist())
    try:
        with open_video(index.path, infer_times=index.stamps is None) as (container, stream):
            for start, left in _runs(index, frames):
                if start is not None:
                    container.seek(start, stream=stream)
                before: int | None = None
                for frame in _decode_needed(index, container, stream, known - left):
                    if frame.pts is None or (before is not None and frame.pts <= before):
                        return
                    if frame.is_corrupt and (start is None or frame.pts >= start):
                        return
                    before = frame.pts
                    if frame.pts in left:
                        left.remove(frame.pts)
                        yield frame
                    if not left:
                        break
    except VideoError:
        return


def _runs(index: FrameIndex, frames: Sequence[int]) -> list[tuple[int | None, set[int]]]:
    """Group frames by the keyframe to seek to, or None to decode from the beginning."""
    runs: list[tuple[int | None, set[int]]] = []
    following = 0
    for frame in frames:
        position = int(np.searchsorted(index.keyframes, index.pts[frame], side="right")) - 1
        keyframe = int(index.keyframes[position]) if position >= 0 else None
        if keyframe is not None and keyframe > index.boundary(following):
            runs.append((keyframe, set()))
        elif not runs:
            runs.append((None, set()))
        runs[-1][1].add(int(index.pts[frame]))
        following = frame + 1
    return runs


def _decode_needed(
    index: FrameIndex, container: InputContainer, stream: VideoStream, spare: set[int]
) -> Iterator[av.VideoFrame]:
    """Decode the packets that follow, skipping frames that are not needed and that no other frame references.

    Only frames that are stored out of order (B-frames) are skipped. A file without them may have invalid timestamps,
    which can only be detected by decoding every frame.
    """
    latest: int | None = None
    check, shown = memory_check(), False
    for packet in _packets(index, container, stream):
        behind = packet.pts is not None and latest is not None and packet.pts < latest
        stream.codec_context.skip_frame = "NONREF" if behind and packet.pts in spare else "DEFAULT"
        latest = latest if behind or packet.pts is None else packet.pts
        for frame in decoded_packet(packet, stream):
            shown = True
            yield frame
        if not shown:
            check()


def _decode_run(index: FrameIndex, frames: range, keyframe: int | None) -> Iterator[av.VideoFrame]:
    """Decode consecutive frames, starting at a keyframe or at the beginning. Raise the errors of `decode`."""
    with open_video(index.path, infer_times=index.stamps is None) as (container, stream):
        if keyframe is not None:
            container.seek(keyframe, stream=stream)
        decoded = (frame for packet in _packets(index, container, stream) for frame in decoded_packet(packet, stream))
        shown = _undamaged_from(index, frames, keyframe, decoded)
        for pts in index.pts[frames.start : frames.stop]:
            frame = next(shown, None)
            if frame is None or frame.pts != pts:
                raise IndexMismatchError
            yield frame


def _packets(index: FrameIndex, container: InputContainer, stream: VideoStream) -> Iterator[av.Packet[VideoStream]]:
    """Yield packets whose frames have the timestamps of the index."""
    packets = demuxed(container, stream)
    return packets if index.stamps is None else index.stamps.on(packets)


def _undamaged_from(
    index: FrameIndex, frames: range, keyframe: int | None, decoded: Iterable[av.VideoFrame]
) -> Iterator[av.VideoFrame]:
    """Yield frames from the first requested one onward, after checking those before it.

    A frame depends on all frames since its keyframe, so damage to any of them is an error. Damaged frames that are
    displayed before the keyframe are ignored, as they cannot be decoded after a seek into an open group of pictures.
    """
    first = int(index.pts[frames.start])
    before: int | None = None
    for frame in decoded:
        if frame.pts is None or (before is not None and frame.pts <= before):
            raise IndexMismatchError
        before = frame.pts
        if frame.is_corrupt and (keyframe is None or frame.pts >= keyframe):
            raise VideoError("undecodable", f"{index.path.name}: the frame at {index.at(frame.pts):.3f} s is damaged")
        if frame.pts >= first:
            yield frame


def upright(frame: av.VideoFrame) -> av.VideoFrame:
    """Convert a decoded frame to the encoder's format: yuv420p, with rotation applied and even dimensions.

    Frames that are 8-bit, 4:2:0, limited-range and of even dimensions are returned unchanged. Other chroma layouts,
    depths and ranges are converted by FFmpeg's scaler. Rotations by multiples of 90° and flips are lossless. Odd
    dimensions are padded by repeating the right or bottom edge.

    Raises:
        VideoError: The display matrix contains another rotation (`undecodable`).
    """
    turn = _orientation(frame)
    if frame.format.name != "yuv420p" or is_full(frame):
        rgb = frame.format.is_rgb
        frame = to_yuv420p(frame)
        if rgb:
            frame.colorspace = BT601
    if turn != STRAIGHT or frame.width % 2 or frame.height % 2:
        frame = _turn_and_pad(frame, turn)
    # Otherwise the encoder would reuse the source's frame types (I, P and B).
    frame.pict_type = PictureType.NONE
    return frame


Turn = tuple[bool, bool, bool]
"""Whether to swap x and y, then to mirror x, then to mirror y."""
STRAIGHT: Turn = (False, False, False)


def _orientation(frame: av.VideoFrame) -> Turn:
    """Parse the display matrix: x′ = a·x + c·y, y′ = b·x + d·y, in 16.16 fixed point."""
    matrix = display_matrix(frame)
    if matrix is None:
        return STRAIGHT
    a, b, _, c, d = matrix[:5].tolist()
    small = max(map(abs, (a, b, c, d))) / 50
    if abs(b) <= small and abs(c) <= small and a and d:
        return (False, a < 0, d < 0)
    if abs(a) <= small and abs(d) <= small and b and c:
        return (True, c < 0, b < 0)
    raise VideoError("undecodable", f"it is rotated by {frame.rotation}°; only multiples of 90° are supported")


def _turn_and_pad(frame: av.VideoFrame, turn: Turn) -> av.VideoFrame:
    exchange, mirror_x, mirror_y = turn
    planes = [plane_view(frame, channel) for channel in range(3)]
    planes = [plane.T if exchange else plane for plane in planes]
    planes = [plane[:: -1 if mirror_y else 1, :: -1 if mirror_x else 1] for plane in planes]
    height, width = planes[0].shape
    planes[0] = np.pad(planes[0], ((0, height % 2), (0, width % 2)), mode="edge")
    turned = av.VideoFrame(width + width % 2, height + height % 2, "yuv420p")
    for channel, plane in enumerate(planes):
        plane_view(turned, channel)[...] = plane
    return copy_colours(turned, frame)


def with_index(path: Path, work: Callable[[FrameIndex], T], index: Callable[..., FrameIndex] = index_frames) -> T:
    """Call `work` with the frame index of a video.

    The index is built from packets or, if these turn out to be wrong, by decoding the file. Pass a cached version of
    `index_frames` as `index` to read the same file repeatedly.

    Raises:
        VideoError: The file cannot be used.
    """
    try:
        return work(index(path))
    except IndexMismatchError:
        pass
    try:
        return work(index(path, decode=True))
    except IndexMismatchError:
        raise VideoError("undecodable", f"{path.name}: decoding it twice gives different frames") from None


def shape_of(index: FrameIndex) -> dict[str, int | float]:
    """Return the number of frames, frame rate, displayed size and duration of a video."""
    seconds = index.seconds(index.num_frames)
    first = upright(next(decode(index, range(1))))
    return {
        "num_frames": index.num_frames,
        "fps": float(index.num_frames / seconds),
        "width": first.width,
        "height": first.height,
        "duration_s": float(seconds),
    }

"""Open media files safely, and hide the differences between PyAV 15 and 19 from the other modules of `video/`.

* PyAV 19 removed `metadata_errors` and reads any metadata.
* In PyAV 15 (FFmpeg 7), packets of MP4 files with B-frames have no duration, or only an estimate. FFmpeg 8 uses the
  distance to the next packet in decoding order, which this module computes for PyAV 15.
* Frames have colour primaries and transfer since PyAV 17. In earlier versions, they are read from the decoder with each
  frame.
* Since PyAV 17, pictures are converted with the matrix and range of the frame, and `threads` can be set. Earlier
  versions use BT.601 for any frame unless two different matrices are specified, and they do not convert the range
  between formats of the same layout unless the format's name (yuvj420p) implies it.
"""

from __future__ import annotations

import errno
import io
import mmap
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import av
import av.container
import numpy as np
from av.error import FFmpegError
from av.sidedata.sidedata import Type as SideDataType
from av.video.reformatter import ColorRange
from av.video.stream import VideoStream
from numpy.typing import NDArray

from ..core.files import regular
from ..core.objects import local_copy

Frame = av.VideoFrame

MAJOR = int(av.__version__.split(".")[0])
UNSPECIFIED, BT601 = 2, 5  # AVCOL_PRI_UNSPECIFIED and AVCOL_TRC_UNSPECIFIED; SWS_CS_ITU601


FORMATS = (
    "mov,matroska,webm,avi,mpegts,mpeg,mpegvideo,ogg,flv,live_flv,asf,asf_o,rm,mxf,gxf,wtv,dv,nut,nuv,ivf,gif,apng,dhav,"
    "m4v,h261,h263,h264,hevc,vvc,av1,obu,evc,dirac,vc1,vc1test,cavsvideo,avs2,avs3,mjpeg,yuv4mpegpipe"
)  # supported input formats: each is a single file, and none refers to another (as `mlv` does)
NAME_OTHERS = ("concat", "dash", "hls", "image2", "imf", "mlv", "rtsp", "sdp", "vobsub", "lavfi")
MOST_PIXELS = 35_651_584  # pixels per frame: the maximum of the levels of H.264 and AV1, such as 8192 x 4352
MOST_HELD = 500_000_000  # bytes of a decoder; with 8192 x 4320 pixels and the default settings of x264, it needs 400 MB
GUARDS = {
    "format_whitelist": FORMATS,
    "protocol_whitelist": "file",  # also applies to files that another file makes FFmpeg open
    "enable_drefs": "0",  # MP4 tracks that are stored in another file
    "use_absolute_path": "0",
}
AS_STORED = {"fflags": "+nofillin"}
GENERATE_PTS = 1  # AVFMT_FLAG_GENPTS, which PyAV sets
CODEC_GUARDS = {"max_pixels": str(MOST_PIXELS)}


def open_input(source: Path | BinaryIO, *, infer_times: bool = True) -> av.container.InputContainer:
    """Open a media file for reading. Files in object storage are downloaded first.

    By default, FFmpeg infers timestamps and durations that the container does not store.

    All media are opened here. The format is detected from the content; formats that can refer to other files or URLs,
    such as playlists, are rejected before FFmpeg reads the file. A path is never interpreted as a URL.

    Raises:
        FFmpegError, OSError, ValueError: The file cannot be opened, or its format is not supported.
    """
    what: str | BinaryIO
    if isinstance(source, Path):
        path = regular(local_copy(source))
        what = f"file:{os.path.abspath(path)}"
        with open(path, "rb") as file:
            check_samples(file)
    else:
        what = source
        check_samples(source)
    try:
        container = _opened(what, GUARDS if infer_times else GUARDS | AS_STORED)
    except FFmpegError as error:
        refused = _refused_format(what) if error.errno == errno.EINVAL else None
        if refused is None:
            raise
        names = "can refer to other files" if refused in NAME_OTHERS else "is not supported"
        raise ValueError(f"its format is {refused}, which {names}; use a video file such as MP4") from error
    if not infer_times:
        container.flags &= ~GENERATE_PTS
    for stream in container.streams.video:
        codec = stream.codec_context
        if codec is None:
            continue
        if codec.width * codec.height > MOST_PIXELS:
            size = f"{codec.width} x {codec.height}"
            container.close()
            raise ValueError(f"its frames have {size} pixels; at most {MOST_PIXELS:,} are decoded")
        codec.options = {**codec.options, **CODEC_GUARDS}
    return container


def _opened(what: Any, options: dict[str, str] = GUARDS) -> av.container.InputContainer:
    how: Any = {"options": CODEC_GUARDS, "container_options": options}
    if MAJOR < 19:
        how["metadata_errors"] = "ignore"
    return cast(av.container.InputContainer, av.open(what, "r", **how))


def _refused_format(what: str | BinaryIO) -> str | None:
    """Return the format that FFmpeg rejected according to its debug log, or None if the file failed otherwise."""
    if not isinstance(what, str):
        what.seek(0)
    before = av.logging.get_level()
    av.logging.set_level(av.logging.DEBUG)
    try:
        with av.logging.Capture() as logs, suppress(FFmpegError):
            _opened(what).close()
    finally:
        av.logging.set_level(before)
    lines = [line for _, _, line in logs]
    if not any("not on whitelist" in line for line in lines):
        return None
    formats = [match[1] for line in lines if (match := re.search(r"Format (\S+) (?:probed|detected)", line))]
    return formats[-1] if formats else "unknown"


def demuxed(container: av.container.InputContainer, stream: VideoStream) -> Iterator[av.Packet[VideoStream]]:
    """Yield the packets of a stream. In MP4 and QuickTime files, every packet has a duration."""
    if MAJOR >= 16 or "mp4" not in container.format.name:
        yield from container.demux(stream)
        return
    before: av.Packet[VideoStream] | None = None
    first: int | None = None
    for packet in container.demux(stream):  # the last packet is empty
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


def decoded(container: av.container.InputContainer, stream: VideoStream, *, released: bool = False) -> Iterator[Frame]:
    """Yield the decoded frames of a stream, with durations and colour tags (see `colours`).

    Files made to exhaust memory refer to many large frames. The memory of the decoder is limited to `MOST_HELD` until
    the first frame, or, if the caller states that it releases the frames, until the end.

    Raises:
        FFmpegError: The decoder fails, or exceeds the limit.
    """
    check, shown = memory_check(), False
    for packet in demuxed(container, stream):
        for frame in decoded_packet(packet, stream):
            shown = True
            yield frame
        if released or not shown:
            check()


def decoded_packet(packet: av.Packet[VideoStream], stream: VideoStream) -> Iterator[Frame]:
    """Yield the decoded frames of a packet, with colour tags (see `colours`)."""
    for frame in packet.decode():
        if MAJOR < 17:
            frame.opaque = (stream.codec_context.color_primaries, stream.codec_context.color_trc)
        yield frame


def memory_check() -> Callable[[], None]:
    """Return a function that raises FFmpegError if this process has grown by more than `MOST_HELD` bytes since."""
    before = memory_in_use()

    def check() -> None:
        if memory_in_use() - before > MOST_HELD:
            raise FFmpegError(errno.ENOMEM, f"decoding it takes more than {MOST_HELD / 1e6:,.0f} MB of memory")

    return check


def memory_in_use() -> int:
    """Return the resident memory of this process in bytes, or its maximum so far where only that is known."""
    with suppress(OSError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE
    if sys.platform == "win32":
        return 0  # unknown
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def colours(frame: Frame) -> tuple[int, int, int, int]:
    """Return the colour range, matrix, primaries and transfer of a frame as FFmpeg's numeric codes."""
    if MAJOR < 17:
        return (frame.color_range, frame.colorspace, *(cast(Any, frame.opaque) or (UNSPECIFIED, UNSPECIFIED)))
    return frame.color_range, frame.colorspace, frame.color_primaries, frame.color_trc


def copy_colours(frame: Frame, source: Frame) -> Frame:
    """Copy the colour tags of `source` to `frame`."""
    frame.color_range, frame.colorspace, *rest = colours(source)
    if MAJOR < 17:
        frame.opaque = tuple(rest)
    else:
        frame.color_primaries, frame.color_trc = rest
    return frame


def plane_view(frame: Frame, number: int) -> NDArray[np.uint8]:
    """Return an 8-bit plane as an array of shape (height, width), without copying it."""
    plane = frame.planes[number]
    rows: NDArray[np.uint8] = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    return rows[: plane.height, : plane.width]


def is_full(frame: Frame) -> bool:
    """Return whether the colours of a frame are full range, according to its format or its tag."""
    return frame.format.name.startswith("yuvj") or frame.color_range == ColorRange.JPEG


def to_yuv420p(frame: Frame) -> Frame:
    """Convert a frame to limited-range yuv420p on one thread, with its own matrix (BT.601 for RGB)."""
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
        frame = copy_colours(named, frame)
    shown = frame.reformat(format="yuv420p", src_color_range=source, dst_color_range=target)
    shown.color_range = target or shown.color_range
    return shown


def rgb_frame(picture: NDArray[np.uint8]) -> Frame:
    """Create a frame from a uint8 RGB array of shape (height, width, 3)."""
    return av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), "rgb24")


def rgb_to_yuv420p(picture: NDArray[np.uint8], matrix: int = UNSPECIFIED) -> Frame:
    """Convert a uint8 RGB array of shape (height, width, 3) to limited-range yuv420p on one thread.

    `matrix` is an AVColorSpace. If it is unspecified, BT.601 is used.
    """
    frame = rgb_frame(picture)
    frame.colorspace = matrix  # tag the converted frame, which is a copy
    return frame.reformat(format="yuv420p", threads=1) if MAJOR >= 17 else _rgb_before_17(frame, matrix)


def _rgb_before_17(frame: Frame, matrix: int) -> Frame:
    source_matrix = BT601 if matrix != BT601 else UNSPECIFIED
    return frame.reformat(
        format="yuv420p",
        src_colorspace=source_matrix,
        dst_colorspace=matrix,
        src_color_range=ColorRange.JPEG,
        dst_color_range=ColorRange.MPEG,
    )


def to_rgb(frame: Frame) -> NDArray[np.uint8]:
    """Convert a frame to a uint8 RGB array of shape (height, width, 3) on one thread, as decord and OpenCV do."""
    if MAJOR >= 17:
        shown = frame.reformat(format="rgb24", threads=1)
    else:
        target_matrix = BT601 if frame.colorspace != BT601 else UNSPECIFIED
        full = ColorRange.JPEG if is_full(frame) else ColorRange.MPEG
        shown = frame.reformat(
            format="rgb24",
            src_colorspace=frame.colorspace,
            dst_colorspace=target_matrix,
            src_color_range=full,
            dst_color_range=ColorRange.JPEG,
        )
    return np.asarray(shown.to_ndarray(), np.uint8)


def display_matrix(frame: Frame) -> NDArray[np.int64] | None:
    """Return the display matrix of a frame as nine int64 values in 16.16 fixed point, or None if it has none."""
    data = cast(Any, frame.side_data).get(SideDataType.DISPLAYMATRIX)  # the type stubs expect names
    return None if data is None else np.frombuffer(memoryview(data), np.int32)[:9].astype(np.int64)


# Sample counts that MP4 and QuickTime files declare. FFmpeg allocates memory for them before it reads any sample, so a
# file of one kilobyte can request gigabytes.

MOST_MORE = 10_000_000  # tolerated samples beyond one per byte
MOST_EDITED = 5_000_000  # samples times edits, checked above `FEW_EDITS`; each edit can include all samples
FEW_EDITS = 10
LARGEST_BOX = 100_000_000  # bytes to search
TIME_TABLES = re.compile(rb"stts.{4}(.{4})", re.DOTALL)
SAMPLE_COUNTS = re.compile(rb"(?:st(?:sz|z2).{8}|(elst).{4}|trun.{4})(.{4})", re.DOTALL)
BOX_NAME = re.compile(rb"[A-Za-z0-9_ ]{4}")


def check_samples(file: BinaryIO) -> None:
    """Raise ValueError if a file declares more samples than it could hold, else return to its beginning."""
    size = file.seek(0, io.SEEK_END)
    samples = timed = edits = start = 0
    while start + 8 <= size:
        file.seek(start)
        head = file.read(16)
        length = int.from_bytes(head[:4]) if head[:4] != b"\0\0\0\1" else int.from_bytes(head[8:])
        if head[4:8] != b"mdat" and BOX_NAME.fullmatch(head[4:8]):  # FFmpeg does not parse any other boxes
            file.seek(start)
            box = file.read(min(length or size, LARGEST_BOX))
            timed += sum(
                _timed_samples(box, match.end(), int.from_bytes(match[1])) for match in TIME_TABLES.finditer(box)
            )
            for edited, count in SAMPLE_COUNTS.findall(box):
                if edited:
                    edits = max(edits, int.from_bytes(count))
                else:
                    samples += int.from_bytes(count)
        if length < 8:  # the box extends to the end of the file
            break
        start += length
    file.seek(0)
    if max(samples, timed) > size + MOST_MORE or (edits > FEW_EDITS and samples * edits > MOST_EDITED):
        raise ValueError(
            f"it declares {max(samples, timed):,} samples and up to {edits:,} edits, more than {size:,} bytes can hold"
        )


def _timed_samples(box: bytes, start: int, entries: int) -> int:
    table = np.frombuffer(box, ">u4", 2 * min(entries, (len(box) - start) // 8), start)
    return int(table[::2].sum(dtype=np.uint64))

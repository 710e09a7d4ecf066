"""Decode videos with decord, the decoder of most video-language pipelines, to check that it agrees with PyAV."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..core.errors import VideoError
from ..core.extras import import_extra
from .index import open_video
from .pyav import to_rgb
from .thumbnails import UNDECODABLE, decode_video, frames_of

COMPARED = 32
LARGEST = 4096 * 2304  # pixels; decord needs more than 1 GB for larger frames
COMPARED_BYTES = 200_000_000  # RGB frames that are compared at once; at least two
TOLERANCE = 2  # grey levels; the largest rounding difference between the two scalers
NARROW = 128  # pixels; decord2 3.4.0 rejects narrower widths that divide its padded rows, such as 32, 48 and 96


def evenly_spaced(count: int, most: int) -> list[int]:
    """Return up to `most` evenly spaced numbers from 0 to `count` - 1, including both ends."""
    most = min(count, most)
    return [position * (count - 1) // max(most - 1, 1) for position in range(most)]


def read_by_decord(content: bytes, most: int = COMPARED) -> tuple[int, dict[int, NDArray[np.uint8]]]:
    """Read up to `most` evenly spaced frames with decord.

    The content is written to a temporary file, because decord2 3.4.0 crashes on in-memory files that refer to positions
    beyond their end.

    Returns:
        decord's frame count, and the frames by number as uint8 RGB arrays of shape (height, width, 3). There are no
        frames if decord's count differs from that in the file.

    Raises:
        ValueError: decord cannot read the video. The message is decord's own.
    """
    decord = import_extra("decord", what="decord's way of reading")
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        path = Path(folder) / "video.mp4"
        path.write_bytes(content)
        try:
            reader = decord.VideoReader(str(path), ctx=decord.cpu(0), num_threads=1)
            # decord2 3.4.0 may hang on frames that it counts but the file does not contain.
            indices = evenly_spaced(len(reader), most) if len(reader) == _packets(path) else []
            frames = reader.get_batch(indices).asnumpy() if indices else ()
            return len(reader), dict(zip(indices, frames, strict=True))
        except (RuntimeError, IndexError, VideoError, decord.DECORDError) as error:
            words = [line.strip().replace(str(path), "it") for line in str(error).splitlines() if line.strip()]
            raise ValueError(words[0] if words else type(error).__name__) from error


def _packets(path: Path) -> int:
    with open_video(path) as (container, stream):
        return sum(packet.size > 0 for packet in container.demux(stream))


def decord_difference(content: bytes) -> str:
    """Decode a video with decord and with PyAV. Return a description of the first difference, or "".

    Videos narrower than 128 pixels are skipped, as decord cannot read some of them, and so are those with frames of
    more than 4096 x 2304 pixels. decord has no limits of its own, so it only reads what PyAV can decode within them.
    """
    try:
        video = decode_video(content, side=0)
    except UNDECODABLE as error:
        return f"PyAV cannot decode it ({error})"
    (width, height), *other_sizes = sorted(video.sizes)
    if other_sizes:
        return "the size of its frames changes"
    if not is_compared(width, height):
        return ""
    try:
        counted, pictures = read_by_decord(content, max(2, min(COMPARED, COMPARED_BYTES // (3 * width * height))))
    except ValueError as error:
        return f"decord cannot read it ({error})"
    if counted != video.num_frames:
        return f"decord counts {counted} frames, PyAV {video.num_frames}"
    for index, frame in enumerate(frames_of(content)):
        if index in pictures and (wrong := _difference(index, pictures[index], to_rgb(frame))):
            return wrong
    return ""


def is_compared(width: int, height: int) -> bool:
    """Return whether decord can read frames of this size, in less than 1 GB of memory."""
    return width >= NARROW and width * height <= LARGEST


def _difference(index: int, picture: NDArray[np.uint8], expected: NDArray[np.uint8]) -> str:
    if picture.shape != expected.shape:
        sizes = ("{1}x{0}".format(*shown.shape) for shown in (picture, expected))
        return "decord decodes frames of {}, PyAV of {}".format(*sizes)
    apart = int(np.abs(picture.astype(np.int16) - expected).max())
    return f"frame {index} differs by {apart} grey levels between decord and PyAV" if apart > TOLERANCE else ""

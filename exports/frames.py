"""Sample evenly spaced frames of a video as JPEG files, as `stressreel ask` does.

This file is copied unchanged into task folders whose harness takes images. It requires only PyAV and Pillow.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import av.container
    from PIL.Image import Image

QUALITY = 90
FORMATS = (  # single-file formats; playlists, which refer to other files, are not permitted
    "mov,matroska,webm,avi,mpegts,mpeg,mpegvideo,ogg,flv,live_flv,asf,asf_o,rm,mxf,gxf,wtv,dv,nut,nuv,ivf,gif,apng,dhav,"
    "m4v,h261,h263,h264,hevc,vvc,av1,obu,evc,dirac,vc1,vc1test,cavsvideo,avs2,avs3,mjpeg,yuv4mpegpipe"
)
GUARDS = {"format_whitelist": FORMATS, "protocol_whitelist": "file", "enable_drefs": "0", "use_absolute_path": "0"}


@lru_cache(maxsize=32)  # questions about one video are consecutive
def sampled_frames(path: str | Path, count: int, size: int) -> tuple[bytes, ...]:
    """Divide a video into `count` equal parts, and return the frame in the middle of each.

    Args:
        path: An MP4 file with one video track.
        count: Number of frames; frames of a short video are repeated.
        size: Maximum length of the longer side in pixels; 0 keeps the original size.

    Returns:
        JPEG files, in order.

    Raises:
        ValueError: The video has no frames, or a frame cannot be decoded.
    """
    import av

    with av.open(f"file:{Path(path).absolute()}", "r", container_options=GUARDS) as container:
        pts, end = shown_times(container) if container.streams.video else ([], 0)
    if not pts:
        raise ValueError(f"{path} has no frames")
    span = end - pts[0]
    middles = [pts[0] + (2 * number + 1) * span // (2 * count) for number in range(count)]
    chosen = [pts[bisect_right(pts, middle) - 1] for middle in middles]
    with av.open(f"file:{Path(path).absolute()}", "r", container_options=GUARDS) as container:
        found = dict(pictures(container, set(chosen), size))
    if missing := set(chosen) - set(found):
        raise ValueError(f"{path}: {len(missing)} of {len(set(chosen))} frames cannot be decoded")
    return tuple(found[time] for time in chosen)


def shown_times(container: av.container.InputContainer) -> tuple[list[int], int]:
    """Return the sorted start times of a video's frames and the end of the last one, in units of its time base."""
    packets = [
        packet for packet in container.demux(container.streams.video[0]) if packet.pts is not None and packet.size
    ]
    durations = {int(packet.pts or 0): packet.duration or 0 for packet in packets if not packet.is_discard}
    pts = sorted(durations)
    if not pts:
        return pts, 0
    usual = int(median(after - before for before, after in pairwise(pts))) if len(pts) > 1 else 1
    return pts, pts[-1] + (durations[pts[-1]] or usual)


def pictures(container: Any, times: set[int], size: int) -> Iterator[tuple[int, bytes]]:
    """Decode a video, and yield the frames at the given times as JPEG."""
    stream = container.streams.video[0]
    stream.codec_context.thread_count = 1
    last = max(times)
    for frame in container.decode(stream):
        if frame.pts in times:
            yield frame.pts, jpeg(frame.to_image(), size)
        if frame.pts is not None and frame.pts >= last:
            return


def jpeg(picture: Image, size: int) -> bytes:
    """Encode an image as JPEG, scaled down to at most `size` pixels on its longer side."""
    from PIL import Image as images

    width, height = picture.size
    longer = max(width, height)
    if size and longer > size:
        small = (max(1, round(width * size / longer)), max(1, round(height * size / longer)))
        picture = picture.resize(small, images.Resampling.BICUBIC)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()

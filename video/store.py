"""Store decoded frames in memory or in a temporary file, for random access."""

from __future__ import annotations

import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import av
import numpy as np
from numpy.typing import NDArray

from ..core.errors import VideoError
from .decode import decode, decode_at, upright
from .index import FrameIndex
from .pyav import copy_colours, plane_view, rgb_to_yuv420p, to_rgb

MEMORY_BYTES = 192 * 2**20
RGB_BYTES = 256 * 2**20


class FrameStore:
    """The upright frames of a video, in any order of access.

    Frames are stored as yuv420p, in memory if all of them fit into `memory_bytes`, else in a temporary file. RGB
    pictures are cached: all of them if they fit into `rgb_bytes`, else the last four.

    Attributes:
        frames: Numbers of the stored frames.
        width: Width in pixels, after rotation and padding.
        height: Height in pixels, after rotation and padding.
        turned: Whether the display matrix swaps width and height.
    """

    def __init__(
        self,
        index: FrameIndex,
        frames: Sequence[int],
        folder: Path,
        *,
        memory_bytes: int = MEMORY_BYTES,
        rgb_bytes: int = RGB_BYTES,
    ):
        """Decode the frames, whose numbers must increase. `folder` is where a temporary file may be created.

        Raises:
            VideoError: The source cannot be decoded, or its frame size changes.
            IndexMismatchError: The decoded frames differ from the index; see `decode`.
        """
        self.frames = frames
        self._places = {number: position for position, number in enumerate(frames)}
        self._held: dict[int, av.VideoFrame] = {}
        self._file = None
        self._rgb: OrderedDict[int, NDArray[np.uint8]] = OrderedDict()
        self.width = self.height = 0
        self.turned = False
        try:
            decoded = decode(index, frames) if isinstance(frames, range) else decode_at(index, frames)
            for number, raw in zip(frames, decoded, strict=True):
                frame = upright(raw)
                if not self.width:
                    self.width, self.height = frame.width, frame.height
                    self.turned = raw.rotation % 180 != 0
                    self._bytes = frame.width * frame.height * 3 // 2
                    self._like = frame
                    if self._bytes * len(frames) > memory_bytes:
                        self._file = tempfile.TemporaryFile(prefix="spool-", dir=folder)  # noqa: SIM115
                elif (frame.width, frame.height) != (self.width, self.height):
                    raise VideoError("undecodable", f"{index.path.name}: its frame size changes at frame {number}")
                if self._file is None:
                    self._held[number] = frame
                else:
                    for plane in range(3):
                        self._file.write(plane_view(frame, plane).tobytes())
            if self._file is not None:
                self._file.flush()
        except BaseException:
            self.close()
            raise
        self._rgb_kept = len(frames) if 2 * self._bytes * len(frames) <= rgb_bytes else 4

    def yuv(self, number: int) -> av.VideoFrame:
        """Return a frame as yuv420p. Callers must not modify it."""
        if self._file is None:
            return self._held[number]
        self._file.seek(self._places[number] * self._bytes)
        data = self._file.read(self._bytes)
        frame = av.VideoFrame(self.width, self.height, "yuv420p")
        start = 0
        for plane in range(3):
            view = plane_view(frame, plane)
            view[...] = np.frombuffer(data, np.uint8, view.size, start).reshape(view.shape)
            start += view.size
        return copy_colours(frame, self._like)

    def rgb(self, number: int) -> NDArray[np.uint8]:
        """Return a frame as a uint8 RGB array of shape (height, width, 3). Callers must not modify it."""
        if number not in self._rgb:
            if len(self._rgb) >= self._rgb_kept:
                self._rgb.popitem(last=False)
            self._rgb[number] = to_rgb(self.yuv(number))
        return self._rgb[number]

    def from_rgb(self, picture: NDArray[np.uint8]) -> av.VideoFrame:
        """Convert a picture to yuv420p and give it the colour tags of the source."""
        return copy_colours(rgb_to_yuv420p(picture, self._like.colorspace), self._like)

    def close(self) -> None:
        """Discard all frames and the temporary file."""
        self._held.clear()
        self._rgb.clear()
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

"""Estimate the output size and CPU time of a build by encoding short samples of its source videos."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..core.documents import package_table
from ..core.errors import VideoError
from ..core.plan import BuildEstimate, PartEstimate
from ..core.shards import SHARD_BYTES
from .edit import write_edits
from .encode import AAC_BITS_PER_SECOND, EncodeSettings
from .index import FrameIndex, IndexMismatchError, remembered_index
from .pyav import open_input

SAMPLES = 16  # maximum number of samples, a power of two
STRETCH = 24  # number of frames in a sample
PIXELS = 100e6  # number of pixels after which three samples suffice, encoded in about two seconds of CPU time
KEY_EVERY = 250  # x264's maximum distance between key frames

Level = tuple[str, int]
"""A table, and a severity in it (0 if it has none)."""


@dataclass(frozen=True)
class Footage:
    """A part of a source video that a build encodes, or all of it if `stop` is None.

    `start` and `stop` are in units of 1 / `rate` seconds or, if `rate` is None, in frames of the source.
    """

    source_id: str
    start: float = 0.0
    stop: float | None = None
    rate: float | None = 1.0

    def span(self, fps: float, num_frames: float) -> tuple[float, float]:
        """Return the first frame and the number of frames in a source of this frame rate and length."""
        if self.stop is None:
            return 0.0, num_frames
        scale = fps / (self.rate or fps)  # frames in a unit
        return self.start * scale, (self.stop - self.start) * scale


@dataclass(frozen=True)
class Content:
    """Mean properties of source videos and of their frames once encoded.

    Attributes:
        pixels: Pixels per frame.
        fps: Frames per second.
        num_frames: Number of frames in a source video.
        key: Bits per key frame.
        later: Bits per other frame.
        cpu_s: CPU seconds per frame.
    """

    pixels: float
    fps: float
    num_frames: float
    key: float
    later: float
    cpu_s: float


def costs() -> Any:
    """Return the measured costs in `costs.yaml`."""
    return package_table(Path(__file__).with_name("costs.yaml"))


def typical(settings: EncodeSettings, pixels: float, fps: float, num_frames: float) -> Content:
    """Return the cost of typical content according to the table, for sources of the given size, rate and length."""
    table = costs()["clean"]
    cpu_ns = table["lossless_ns" if settings.lossless else "encode_ns"] * costs()["presets"][settings.preset]
    scale = 1 if settings.lossless else 2 ** ((costs()["crf"] - settings.crf) / 6)
    key, later = (scale * pixels * table[kind] for kind in kinds(settings))
    return Content(pixels, fps, num_frames, key, later, pixels * cpu_ns * 1e-9)


def kinds(settings: EncodeSettings) -> tuple[str, str]:
    """Return the entries in the cost tables that state the bits of key frames and of other frames."""
    return ("lossless", "lossless") if settings.lossless else ("key", "later")


def sampled(
    footage: Sequence[Footage], sources: Mapping[str, Path], settings: EncodeSettings, assumed: str, *, probe: bool
) -> tuple[Content, str]:
    """Encode samples of the footage, evenly spaced over its parts, with the settings of the build.

    Without `probe` or readable sources, the content `assumed` in the table is returned.

    Returns:
        The mean content, and a description for users of how it was obtained.
    """
    parts = [part for part in footage if part.source_id in sources] if probe else []
    samples: list[Content] = []
    for number in range(SAMPLES if parts else 0):
        position = (int(f"{number:04b}"[::-1], 2) + 0.5) / SAMPLES * len(parts)  # 1/32, 17/32, 9/32, … of the parts
        part = parts[int(position)]
        with suppress(VideoError, IndexMismatchError):
            index = remembered_index(sources[part.source_id])
            samples.append(encode_sample(index, part, position % 1, settings))
        if len(samples) > 2 and sum(sample.pixels for sample in samples) * STRETCH > PIXELS:
            break
    if samples:
        content = Content(*np.mean([astuple(sample) for sample in samples], axis=0).tolist())
        basis = f"from {len(samples)} encoded samples; if scenes vary, single tables may take half or twice as much"
    else:
        content = typical(settings, **costs()["assumed"][assumed])
        basis = f"without the videos, assuming {content.pixels:,} pixels per frame; they may take half or twice as much"
    return content, basis


def encode_sample(index: FrameIndex, part: Footage, within: float, settings: EncodeSettings) -> Content:
    """Encode up to `STRETCH` frames at a position in a part of the footage (`within`, 0 to 1) to a temporary file.

    x264 spends fewer bits on the last frames, which no other frames reference. A factor from the table corrects this.
    """
    fps = index.num_frames / float(index.seconds(index.num_frames) - index.seconds(0))
    start, length = part.span(fps, index.num_frames)
    first = max(0, min(round(start + within * length - STRETCH / 2), index.num_frames - STRETCH))
    frames = range(first, min(first + STRETCH, index.num_frames))
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        (done,) = write_edits(index, [(frames,)], [Path(folder) / "sample.mp4"], settings)
        with open_input(done.path) as container:
            key, *later = [packet.size * 8 for packet in container.demux(video=0) if packet.size]
    tail = 1 + costs()["clean"]["tail"] / len(frames) * (not settings.lossless)
    usual = typical(settings, done.width * done.height, fps, index.num_frames)
    return replace(usual, key=key, later=float(np.mean(later or [key])) * tail)


def build_estimate(
    footage: Sequence[Footage], parts: Mapping[Level, Content], basis: str, *, sound: bool = False, spool: float = 0.0
) -> BuildEstimate:
    """Estimate a build that encodes its footage once into each table and severity.

    Args:
        footage: The footage.
        parts: The content as encoded for each table and severity.
        basis: How the content was determined.
        sound: Whether the videos have sound.
        spool: Bytes of temporary files.
    """
    estimates, table = [], costs()["file"]
    for (name, severity), content in parts.items():
        frames = np.array([part.span(content.fps, content.num_frames)[1] for part in footage])
        total, keys = float(frames.sum()), float(np.ceil(frames / KEY_EVERY).sum())
        encoded = (keys * content.key + (total - keys) * content.later) / 8
        encoded += table["bytes"] * len(footage) + table["frame_bytes"] * total
        encoded += sound * AAC_BITS_PER_SECOND / 8 * total / content.fps
        estimates.append(PartEstimate(name, severity, round(encoded), total * content.cpu_s))
    size = sum(part.size_bytes for part in estimates)
    disk = size + min(SHARD_BYTES, size) + round(spool)
    return BuildEstimate(size, disk, sum(part.cpu_seconds for part in estimates), basis, tuple(estimates))

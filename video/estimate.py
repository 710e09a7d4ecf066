"""Estimate the output size and duration of a build by encoding short samples of its source videos."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import av
import numpy as np
import yaml

from ..core.errors import VideoError
from ..core.shards import SHARD_BYTES
from .encode import AAC_BITS_PER_SECOND, EncodeSettings, Mp4Writer
from .index import FrameIndex, IndexMismatchError, index_frames, open_video
from .pyav import Frame, open_input, rgb_frame, to_rgb
from .store import MEMORY_BYTES, FrameStore

LOOKED = 256  # number of source videos whose headers are read
STRETCH = 12  # minimum number of frames in a sample
LONGEST = 48  # maximum number of frames in a sample
STRETCHES = 3, 8, 16  # number of samples: minimum, for one source, for many sources
PIXELS = 60e6  # encoded in about one second of CPU time
KEY_EVERY = 250  # x264's maximum distance between key frames


@dataclass(frozen=True)
class Shape:
    """Frame size, frame rate and number of frames, according to the header of a video."""

    width: int
    height: int
    fps: float
    num_frames: float

    @property
    def area(self) -> int:
        """Return the number of pixels per frame."""
        return self.width * self.height


@dataclass(frozen=True)
class Footage:
    """A part of a source video that a build encodes.

    Attributes:
        count: Estimates the number of frames from the shape of the source.
        find: Returns the frames, given the index of the source.
    """

    source_id: str
    count: Callable[[Shape], float]
    find: Callable[[FrameIndex], range]


def frames_in(seconds: float | None, shape: Shape) -> float:
    """Return how many frames a duration in seconds contains according to the header; None means the whole video."""
    return shape.num_frames if seconds is None else min(seconds * shape.fps, shape.num_frames)


@dataclass(frozen=True)
class Cost:
    """Output size in bytes and CPU time in seconds of one part of a build."""

    size: float = 0.0
    cpu_s: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.size + other.size, self.cpu_s + other.cpu_s)


@dataclass(frozen=True)
class BuildEstimate:
    """The estimated cost of a build.

    Attributes:
        parts: Costs by table and severity (0 if the table has none).
        fixed: Costs that belong to no table: start-up, decoding, packing, the dataset card.
        basis: Description for users of how the estimate was made.
        seconds: Total duration of the encoded footage.
        spool: Bytes of temporary frame files, which long sources need when they are perturbed.
    """

    parts: Mapping[tuple[str, int], Cost]
    fixed: Cost
    basis: str
    seconds: float
    spool: float = 0.0

    @property
    def total(self) -> Cost:
        """Return the total cost of all parts."""
        return sum(self.parts.values(), self.fixed)

    @property
    def disk(self) -> float:
        """Return the peak disk usage in bytes: all finished files, plus the shard that is being written from them."""
        tables: dict[str, float] = {}
        for (table, _), cost in self.parts.items():
            tables[table] = tables.get(table, 0.0) + cost.size
        return self.total.size + min(SHARD_BYTES, max(tables.values(), default=0.0)) + self.spool

    def as_json(self) -> dict[str, Any]:
        """Return the estimate as JSON values, with sizes in bytes and times in seconds."""
        return {
            "size_bytes": round(self.total.size),
            "peak_disk_bytes": round(self.disk),
            "cpu_seconds": self.total.cpu_s,
            "footage_seconds": self.seconds,
            "basis": self.basis,
            "parts": [
                {"table": table, "severity": severity, "size_bytes": round(cost.size), "cpu_seconds": cost.cpu_s}
                for (table, severity), cost in self.parts.items()
            ],
        }


@dataclass(frozen=True)
class Survey:
    """The footage of a build, the paths of the source videos that exist, and the shapes of those sampled.

    `usual` is the shape assumed for all other videos: the mean of the sampled shapes, or a constant.
    """

    footage: Sequence[Footage]
    sources: Mapping[str, Path]
    shapes: Mapping[str, Shape]
    usual: Shape

    def shape(self, source_id: str) -> Shape:
        """Return the shape of a video, or the usual shape if the video was not sampled."""
        return self.shapes.get(source_id, self.usual)

    @property
    def frames(self) -> float:
        """Return the number of frames in all footage."""
        return sum(part.count(self.shape(part.source_id)) for part in self.footage)

    @property
    def seconds(self) -> float:
        """Return the duration of all footage in seconds."""
        shapes = ((part, self.shape(part.source_id)) for part in self.footage)
        return sum(part.count(shape) / shape.fps for part, shape in shapes)

    @property
    def pixels(self) -> float:
        """Return the number of pixels in all frames of the footage."""
        shapes = ((part, self.shape(part.source_id)) for part in self.footage)
        return sum(part.count(shape) * shape.area for part, shape in shapes)

    @property
    def spool(self) -> float:
        """Return the size in bytes of the longest source's frames if they do not fit into memory, else 0."""
        size = max((shape.area * shape.num_frames * 1.5 for shape in self.shapes.values()), default=0.0)
        return size if size > MEMORY_BYTES else 0.0

    def basis(self, stretches: Sequence[Stretch]) -> str:
        """Describe to users how the estimate was made."""
        if not self.shapes:
            usual = self.usual
            return (
                f"without the videos, assuming {usual.width}x{usual.height} at {usual.fps:g} frames per second, "
                f"{usual.num_frames / usual.fps:g} s where the annotations have no times, and typical content; the "
                "actual values may be half or twice as much"
            )
        if not stretches:
            return (
                "from the frame sizes, assuming typical content, as nothing was encoded; the actual values may be half "
                "or twice as much"
            )
        videos = len({stretch.index.path for stretch in stretches})
        frames = sum(len(stretch.frames) for stretch in stretches)
        plural = "s" * (videos > 1)
        return (
            f"from {frames} frames of {videos} video{plural}, encoded on this machine; if scenes vary, single tables "
            "may take half or twice as much"
        )


@dataclass(frozen=True)
class Stretch:
    """A run of sampled frames, with the share of keyframes around it and the frame at which decoding must start."""

    index: FrameIndex
    frames: range
    keys: float
    first: int


@dataclass(frozen=True)
class Measured:
    """Bits per pixel in keyframes (`key`) and in other frames (`later`), and encoding time in seconds per pixel."""

    key: float
    later: float
    encode_s: float


@dataclass(frozen=True)
class EncodedInPart:
    """What was measured on samples encoded without perturbation or, if there are none, the values of the cost table.

    Attributes:
        clean: Cost per pixel.
        keys: Share of keyframes.
        decode_s: CPU seconds of decoding per pixel.
        stretches: The encoded samples.
    """

    clean: Measured
    keys: float
    decode_s: float
    stretches: Sequence[Stretch] = ()


@cache
def costs() -> Any:
    """Load the measured cost factors from `costs.yaml`."""
    return yaml.safe_load((Path(__file__).parent / "costs.yaml").read_text(encoding="utf-8"))


def spread(items: Sequence[Any], count: int) -> list[Any]:
    """Return up to `count` evenly spaced items."""
    chosen = min(count, len(items))
    return [items[(2 * number + 1) * len(items) // (2 * chosen)] for number in range(chosen)]


def survey(footage: Sequence[Footage], sources: Mapping[str, Path], benchmark: str) -> Survey:
    """Read the headers of up to `LOOKED` source videos. If there are none, use the assumptions for `benchmark`."""
    wanted = sorted({part.source_id for part in footage} & set(sources))
    shapes = {name: shape for name in spread(wanted, LOOKED) if (shape := look(sources[name]))}
    usual = Shape(**costs()["assumed"][benchmark])
    if shapes:
        found = np.array([(s.width, s.height, s.fps, s.num_frames) for s in shapes.values()]).mean(axis=0)
        usual = Shape(round(found[0]), round(found[1]), float(found[2]), float(found[3]))
    return Survey(footage, sources, shapes, usual)


def look(path: Path) -> Shape | None:
    """Read the shape of a video from its header. Return None if the file cannot be opened or lacks the values."""
    with suppress(VideoError), open_video(path) as (container, stream):
        fps = float(stream.average_rate or stream.guessed_rate or 0)
        seconds = float(stream.duration * stream.time_base) if stream.duration and stream.time_base else 0.0
        seconds = seconds or (container.duration or 0) / av.time_base
        # `stream.frames` comes last, as it includes frames that an edit list hides.
        frames = round(seconds * fps) or stream.frames or index_frames(path).num_frames
        if fps and frames and stream.width:
            return Shape(stream.width, stream.height, fps, frames)
    return None


def stretches(looked: Survey) -> list[Stretch]:
    """Choose samples that are evenly spaced over all pixels of the footage whose source can be read."""
    parts = [part for part in looked.footage if part.source_id in looked.shapes]
    ends = np.cumsum([part.count(looked.shape(part.source_id)) * looked.shape(part.source_id).area for part in parts])
    if not len(ends) or not ends[-1]:
        return []
    frames = PIXELS / looked.usual.area
    fewest, few, many = STRETCHES
    count = max(fewest, min(many, max(few, len(parts)), int(frames // STRETCH)))
    available = min(frames, sum(part.count(looked.shape(part.source_id)) for part in parts))
    length = max(STRETCH, min(LONGEST, int(available // count)))
    places = (np.arange(count) + 0.5) / count * ends[-1]
    chosen = {}
    for place, number in zip(places, np.searchsorted(ends, places), strict=True):
        start = ends[number - 1] if number else 0.0
        part = parts[number]
        with suppress(VideoError, IndexMismatchError):
            index = _index(looked.sources[part.source_id])
            whole = part.find(index)
            middle = whole.start + float((place - start) / (ends[number] - start)) * len(whole)
            begin = max(whole.start, min(round(middle - length / 2), whole.stop - length))
            shown = range(begin, min(begin + length, whole.stop))
            earlier = index.keyframes[index.keyframes <= index.pts[begin]]
            first = int(np.searchsorted(index.pts, earlier[-1])) if len(earlier) else 0
            chosen[index.path, shown] = Stretch(index, shown, key_share(index, whole), first)
    return list(chosen.values())


@cache
def _index(path: Path) -> FrameIndex:
    return index_frames(path)


def key_share(index: FrameIndex, frames: range) -> float:
    """Estimate what share of the given frames x264 would encode as keyframes.

    x264 inserts a keyframe at every cut, and at least every `KEY_EVERY` frames. Cuts are inferred from keyframes of the
    source that are closer together than its encoder's maximum distance.
    """
    keys = np.searchsorted(index.pts, index.keyframes)
    distances = np.diff(np.append(keys, index.num_frames))
    if len(distances) < 2:
        return ceil(len(frames) / KEY_EVERY) / len(frames)
    early = keys[1:][distances[:-1] < distances.max()]
    cuts = [frames.start, *(int(key) for key in early if frames.start < key < frames.stop), frames.stop]
    return sum(ceil((stop - start) / KEY_EVERY) for start, stop in pairwise(cuts)) / len(frames)


def measure(pictures: Sequence[Frame], stretch: Stretch, settings: EncodeSettings, path: Path) -> Measured:
    """Encode the first frames of a sample to a temporary file, with the settings of the build."""
    index, pixels = stretch.index, pictures[0].width * pictures[0].height
    began = time.process_time()
    with Mp4Writer(path, time_base=index.time_base, rate=Fraction(25), settings=settings) as writer:
        for number, picture in zip(stretch.frames, pictures, strict=False):
            writer.write(picture, index.boundary(number + 1) - index.boundary(number))
    spent = time.process_time() - began
    keys: list[float] = []
    later: list[float] = []
    with open_input(path) as container:
        for packet in container.demux(video=0):
            if packet.size:
                (keys if packet.is_keyframe else later).append(packet.size * 8 / pixels)
    key = float(np.mean(keys))
    return Measured(key, float(np.mean(later or [key])), spent / len(pictures) / pixels)


def measure_clean(stretch: Stretch, store: FrameStore, settings: EncodeSettings, path: Path) -> Measured:
    """Encode a sample without perturbation.

    x264 spends fewer bits on the last frames, which no other frames reference. A factor from the cost table corrects
    for this.
    """
    pictures = [store.yuv(number) for number in stretch.frames]
    if settings.lossless:
        pictures = [rgb_frame(to_rgb(picture)) for picture in pictures]
    measured = measure(pictures, stretch, settings, path)
    tail = 0.0 if settings.lossless else costs()["clean"]["tail"]
    return replace(measured, later=measured.later * (1 + tail / len(pictures)))


def encoded_in_part(surveyed: Survey, settings: EncodeSettings, *, probe: bool) -> EncodedInPart:
    """Decode and encode samples of the footage. Without `probe` or readable sources, return the table's values."""
    done: list[tuple[Stretch, Measured]] = []
    spent, pixels = 0.0, 0.0
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        for stretch in stretches(surveyed) if probe else []:
            began = time.process_time()
            with (
                suppress(VideoError, IndexMismatchError),
                FrameStore(stretch.index, stretch.frames, Path(folder)) as store,
            ):
                spent += time.process_time() - began
                pixels += store.width * store.height * (stretch.frames.stop - stretch.first)
                done.append((stretch, measure_clean(stretch, store, settings, Path(folder) / "stretch.mp4")))
    if not done:
        return EncodedInPart(usual(settings), 1 / KEY_EVERY, costs()["clean"]["decode_ns"] * 1e-9)
    key, later, encode_s = np.mean([(m.key, m.later, m.encode_s) for _, m in done], axis=0)
    clean = Measured(float(key), float(later), float(encode_s))
    chosen = [stretch for stretch, _ in done]
    return EncodedInPart(clean, float(np.mean([stretch.keys for stretch in chosen])), spent / pixels, chosen)


def usual(settings: EncodeSettings) -> Measured:
    """Return the cost of typical unperturbed content according to the table."""
    table = costs()["clean"]
    bits = 2 ** ((costs()["crf"] - settings.crf) / 6)
    seconds = table["encode_ns"] * 1e-9 * costs()["presets"][settings.preset]
    if settings.lossless:
        return Measured(costs()["lossless_bits"], costs()["lossless_bits"], seconds * 2)
    return Measured(table["key"] * bits, table["later"] * bits, seconds)


def bits(measured: Measured, keys: float) -> float:
    """Return the average number of bits per pixel if `keys` is the share of keyframes."""
    return keys * measured.key + (1 - keys) * measured.later


def fixed(size: float, files: float, units: float, workers: int, decode_s: float, slowness: float = 1.0) -> Cost:
    """Return the costs that belong to no table: start-up, opening, decoding, hashing, packing, the dataset card.

    `size` is in bytes and `decode_s` in CPU seconds. `slowness` is relative to the machine on which the table was
    measured.
    """
    table = costs()["fixed"]
    spent = table["command_s"] + table["worker_s"] * min(workers, units) + table["unit_s"] * units
    spent += table["file_s"] * files + table["gigabyte_s"] * size / 1e9
    return Cost(0.0, spent * slowness + decode_s)


def container_bytes(files: float, frames: float) -> float:
    """Return the size in bytes of MP4 files, not counting the encoded frames."""
    table = costs()["fixed"]
    return float(table["file_bytes"] * files + table["frame_bytes"] * frames)


def estimate_cuts(
    looked: Survey,
    settings: EncodeSettings,
    *,
    table: str,
    copies: int,
    keep_sound: bool,
    workers: int,
    probe: bool,
) -> BuildEstimate:
    """Estimate a build that encodes its footage unperturbed, `copies` times, into the videos of one table.

    Without `probe`, nothing is encoded and typical content is assumed.
    """
    found = encoded_in_part(looked, settings, probe=probe)
    pixels, files = looked.pixels * copies, len(looked.footage) * copies
    size = pixels * bits(found.clean, found.keys) / 8 + container_bytes(files, looked.frames * copies)
    size += looked.seconds * copies * AAC_BITS_PER_SECOND / 8 * keep_sound
    return BuildEstimate(
        {(table, 0): Cost(size, pixels * found.clean.encode_s)},
        fixed(size, files, len(looked.footage), workers, looked.pixels * found.decode_s),
        looked.basis(found.stretches),
        seconds=looked.seconds * copies,
    )

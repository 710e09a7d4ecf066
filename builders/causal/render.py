"""Cut CausalChaos clips and write their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

from ...core.errors import VideoError
from ...core.files import file_stamp, sha256_file
from ...core.plan import UNSEEN, Facts, Plan, Unit
from ...core.schema import Row
from ...video.decode import with_index
from ...video.edit import Rendition, foresee, write_edits
from ...video.encode import EncodeSettings
from ...video.estimate import Footage, Shape, frames_in
from ...video.index import FrameIndex
from ..source_videos import SourceVideos, timing_of
from .settings import CausalSettings
from .tables import CLIPS

CLIP_FILE = "clip.mp4"


def clip_frames(index: FrameIndex, unit: Unit) -> range:
    """Return the range of frames that a clip covers in its video.

    Raises:
        VideoError: The clip ends after the video (`too_short`).
    """
    clip = unit.payload
    start, stop = (clip[edge] + clip["offset"] for edge in ("start_frame", "end_frame"))
    shown = f"{start} to {stop - 1}"
    if start >= 0 and clip["rate"]:
        rate = Fraction(clip["rate"])
        length = index.seconds(index.num_frames)
        shown = f"{float(start / rate):.2f} s to {float(stop / rate):.2f} s"
        late = Fraction(stop) / rate > length + 1 / rate
        start, stop = (index.first_at(Fraction(edge) / rate) for edge in (start, stop))
        stop = index.num_frames + 1 if late else stop
    if start < 0 or stop > index.num_frames or start >= stop:
        seconds = float(index.seconds(index.num_frames))
        raise VideoError(
            "too_short",
            f"{index.path.name} has {index.num_frames} frames ({seconds:.2f} s), but clip {unit.id} spans {shown}. It "
            "may not be the copy that was annotated; see --offsets and --fps-map.",
        )
    return range(start, stop)


def clip_footage(plan: Plan) -> list[Footage]:
    """Return all clips of a plan as footage."""
    found = []
    for unit in plan.units:
        if unit.source_id:
            count = partial(_count, unit.cost, unit.payload["rate"])
            found.append(Footage(unit.source_id, count, partial(_find, unit)))
    return found


def _count(frames: float, rate: str | None, shape: Shape) -> float:
    return frames_in(frames / float(Fraction(rate)), shape) if rate else min(frames, shape.num_frames)


def _find(unit: Unit, index: FrameIndex) -> range:
    return clip_frames(index, unit)


@cache
def _source_hash(path: Path, stamp: str) -> str:
    return sha256_file(path)


def _facts(index: FrameIndex, frames: range, done: Rendition) -> Facts:
    duration = done.ticks * index.time_base
    return {
        "first_frame": frames.start,
        "num_frames": done.num_frames,
        "fps": float(done.num_frames / duration),
        "width": done.width,
        "height": done.height,
        "duration_s": float(duration),
        **timing_of(index),
    }


@dataclass(frozen=True)
class CausalBuilder(SourceVideos):
    """Cuts the clips of a plan and generates its rows.

    Attributes:
        videos: Path of each episode's video, as text.
    """

    settings: CausalSettings
    videos: Mapping[str, str] = field(default_factory=dict)

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Cut a clip; see `core.plan.Builder`."""
        path = self.source(unit)
        file = folder / CLIP_FILE

        def cut(index: FrameIndex) -> Facts:
            frames = clip_frames(index, unit)
            settings = EncodeSettings(self.settings.crf, self.settings.preset)
            (done,) = write_edits(index, [(frames,)], [file], settings, keep_sound=self.settings.audio == "keep")
            return _facts(index, frames, done)

        return with_index(path, cut) | {
            "source_sha256": _source_hash(path, file_stamp(path)),
            "sha256": sha256_file(file),
            "files": {CLIP_FILE: file.stat().st_size},
        }

    def look(self, unit: Unit) -> Facts:
        """Return the position, length and size of a clip without cutting it; see `core.plan.Builder`."""
        path = self.source(unit)

        def foreseen(index: FrameIndex) -> Facts:
            frames = clip_frames(index, unit)
            return _facts(index, frames, foresee(index, (frames,)))

        return with_index(path, foreseen) | {"source_sha256": _source_hash(path, file_stamp(path)), "sha256": UNSEEN}

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Yield the rows of a table and split, or the row of a clip."""
        if not unit.source_id:
            yield from ((unit.payload["config"], row) for row in unit.payload["rows"])
            return
        row = {
            "clip_id": unit.id,
            "episode": unit.source_id,
            **{edge: unit.payload[edge] for edge in ("start_frame", "end_frame")},
            **{name: value for name, value in facts.items() if name != "files"},
            "video": CLIP_FILE,
        }
        yield CLIPS, row

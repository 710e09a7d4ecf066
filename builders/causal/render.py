"""Cut CausalChaos clips and write their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from ...core.files import sha256_file
from ...core.plan import UNSEEN, Facts, Plan, Unit
from ...core.schema import Row
from ...video.decode import with_index
from ...video.edit import rendition_of, write_edits
from ...video.encode import EncodeSettings
from ...video.estimate import Footage
from ...video.frames import check_shown, frames_between, not_shown
from ...video.index import FrameIndex
from ..runtime.source_videos import SourceVideos, clip_facts, source_sha256
from .settings import CausalSettings
from .tables import CLIPS

CLIP_FILE = "clip.mp4"


def clip_frames(index: FrameIndex, unit: Unit) -> range:
    """Return the range of frames that a clip covers in its video.

    Raises:
        VideoError: The video lacks more than half a second of the clip, or all of it (`too_short`).
    """
    clip = unit.payload
    start, stop = (clip[edge] + clip["offset"] for edge in ("start_frame", "end_frame"))
    advice = "It may not be the copy that was annotated; see --offsets and --fps-map."
    if clip["rate"]:
        first, last = (Fraction(frame) / Fraction(clip["rate"]) for frame in (start, stop))
        spans = f"spans {float(first):.2f} to {float(last):.2f} s"
        return frames_between(index, first, last, f"the clip {unit.id} {spans}. {advice}")
    request = f"the clip {unit.id} spans frames {start} to {stop - 1}. {advice}"
    check_shown(index, _time_of(index, start), _time_of(index, stop), request)
    frames = range(max(start, 0), min(stop, index.num_frames))
    if not frames:
        raise not_shown(index, request)
    return frames


def _time_of(index: FrameIndex, frame: int) -> Fraction:
    """Return the time of a frame by its number. Before and after the video, frames follow at its mean rate."""
    begin, end = index.seconds(0), index.seconds(index.num_frames)
    inside = min(max(frame, 0), index.num_frames)
    return index.seconds(inside) + (frame - inside) * (end - begin) / index.num_frames


def clip_footage(plan: Plan) -> list[Footage]:
    """Return all clips of a plan as footage."""
    footage = []
    for unit in plan.units:
        if unit.source_id:
            start, stop = (unit.payload[edge] + unit.payload["offset"] for edge in ("start_frame", "end_frame"))
            rate = unit.payload["rate"] and float(Fraction(unit.payload["rate"]))
            footage.append(Footage(unit.source_id, start, stop, rate))
    return footage


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
            return {"first_frame": frames.start, **clip_facts(index, done)}

        return with_index(path, cut) | {
            "source_sha256": source_sha256(path),
            "sha256": sha256_file(file),
            "files": {CLIP_FILE: file.stat().st_size},
        }

    def look(self, unit: Unit) -> Facts:
        """Return the position, length and size of a clip without cutting it; see `core.plan.Builder`."""
        path = self.source(unit)

        def foreseen(index: FrameIndex) -> Facts:
            frames = clip_frames(index, unit)
            return {"first_frame": frames.start, **clip_facts(index, rendition_of(index, (frames,)))}

        return with_index(path, foreseen) | {"source_sha256": source_sha256(path), "sha256": UNSEEN}

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

"""Cut V and V′, and write the rows of a pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...core.files import sha256_file
from ...core.plan import UNSEEN, Facts, Plan, Unit
from ...core.schema import Row
from ...video.decode import with_index
from ...video.edit import EditList, Rendition, rendition_of, write_edits
from ...video.encode import EncodeSettings
from ...video.estimate import Footage
from ...video.frames import exact, frames_between
from ...video.index import FrameIndex, remembered_index
from ..runtime.source_videos import SourceVideos, clip_facts, source_sha256
from .questions import question_rows
from .settings import ClaviSettings
from .tables import PAIRS, QUESTIONS, VARIANTS, VIDEOS, pair_columns

FRAMES = ("out_a_frame", "in_a_frame", "in_b_frame", "out_b_frame")
SHARED = ("num_frames", "fps", "width", "height", "duration_s")


@dataclass(frozen=True)
class ClaviBuilder(SourceVideos):
    """Renders the pairs of a plan and generates their rows.

    Attributes:
        videos: Path of each source video by id, as text.
    """

    settings: ClaviSettings
    videos: Mapping[str, str] = field(default_factory=dict)

    def renders(self, unit: Unit) -> bool:
        """Return whether videos are rendered."""
        return self.settings.render

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Write V and V′ as `1.mp4` and `2.mp4`; see `core.plan.Builder`."""
        path = self.source(unit)
        settings = EncodeSettings(self.settings.crf, self.settings.preset)
        files = [folder / "1.mp4", folder / "2.mp4"]

        def cut(index: FrameIndex) -> Facts:
            keep_sound = self.settings.audio == "keep"
            done = write_edits(index, self.edits(index, unit), files, settings, keep_sound=keep_sound)
            return _facts(index, unit, done[0])

        facts = with_index(path, cut, remembered_index)
        return facts | {
            "source_sha256": source_sha256(path),
            "sha256": [sha256_file(file) for file in files],
            "files": {file.name: file.stat().st_size for file in files},
        }

    def look(self, unit: Unit) -> Facts:
        """Return the cuts of a pair, and the length and size of its videos; see `core.plan.Builder`."""
        path = self.source(unit)
        facts = with_index(
            path,
            lambda index: _facts(index, unit, rendition_of(index, self.edits(index, unit)[0])),
            remembered_index,
        )
        return facts | {"source_sha256": source_sha256(path), "sha256": UNSEEN}

    def edits(self, index: FrameIndex, unit: Unit) -> tuple[EditList, EditList]:
        """Return the edit lists of V and V′. Raises the same errors as `pieces`."""
        a, filler, b = pieces(index, unit)
        if self.settings.cuts == "release":
            return (range(a.start, b.stop),), tuple(piece for piece in (b, filler, a) if piece)
        middle = (filler.start + filler.stop) // 2
        halves = tuple(half for half in (range(middle, filler.stop), range(filler.start, middle)) if half)
        return (a, *halves, b), (b, *halves, a)

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Yield the questions about V and V′, the pair and, if rendered, the two videos."""
        pair = unit.payload
        for variant in range(2):
            for row in question_rows(pair, variant, self.settings):
                yield QUESTIONS.name, row
        frames = dict(zip(FRAMES, facts.get("frames", [None] * 4), strict=True))
        values = pair | frames | {"source_sha256": facts.get("source_sha256")}
        columns = (*PAIRS.columns, *pair_columns(self.settings))
        yield PAIRS.name, {column.name: values[column.name] for column in columns}
        if not facts:
            return
        for variant, name in enumerate(VARIANTS):
            yield (
                VIDEOS.name,
                {
                    "video_id": f"{unit.id}_{variant + 1}",
                    "pair_id": unit.id,
                    "variant": name,
                    "source_id": unit.source_id,
                    **{key: facts[key] for key in SHARED},
                    "sha256": facts["sha256"][variant],
                    "video": f"{variant + 1}.mp4",
                },
            )


def _facts(index: FrameIndex, unit: Unit, done: Rendition) -> Facts:
    a, filler, b = pieces(index, unit)
    return {"frames": [a.start, filler.start, b.start, b.stop], **clip_facts(index, done)}


def pieces(index: FrameIndex, unit: Unit) -> tuple[range, range, range]:
    """Return the frames of A, the filler and B in the source.

    The cuts extend the annotated actions. What is shown beyond them may be cut short by the ends of the picture.

    Raises:
        VideoError: The picture lacks more than half a second of an action that is shown, or a whole action
            (`too_short`).
    """
    pair = unit.payload
    out_a, in_a, in_b, out_b = (exact(pair[name]) for name in ("out_a", "in_a", "in_b", "out_b"))
    start = exact(min(pair["start_a_s"], pair["start_b_s"]))
    end = exact(max(pair["end_a_s"], pair["end_b_s"]))
    request = f"the pair {unit.id} needs {pair['out_a']:.3f} to {pair['out_b']:.3f} s"
    frames_between(index, start if out_a < start < in_a else out_a, in_a, request)
    frames_between(index, in_b, end if in_b < end < out_b else out_b, request)
    edges = [index.first_at(time) for time in (out_a, in_a, in_b, out_b)]
    return range(*edges[:2]), range(*edges[1:3]), range(*edges[2:])


def pair_footage(plan: Plan) -> list[Footage]:
    """Return the footage of a plan's videos: the segment of each pair twice, as V and as V′."""
    return [
        Footage(unit.source_id, unit.payload["out_a"], unit.payload["out_b"]) for unit in plan.units for _ in VARIANTS
    ]

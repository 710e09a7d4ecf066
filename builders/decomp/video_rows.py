"""The rows of an output, a video at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...core.output import FinishedOutput
from ...core.schema import Row
from .tables import GRAPHS, QUESTIONS


@dataclass(frozen=True)
class VideoRows:
    """The rows of a video.

    Attributes:
        video_id: The video.
        questions: By key.
        graphs: Graphs.
        twice: Keys that come more than once.
    """

    video_id: str
    questions: Mapping[str, Row]
    graphs: Sequence[Row]
    twice: Sequence[str] = ()

    def nodes(self, graph: Row) -> list[Row] | None:
        """Return the questions of a graph in order; None if one is not there."""
        found = [self.questions.get(key) for key in graph["nodes"]]
        return None if None in found else [row for row in found if row is not None]


def by_video(output: FinishedOutput, split: str | None = None, *, whole: bool = False) -> Iterator[VideoRows]:
    """Yield the rows of each video: both tables hold a video's rows together, and the videos in the same order.

    Args:
        output: The output.
        split: A split; all if none is named.
        whole: Refuse an output that lacks rows.
    """
    read = output.whole if whole else output.rows
    for name in [split] if split else output.splits(QUESTIONS.name):
        questions = groupby(read(QUESTIONS.name, None, name), key=lambda row: row["video_id"])
        graphs = groupby(read(GRAPHS.name, None, name), key=lambda row: row["video_id"])
        waiting = next(graphs, None)
        for video, rows in questions:
            found = list(rows)
            counts = Counter(row["key"] for row in found)
            here: list[Row] = []
            if waiting and waiting[0] == video:
                here = list(waiting[1])
                waiting = next(graphs, None)
            twice = [key for key, count in counts.items() if count > 1]
            yield VideoRows(video, {row["key"]: row for row in found}, here, twice)
        if waiting:
            yield VideoRows(waiting[0], {}, list(waiting[1]))

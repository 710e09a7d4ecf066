"""Read the rows of an output one video at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ...core.output import FinishedOutput
from ...core.schema import Row
from .tables import GRAPHS, QUESTIONS


@dataclass(frozen=True)
class VideoRows:
    """All rows about one video."""

    video_id: str
    questions: Mapping[str, Row]
    graphs: Sequence[Row]


def by_video(output: FinishedOutput, split: str | None = None, *, whole: bool = False) -> Iterator[VideoRows]:
    """Yield the rows of each video. In both tables, they must be contiguous and the videos in the same order.

    If `split` is None, all splits are read. With `whole`, missing rows are an error.
    """
    read = output.whole if whole else output.rows
    for name in [split] if split else output.splits(QUESTIONS.name):
        questions = groupby(read(QUESTIONS.name, None, name), key=lambda row: row["video_id"])
        graphs = groupby(read(GRAPHS.name, None, name), key=lambda row: row["video_id"])
        waiting = next(graphs, None)
        for video, rows in questions:
            here: list[Row] = []
            by_key = {row["key"]: row for row in rows}
            if waiting and waiting[0] == video:
                here = list(waiting[1])
                waiting = next(graphs, None)
            yield VideoRows(video, by_key, here)
        if waiting:
            yield VideoRows(waiting[0], {}, list(waiting[1]))

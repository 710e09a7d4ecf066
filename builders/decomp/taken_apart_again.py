"""Graphs taken apart once more from their roots' programs, for which nothing but the rows is needed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...errors import InputError
from ...programs.parsing import parse_program
from ...programs.questions import notation
from ...programs.wording import Wording
from ...records.output import FinishedOutput
from ...records.schema import Row
from ..remade import differing_rows
from .compositions import compositions_of, is_held_out
from .drop_rules import steps_of
from .making import Making
from .root_wording import word_root
from .settings import settings_of
from .video_graphs import Root, graphs_of
from .video_rows import VideoRows, by_video

ANSWERED = ("answer", "reason", "decided_by", "recomputed")
"""What does not follow from programs alone."""
ROOTS_OWN = ("question", "novel_composition", "more_steps")
"""What a source says of its own questions; it follows from the program where these were made."""
SHOWN = 5  # problems of a video


def check_programs(output: FinishedOutput) -> Iterator[str]:
    """Every root's program, taken apart again, gives its graph: keys, kinds, texts, programs, rules, order, depth.

    Published graphs were taken apart by others, so nothing of theirs is compared.
    """
    settings = settings_of(output.info)
    if settings.collection == "release_hierarchies":
        return
    made = Making(seed=settings.seed) if settings.collection == "charades" else None
    for split in output.splits("questions"):
        for video in by_video(output, split):
            found = _differing(video, split, made, settings.wording)
            yield from (f"{video.video_id}: {problem}" for problem in islice(found, SHOWN))


def _differing(video: VideoRows, split: str, made: Making | None, wording: Wording) -> Iterator[str]:
    try:
        roots = [_root(row) for row in video.questions.values() if row["is_root"]]
    except InputError as error:
        yield f"a root's program cannot be read: {error}"
        return
    again = graphs_of(video.video_id, roots, None, wording)
    for row in again.rows():
        found = video.questions.get(row["key"])
        if found is None:
            yield f"questions: {row['key']} is missing"
            continue
        expected = {name: value for name, value in row.items() if name not in ANSWERED}
        if row["is_root"]:
            expected = {name: value for name, value in expected.items() if name not in ROOTS_OWN}
            if made is not None:
                expected |= _said(row, split, made)
        yield from differing_rows("questions", [found], [expected], "key")
        if not row["is_root"] and found["recomputed"] is not None:
            yield f"questions: {row['key']}: recomputed is {found['recomputed']!r} of a question that is no root"
    keys = [row["key"] for row in again.rows()]
    if list(video.questions) != keys and {*video.questions} == {*keys}:
        yield "questions: the rows are in another order"
    yield from differing_rows("graphs", video.graphs, list(again.graphs()), "root")


def _root(row: Row) -> Root:
    program = row["agqa_program"] or ""
    return Root(row["key"], row["question"], parse_program(program), row["answer"] or "", program)


def _said(row: Row, split: str, made: Making) -> Row:
    """Return what is said of a question that was made: its words, and what of it `train` never has."""
    question = parse_program(row["agqa_program"])
    new = any(is_held_out(each, made.held_out, made.seed) for each in compositions_of(question))
    return {
        "question": word_root(question, row["video_id"], notation(question), seed=made.seed),
        "novel_composition": split != "train" and new,
        "more_steps": split != "train" and steps_of(question) > made.train_steps,
    }

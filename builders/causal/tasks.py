"""Turn CausalChaos into tasks for evaluation harnesses."""

from __future__ import annotations

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...evaluation.tasks import Task, VideoColumn, one_split, row_keys
from .tables import CLIPS, OPEN, choice_tables

SHOWN = VideoColumn(CLIPS, "clip_id")


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Return the tasks of every division, of the confusions, and of the open-ended table."""
    tables = [name for name in (*choice_tables(), OPEN) if name in output.info["counts"]]
    if split is not None and not any(split in output.splits(name) for name in tables):
        one_split(output, tables[0], split)
    stored = CLIPS in output.info["counts"]
    clips = row_keys(output, CLIPS, ("clip_id",)) if stored else set()
    found = []
    for table in tables:
        if split is not None and split not in output.splits(table):
            continue
        chosen = one_split(output, table, split)
        asked = row_keys(output, table, ("qid", "clip_id"), chosen)
        gone = tuple(sorted(str(qid) for qid, clip in asked if stored and (clip,) not in clips))
        if len(gone) == len(asked):
            raise InputError(
                f"{output.path}: all clips for the questions in table {table}, split {chosen}, were skipped. Build "
                "again with their videos, or choose another --split."
            )
        kinds = ("open_answer", "open_explanation") if table == OPEN else ("answer", "explanation")
        for kind in kinds:
            why = "their clips were skipped in the build" if gone else ""
            found.append(
                Task(f"{table}_{kind.removeprefix('open_')}", table, chosen, kind, SHOWN, left_out=gone, why=why)
            )
    return found

"""CausalChaos as tasks of evaluation harnesses."""

from __future__ import annotations

from ...errors import InputError
from ...exports.lmms_eval import Bound, Task, check_videos, functions_for, one_split, row_keys
from ...records.output import FinishedOutput
from .tables import CLIPS, OPEN, choice_tables

PLACE = (CLIPS, "clip_id")
SHOWN = Bound("clip_visual", "row_visual", PLACE)


def tasks(output: FinishedOutput, split: str | None) -> list[Task]:
    """Ask every division, the confusions, and the open-ended table in the split of the first division."""
    check_videos(output, CLIPS)
    tables = [name for name in (*choice_tables(), OPEN) if name in output.info["counts"]]
    if split is not None and not any(split in output.splits(name) for name in tables):
        one_split(output, tables[0], split)
    clips = row_keys(output, CLIPS, ("clip_id",))
    found = []
    for table in tables:
        if split is not None and split not in output.splits(table):
            continue
        chosen = one_split(output, table, split)
        asked = row_keys(output, table, ("qid", "clip_id"), chosen)
        gone = tuple(sorted(str(qid) for qid, clip in asked if (clip,) not in clips))
        if len(gone) == len(asked):
            raise InputError(
                f"{output.path}: no question of {table}, split {chosen}, has its clip; all were skipped. Build it with "
                "their videos, or say another --split."
            )
        kinds = ("open_answer", "open_explanation") if table == OPEN else ("answer", "explanation")
        for kind in kinds:
            asks = kind.removeprefix("open_")
            functions = functions_for(SHOWN, kind, table)
            if gone:
                functions["process_docs"] = Bound("with_clip", "with_video", PLACE)
            why = "their clips were skipped in the build" if gone else ""
            found.append(Task(f"{table}_{asks}", table, chosen, kind, functions, [], gone, why))
    return found

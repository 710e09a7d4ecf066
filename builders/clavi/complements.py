"""The complement pairs of CLAVI's before/after questions."""

from __future__ import annotations

from ...core.output import FinishedOutput
from ...evaluation.metrics.inputs import read_columns
from ...evaluation.models.distances import Complement
from .tables import QUESTIONS, VARIANTS

COLUMNS = ("question_id", "type", "variant", "complement_question_id", "counterpart_question_id")


def complements(output: FinishedOutput, split: str) -> list[Complement]:
    """Return the pairs (V, V′) with one question and (Q, Q′) on one video, of before/after questions (§B.7)."""
    columns, _ = read_columns(output, QUESTIONS.name, COLUMNS, split)
    found = []
    for name, kind, variant, opposite, counterpart in zip(*(columns[each] for each in COLUMNS), strict=True):
        if kind == "BA":
            if variant == VARIANTS[0]:
                found.append(Complement("video", name, counterpart))
            if name < opposite:
                found.append(Complement("text", name, opposite))
    return found

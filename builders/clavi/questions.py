"""The 19 questions about a video."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.schema import Row
from ...templates import QuestionTemplate, load_questions
from .tables import VARIANTS

LETTERS = "ABC"


def templates_of(pair: Mapping[str, Any]) -> tuple[QuestionTemplate, ...]:
    """Return the question templates of a pair: for phrases with subjects if it has them, else for gerunds."""
    return load_questions("clavi_events" if pair.get("asked_a") else "clavi")


def phrases_of(pair: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the phrases of A, B and C, and their yes/no questions, which are empty for gerunds."""
    phrases = {letter: pair[f"phrase_{letter.lower()}"] for letter in LETTERS}
    return phrases, {letter: pair.get(f"asked_{letter.lower()}") or "" for letter in LETTERS}


def question_rows(pair: Mapping[str, Any], variant: int) -> Iterator[Row]:
    """Yield the 19 questions about one video.

    Args:
        pair: `pair_id`, `source_id`, `phrase_a`, `phrase_b`, `phrase_c`; for phrases with subjects also `asked_a` etc.
        variant: 0 for V, 1 for V′.
    """
    templates = templates_of(pair)
    number = {template.id: position for position, template in enumerate(templates)}
    phrases, asked = phrases_of(pair)
    video, other = (f"{pair['pair_id']}_{1 + v}" for v in (variant, 1 - variant))
    for position, template in enumerate(templates):
        yield {
            "question_id": f"{video}_{position:02d}",
            "video_id": video,
            "pair_id": pair["pair_id"],
            "source_id": pair["source_id"],
            "question": template.worded(phrases, asked),
            "answer": template.answers[variant],
            "type": template.type,
            "type_id": template.type_ids[variant],
            "subset": template.subset,
            "variant": VARIANTS[variant],
            "complement_question_id": f"{video}_{number[template.complement]:02d}" if template.complement else None,
            "counterpart_question_id": f"{other}_{position:02d}",
            "template_id": template.template_id,
        }

"""The 19 questions of a video."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...records.schema import Row
from ...templates import load_questions
from .tables import VARIANTS


def question_rows(pair: Mapping[str, Any], variant: int) -> Iterator[Row]:
    """Word the 19 questions of one video.

    Args:
        pair: `pair_id` and `phrase_a`, `phrase_b`, `phrase_c`.
        variant: 0 for V, 1 for V′.
    """
    templates = load_questions()
    number = {template.id: position for position, template in enumerate(templates)}
    phrases = {letter: pair[f"phrase_{letter.lower()}"] for letter in "ABC"}
    video, other = (f"{pair['pair_id']}_{1 + v}" for v in (variant, 1 - variant))
    for position, template in enumerate(templates):
        yield {
            "question_id": f"{video}_{position:02d}",
            "video_id": video,
            "pair_id": pair["pair_id"],
            "question": template.text.format(x=phrases[template.x], y=phrases.get(template.y or "")),
            "answer": template.answers[variant],
            "type": template.type,
            "type_id": template.type_ids[variant],
            "subset": template.subset,
            "variant": VARIANTS[variant],
            "complement_question_id": f"{video}_{number[template.complement]:02d}" if template.complement else None,
            "counterpart_question_id": f"{other}_{position:02d}",
            "template_id": template.template_id,
        }

"""Mine distractors for a file with questions."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import UsageError
from ..core.extras import workbook
from ..core.functions import keywords_of
from ..core.settings import Need, refuse_unused
from ..core.tabular import columns_of
from ..negatives.settings import MineSettings

if TYPE_CHECKING:
    from ..annotations.question_tables import Questions
    from ..core.extras import Requirement
    from ..negatives.mining import MinedQuestions

ENDINGS = (".jsonl", ".ndjson", ".parquet")


@keywords_of(MineSettings)
def mine(settings: MineSettings) -> MinedQuestions:
    """Find distractors for each question among the answers to similar questions.

    Distractors differ in meaning from the correct option. Every question is written with its options in random order,
    the index of the correct option, and the source of each option. Explanations, if any, have options of their own.

    For example::

        stressreel mine --questions sample --out mined.jsonl
        stressreel mine --questions qa.csv --columns id=qid --out mined.parquet
        stressreel mine --questions qa.csv --out mined.jsonl --review to-read.csv
        stressreel mine --questions qa.csv --imitate-release --out released.jsonl

    Returns:
        The questions with their options.

    Raises:
        UsageError: An option or its value is not allowed, or a file does not exist.
        InputError: The questions cannot be read, or there are too few distractors.
        OutputError: A file cannot be written.
    """
    from ..core.extras import check_requirements
    from ..core.progress import showing
    from ..negatives.mining import mine_questions, write_review, write_rows
    from ..negatives.options import QuestionRow

    out = None if settings.out is None else Path(settings.out)
    if out and out.suffix.lower() not in ENDINGS:
        raise UsageError(f"--out {out.name} must end in one of {', '.join(ENDINGS)}.")
    check_requirements(requirements(settings))
    read = _read(str(settings.questions), columns_of(settings.columns) or None, settings.apart_frames)
    refuse_unused(settings, needs_of(read))
    rows = [
        QuestionRow(
            item.id,
            item.question,
            {"answer": item.answer, **({"explanation": item.explanation} if item.explanation else {})},
            item.split if settings.pool == "split" else "",
            min((item.id, *read.kept_apart.get(item.id, ()))),
            (item.split,),
        )
        for item in read.questions
    ]
    with showing(settings.progress):
        mined = mine_questions(rows, read.kept_apart if settings.keep_apart else {}, settings)
    if out:
        write_rows(out, mined.rows)
    written: tuple[str, ...] = ()
    if settings.review:
        write_review(Path(settings.review), mined, settings)
        written = (f"wrote {settings.review}: a sample of questions for review, with options side by side",)
    return replace(mined, out=out, written=written)


def requirements(settings: MineSettings) -> list[Requirement]:
    """Return what the settings need besides the core: a reader of the questions, an encoder and a parser of English."""
    from ..language.embeddings import encoder_requirements
    from ..language.parse import parser_requirements

    what = "choosing distractors"
    return [*workbook(settings.questions), *encoder_requirements(settings.model, what), *parser_requirements(what)]


def needs_of(read: Questions) -> dict[str, tuple[Need, ...]]:
    """Return the conditions on the questions without which options have no effect, by keyword."""
    has_splits = any(item.split for item in read.questions)
    has_explanations = any(item.explanation for item in read.questions)
    has_groups = any(len({own, *others}) > 1 for own, others in read.kept_apart.items())
    return {
        "pool": (Need(lambda _: has_splits, "because these questions have no splits", "add a column split"),),
        "rank_by": (
            Need(
                lambda _: has_explanations,
                "because these questions have no explanations",
                "add a column explanation",
            ),
        ),
        "keep_apart": (Need(lambda _: has_groups, "because these questions have no groups", "add a column group"),),
        "apart_frames": (
            Need(
                lambda _: read.framed,
                "because these questions have no frame numbers",
                "use questions in the format of CausalChaos",
            ),
        ),
    }


def _read(source: str, columns: Mapping[str, str] | None, apart_frames: int) -> Questions:
    from ..annotations.question_tables import read_questions
    from ..annotations.samples.causal import write_causal_annotations

    if source != "sample":
        return read_questions(Path(source).expanduser(), columns, apart_frames)
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        return read_questions(write_causal_annotations(Path(folder)), columns, apart_frames)

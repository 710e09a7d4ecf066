"""Mine distractors for a file with questions."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import UsageError
from ..core.extras import workbook
from ..core.functions import keyword_signature
from ..core.options import Need, from_keywords, refuse_unused
from ..core.tabular import columns_of
from ..negatives.settings import MineSettings

if TYPE_CHECKING:
    from ..annotations.questions import Questions
    from ..core.requirements import Requirement
    from ..negatives.mine_questions import MinedQuestions

ENDINGS = (".jsonl", ".ndjson", ".parquet")


@keyword_signature(MineSettings, positional=("questions",))
def mine(questions: Path | str, **options: Any) -> MinedQuestions:
    """Find distractors for each question among the answers to similar questions.

    Distractors differ in meaning from the correct option. Every question is written with its options in random order,
    the index of the correct option, and the source of each option. Explanations, if any, have options of their own.

    Raises:
        UsageError: An option or its value is not allowed, or a file does not exist.
        InputError: The questions cannot be read, or there are too few distractors.
        OutputError: A file cannot be written.
    """
    return run_mine(from_keywords(MineSettings, {"questions": questions, **options}))


def run_mine(chosen: MineSettings) -> MinedQuestions:
    """Mine distractors as `mine` does, with settings as an object, and write the output files."""
    from ..core.progress import showing
    from ..core.requirements import check
    from ..negatives.mine_questions import mine_questions, write_review, write_rows
    from ..negatives.options import QuestionRow

    if chosen.out and chosen.out.suffix.lower() not in ENDINGS:
        raise UsageError(f"--out {chosen.out.name} must end in one of {', '.join(ENDINGS)}.")
    check(requirements(chosen))
    read = _read(chosen.questions, columns_of(chosen.columns) or None, chosen.apart_frames)
    refuse_unused(chosen, chosen.given, needs_of(read))
    rows = [
        QuestionRow(
            one.id,
            one.question,
            {"answer": one.answer, **({"explanation": one.explanation} if one.explanation else {})},
            one.split if chosen.pool == "split" else "",
            min((one.id, *read.kept_apart.get(one.id, ()))),
            (one.split,),
        )
        for one in read.questions
    ]
    with showing(chosen.progress):
        mined = mine_questions(rows, read.kept_apart if chosen.keep_apart else {}, chosen)
    if chosen.out:
        write_rows(chosen.out, mined.rows)
    written: tuple[str, ...] = ()
    if chosen.review:
        write_review(chosen.review, mined, chosen)
        written = (f"wrote {chosen.review}: a sample of questions for review, with options side by side",)
    return replace(mined, out=chosen.out, written=written)


def requirements(chosen: MineSettings) -> list[Requirement]:
    """Return what the settings need besides the core: a reader of the questions, an encoder and a parser of English."""
    from ..language.embeddings import encoder_requirements
    from ..language.parse import parser_requirements

    what = "choosing distractors"
    return [*workbook(chosen.questions), *encoder_requirements(chosen.model, what), *parser_requirements(what)]


def needs_of(read: Questions) -> dict[str, tuple[Need, ...]]:
    """Return the conditions on the questions without which options have no effect, by keyword."""
    has_splits = any(each.split for each in read.questions)
    has_explanations = any(each.explanation for each in read.questions)
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
    from ..annotations.questions import read_questions
    from ..annotations.samples.causal import write_causal_annotations

    if source != "sample":
        return read_questions(Path(source).expanduser(), columns, apart_frames)
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        return read_questions(write_causal_annotations(Path(folder)), columns, apart_frames)

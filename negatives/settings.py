"""Define the settings for mining distractors."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from ..core.settings import (
    LARGEST_COUNT,
    ColumnNames,
    Implies,
    Input,
    Need,
    Needs,
    OptionalPath,
    Seed,
    Settings,
    parsed,
    to_name,
    within,
)

SMALLEST = 1e-6  # of numbers that must be above 0


def hard(settings: Any) -> bool:
    """Return whether distractors are chosen by score, given the settings of mining or of a build."""
    return bool(settings.negatives == "hard" and settings.balance == "none")


def mined(settings: Any) -> bool:
    """Return whether distractors are hard negatives and not random."""
    return bool(settings.negatives == "hard")


def strict(settings: Any) -> bool:
    """Return whether distractors are balanced against blind baselines."""
    return mined(settings) and bool(settings.balance == "strict")


BALANCED_OF_MINED = Need(
    mined, "with --negatives random, because random distractors are not balanced", "leave out --negatives"
)
BALANCED = Need(
    lambda settings: not mined(settings) or strict(settings),
    "with --balance none, because only balanced options are rewritten",
    "leave out --balance",
)
SCORED = Need(
    lambda settings: not strict(settings),
    "on balanced options, which are sampled and not chosen by score",
    "add --balance none",
)
RANKED = Need(mined, "with --negatives random, because random distractors are not ranked", "leave out --negatives")


def whole_share(kind: Any, value: float) -> None:
    """Raise ValueError for a limit below an even share, other than 0, which sets no limit."""
    if 0 < value < 1:
        raise ValueError("must be 0 or at least 1")


RELEASED = {
    "balance": "none",
    "tau": 0.75,
    "same_text": 2.0,
    "max_lend": 0.0,
    "ties": "id",
    "pool": "all",
    "rank_by": "explanation",
    "keep_apart": False,
    "twins": "right",
}
"""The values of the released CausalChaos, by keyword."""


@dataclass(frozen=True, kw_only=True)
class MiningSettings(Settings):
    """Settings for choosing distractors.

    Attributes:
        negatives: Mine hard negatives, or sample random distractors as a baseline with the same exclusions.
        balance: Sample hard negatives that blind models cannot distinguish from correct options, or take those with the
            highest scores (none).
        style: Write balanced options in one style (initial capital, no full stop, no leading "because"), or as
            annotated.
        num_options: Number of options per question, including the correct one.
        top_k: Number of nearest questions whose answers are candidates.
        alpha: Weight of the cosine similarity of the questions in the recorded scores.
        beta: Factor for answers with a cosine similarity of at least --tau.
        tau: Minimum cosine similarity to the correct answer at which --beta applies.
        same_question: Cosine similarity at which two questions count as the same, so that they do not exchange answers.
            A value above 1 disables this rule.
        same_text: Cosine similarity at which two answers count as synonymous, so that they never appear in the same
            question. This also holds if one contains all content words of the other. Above 1, only equal words count.
        max_lend: Maximum number of times that an answer is used as a distractor, in multiples of its even share.
            Without a limit, the rarest option is often correct. 0 sets no limit, as in the release.
        ties: Order of equally scored candidates: random for each pair of questions (drawn), or by id, as in the
            release.
        model: Sentence encoder: a folder, or a name on the Hub.
        pool: Take distractors from the question's own split, or from all questions, as in the release (which leaks).
            With --balance none, answers that are correct in train are never distractors in other splits; balanced
            options also come from other splits, as often as correct ones occur there.
        imitate_release: Reproduce the options of the released CausalChaos: --balance none --pool all --tau .75
            --rank-by explanation --no-keep-apart --same-text 2 --max-lend 0 --ties id.
        rank_by: Score answers by their own cosine similarity, or by that of their explanations, as in the release.
        keep_apart: Exclude distractors from questions of the same group, or about the same moment of the video.
        apart_frames: Clips that are fewer than this many frames apart show the same moment (50 frames are about 2 s).
    """

    negatives: Literal["hard", "random"] = "hard"
    balance: Annotated[Literal["strict", "none"], Needs(BALANCED_OF_MINED)] = "strict"
    style: Annotated[Literal["one", "keep"], Needs(BALANCED_OF_MINED, BALANCED)] = "one"
    num_options: Annotated[int, within(2, 26)] = 5
    top_k: Annotated[int, within(1, 1_000_000), Needs(RANKED, SCORED)] = 10
    alpha: Annotated[float, within(SMALLEST, 1e6), Needs(SCORED)] = 1.0
    beta: Annotated[float, within(0, 1), Needs(SCORED)] = 0.001
    tau: Annotated[float, within(-1, 1), Needs(SCORED)] = 0.85
    same_question: Annotated[float, within(SMALLEST, 100)] = 0.9
    same_text: Annotated[float, within(SMALLEST, 100)] = 0.9
    max_lend: Annotated[float, Parameter(validator=(Number(gte=0, lte=1e6), whole_share)), Needs(SCORED)] = 1.2
    ties: Annotated[Literal["drawn", "id"], Needs(RANKED, SCORED)] = "drawn"
    model: Annotated[str | None, Parameter(show_default="all-MiniLM-L6-v2"), Input(private=True)] = None
    pool: Literal["split", "all"] = "split"
    imitate_release: Annotated[bool, Implies(RELEASED)] = False
    rank_by: Annotated[Literal["own", "explanation"], Needs(SCORED)] = "own"
    keep_apart: bool = True
    apart_frames: Annotated[
        int,
        within(0, LARGEST_COUNT),
        Needs(Need(lambda settings: settings.keep_apart, "with --no-keep-apart", "leave out --no-keep-apart")),
    ] = 50


@dataclass(frozen=True, kw_only=True)
class MineSettings(MiningSettings):
    """Settings of `stressreel mine`.

    Attributes:
        questions: CSV or JSON Lines with id, question, answer and, optionally, explanation, group and split;
            Annotations.csv of CausalChaos; or `sample` for the built-in sample.
        out: Output file (.jsonl or .parquet).
        columns: Names of columns in your file that differ from the defaults, such as question=Q,answer=A.
        train_split: Split whose correct answers are never distractors in other splits (with --pool split).
        seed: Seed of all random choices.
        review: CSV file in which to save a sample of questions with their options, to check that no distractor is
            correct.
        review_count: Number of questions in the --review file.
        progress: Show a progress bar.
    """

    questions: Annotated[str | Path, parsed(to_name)] = field(kw_only=False)
    out: OptionalPath = None
    columns: ColumnNames = ()
    train_split: Annotated[
        str | None,
        Parameter(show_default="train, if present"),
        Needs(
            Need(
                lambda settings: settings.pool == "split" or strict(settings),
                "with --pool all, except on balanced options",
                "leave out --pool",
            )
        ),
    ] = None
    seed: Seed = 0
    review: OptionalPath = None
    review_count: Annotated[
        int,
        within(1, LARGEST_COUNT),
        Needs(Need(lambda settings: settings.review is not None, "without --review", "add --review FILE")),
    ] = 100
    progress: bool = True


def advice(settings: Any) -> str:
    """Return which options to change to get more distractors per question."""
    pool = "--pool all, " if settings.pool == "split" else ""
    apart = "--no-keep-apart, " if settings.keep_apart else ""
    plain = "--balance none, " if strict(settings) else ""
    smaller = f"a smaller --num-options, {apart}or higher --same-question and --same-text"
    return f"Provide more questions, {plain}{pool}{smaller}."

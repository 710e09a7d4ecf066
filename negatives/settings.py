"""Define the options for mining distractors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..core.errors import UsageError
from ..core.options import LARGEST_COUNT, LARGEST_SEED, GivenSettings, Need, nested, option, options_of
from ..core.tabular import read_columns

SMALLEST = 1e-6  # of numbers that must be above 0


def hard(settings: Any) -> bool:
    """Return whether distractors are chosen by score, given the settings of mining or of a build."""
    mining = getattr(settings, "mining", settings)
    return bool(mining.negatives == "hard" and mining.balance == "none")


def mined(settings: Any) -> bool:
    """Return whether distractors are hard negatives and not random."""
    return bool(getattr(settings, "mining", settings).negatives == "hard")


def strict(settings: Any) -> bool:
    """Return whether distractors are balanced against blind baselines."""
    return mined(settings) and bool(getattr(settings, "mining", settings).balance == "strict")


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


@dataclass(frozen=True)
class MiningSettings:
    """Options for choosing distractors.

    Attributes:
        negatives: "hard", or "random" as a baseline with the same exclusions.
        balance: "strict" to sample distractors that models without video cannot separate from the correct option (see
            `negatives.balance`); "none" to choose by score, as in the paper.
        style: "one" to write the options of balanced questions in one style; "keep" to leave them as annotated.
        num_options: Options per question, including the correct one.
        top_k: Number of nearest questions whose answers are candidates.
        alpha: Weight of the questions' cosine. It scales all scores and thus does not affect the choice.
        beta: Factor for candidates whose cosine with the correct option is at least tau.
        tau: Cosine from which beta applies.
        same_question: Cosine from which two questions are equivalent, so that neither is a donor of the other.
        same_text: Cosine from which two texts are equivalent, so that they are never options of the same question.
            Texts whose content words are a subset of the other's are also equivalent; above 1, only equal words count.
        max_lend: Maximum uses of a text, relative to its even share; 0 for no limit.
        ties: Order of equal candidates: "drawn", a seeded draw for each pair of questions, or "id".
    """

    negatives: Literal["hard", "random"] = option(
        "hard", "Mine hard negatives, or sample random distractors as a baseline with the same exclusions."
    )
    balance: Literal["strict", "none"] = option(
        "strict",
        "Sample hard negatives that blind models cannot distinguish from correct options, or take those with the "
        "highest scores (none).",
        needs=(BALANCED_OF_MINED,),
    )
    style: Literal["one", "keep"] = option(
        "one",
        'Write balanced options in one style (initial capital, no full stop, no leading "because"), or as annotated.',
        needs=(BALANCED_OF_MINED, BALANCED),
    )
    num_options: int = option(5, "Number of options per question, including the correct one.", minimum=2, maximum=26)
    top_k: int = option(
        10,
        "Number of nearest questions whose answers are candidates.",
        minimum=1,
        maximum=1_000_000,
        needs=(RANKED, SCORED),
    )
    alpha: float = option(
        1.0,
        "Weight of the cosine similarity of the questions in the recorded scores.",
        minimum=SMALLEST,
        maximum=1e6,
        needs=(SCORED,),
    )
    beta: float = option(
        0.001,
        "Factor for answers with a cosine similarity of at least --tau.",
        minimum=0,
        maximum=1,
        needs=(SCORED,),
    )
    tau: float = option(
        0.85,
        "Minimum cosine similarity to the correct answer at which --beta applies.",
        minimum=-1,
        maximum=1,
        needs=(SCORED,),
    )
    same_question: float = option(
        0.9,
        "Cosine similarity at which two questions count as the same, so that they do not exchange answers. A value "
        "above 1 disables this rule.",
        minimum=SMALLEST,
        maximum=100,
    )
    same_text: float = option(
        0.9,
        "Cosine similarity at which two answers count as synonymous, so that they never appear in the same question. "
        "This also holds if one contains all content words of the other. Above 1, only equal words count.",
        minimum=SMALLEST,
        maximum=100,
    )
    max_lend: float = option(
        1.2,
        "Maximum number of times that an answer is used as a distractor, in multiples of its even share. Without a "
        "limit, the rarest option is often correct. 0 sets no limit, as in the release.",
        minimum=0,
        maximum=1e6,
        needs=(SCORED,),
    )
    ties: Literal["drawn", "id"] = option(
        "drawn",
        "Order of equally scored candidates: random for each pair of questions (drawn), or by id, as in the release.",
        needs=(RANKED, SCORED),
    )

    def __post_init__(self) -> None:
        """Validate the values.

        Raises:
            UsageError: A value is out of range.
        """
        for each in options_of(MiningSettings):
            value = each.get(self)
            try:
                each.check(value)
                if each.flag == "max-lend" and 0 < value < 1:
                    raise ValueError("must be 0 or at least 1")
            except ValueError as error:
                raise UsageError(f"--{each.flag} {value} {error}. {each.option.help}") from error


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
class PoolSettings(GivenSettings):
    """Options that determine where distractors come from.

    Attributes:
        imitate_release: Whether to choose options as in the released CausalChaos.
        model: The sentence encoder; None for the default.
        pool: "split" for correct options of the same split, excluding in validation and test those also correct in
            train; "all" for those of all splits, as in the release. Balanced options also come from other splits.
        rank_by: "own", or "explanation" to score answers by the cosine of their explanations, as in the release.
        keep_apart: Whether to exclude questions of the same group or moment as donors.
        apart_frames: Two clips show the same moment if they are fewer frames apart.
    """

    model: str | None = option(
        None,
        "Sentence encoder: a folder, or a name on the Hub.",
        shown="all-MiniLM-L6-v2",
        content=False,
        write=lambda given: "DIR",
    )
    pool: Literal["split", "all"] = option(
        "split",
        "Take distractors from the question's own split, or from all questions, as in the release (which leaks). With "
        "--balance none, answers that are correct in train are never distractors in other splits; balanced options "
        "also come from other splits, as often as correct ones occur there.",
    )
    imitate_release: bool = option(
        False,
        "Reproduce the options of the released CausalChaos: --balance none --pool all --tau .75 --rank-by explanation "
        "--no-keep-apart --same-text 2 --max-lend 0 --ties id.",
        implies=RELEASED,
    )
    rank_by: Literal["own", "explanation"] = option(
        "own",
        "Score answers by their own cosine similarity, or by that of their explanations, as in the release.",
        needs=(SCORED,),
    )
    keep_apart: bool = option(
        True, "Exclude distractors from questions of the same group, or about the same moment of the video."
    )
    apart_frames: int = option(
        50,
        "Clips that are fewer than this many frames apart show the same moment (50 frames are about 2 s).",
        minimum=0,
        maximum=LARGEST_COUNT,
        needs=(Need(lambda settings: settings.keep_apart, "with --no-keep-apart", "leave out --no-keep-apart"),),
    )


@dataclass(frozen=True, kw_only=True)
class MineSettings(PoolSettings):
    """Options of `stressreel mine`."""

    questions: str = option(
        "",
        "CSV or JSON Lines with id, question, answer and, optionally, explanation, group and split; Annotations.csv "
        "of CausalChaos; or `sample` for the built-in sample.",
        required=True,
    )
    out: Path | None = option(None, "Output file (.jsonl or .parquet).")
    columns: tuple[str, ...] = option(
        (),
        "Names of columns in your file that differ from the defaults, such as question=Q,answer=A.",
        read=read_columns,
    )
    mining: MiningSettings = nested(MiningSettings)
    train_split: str | None = option(
        None,
        "Split whose correct answers are never distractors in other splits (with --pool split).",
        shown="train, if present",
        needs=(
            Need(
                lambda settings: settings.pool == "split" or strict(settings),
                "with --pool all, except on balanced options",
                "leave out --pool",
            ),
        ),
    )
    seed: int = option(0, "Seed of all random choices.", minimum=0, maximum=LARGEST_SEED)
    review: Path | None = option(
        None,
        "CSV file in which to save a sample of questions with their options, to check that no distractor is correct.",
    )
    review_count: int = option(
        100,
        "Number of questions in the --review file.",
        minimum=1,
        maximum=LARGEST_COUNT,
        needs=(Need(lambda settings: settings.review is not None, "without --review", "add --review FILE"),),
    )
    progress: bool = option(True, "Show a progress bar.")


def advice(settings: Any) -> str:
    """Return which options to change to get more distractors per question."""
    pool = "--pool all, " if settings.pool == "split" else ""
    apart = "--no-keep-apart, " if settings.keep_apart else ""
    plain = "--balance none, " if strict(settings) else ""
    smaller = f"a smaller --num-options, {apart}or higher --same-question and --same-text"
    return f"Provide more questions, {plain}{pool}{smaller}."

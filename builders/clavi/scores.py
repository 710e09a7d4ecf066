"""Score answers to CLAVI's questions.

Rawal et al. 2024, "Dissecting Multimodality in VideoQA Transformer Models by Impairing Modality Fusion", section 5.1,
Tables 3 and 15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from ...core.output import FinishedOutput
from ...core.results import Table
from ...evaluation.metrics.bootstrap import Floats, Means, Tally, by_source, estimates, tally
from ...evaluation.metrics.items import ALL, positions, read_columns
from ...evaluation.metrics.predictions import FLAGGED, MISSING, OTHER_SPLIT, Predictions, join
from ...evaluation.metrics.scores import ScoreOptions, Scores
from .settings import RELATION_STEP, RELATIONS

NO, YES = 0, 1
SEQUENCE_TYPES = ("E", "E-NC", "BE", "BA", "BA-NC")
TYPES = (*SEQUENCE_TYPES, "W", "W-NC", "AW", "SB", "TH")
VARIANTS = {"original": "V", "complement": "V′"}
WORDINGS = ("Q", "Q′", "-")
RELEASED_Q, RELEASED_Q_PRIME = (0, 4, 8), (5, 9)
VARIANT_STEP = 16
BA_NC, ALL_BA_NC = " control, BA-NC", " BA-NC and complement"
COLUMNS = (
    *("question_id", "source_id", "answer", "type", "type_id", "subset", "variant"),
    *("complement_question_id", "counterpart_question_id"),
)


@dataclass(frozen=True)
class Questions:
    """The questions of CLAVI as arrays.

    Attributes:
        ids: `question_id` of each question.
        sources: Names of the source videos.
        source: Index in `sources`.
        answer: 0 for no, 1 for yes.
        type: Index in `TYPES`.
        variant: 0 for V, 1 for V′.
        relation: Index in `RELATIONS`.
        wording: Index in `WORDINGS`: Q is true of V (or an E question), Q′ is its opposite; neither for E-NC and BA-NC.
        flips: Whether the answer differs between V and V′ (the complement subset).
        complement: Index of Q′ for the same video, or -1.
        counterpart: Index of the same question about the other video, or -1.
    """

    ids: list[str]
    sources: list[str]
    source: NDArray[np.intp]
    answer: NDArray[np.int64]
    type: NDArray[np.intp]
    variant: NDArray[np.intp]
    relation: NDArray[np.int64]
    wording: NDArray[np.intp]
    flips: NDArray[np.bool_]
    complement: NDArray[np.intp]
    counterpart: NDArray[np.intp]


def questions_from(columns: Mapping[str, Sequence[object]]) -> Questions:
    """Convert the columns of config `questions` that are listed in `COLUMNS` to arrays."""
    ids = [str(name) for name in columns["question_id"]]
    index_of: dict[object, int] = {name: index for index, name in enumerate(ids)}
    sources, source = by_source([str(name) for name in columns["source_id"]])
    type_id = np.array(columns["type_id"], np.int64)
    in_v = type_id % VARIANT_STEP
    return Questions(
        ids=ids,
        sources=sources,
        source=source,
        answer=np.array(columns["answer"], np.int64),
        type=positions(columns["type"], TYPES, "type"),
        variant=positions(columns["variant"], list(VARIANTS), "variant"),
        relation=type_id // RELATION_STEP,
        wording=np.where(np.isin(in_v, RELEASED_Q), 0, np.where(np.isin(in_v, RELEASED_Q_PRIME), 1, 2)),
        flips=np.array([name == "complement" for name in columns["subset"]], np.bool_),
        complement=np.array([index_of.get(name, -1) for name in columns["complement_question_id"]], np.intp),
        counterpart=np.array([index_of.get(name, -1) for name in columns["counterpart_question_id"]], np.intp),
    )


def count(questions: Questions, picks: NDArray[np.int64]) -> Tally:
    """Sum correct answers by source video.

    Picks are 0 for no, 1 for yes, -1 if unreadable (counted as wrong), and -2 if missing (excluded, with every couple
    that contains it). Cells of relations other than sequences are separate, and absent if there are no such questions.
    Without sequences, the other cells refer to all questions.
    """
    right = (picks == questions.answer).astype(np.float64)
    valid = picks != MISSING
    cells: dict[str, tuple[NDArray[np.intp], Floats]] = {}

    def add(name: str, chosen: NDArray[np.bool_], values: Floats) -> None:
        cells[name] = (questions.source[chosen], values[chosen])

    sequence = questions.relation == 0
    has_sequences = bool(sequence.any())
    if not has_sequences:
        sequence[:] = True
    add("all", valid & sequence, right)
    for name, answer in (("yes", YES), ("no", NO)):
        add(name, valid & sequence & (questions.answer == answer), right)
    for index, kind in enumerate(TYPES):
        if (kind in SEQUENCE_TYPES and has_sequences) or (questions.type == index).any():
            add(kind, valid & (questions.type == index), right)
    for letter, link in (("V", questions.counterpart), ("T", questions.complement)):
        # Each couple is counted at its first question.
        couple = (link > np.arange(len(link))) & valid & valid[link]
        both = right * right[link]
        for index, relation in enumerate(RELATIONS[1:], 1):
            if (questions.relation == index).any():
                add(f"CAcc_{letter} {relation}", couple & questions.flips & (questions.relation == index), both)
        couple &= sequence
        add(f"CAcc_{letter}", couple, both)
        add(f"CAcc_{letter} control", couple & ~questions.flips, both)
        add(f"CAcc_{letter} complement", couple & questions.flips, both)
        before_after = questions.type == TYPES.index("BA-NC")
        add(f"CAcc_{letter}{BA_NC}", couple & before_after, both)
        add(f"CAcc_{letter}{ALL_BA_NC}", couple & (before_after | questions.flips), both)
    for index, variant in enumerate(VARIANTS.values()):
        for kind_number, kind in enumerate(TYPES):
            for word_number, word in enumerate(WORDINGS):
                chosen = (questions.variant == index) & (questions.type == kind_number)
                chosen &= questions.wording == word_number
                if chosen.any():
                    add(f"{variant}|{kind}|{word}", chosen & valid, right)
    return tally(questions.sources, cells)


def measure(means: Means) -> dict[str, Floats]:
    """Compute CLAVI's scores from the means of the cells that `count` returns.

    CAcc_V is the share of questions answered correctly about both V and V′, CAcc_T the share of (Q, Q′) with two
    correct answers. E and E-NC have no Q′ and are excluded from CAcc_T. All refer to sequences, or to all questions of
    an output without sequences, except "CAcc_V overlap" etc., which are those of the complement questions of other
    relations, if there are any.
    """
    parts = ("", " control", " complement", *(f" {relation}" for relation in RELATIONS[1:]))
    names = [name for part in parts for letter in "VT" if (name := f"CAcc_{letter}{part}") in means]
    headline = {"balanced accuracy": (means["yes"] + means["no"]) / 2, "accuracy": means["all"]}
    return headline | {name: means[name] for name in names}


def tables(counted: Tally) -> tuple[Table, ...]:
    """Return accuracies by type, consistent accuracies with the controls of Table 3, and the paper's Table 15."""
    totals = counted.totals()
    means = {name: float(values[0]) for name, values in counted.means(np.ones((1, len(counted.sources)))).items()}
    by_type = tuple((kind, means[kind], totals[kind]) for kind in TYPES if kind in means)
    fine = []
    for cell in counted.cells:
        if "|" in cell:
            variant, kind, word = cell.split("|")
            fine.append((variant, kind, word, means[cell], totals[cell]))
    parts = {
        "": "all",
        " control": "control",
        " complement": "complement",
        ALL_BA_NC: "all, control = BA-NC",
        BA_NC: "control = BA-NC",
    }
    rows = [
        (f"CAcc_{letter}", name, means[f"CAcc_{letter}{part}"], totals[f"CAcc_{letter}{part}"])
        for letter in "VT"
        for part, name in parts.items()
    ]
    return (
        Table("by_type", "Accuracy by type", ("type", "accuracy", "questions"), by_type),
        Table(
            "consistent",
            "Consistent accuracy",
            ("score", "subset", "value", "couples"),
            tuple(rows),
            "The paper defines control as E, E-NC and BA-NC. Its Table 3 fits control = BA-NC: compare its control and "
            "its overall values with the last two rows of each score.",
        ),
        Table(
            "fine_grained",
            "Accuracy by video, type and wording (the paper's Table 15)",
            ("video", "type", "wording", "accuracy", "questions"),
            tuple(fine),
        ),
    )


def score_answers(output: FinishedOutput, config: str, predictions: Predictions, options: ScoreOptions) -> Scores:
    """Score answers to CLAVI questions."""
    flag = options.without
    columns, splits = read_columns(output, config, (*COLUMNS, flag) if flag else COLUMNS, ALL)
    others: dict[str, str] = {}
    for index, (name, split) in enumerate(zip(columns["question_id"], splits, strict=True)):
        if options.split not in (ALL, split):
            others[name] = OTHER_SPLIT
        elif flag and columns[flag][index]:
            others[name] = FLAGGED
    chosen = [name not in others for name in columns["question_id"]]
    questions = questions_from({name: list(compress(values, chosen)) for name, values in columns.items()})
    joined = join(predictions, questions.ids, others=others, partial=options.partial)
    counted = count(questions, joined.picks)
    return Scores(
        benchmark=output.info["builder"],
        split=options.split,
        answers=joined.summary(),
        headline=estimates(counted, measure, seed=options.seed, resamples=options.resamples),
        tables=tables(counted),
        tally=counted,
    )

"""Score multiple-choice answers about causes, with their explanations.

CausalChaos (Parmar et al. 2024), section 4, Tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.output import FinishedOutput
from ...core.results import Cell, Table
from ...core.schema import Row
from ...evaluation.metrics.bootstrap import Floats, Means, Tally, by_source, estimates, tally
from ...evaluation.metrics.items import ALL, read_whole
from ...evaluation.metrics.predictions import (
    MISSING,
    OTHER_SPLIT,
    PickedOptions,
    Predictions,
    identity,
    join,
    options_by_id,
)
from ...evaluation.metrics.scores import ScoreOptions, Scores
from ...negatives.confusion import KINDS as CONFUSIONS
from .tables import NAMES, Target

BALANCED = ", balanced"
LETTERS: dict[Target, str] = {"answer": "A", "explanation": "E"}


def count(
    sources: Sequence[str],
    answered: Mapping[str, tuple[NDArray[np.int64], NDArray[np.int64]]],
    kinds: Mapping[str, Sequence[Sequence[str]]],
    balanced: NDArray[np.bool_] | None = None,
) -> Tally:
    """Count correct choices, and choices of each kind of option, by source video.

    Args:
        sources: The source video of each question.
        answered: Picks (-1 unreadable, -2 missing) and correct options, under "A" for answers and, if there are any,
            under "E" for explanations.
        kinds: Kind of each question's options, such as "hard" or "negation", under the same letters; that of the
            correct option is ignored.
        balanced: Whether each question is in the balanced subset, or None.

    Returns:
        Cells "A", "E" and "A+E" (both correct; questions with a missing pick are excluded), the same over the balanced
        subset as "A, balanced", and "A chose <kind>" over the questions with an option of the kind.
    """
    names, source = by_source(sources)
    valid = {letter: picks != MISSING for letter, (picks, _) in answered.items()}
    right = {letter: picks == truth for letter, (picks, truth) in answered.items()}
    if "E" in answered:
        valid["A+E"], right["A+E"] = valid["A"] & valid["E"], right["A"] & right["E"]
    cells: dict[str, tuple[NDArray[np.intp], Floats]] = {}
    for suffix, part in (("", None), (BALANCED, balanced)):
        if suffix and part is None:
            continue
        for name in valid:
            chosen = valid[name] if part is None else valid[name] & part
            cells[name + suffix] = (source[chosen], right[name][chosen].astype(np.float64))
    for letter, option_kinds in kinds.items():
        picks, truth = answered[letter]
        of_kind: dict[str, list[set[int]]] = {}
        for index, row in enumerate(option_kinds):
            for position, kind in enumerate(row):
                if position != truth[index]:
                    of_kind.setdefault(kind, [set() for _ in option_kinds])[index].add(position)
        for kind, positions in sorted(of_kind.items()):
            offered = np.array([bool(positions_of_kind) for positions_of_kind in positions]) & valid[letter]
            chose = np.array(
                [int(pick) in positions_of_kind for pick, positions_of_kind in zip(picks, positions, strict=True)],
                np.float64,
            )
            cells[f"{letter} chose {kind}"] = (source[offered], chose[offered])
    return tally(names, cells)


def measure(means: Means) -> dict[str, Floats]:
    """Compute A (protocol 1), E, and A+E (protocol 2)."""
    return {name: means[name] for name in ("A", "E", "A+E") if name in means}


def measure_balanced(means: Means) -> dict[str, Floats]:
    """Compute A, E and A+E over the balanced subset."""
    return {name: means[name + BALANCED] for name in ("A", "E", "A+E") if name + BALANCED in means}


def subset(counted: Tally, options: ScoreOptions) -> tuple[Table, ...]:
    """Return a table of the scores on the balanced subset, if there is one."""
    scores = estimates(counted, measure_balanced, seed=options.seed, resamples=options.resamples)
    totals = counted.totals()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, score, totals[name + BALANCED], totals[name]) for name, score in scores.items()
    )
    if not rows:
        return ()
    return (
        Table(
            "balanced",
            "Balanced subset",
            ("asked", "right", "questions", "of"),
            rows,
            "Without the questions that models get right that see no video (`blind_guessable`).",
        ),
    )


def tables(counted: Tally) -> tuple[Table, ...]:
    """Return a table that shows how often each kind of distractor was chosen when it was offered."""
    means = counted.means(np.ones((1, len(counted.sources))))
    totals = counted.totals()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*name.split(" chose ", 1), float(means[name][0]), totals[name]) for name in counted.cells if " chose " in name
    )
    if not rows:
        return ()
    return (
        Table("kinds", "Wrong options chosen, by kind", ("asked", "kind", "chosen", "questions that offer one"), rows),
    )


def kind_of(source: Mapping[str, Any], qid: str) -> str:
    """Return the kind of an option. "negation" and "swap" are reserved for confusions of the correct option."""
    turned = source["kind"] in CONFUSIONS and source["qid"] != qid
    return f"{source['kind']} of a wrong option" if turned else str(source["kind"])


def score_answers(output: FinishedOutput, config: str, predictions: Predictions, options: ScoreOptions) -> Scores:
    """Score chosen answers, and explanations if present, on a table of an output."""
    return score_rows(*read_whole(output, config), predictions, options)


def score_rows(rows: Sequence[Row], splits: Sequence[str], predictions: Predictions, options: ScoreOptions) -> Scores:
    """Score multiple-choice answers about causes.

    Args:
        rows: Rows of a table with options.
        splits: The split of each row.
        predictions: `id`, `answer` and, for protocol 2, `explanation`.
        options: Options of scoring.
    """
    scored = [row for row, split in zip(rows, splits, strict=True) if options.split in (ALL, split)]
    ids = [row["qid"] for row in scored]
    others = dict.fromkeys({row["qid"] for row in rows} - set(ids), OTHER_SPLIT)
    targets: list[Target] = ["answer"]
    if any("explanation" in row for row in predictions.rows):
        targets.append("explanation")
    joined: dict[str, PickedOptions] = {}
    pairs: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
    kinds: dict[str, list[list[str]]] = {}
    for target in targets:
        letter, (texts, index, sources) = LETTERS[target], NAMES[target]
        joined[letter] = join(
            predictions,
            ids,
            options_by_id(scored, texts),
            others=others,
            answer="explanation" if target == "explanation" else None,
            partial=options.partial,
            first=options.first,
        )
        pairs[letter] = joined[letter].picks, np.array([row[index] for row in scored], np.int64)
        kinds[letter] = [[kind_of(source, row["qid"]) for source in row[sources]] for row in scored]
    flags = [row["blind_guessable"] for row in scored]
    balanced = None if None in flags else np.array([not flag for flag in flags], np.bool_)
    counted = count([row["episode"] for row in scored], pairs, kinds, balanced)
    answers = joined["A"].summary()
    if "E" in joined:
        answers |= {
            "explanations": joined["E"].summary(),
            "scored_sha256": identity(f"{letter} {name}" for letter in joined for name in joined[letter].scored()),
        }
    return Scores(
        benchmark="causal",
        split=options.split,
        answers=answers,
        headline=estimates(counted, measure, seed=options.seed, resamples=options.resamples),
        tables=(*subset(counted, options), *tables(counted)),
        tally=counted,
        footnotes=() if "E" in joined else ("no column `explanation`: protocol 2 (A+E) is not scored.",),
    )

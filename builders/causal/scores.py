"""Score multiple-choice answers about causes, with their explanations.

CausalChaos (Parmar et al. 2024), section 4, Tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.results import Cell, Table
from ...evaluation.metrics.bootstrap import Floats, Means, Tally, estimates, tally
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
from ...evaluation.metrics.scores import Scores
from ...evaluation.metrics.scoring import BenchmarkScoring, ScoreOptions
from ...negatives.confusion import KINDS as CONFUSIONS

BALANCED = ", balanced"
KINDS = (("A", "sources"), ("E", "explanation_sources"))


def count(
    sources: Sequence[str],
    answer: tuple[NDArray[np.int64], NDArray[np.int64]],
    explanation: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    kinds: Mapping[str, Sequence[Sequence[str]]] | None = None,
    balanced: NDArray[np.bool_] | None = None,
) -> Tally:
    """Count correct choices, and choices of each kind of option, by source video.

    Args:
        sources: The source video of each question.
        answer: Picks (-1 unreadable, -2 missing) and correct options, for answers.
        explanation: The same for explanations; None if there are none.
        kinds: Kind of each question's options, such as "hard" or "negation", under "A" and "E"; that of the correct
            option is ignored.
        balanced: Whether each question is in the balanced subset, or None.

    Returns:
        Cells "A", "E" and "A+E" (both correct; questions with a missing pick are excluded), the same over the balanced
        subset as "A, balanced", and "A chose <kind>" over the questions with an option of the kind.
    """
    names = sorted(set(sources))
    position = {name: number for number, name in enumerate(names)}
    where = np.array([position[name] for name in sources], np.intp)
    cells: dict[str, tuple[NDArray[np.intp], Floats]] = {}
    kept: dict[str, NDArray[np.bool_]] = {}
    asked = {"A": answer} | ({"E": explanation} if explanation else {})
    for letter, (picks, truth) in asked.items():
        kept[letter] = there = picks != MISSING
        cells[letter] = (where[there], (picks == truth)[there].astype(np.float64))
    if explanation:
        kept["A+E"] = there = (answer[0] != MISSING) & (explanation[0] != MISSING)
        both = (answer[0] == answer[1]) & (explanation[0] == explanation[1])
        cells["A+E"] = (where[there], both[there].astype(np.float64))
    if balanced is not None:
        for name, (at, values) in list(cells.items()):
            there = kept[name]
            cells[name + BALANCED] = (at[balanced[there]], values[balanced[there]])
    for letter, of_options in (kinds or {}).items():
        picks, truth = asked[letter]
        found = sorted(
            {kind for row, right in zip(of_options, truth, strict=True) for at, kind in enumerate(row) if at != right}
        )
        for kind in found:
            offered, chosen = [], []
            for number, row in enumerate(of_options):
                of_kind = {place for place, name in enumerate(row) if name == kind and place != truth[number]}
                if of_kind and picks[number] != MISSING:
                    offered.append(where[number])
                    chosen.append(float(int(picks[number]) in of_kind))
            cells[f"{letter} chose {kind}"] = (np.array(offered, np.intp), np.array(chosen, np.float64))
    return tally(names, cells)


def measure(means: Means) -> dict[str, Floats]:
    """Compute A (protocol 1), E, and A+E (protocol 2)."""
    return {name: means[name] for name in ("A", "E", "A+E") if name in means}


def measure_balanced(means: Means) -> dict[str, Floats]:
    """Compute A, E and A+E over the balanced subset."""
    return {name: means[name + BALANCED] for name in ("A", "E", "A+E") if name + BALANCED in means}


def subset(counted: Tally, options: ScoreOptions) -> tuple[Table, ...]:
    """Return a table of the scores on the balanced subset, if there is one."""
    found = estimates(counted, measure_balanced, seed=options.seed, resamples=options.resamples)
    totals = counted.totals()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, score, totals[name + BALANCED], totals[name]) for name, score in found.items()
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


def scoring() -> BenchmarkScoring:
    """Define how predictions on CausalChaos are scored."""
    return BenchmarkScoring(answers=score_answers, measure=lambda cells: measure, by_table=True)


def score_answers(output: FinishedOutput, config: str, predictions: Predictions, options: ScoreOptions) -> Scores:
    """Score chosen answers, and explanations if present, on a table of an output."""
    rows, splits = read_whole(output, config)
    return score_rows(rows, splits, predictions, options)


def kind_of(source: Mapping[str, Any], qid: str) -> str:
    """Return the kind of an option. "negation" and "swap" are reserved for confusions of the correct option."""
    turned = source["kind"] in CONFUSIONS and str(source.get("qid", qid)) != qid
    return f"{source['kind']} of a wrong option" if turned else str(source["kind"])


def score_rows(
    rows: Sequence[Mapping[str, Any]], splits: Sequence[str], predictions: Predictions, options: ScoreOptions
) -> Scores:
    """Score multiple-choice answers about causes.

    Args:
        rows: `qid`, `options`, `answer_index`, the clip's `source_id` (or `episode`), and for explanations
            `explanation_options` and `explanation_index`; `sources` and `explanation_sources` contain a `kind` and the
            source `qid` of each option; `blind_guessable` is true outside the balanced subset.
        splits: The split of each row.
        predictions: `id`, `answer` and, for protocol 2, `explanation`.
        options: Options of scoring.
    """
    mine = [options.split in (ALL, split) for split in splits]
    others = dict.fromkeys((str(row["qid"]) for row, keep in zip(rows, mine, strict=True) if not keep), OTHER_SPLIT)
    asked = [row for row, keep in zip(rows, mine, strict=True) if keep]
    ids = [str(row["qid"]) for row in asked]
    sources = [str(row.get("source_id") or row.get("episode") or row["qid"]) for row in asked]
    joined: dict[str, PickedOptions] = {}
    first = options.first
    joined["A"] = join(
        predictions, ids, options_by_id(asked, "options"), others=others, partial=options.partial, first=first
    )
    truth = {"A": np.array([row["answer_index"] for row in asked], np.int64)}
    explained = any("explanation" in row for row in predictions.rows)
    explains = bool(asked) and asked[0].get("explanation_index") is not None
    notes: tuple[str, ...] = ()
    if explained and not explains:
        raise InputError(
            f"{predictions.path} contains explanations, but the questions have no explanations to choose from."
        )
    if explained:
        joined["E"] = join(
            predictions,
            ids,
            options_by_id(asked, "explanation_options"),
            others=others,
            answer="explanation",
            partial=options.partial,
            first=first,
        )
        truth["E"] = np.array([row["explanation_index"] for row in asked], np.int64)
    elif explains:
        notes = ("no column `explanation`: protocol 2 (A+E) is not scored.",)
    kinds = {
        letter: [[kind_of(each, str(row["qid"])) for each in row[name]] for row in asked]
        for letter, name in KINDS
        if letter in joined and asked and asked[0].get(name)
    }
    pair = {letter: (joined[letter].picks, truth[letter]) for letter in joined}
    flags = [row.get("blind_guessable") for row in asked]
    balanced = None if None in flags else np.array([not flag for flag in flags], np.bool_)
    counted = count(sources, pair["A"], pair.get("E"), kinds, balanced)
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
        footnotes=notes,
    )

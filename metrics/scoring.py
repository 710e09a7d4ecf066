"""From an output and predictions to scores, for every builder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..builders.causal import scores as causal
from ..builders.clavi import scores as clavi
from ..builders.perturbed.scores import families, read_setting, score_retrieval, score_suite_answers
from ..errors import InputError
from ..records.output import FinishedOutput
from . import open_ended, robustness
from .bootstrap import Measure, estimates
from .inputs import ALL, How, choose_config, choose_split, read_causal, read_columns
from .predictions import Joined, Predictions, identity, join, of_output, options_by_id
from .robustness import Suite
from .scores import Scores

CAUSAL_KINDS = (("A", "sources"), ("E", "explanation_sources"))


def score_output(
    output: FinishedOutput, predictions: Predictions | None, similarity: Path | None, split: str | None, how: How
) -> Scores:
    """Score an output of any builder.

    Args:
        output: The output.
        predictions: Answers.
        similarity: For a perturbed suite, a folder of matrices or ranked lists instead.
        split: What the user asked for.
        how: How to score; its split is chosen here.

    Raises:
        InputError: The builder is not known or does not go with what was given.
    """
    builder = output.info["builder"]
    config = choose_config(output, how.config)
    how = replace(how, split=choose_split(output, config, split))
    if predictions is not None:
        predictions = of_output(predictions, config, output.info["fingerprint"])
    if similarity is not None and builder != "perturbed":
        raise InputError(f"{output.path} is an output of build-{builder}; --similarity goes with build-perturbed.")
    if builder == "perturbed":
        if similarity is not None:
            return score_retrieval(output, similarity, how)
        if predictions is not None:
            return score_suite_answers(output, predictions, how)
    elif predictions is not None:
        if builder == "clavi":
            return score_clavi(output, predictions, how)
        if builder == "causal":
            rows, splits = read_causal(output, config)
            return score_causal(rows, splits, predictions, how)
        raise InputError(f"{output.path} was built by {builder!r}, which this version cannot score.")
    raise InputError("nothing to score: give --predictions FILE, or --similarity DIR for a perturbed suite.")


def score_clavi(output: FinishedOutput, predictions: Predictions, how: How) -> Scores:
    """Score answers to CLAVI's questions."""
    pairs, _ = read_columns(output, "pairs", ("pair_id", "source_id"), ALL)
    columns, splits = read_columns(output, "questions", clavi.COLUMNS, ALL)
    others: frozenset[str] = frozenset()
    if how.split != ALL:
        chosen = [name == how.split for name in splits]
        ids = columns["question_id"]
        others = frozenset(name for name, keep in zip(ids, chosen, strict=True) if not keep)
        columns = {
            name: [value for value, keep in zip(values, chosen, strict=True) if keep]
            for name, values in columns.items()
        }
    questions = clavi.questions_from(columns, dict(zip(pairs["pair_id"], pairs["source_id"], strict=True)))
    joined = join(predictions, questions.ids, others=others, partial=how.partial)
    counted = clavi.count(questions, joined.picks)
    return Scores(
        benchmark="clavi",
        split=how.split,
        answers=joined.summary(),
        headline=estimates(counted, clavi.measure, seed=how.seed, resamples=how.resamples),
        tables=clavi.tables(counted),
        tally=counted,
    )


def score_causal(
    rows: Sequence[Mapping[str, Any]], splits: Sequence[str], predictions: Predictions, how: How
) -> Scores:
    """Score multiple choice about causes.

    Args:
        rows: `qid`, `options`, `answer_index`, the clip's `source_id` (or `episode`), and where explanations are asked
            `explanation_options` and `explanation_index`; `sources` and `explanation_sources` hold for each option
            a `kind`.
        splits: The split of each row.
        predictions: `id`, `answer` and, for protocol 2, `explanation`.
        how: How to score.
    """
    mine = [how.split in (ALL, split) for split in splits]
    others = frozenset(str(row["qid"]) for row, keep in zip(rows, mine, strict=True) if not keep)
    asked = [row for row, keep in zip(rows, mine, strict=True) if keep]
    ids = [str(row["qid"]) for row in asked]
    sources = [str(row.get("source_id") or row.get("episode") or row["qid"]) for row in asked]
    joined: dict[str, Joined] = {}
    first = how.first
    joined["A"] = join(
        predictions, ids, options_by_id(asked, "options"), others=others, partial=how.partial, first=first
    )
    truth = {"A": np.array([row["answer_index"] for row in asked], np.int64)}
    explained = any("explanation" in row for row in predictions.rows)
    explains = bool(asked) and asked[0].get("explanation_index") is not None
    notes: tuple[str, ...] = ()
    if explained and not explains:
        raise InputError(f"{predictions.path} has explanations, but the questions have none to choose from.")
    if explained:
        joined["E"] = join(
            predictions,
            ids,
            options_by_id(asked, "explanation_options"),
            others=others,
            answer="explanation",
            partial=how.partial,
            first=first,
        )
        truth["E"] = np.array([row["explanation_index"] for row in asked], np.int64)
    elif explains:
        notes = ("no column `explanation`: protocol 2 (A+E) is not scored.",)
    kinds = {
        letter: [[str(option["kind"]) for option in row[name]] for row in asked]
        for letter, name in CAUSAL_KINDS
        if letter in joined and asked and asked[0].get(name)
    }
    pair = {letter: (joined[letter].picks, truth[letter]) for letter in joined}
    counted = causal.count(sources, pair["A"], pair.get("E"), kinds)
    answers = joined["A"].summary()
    if "E" in joined:
        answers |= {
            "explanations": joined["E"].summary(),
            "scored_sha256": identity(f"{letter} {name}" for letter in joined for name in joined[letter].scored()),
        }
    return Scores(
        benchmark="causal",
        split=how.split,
        answers=answers,
        headline=estimates(counted, causal.measure, seed=how.seed, resamples=how.resamples),
        tables=causal.tables(counted),
        tally=counted,
        notes=notes,
    )


def measure_of(benchmark: str, cells: Sequence[str]) -> Measure:
    """Give the scores of a benchmark as a function of the means of its cells.

    Args:
        benchmark: "clavi", "perturbed", "causal" or "open-ended".
        cells: The cells of a tally; a suite's settings are read from their names.
    """
    if benchmark == "clavi":
        return clavi.measure
    if benchmark == "causal":
        return causal.measure
    if benchmark == "open-ended":
        return open_ended.measure
    names = [cell.split(" ", 1) for cell in cells]
    settings = tuple(dict.fromkeys(read_setting(name) for name, _ in names))
    suite = Suite(settings, tuple(dict.fromkeys(score for _, score in names)), families(settings))
    return lambda means: robustness.measure(suite, means)

"""Load the answers that a gallery shows, from scores, a predictions file or an audit.

An audit is a JSON file with `audits`, a list of `{"config": table, "part": "answer" or "explanation", "choices": {…}}`.
For each question id, `choices` lists `{"guesser": name, "choice": index of the option}`. Joint baselines for answer and
explanation choose two indices. Other fields are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...core.documents import check_shape, parse_json, read_text, shortened
from ...core.errors import InputError, UsageError
from ...core.files import sha256_file
from ...core.output import FinishedOutput
from ...evaluation.metrics.items import Items
from ...evaluation.metrics.predictions import (
    ID_NAMES,
    MISSING,
    Predictions,
    column,
    join,
    match,
    of_output,
    predictions_identity,
    read_predictions,
)
from ...evaluation.metrics.scores import read_scores

MATRICES = (".npy", ".safetensors")
RIGHT, WRONG, CONTRADICTORY = "right", "wrong", "contradictory"
ANSWER, EXPLANATION = "answer", "explanation"


@dataclass(frozen=True)
class Answers:
    """Answers to the questions of an output.

    Attributes:
        predictions: The rows of a predictions file, or None.
        config: The table to which the predictions belong, or None for the first table with questions.
        first: Index of the first option in numeric answers.
        guesses: Choices of blind baselines by question; see `read_guesses`.
        scores: Content of the page with scores, or None.
        identity: All inputs that determine the content, for `output.json`.
        remark: A note to show to the user, or "".
    """

    predictions: Predictions | None = None
    config: str | None = None
    first: int = 0
    guesses: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    scores: dict[str, Any] | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""

    def guesses_on(self, config: str, name: str) -> Sequence[Mapping[str, Any]]:
        """Return the choices of all blind baselines for a question."""
        return self.guesses.get(f"{config}/{name}") or self.guesses.get(name) or ()

    def on(self, config: str, tables: Sequence[str]) -> Predictions | None:
        """Return the predictions if they belong to this table, or None. The default table is the first one."""
        return self.predictions if config == (self.config or (tables[0] if tables else "")) else None


@dataclass(frozen=True)
class JudgedAnswer:
    """A model's answer, with the index of the chosen option (None if unreadable) and "right" or "wrong"."""

    text: str
    choice: int | None
    verdict: str


def judged(
    items: Items, predictions: Predictions | None, *, first: int = 0, answer: str | None = None
) -> dict[str, JudgedAnswer]:
    """Judge the answers to multiple-choice questions, and return them by question id.

    `first` is the index of the first option in numeric answers. `answer` names the column with the answers, if it is
    not the usual one.
    """
    if predictions is None:
        return {}
    id_name = column(predictions, ID_NAMES)
    if {str(row.get(id_name)).strip() for row in predictions.rows}.isdisjoint(items.ids):
        return {}
    texts = match(predictions, items.ids, others=items.others, answer=answer, partial=True).given
    joined = join(predictions, items.ids, items.options, others=items.others, answer=answer, partial=True, first=first)
    return {
        name: JudgedAnswer(str(texts[name]), int(pick) if pick >= 0 else None, RIGHT if pick == truth else WRONG)
        for name, pick, truth in zip(items.ids, joined.picks, items.truth, strict=True)
        if pick != MISSING and truth >= 0
    }


def answer_json(answers: Mapping[str, JudgedAnswer], name: str) -> dict[str, Any]:
    """Return the answer to a question, or an empty one, in the form that the views expect."""
    if name not in answers:
        return {"said": None, "choice": None, "verdict": ""}
    return {"said": answers[name].text, "choice": answers[name].choice, "verdict": answers[name].verdict}


def read_answers(
    output: FinishedOutput,
    *,
    scores: Path | None = None,
    predictions: Predictions | None = None,
    config: str | None = None,
    first: int = 0,
    columns: Mapping[str, str] | None = None,
    audit: Path | None = None,
) -> Answers:
    """Load the answers that a gallery shows.

    The predictions of `scores`, a folder, are located beside it by name and SHA-256, unless `predictions` is given.
    `first` is the index of the first option in numeric answers. `columns` are names in the predictions that differ from
    the usual ones. `audit` is explained at `read_guesses`.

    Raises:
        UsageError: A path does not exist.
        InputError: A file cannot be read or belongs to another output, or the predictions of the scores are not found.
    """
    fingerprint = output.info["fingerprint"]
    shown, remark = None, ""
    identity: dict[str, Any] = {}
    if scores is not None:
        scored = read_scores(scores)
        about = scored.about
        if about["output"]["fingerprint"] != fingerprint:
            raise InputError(
                f"{scores} contains scores for a different output (fingerprint {about['output']['fingerprint'][:16]}, "
                f"not {fingerprint[:16]}). Provide scores of {output.path}, or score it again."
            )
        if "people" in about:
            raise InputError(f"{scores} contains the scores of people. Provide those of a model with --scores.")
        try:
            shown = score_page(about)
        except KeyError as error:
            raise InputError(f"{scores} is damaged: a row of a table has no {error}. Score again.") from error
        config = config or shown["config"]
        folder = scores.parent if scores.is_file() else scores
        identity["scores"] = sha256_file(folder / "scores.json")
        if predictions is None:
            path = _beside(folder, about["predictions"])
            if path.is_dir() and any(file.suffix in MATRICES for file in path.iterdir()):
                remark = "Similarities do not judge single items, so only the tables of scores are shown."
            else:
                predictions = read_predictions(path, expected=output.num_rows, columns=columns)
    rows = None
    if predictions is not None:
        rows = of_output(predictions, config, fingerprint)
        identity |= {"predictions": predictions_identity(predictions), "config": config, "first_index": first}
        identity |= {"columns": dict(columns)} if columns else {}
    guesses = {}
    if audit is not None:
        guesses = read_guesses(audit, fingerprint=fingerprint)
        identity["audit"] = sha256_file(audit / "audit.json" if audit.is_dir() else audit)
    return Answers(rows, config, first, guesses, shown, identity, remark)


def _beside(folder: Path, named: Mapping[str, Any]) -> Path:
    name = str(named["file"]).rstrip("/")
    path = folder.absolute().parent / name
    if name in ("", "..") or "\0" in name or name != Path(name).name or not path.exists():
        raise InputError(
            f"{folder} contains scores of the predictions {name}, which are not in the same parent folder. Use "
            "--predictions to specify them."
        )
    if path.is_file() and "sha256" in named and sha256_file(path) != named["sha256"]:
        raise InputError(
            f"{path} has changed since {folder} was written. Score it again, or specify other predictions with "
            "--predictions."
        )
    return path


def read_guesses(path: Path, *, fingerprint: str | None = None) -> dict[str, list[dict[str, Any]]]:
    """Return the choices of blind baselines in an audit.

    Returns:
        The choices `{"guesser", "choice", "asked": "answer" or "explanation"}` by question id, or by `<table>/<id>` if
            the file names a table.

    Raises:
        UsageError: The file does not exist.
        InputError: The file is not an audit, or belongs to an output with another fingerprint.
    """
    file = path / "audit.json" if path.is_dir() else path
    if not file.is_file():
        raise UsageError(
            f"audit {file} does not exist. Pass a JSON file with `audits`, or the folder that contains audit.json."
        )
    try:
        content = parse_json(read_text(file))
        check_shape(content, {"audits": [{"choices": {str: [{"guesser": str, "choice": (int, [int])}]}}]})
        guesses: dict[str, list[dict[str, Any]]] = {}
        for audit in content["audits"]:
            asked = EXPLANATION if audit.get("part") == EXPLANATION else ANSWER
            for name, choices in audit["choices"].items():
                key = f"{audit['config']}/{name}" if audit.get("config") else name
                guesses.setdefault(key, []).extend(guess for choice in choices for guess in _guesses(choice, asked))
    except ValueError as error:
        raise InputError(
            f"{file} is not an audit ({error}). An audit has `audits`, a list of "
            '{"config", "part", "choices": {id: [{"guesser", "choice"}]}}.'
        ) from error
    named = content.get("output")
    stated = named.get("fingerprint") if isinstance(named, Mapping) else content.get("fingerprint")
    if fingerprint and stated and stated != fingerprint:
        raise InputError(f"{file} belongs to another output (fingerprint {str(stated)[:16]}, not {fingerprint[:16]}).")
    return guesses


def _guesses(guess: Mapping[str, Any], asked: str) -> Iterator[dict[str, Any]]:
    """Yield the choices of a baseline: two if it is a joint baseline, and none for -1."""
    choice = guess["choice"]
    both = isinstance(choice, list) and len(choice) == 2
    for part, number in zip((ANSWER, EXPLANATION) if both else (asked,), choice if both else [choice], strict=True):
        if type(number) is not int or number < -1:
            raise ValueError(f"choice {shortened(choice)} is not the index of an option")
        if number >= 0:
            name = f"{guess['guesser']}, both at once" if both else str(guess["guesser"])
            yield {"guesser": name, "choice": number, "asked": part}


def score_page(about: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the content of `scores.json` to the form that a gallery shows. Raise KeyError if a row lacks a cell."""
    tables = [("headline", [{"score": name, "value": value} for name, value in about["headline"].items()])]
    tables += list(about["tables"].items())
    return {
        "predictions": about["predictions"]["file"],
        "config": about["config"],
        "split": about["split"],
        "notes": about["notes"],
        "tables": [
            {
                "name": name.replace("_", " "),
                "headings": list(rows[0]) if rows else [],
                "rows": [[_cell(row[heading]) for heading in rows[0]] for row in rows],
            }
            for name, rows in tables
        ],
    }


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return [None if value[key] is None else float(value[key]) for key in ("value", "low", "high")]
    return value if value is None or isinstance(value, int | float) else str(value)

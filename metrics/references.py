"""Right texts and generated ones, for open-ended scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..records.output import open_output
from .inputs import choose_split, read_causal
from .predictions import ANSWER_NAMES, ID_NAMES, column, read_predictions, refuse

COLUMNS = {"A": ("answer", "options", "answer_index"), "E": ("explanation", "explanation_options", "explanation_index")}


@dataclass(frozen=True)
class References:
    """What is right.

    Attributes:
        ids: Ids of the questions.
        texts: Under "A" the right answers, under "E" the right explanations where there are any.
        others: Ids of questions that exist and are not scored now.
    """

    ids: list[str]
    texts: dict[str, list[str]]
    others: frozenset[str] = frozenset()


def read_references(path: Path, split: str | None = None) -> References:
    """Read the right texts of an output of build-causal, or of a file with `id`, `answer` and `explanation`.

    Raises:
        InputError: It is neither, or a text is missing.
    """
    others: frozenset[str] = frozenset()
    if path.is_dir():
        output = open_output(path)
        every, splits = read_causal(output)
        chosen = choose_split(output, next(iter(output.info["counts"])), split)
        keep = [chosen in ("all", name) for name in splits]
        rows: Sequence[Mapping[str, Any]] = [row for row, wanted in zip(every, keep, strict=True) if wanted]
        others = frozenset(str(row[_id(row, path)]) for row, wanted in zip(every, keep, strict=True) if not wanted)
    else:
        rows = read_predictions(path).rows
    if not rows:
        raise InputError(f"{path} has no questions in this split.")
    ids = [str(row[_id(row, path)]).strip() for row in rows]
    twice = [name for name, count in Counter(ids).items() if count > 1]
    if twice:
        raise InputError(f"{path} has ids more than once: {', '.join(twice[:5])}.")
    texts: dict[str, list[str]] = {}
    for letter, (name, options, index) in COLUMNS.items():
        found = [
            row[options][row[index]] if row.get(options) and row.get(index) is not None else row.get(name)
            for row in rows
        ]
        if all(isinstance(text, str) for text in found):
            texts[letter] = [str(text) for text in found]
    if "A" not in texts:
        raise InputError(f"{path} has no right answers as texts: a column `answer`, or `options` and `answer_index`.")
    return References(ids, texts, others)


def _id(row: Mapping[str, Any], path: Path) -> str:
    found = next((name for name in ID_NAMES if name in row), None)
    if found is None:
        raise InputError(f"{path} has no column of ids ({', '.join(ID_NAMES)}); it has {', '.join(row)}.")
    return found


def read_generated(path: Path, references: References) -> dict[str, list[str]]:
    """Read generated texts in the order of the references.

    Returns:
        Under "A" the answers, and under "E" the explanations if the file and the references have them.

    Raises:
        InputError: Ids are missing, doubled or unknown, or a text is none.
    """
    predictions = read_predictions(path)
    id_name = column(predictions, ID_NAMES) or ""
    names = {"A": column(predictions, ANSWER_NAMES) or ""}
    if "E" in references.texts and any("explanation" in row for row in predictions.rows):
        names["E"] = "explanation"
    given: dict[str, dict[str, Any]] = {}
    doubled = []
    for row in predictions.rows:
        name = str(row.get(id_name)).strip()
        if name in given:
            doubled.append(name)
        given[name] = row
    wanted = set(references.ids)
    missing = [name for name in references.ids if name not in given]
    unknown = [name for name in given if name not in wanted and name not in references.others]
    if missing or doubled or unknown:
        refuse(path, missing, doubled, unknown, len(references.ids))
    found = {}
    for letter, name in names.items():
        texts = [given[key].get(name) for key in references.ids]
        odd = next((key for key, text in zip(references.ids, texts, strict=True) if not isinstance(text, str)), None)
        if odd is not None:
            raise InputError(f"{path}: `{name}` of {odd!r} is no text.")
        found[letter] = [str(text) for text in texts]
    return found

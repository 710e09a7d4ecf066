"""Load the correct texts and the generated texts for open-ended scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from ...core.files import sha256_file
from ...core.output import FinishedOutput, reading
from ...core.schema import Row
from .inputs import ALL, choose_split
from .items import SOURCES, options_of, read_questions, right_option
from .predictions import (
    ID_NAMES,
    OTHER_SPLIT,
    SHOWN,
    Predictions,
    answer_column,
    column,
    identity,
    match,
    of_output,
    refuse_doubled,
)

COLUMNS = {"A": ("answer", "options", "answer_index"), "E": ("explanation", "explanation_options", "explanation_index")}


@dataclass(frozen=True)
class References:
    """The correct texts of open-ended questions.

    Attributes:
        sources: Source video of each question, or the question's id if unknown.
        texts: Correct answers under "A" and, if there are any, correct explanations under "E".
        config: Name of the table; "references" for a file.
        output: Identity of the output or file, for `scores.json`.
        others: Ids of existing questions that are not scored now, with the reason.
        written: The table that rows with generated texts name; see `OpenRows`.
    """

    ids: list[str]
    sources: list[str]
    texts: dict[str, list[str]]
    config: str
    split: str
    output: dict[str, str]
    others: Mapping[str, str] = field(default_factory=dict)
    written: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generated:
    """The texts that a model generated.

    Attributes:
        texts: Answers under "A", and explanations under "E" if both the file and the references have them.
        answers: Counts as in `predictions.PickedOptions.summary`.
    """

    references: References
    texts: dict[str, list[str]]
    answers: dict[str, Any]


@dataclass(frozen=True)
class OpenRows:
    """Rows of an output that contain the correct texts of open-ended questions.

    Attributes:
        written: The table whose questions harnesses ask without options.
    """

    config: str
    rows: list[Row]
    splits: list[str]
    written: str


ReadRows = Callable[[FinishedOutput, str | None], OpenRows]
"""Function that chooses a table of an output, and reads its rows."""


def read_references(path: Path, of_output: ReadRows, config: str | None = None, split: str | None = None) -> References:
    """Load the correct texts of open-ended questions, from an output or from a file with `id` and `answer`.

    A file may also contain `explanation`.

    Raises:
        InputError: The path is neither an output nor such a file, or a text is missing.
    """
    others: Mapping[str, str] = {}
    written = None
    if path.is_dir():
        with reading(path) as output:
            every = of_output(output, config)
            config, written = every.config, every.written
            split = choose_split(output, config, split)
            keep = [split in (ALL, name) for name in every.splits]
            rows: Sequence[Mapping[str, Any]] = [row for row, wanted in zip(every.rows, keep, strict=True) if wanted]
            left = (str(row["qid"]) for row, wanted in zip(every.rows, keep, strict=True) if not wanted)
            others = dict.fromkeys(left, OTHER_SPLIT)
            about = {"dataset_version": str(output.info["dataset_version"]), "fingerprint": output.asked}
    else:
        if config is not None or split not in (None, ALL):
            raise InputError(f"{path} is a file, so it has no tables or splits. Omit --config and --split.")
        rows = read_questions(path).rows
        config, split, about = "references", ALL, {"file": path.name, "fingerprint": sha256_file(path)}
    if not rows:
        raise InputError(f"{path} has no questions in this split.")
    id_name = column(Predictions(path, [dict(row) for row in rows]), ID_NAMES)
    ids = [str(row.get(id_name)).strip() for row in rows]
    refuse_doubled(path, ids)
    texts: dict[str, list[str]] = {}
    for letter, (name, options, index) in COLUMNS.items():
        found = [_right_text(row, name, options, index, path, at) for row, at in zip(rows, ids, strict=True)]
        if all(isinstance(text, str) and text.strip() for text in found):
            texts[letter] = [str(text) for text in found]
        elif letter == "A" or any(isinstance(text, str) and text.strip() for text in found):
            at = next(at for at, text in enumerate(found) if not isinstance(text, str) or not text.strip())
            raise InputError(
                f"{path}: {ids[at]!r} has no correct {name}. Each row needs a column `{name}`, or "
                f"`{options}` and `{index}`."
            )
    source = next((name for name in SOURCES if all(row.get(name) for row in rows)), None)
    notes = () if source else ("there is no column source_id, so each question counts as a separate source video.",)
    sources = [str(row[source]) for row in rows] if source else ids
    return References(ids, sources, texts, config, split, about, others, written, notes)


def _right_text(row: Mapping[str, Any], name: str, options: str, index: str, path: Path, at: str) -> Any:
    if not row.get(options):
        return row.get(name)
    offered = options_of(row[options], path, at)
    column = index if row.get(index) is not None else name
    return offered[right_option(row, column, offered, f"{path}: {at!r}")]


def read_generated(given: Predictions, references: References, *, partial: bool = False) -> Generated:
    """Put generated texts in the order of the references.

    A row that lacks one of the texts counts as missing. With `partial`, missing, duplicate and unknown ids are counted
    instead of raising an error.

    Raises:
        InputError: Ids are missing, duplicate or unknown and `partial` is not set, or a value is not a text.
    """
    predictions = of_output(given, references.written, references.output["fingerprint"])
    id_name = column(predictions, ID_NAMES)
    names = {"A": answer_column(predictions)}
    notes = references.notes
    if "E" in references.texts and any("explanation" in row for row in predictions.rows):
        names["E"] = "explanation"
    elif "E" in references.texts:
        notes += ("there is no column `explanation`, so explanations are not scored.",)
    rows = [
        row if all(row.get(name) is not None for name in names.values()) else {**row, names["A"]: None}
        for row in predictions.rows
    ]
    predictions = replace(predictions, rows=rows)
    matched = match(predictions, references.ids, others=references.others, answer=names["A"], partial=partial)
    by_id = {  # the first of several rows for a question is used
        str(row.get(id_name)).strip(): row for row in reversed(predictions.rows) if row.get(names["A"]) is not None
    }
    keep = [at for at, name in enumerate(references.ids) if name in by_id]
    ids = [references.ids[at] for at in keep]
    texts: dict[str, list[str]] = {}
    empty: list[str] = []
    for letter, name in names.items():
        found = [by_id[key].get(name) for key in ids]
        odd = next((key for key, text in zip(ids, found, strict=True) if not isinstance(text, str)), None)
        if odd is not None:
            raise InputError(f"{given.path}: `{name}` of {odd!r} is {by_id[odd].get(name)!r}, not a string.")
        texts[letter] = [str(text) for text in found]
        empty += [f"{key} {name}" for key, text in zip(ids, texts[letter], strict=True) if not text.strip()]
    answers = {
        "scored_sha256": identity(f"{letter} {name}" for letter in texts for name in ids),
        "read": matched.read,
        "scored": len(ids),
        "unreadable": 0,
        "empty": len(empty),
        "empty_first": empty[:SHOWN],
        **matched.unmatched(),
    }
    kept = replace(
        references,
        ids=ids,
        sources=[references.sources[at] for at in keep],
        texts={letter: [references.texts[letter][at] for at in keep] for letter in names},
        notes=notes,
    )
    return Generated(kept, texts, answers)

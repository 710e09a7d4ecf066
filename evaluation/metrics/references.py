"""Right texts and generated ones, for open-ended scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from ...core.files import sha256_file
from ...core.output import FinishedOutput, reading
from ...core.schema import Row
from .inputs import ALL, choose_split
from .items import SOURCES, options_of, right_option
from .predictions import (
    ID_NAMES,
    SHOWN,
    Predictions,
    answer_column,
    column,
    identity,
    match,
    of_output,
    read_predictions,
    refuse_doubled,
)

COLUMNS = {"A": ("answer", "options", "answer_index"), "E": ("explanation", "explanation_options", "explanation_index")}


@dataclass(frozen=True)
class References:
    """What is right.

    Attributes:
        ids: Ids of the questions.
        sources: Source video of each; its own id where none is known.
        texts: Under "A" the right answers, under "E" the right explanations where there are any.
        config: The table, "references" for a file.
        split: The split, or "all".
        output: What they are of, for `scores.json`.
        others: Ids of questions that exist and are not scored now.
        written: The table that rows with generated texts are about, if they say one; see `OpenRows`.
        notes: What a reader has to know.
    """

    ids: list[str]
    sources: list[str]
    texts: dict[str, list[str]]
    config: str
    split: str
    output: dict[str, str]
    others: frozenset[str] = frozenset()
    written: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generated:
    """What a model wrote.

    Attributes:
        references: The questions that it answers.
        texts: Under "A" the answers, and under "E" the explanations if the file and the references have them.
        answers: Counts of what was read; see `predictions.PickedOptions.summary`.
    """

    references: References
    texts: dict[str, list[str]]
    answers: dict[str, Any]


@dataclass(frozen=True)
class OpenRows:
    """Rows of an output with the right texts of open questions.

    Attributes:
        config: The table that they were read from.
        rows: The rows.
        splits: The split of each.
        written: The table whose questions harnesses let a model answer in writing; the others offer a choice.
    """

    config: str
    rows: list[Row]
    splits: list[str]
    written: str


ReadRows = Callable[[FinishedOutput, str | None], OpenRows]
"""Chooses a table of an output, and reads its rows."""


def read_references(path: Path, of_output: ReadRows, config: str | None = None, split: str | None = None) -> References:
    """Read the right texts of an output's open questions, or of a file with `id`, `answer` and `explanation`.

    Args:
        path: The output or the file.
        of_output: Reads those of an output.
        config: For an output: the table, by default the first.
        split: For an output: a split or "all".

    Raises:
        InputError: It is neither, or a text is missing.
    """
    others: frozenset[str] = frozenset()
    written = None
    if path.is_dir():
        with reading(path) as output:
            every = of_output(output, config)
            config, written = every.config, every.written
            split = choose_split(output, config, split)
            keep = [split in (ALL, name) for name in every.splits]
            rows: Sequence[Mapping[str, Any]] = [row for row, wanted in zip(every.rows, keep, strict=True) if wanted]
            others = frozenset(str(row["qid"]) for row, wanted in zip(every.rows, keep, strict=True) if not wanted)
            about = {name: str(output.info[name]) for name in ("dataset_version", "fingerprint")}
    else:
        if config is not None or split not in (None, ALL):
            raise InputError(f"{path} is a file: it has no tables and splits. Leave --config and --split out.")
        rows = read_predictions(path).rows
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
                f"{path}: {ids[at]!r} has no right {name} as a text. Each needs a column `{name}`, or `{options}` and "
                f"`{index}`."
            )
    source = next((name for name in SOURCES if all(row.get(name) for row in rows)), None)
    notes = () if source else ("no column source_id: each question counts as a source video of its own.",)
    sources = [str(row[source]) for row in rows] if source else ids
    return References(ids, sources, texts, config, split, about, others, written, notes)


def _right_text(row: Mapping[str, Any], name: str, options: str, index: str, path: Path, at: str) -> Any:
    """Take the right text of a row: by its options and which is right, else as it stands."""
    if not row.get(options):
        return row.get(name)
    offered = options_of(row[options], path, at)
    column = index if row.get(index) is not None else name
    return offered[right_option(row, column, offered, f"{path}: {at!r}")]


def read_generated(path: Path, references: References, *, partial: bool = False) -> Generated:
    """Read generated texts in the order of the references.

    Args:
        path: The file.
        references: The questions.
        partial: Score what is there instead of refusing missing, doubled and unknown ids.

    Raises:
        InputError: Ids are missing, doubled or unknown and `partial` is not set, or a text is none.
    """
    predictions = of_output(
        read_predictions(path, expected=len(references.ids) + len(references.others)),
        references.written,
        references.output["fingerprint"],
    )
    id_name = column(predictions, ID_NAMES)
    names = {"A": answer_column(predictions)}
    notes = references.notes
    if "E" in references.texts and any("explanation" in row for row in predictions.rows):
        names["E"] = "explanation"
    elif "E" in references.texts:
        notes += ("no column `explanation`: explanations are not scored.",)
    matched = match(predictions, references.ids, others=references.others, answer=names["A"], partial=partial)
    given = {  # of rows about one question the first counts
        str(row.get(id_name)).strip(): row for row in reversed(predictions.rows) if row.get(names["A"]) is not None
    }
    keep = [at for at, name in enumerate(references.ids) if name in given]
    ids = [references.ids[at] for at in keep]
    texts: dict[str, list[str]] = {}
    empty: list[str] = []
    for letter, name in names.items():
        found = [given[key].get(name) for key in ids]
        odd = next((key for key, text in zip(ids, found, strict=True) if not isinstance(text, str)), None)
        if odd is not None:
            raise InputError(
                f"{path}: `{name}` of {odd!r} is {given[odd].get(name)!r}, no text. Give an empty text where the model "
                "wrote nothing."
            )
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

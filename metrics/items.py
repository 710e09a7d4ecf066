"""Items for modality importance: of an output, or of a user's own questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..records.output import open_output
from .answers import YES_NO, read_answer
from .inputs import choose_split, read_columns
from .predictions import ID_NAMES, column, join, read_predictions

SOURCES = ("source_id", "source", "episode", "video_id", "video", "clip_id")
VIDEOS = ("video_id", "video", "clip_id", "source_id", "source", "episode")
TEXTS = ("question", "text", "caption")
GOLD = ("answer", "answer_index", "correct_answer")


@dataclass(frozen=True)
class Items:
    """Questions, in order.

    Attributes:
        ids: Their ids.
        sources: Source video of each.
        videos: Video shown with each.
        texts: Text asked with each.
        options: Options of each.
        truth: Number of the right option; -1 where none is known.
        split: The split.
        others: Ids of items of other splits.
    """

    ids: list[str]
    sources: list[str]
    videos: list[str]
    texts: list[str]
    options: list[Sequence[str]]
    truth: NDArray[np.int64]
    split: str
    others: frozenset[str] = frozenset()


def read_items(path: Path, split: str | None = None) -> Items:
    """Read the items of an output, or of a file of questions.

    Args:
        path: The output of build-clavi, build-perturbed or build-causal; or a CSV, JSON, JSON-lines or Parquet file
            with `id`, `answer` and, if you like, `options`, `video_id`, `source_id`, `question`.
        split: For an output.

    Raises:
        InputError: It is neither, or an answer in the file cannot be read.
    """
    if path.is_dir():
        return _of_output(path, split)
    rows = read_predictions(path)
    id_name, gold = column(rows, ID_NAMES) or "", column(rows, GOLD, needed=False)
    source, video = column(rows, SOURCES, needed=False), column(rows, VIDEOS, needed=False)
    text = column(rows, TEXTS, needed=False)
    ids = [str(row.get(id_name)).strip() for row in rows.rows]
    twice = sorted({name for name in ids if ids.count(name) > 1}) if len(set(ids)) < len(ids) else []
    if twice:
        raise InputError(f"{path} has ids more than once: {', '.join(twice[:5])}.")
    options: list[Sequence[str]] = [tuple(row.get("options") or YES_NO) for row in rows.rows]
    truth = [
        -1 if gold is None else read_answer(row.get(gold), choices)
        for row, choices in zip(rows.rows, options, strict=True)
    ]
    if None in truth:
        at = truth.index(None)
        raise InputError(
            f"{path}: the answer of {ids[at]!r} ({rows.rows[at].get(gold or '')!r}) is none of its options "
            f"({', '.join(options[at])}). `options` must be a list (JSON or Parquet); without it answers are yes or no."
        )
    values = [-1 if number is None else number for number in truth]
    return Items(
        ids,
        [str(row.get(source)) for row in rows.rows] if source else ids,
        [str(row.get(video)) for row in rows.rows] if video else ids,
        [str(row.get(text)) for row in rows.rows] if text else ids,
        options,
        np.array(values, np.int64),
        "all",
    )


def _of_output(path: Path, split: str | None) -> Items:
    output = open_output(path)
    builder = output.info["builder"]
    config = next(iter(output.info["counts"])) if builder != "perturbed" else "clean"
    split = choose_split(output, config, split)
    id_name = {"clavi": "question_id", "perturbed": "clip_id"}.get(builder, "qid")
    elsewhere = [name for name in output.splits(config) if split not in ("all", name)]
    others = frozenset(str(x) for name in elsewhere for x in read_columns(output, config, (id_name,), name)[0][id_name])
    if builder == "clavi":
        pairs, _ = read_columns(output, "pairs", ("pair_id", "source_id"), "all")
        source_of = dict(zip(pairs["pair_id"], pairs["source_id"], strict=True))
        rows, _ = read_columns(output, config, ("question_id", "pair_id", "video_id", "question", "answer"), split)
        options: list[Sequence[str]] = [YES_NO] * len(rows["question_id"])
        sources = [source_of[pair] for pair in rows["pair_id"]]
        truth = np.array(rows["answer"], np.int64)
        return Items(rows["question_id"], sources, rows["video_id"], rows["question"], options, truth, split, others)
    if builder == "perturbed":
        rows, _ = read_columns(output, config, ("clip_id", "source_id", "captions"), split)
        texts = ["\n".join(captions) for captions in rows["captions"]]
        count = len(texts)
        unknown = np.full(count, -1, np.int64)
        return Items(rows["clip_id"], rows["source_id"], rows["clip_id"], texts, [()] * count, unknown, split, others)
    found = [
        row
        for name in (output.splits(config) if split == "all" else [split])
        for row in output.rows(config, None, name)
    ]
    if not found or "qid" not in found[0] or "answer_index" not in found[0]:
        raise InputError(f"{path} was built by {builder!r}; its table {config} has no qid and answer_index.")
    source = next((name for name in SOURCES if name in found[0]), "qid")
    video = next((name for name in VIDEOS if name in found[0]), source)
    return Items(
        [str(row["qid"]) for row in found],
        [str(row[source]) for row in found],
        [str(row[video]) for row in found],
        [str(row.get("question", "")) for row in found],
        [tuple(row["options"]) for row in found],
        np.array([row["answer_index"] for row in found], np.int64),
        split,
        others,
    )


def correctness(items: Items, path: Path, *, first: int = 0) -> NDArray[np.bool_]:
    """Tell which items a predictions file answers right; an unreadable answer is wrong."""
    joined = join(read_predictions(path), items.ids, items.options, others=items.others, first=first)
    right: NDArray[np.bool_] = joined.picks == items.truth
    return right

"""Measure cues of candidates other than their embeddings: shared words, length, frequency and first words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from .candidates import folded
from .content_words import content_words
from .features import NONE, Target, chunks
from .options import COSINE_DIGITS, QuestionRow

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]
Cues = list[NDArray[np.floating]]

WORD = re.compile(r"\w+")
OPENINGS = 24  # most frequent first words, each of which is a cue


def measure(
    rows: Sequence[QuestionRow],
    questions: Floats,
    texts: Mapping[str, Sequence[str]],
    numbers: Mapping[str, Indices],
    vectors: Mapping[str, Floats],
    train: str | None = None,
) -> dict[str, Target]:
    """Measure the candidates of all rows for each target.

    `questions` are the embeddings of the questions, float32 of shape (rows, dimensions). `numbers` are the text numbers
    of each row by target, the correct text first, padded with `NONE`. `vectors` are the embeddings of all texts, and
    `train` is the split that models are trained on, or None.
    """
    found = {}
    for name, table in texts.items():
        own = numbers[name]
        there = own != NONE
        of_key: dict[str, int] = {}
        key_of = np.array([of_key.setdefault(folded(text), len(of_key)) for text in table])
        keys = np.where(there, key_of[own], NONE)
        rights = {split: np.zeros(len(of_key), np.int64) for split in sorted({row.split for row in rows})}
        for row, key in zip(rows, keys[:, 0].tolist(), strict=True):
            rights[row.split][key] += 1
        other = next((target for target in texts if target != name), name)
        near, pair = _cosines(questions, vectors[name], own, vectors[other], numbers[other])
        words_of = [content_words(text) for text in table]
        weight, shared, rarest, share, new = _shared_words(rows, words_of, own)
        length, capitals, words, marks = (values[own] for values in _of_text(table, words_of))
        uses = rights[train][keys] if train in rights else np.zeros(own.shape, np.int64)
        uses[:, 0] -= [row.split == train for row in rows]  # excluding the row itself
        known = (uses > 0).astype(np.float32)
        pools = sorted({row.pool for row in rows})
        in_pool = np.array([pools.index(row.pool) for row in rows])[:, None]
        columns = [
            *(near, weight, length, shared, capitals, pair if other != name else 0 * pair),  # see `features.RANKED`
            *(rarest, share, words, new, known, marks, np.asarray(sum(rights.values()) > 1)[keys]),
            *(known * (in_pool == number) for number in range(len(pools))),
            *_openings(table, own),
        ]
        cues = np.empty((*own.shape, len(columns)), np.float32)
        for number, column in enumerate(columns):
            cues[:, :, number] = np.where(there, column.astype(np.float32).round(COSINE_DIGITS), 0)
        found[name] = Target(vectors[name], own, cues, keys, rights)
    return found


def _cosines(questions: Floats, own: Floats, numbers: Indices, other: Floats, others: Indices) -> Cues:
    """Return the cosine of each text with its question and with the text of the other target."""
    near, pair = np.empty(numbers.shape, np.float32), np.empty(numbers.shape, np.float32)
    for rows in chunks(np.arange(len(numbers))):
        texts = own[numbers[rows]]
        near[rows] = (texts @ questions[rows][:, :, None])[:, :, 0]
        pair[rows] = np.einsum("rtd,rtd->rt", texts, other[others[rows]])
    return [3 * near - 1, 3 * pair - 1]


def _shared_words(rows: Sequence[QuestionRow], words_of: Sequence[frozenset[str]], numbers: Indices) -> Cues:
    """Return cues from the content words that question and option share."""
    asked = [content_words(row.question) for row in rows]
    counts = Counter(word for words in asked for word in words)
    weight = {word: math.log(len(rows) / count) for word, count in counts.items()}
    found = np.zeros((5, *numbers.shape), np.float32)
    for row, (words, texts) in enumerate(zip(asked, numbers.tolist(), strict=True)):
        total = sum(weight[word] for word in sorted(words)) + 1e-6
        rarest = max(sorted(words), key=lambda word: weight[word], default="")
        for place, text in enumerate(texts):
            if text == NONE:
                break
            shared = words & words_of[text]
            found[:, row, place] = (
                sum(weight[word] for word in sorted(shared)) / total,
                len(shared) / 2,
                rarest in shared,
                len(shared) / (len(words) or 1),
                (len(words_of[text]) - len(shared)) / 5,
            )
    return list(found)


def _of_text(table: Sequence[str], words_of: Sequence[frozenset[str]]) -> Cues:
    """Return the length of each text, and how many capitals, content words, and commas or apostrophes it has."""
    return [
        np.array([math.log(len(text) + 1) - 3.6 for text in table]),
        np.array([sum(token[:1].isupper() for token in WORD.findall(text)[1:]) / 2 for text in table]),
        np.array([len(words) / 5 - 1 for words in words_of]),
        np.array([text.count(",") + text.count("'") for text in table], np.float64),
    ]


def _openings(table: Sequence[str], numbers: Indices) -> Cues:
    """Return a cue for each frequent first word of correct texts."""
    first = np.array([next(iter(WORD.findall(text.lower())), "") for text in table])
    counts = Counter(first[numbers[:, 0]].tolist())
    common = sorted(counts, key=lambda word: (-counts[word], word))[:OPENINGS]
    return [(first == word)[numbers].astype(np.float32) for word in common]

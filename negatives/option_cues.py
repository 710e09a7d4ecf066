"""Measure what a model without video can see of an option: its words, its relation to the question, and train.

Everything here is visible to a model that has the questions and the options. What can be learned from train is measured
for each division of the questions, as a judge would: the row itself is not counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..language.ngram_model import NgramModel
from ..language.words import name_pattern
from .candidates import folded
from .content_words import WORD, content_words
from .options import COSINE_DIGITS, Flags, Floats, Indices, QuestionRow

OPENINGS = 12  # most frequent first words, each of which is a cue
PRONOUNS = ("he", "him", "his", "she", "her", "it", "its", "they", "them", "their")
COUNTED = (("the",), ("a", "an"), ("to",), ("and",), ("was", "were"), ("not",), PRONOUNS)
NEAR = 20  # questions of train whose correct options are compared with an option
NEAREST = 5
SHARPNESS = 8.0  # weight of near questions
AXES = 12  # principal axes of embeddings
NAME = "name"
PART = 1 << 14  # options measured at a time


@dataclass(frozen=True, eq=False)
class Options:
    """The correct option and the candidates of each row, for one target. Those of a row are adjacent, correct first.

    Attributes:
        row, source: Row of each option, and row of the text that it is or was adapted from, int64 of shape (options,).
        text, key, mask: Number of its text; equal after `text_key`; and equal without names. Shape (options,).
        vectors: Embeddings of all texts, float32 of shape (texts, dimensions), each of length 1.
        cues: Cues that do not depend on train, float32 of shape (options, cues).
        learned: Cues from train, float32 of shape (divisions, options, cues).
    """

    row: Indices
    source: Indices
    text: Indices
    key: Indices
    mask: Indices
    vectors: Floats
    cues: Floats
    learned: Floats


def measure(
    rows: Sequence[QuestionRow],
    questions: Floats,
    texts: Mapping[str, Sequence[str]],
    numbers: Mapping[str, Indices],
    vectors: Mapping[str, Floats],
    row: Indices,
    source: Indices,
    in_train: Flags,
    names: Sequence[str],
) -> dict[str, Options]:
    """Measure the options of all rows for each target.

    `questions` are the embeddings of the questions, float32 of shape (rows, dimensions). `numbers` are the text numbers
    of the options by target, `vectors` the embeddings of the texts, and `in_train` whether a row is in train, shape
    (divisions, rows). For `row` and `source`, see `Options`.
    """
    measured = {}
    first = np.flatnonzero(np.diff(row, prepend=-1))
    near = [nearest_questions(questions, trained) for trained in in_train]
    for name, table in texts.items():
        text, paired_target = numbers[name], next((target for target in texts if target != name), name)
        masked = _without_names(table, names)
        rights = vectors[name][text[first]]
        pair = (
            _cosines(vectors[name], text, vectors[paired_target], numbers[paired_target])
            if paired_target != name
            else 0 * text
        )
        near_question = _cosines(vectors[name], text, questions, row)
        axes = np.linalg.svd(rights - rights.mean(0), full_matrices=False)[2][:AXES].T
        placed = vectors[name] @ axes
        columns = [near_question, pair, *_shared(rows, table, text, row, names), *_of_texts(table, first, text)]
        cues = np.concatenate(
            [np.stack(columns, 1), placed[text], placed[text] * (questions @ axes)[row]], axis=1, dtype=np.float32
        )
        key, mask = _numbered([folded(entry) for entry in table])[text], _numbered(masked)[text]
        learned = [
            np.stack(
                [
                    *_like_near_rights(vectors[name], text, rights, row, *near[division]),
                    *_probability(table, text, first, row, trained),
                    *(_times_right(keys, first, row, trained) for keys in (mask, key)),
                ],
                axis=1,
                dtype=np.float32,
            ).round(COSINE_DIGITS)
            for division, trained in enumerate(in_train)
        ]
        measured[name] = Options(
            row, source, text, key, mask, vectors[name], cues.round(COSINE_DIGITS), np.stack(learned)
        )
    return measured


def nearest_questions(questions: Floats, trained: Flags) -> tuple[Indices, Floats]:
    """Return the most similar other questions of train for each question, and their weights, of shape (rows, near)."""
    known = np.flatnonzero(trained)
    cosines = (questions @ questions[known].T).round(COSINE_DIGITS)
    cosines[known, np.arange(len(known))] = -1
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAR]
    values = np.take_along_axis(cosines, order, axis=1)
    weights = np.exp(SHARPNESS * values)
    return known[order], weights / np.maximum(weights.sum(1, keepdims=True), np.float32(1e-9))


def _cosines(vectors: Floats, numbers: Indices, other_vectors: Floats, others: Indices) -> Floats:
    """Return the cosines of numbered vectors with others, of shape (options,)."""
    parts = np.array_split(np.arange(len(numbers)), len(numbers) // PART + 1)
    return np.concatenate(
        [np.einsum("od,od->o", vectors[numbers[part]], other_vectors[others[part]]) for part in parts]
    )


def _like_near_rights(
    vectors: Floats, text: Indices, rights: Floats, row: Indices, near: Indices, weights: Floats
) -> list[Floats]:
    """Return how similar each option is to the correct options of the nearest questions of train."""
    if not near.shape[1]:
        return []
    cosines = np.empty((len(row), near.shape[1]), np.float32)
    ends = np.searchsorted(row, np.arange(len(near) + 1))
    for index, (begin, end) in enumerate(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)):
        cosines[begin:end] = vectors[text[begin:end]] @ rights[near[index]].T
    close = cosines[:, :NEAREST]
    return [
        cosines[:, 0],
        close.max(1),
        close.mean(1),
        cosines.mean(1),
        cosines.max(1),
        np.sort(cosines, axis=1)[:, -3:].mean(1),
        (cosines * weights[row]).sum(1),
    ]


def _probability(table: Sequence[str], text: Indices, first: Indices, row: Indices, trained: Flags) -> list[Floats]:
    """Return log-probabilities under a model of the correct options of train: mean, smallest and sum."""
    rights = [table[index] for index in text[first].tolist()]
    model = NgramModel(text_of_right for text_of_right, known in zip(rights, trained.tolist(), strict=True) if known)

    def summary(entry: str, without: tuple[str, ...] = ()) -> tuple[float, float, float]:
        log_probabilities = model.log_probability(entry, without)
        return float(log_probabilities.mean()), float(log_probabilities.min()), float(log_probabilities.sum())

    values = np.array([summary(text_of_right) for text_of_right in table], np.float32)[text]
    for index in np.flatnonzero(trained).tolist():
        values[first[index]] = summary(rights[index], (rights[index],))
    return list(values.T)


def _times_right(keys: Indices, first: Indices, row: Indices, trained: Flags) -> Floats:
    """Return the logarithm of how often an option is correct in train, not counting its own row."""
    counts = np.bincount(keys[first][trained], minlength=int(keys.max(initial=0)) + 1)
    counted: Floats = np.log1p(counts[keys] - (trained[row] & (keys == keys[first][row])))
    return counted


def _shared(
    rows: Sequence[QuestionRow], table: Sequence[str], text: Indices, row: Indices, names: Sequence[str]
) -> list[Floats]:
    """Return cues from the content words and the names that question and option share."""
    question_words = [content_words(question.question) for question in rows]
    counts = Counter(word for words in question_words for word in words)
    weight = {word: math.log(len(rows) / count) for word, count in counts.items()}
    total = [sum(weight[word] for word in sorted(words)) + 1e-6 for words in question_words]
    rarest = [max(sorted(words), key=lambda word: weight[word], default="") for words in question_words]
    words_of = [content_words(entry) for entry in table]
    named, asked_names = _names_in(table, names), _names_in([question.question for question in rows], names)
    columns = np.empty((6, len(text)), np.float32)
    for option, (text_number, own) in enumerate(zip(text.tolist(), row.tolist(), strict=True)):
        shared = words_of[text_number] & question_words[own]
        known = named[text_number] & asked_names[own]
        columns[:, option] = (
            sum(weight[word] for word in sorted(shared)) / total[own],
            len(shared),
            rarest[own] in shared,
            len(words_of[text_number]) - len(shared),
            len(known),
            len(named[text_number]) - len(known),
        )
    return list(columns)


def _of_texts(table: Sequence[str], first: Indices, text: Indices) -> list[Floats]:
    """Return cues of the texts alone: length, marks, capitals, function words, endings and frequent first words."""
    words = [WORD.findall(entry.lower()) for entry in table]
    start = np.array([words_of_text[0] if words_of_text else "" for words_of_text in words])
    counts = Counter(start[text[first]].tolist())
    common = sorted(counts, key=lambda word: (-counts[word], word))[:OPENINGS]
    columns = [
        [len(entry) for entry in table],
        [len(words_of_text) for words_of_text in words],
        [entry.count(",") for entry in table],
        [entry.count("'") for entry in table],
        [sum(letter.isupper() for letter in entry) for entry in table],
        *([sum(word in group for word in words_of_text) for words_of_text in words] for group in COUNTED),
        *(
            [sum(word.endswith(ending) for word in words_of_text) for words_of_text in words]
            for ending in ("ing", "ed", "n't")
        ),
        *(start == word for word in common),
    ]
    return [np.asarray(column, np.float32)[text] for column in columns]


def _names_in(texts: Sequence[str], names: Sequence[str]) -> list[frozenset[str]]:
    pattern = name_pattern(names)
    return [frozenset(match.lower() for match in pattern.findall(text)) if pattern else frozenset() for text in texts]


def _without_names(texts: Sequence[str], names: Sequence[str]) -> list[str]:
    pattern = name_pattern(names)
    return [folded(pattern.sub(NAME, text) if pattern else text) for text in texts]


def _numbered(keys: Sequence[str]) -> Indices:
    return np.unique(np.array(keys, np.str_), return_inverse=True)[1].astype(np.int64)

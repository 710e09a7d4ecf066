"""Measure cues that compare each option with training questions and their options."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.numerics import digest_for
from ...language.ngram_model import NgramModel
from ...language.words import text_key
from .blind_questions import Arranged, Embedded, Floats, Vectors
from .cues import DIGITS, Measured, Names

COUNTED = ("right_in_train", "wrong_in_train", "right_unnamed", "wrong_unnamed")
LIKELY = ("likely", "likely_in_all", "least_likely")
ANSWERED = ("near_right", "near_best_of_5", "near_mean_of_5", "near_best_of_20", "near_mean_of_20", "near_weighted")
SIMILAR = (*ANSWERED, "like_a_right", "like_5_rights", "like_a_wrong")
"""Cues that require a sentence encoder."""
TRAINING = (*COUNTED, *LIKELY, *SIMILAR)
NEAR = 20  # training questions
FEW = 5
SHARPNESS = 10.0  # of the weights of training questions by their cosine
MOST_COMPARED = 10_000  # training questions
CHUNK = 640  # options compared at a time
NAME = " someone "


def train_cues(view: Measured, known: Measured, *, apart: bool = False) -> dict[str, Floats]:
    """Compute the cues in `TRAINING`, as far as there are embeddings and questions.

    If `view` is `known`, each question is compared with all others but itself.

    Args:
        view: Questions with their options.
        known: Training questions.
        apart: Whether training questions are also not compared with those of the same source video, because the
            questions to answer are about other videos.

    Returns:
        Arrays as in `cues.cues`.
    """
    labels = [question.cluster if apart else question.id for question in known.rows.questions]
    own = labels if view is known else [""] * len(view.rows.questions)
    cues = _counted(view, known, labels, own) | _likely(view, known, labels, own)
    if view.vectors is not None and known.vectors is not None:
        cues |= _similar(view.rows, view.vectors, known.rows, known.vectors, np.array(labels), np.array(own))
    return cues


def compared(known: Measured) -> Measured:
    """Return a sample of training questions if there are more than `MOST_COMPARED`."""
    questions = known.rows.questions
    if len(questions) <= MOST_COMPARED:
        return known
    drawn = sorted(range(len(questions)), key=lambda row: digest_for(0, "blind", questions[row].id))
    return known.take(np.sort(np.array(drawn[:MOST_COMPARED], np.int64)))


def _counted(view: Measured, known: Measured, labels: Sequence[str], own: Sequence[str]) -> dict[str, Floats]:
    """Count how often each option, as written or without names, is correct and incorrect in train."""
    cues = {}
    for number, cue in enumerate(COUNTED):
        names, correct = known.names if number > 1 else None, number % 2 == 0
        total: Counter[str] = Counter()
        by_label: dict[str, Counter[str]] = defaultdict(Counter)
        for question, label in zip(known.rows.questions, labels, strict=True):
            options = [text for index, text in enumerate(question.options) if (index == question.right) == correct]
            keys = [_without_names(text, names) for text in options]
            by_label[label].update(keys)
            total.update(keys)
        counts = []
        for texts, label in zip(view.rows.texts(), own, strict=True):
            of_label = by_label.get(label, Counter())
            counts += [float(total[key] - of_label[key]) for key in (_without_names(text, names) for text in texts)]
        cues[cue] = view.rows.as_array(counts)
    return cues


def _without_names(text: str, names: Names) -> str:
    return text_key(names.sub(NAME, text) if names else text)


def _likely(view: Measured, known: Measured, labels: Sequence[str], own: Sequence[str]) -> dict[str, Floats]:
    """Compute the log-probability of each option in a model of the correct options of train."""
    rights: dict[str, list[str]] = defaultdict(list)
    for question, label in zip(known.rows.questions, labels, strict=True):
        rights[label].append(question.options[question.right])
    model = NgramModel(text for texts in rights.values() for text in texts)
    summaries = []
    for texts, label in zip(view.rows.texts(), own, strict=True):
        for text in texts:
            of_words = model.log_probability(text, tuple(rights.get(label, ())))
            summaries.append((of_words.mean(), of_words.sum(), of_words.min()))
    table: Floats = np.array(summaries, np.float64).round(DIGITS)
    return {cue: view.rows.as_array(table[:, column]) for column, cue in enumerate(LIKELY)}


def _similar(
    rows: Arranged,
    vectors: Embedded,
    known: Arranged,
    others: Embedded,
    labels: NDArray[np.str_],
    own: NDArray[np.str_],
) -> dict[str, Floats]:
    """Compare the embeddings of options with those of the options of all and of the nearest training questions."""
    wrong = known.exists.copy()
    wrong[np.arange(len(labels)), known.right] = False
    rights, wrongs = others.options[np.arange(len(labels)), known.right], others.options[wrong]
    wrong_labels = np.repeat(labels, wrong.sum(axis=1))
    asks = any(question.question for question in rows.questions)
    cues = {name: np.zeros(rows.exists.shape) for name in SIMILAR if asks or name not in ANSWERED}
    step = max(1, CHUNK // rows.exists.shape[1])
    for start in range(0, len(own), step):
        chunk = slice(start, start + step)
        options, mine = vectors.options[chunk], own[chunk, None]
        cosines = _cosines(options, rights, mine == labels)
        few = np.sort(np.partition(cosines, -min(FEW, len(labels)), axis=2)[:, :, -FEW:], axis=2)
        of_chunk = {"like_a_right": few[:, :, -1], "like_5_rights": few.mean(axis=2)}
        of_chunk["like_a_wrong"] = _cosines(options, wrongs, mine == wrong_labels).max(axis=2)
        if asks:
            questions = vectors.questions[chunk, None]
            of_chunk |= _of_nearest(_cosines(questions, others.questions, mine == labels)[:, 0], cosines)
        for name, values in of_chunk.items():
            cues[name][chunk] = values
    return {name: np.where(rows.exists, np.round(values, DIGITS), 0) for name, values in cues.items()}


def _of_nearest(nearness: Vectors, cosines: Vectors) -> dict[str, Vectors]:
    """Compare options with the correct options of the nearest training questions.

    Args:
        nearness: Cosines with training questions, shape (questions, training questions).
        cosines: Cosines with their correct options, shape (questions, options, training questions).
    """
    rounded = np.round(nearness, DIGITS)
    near = np.argsort(-rounded, axis=1, kind="stable")[:, :NEAR]
    answers = np.take_along_axis(cosines, near[:, None], axis=2)
    likeness = np.take_along_axis(rounded, near, axis=1)
    visible = (likeness > -1).astype(np.float32)

    def mean(weights: Vectors) -> Vectors:
        share = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.float32(1e-9))
        average: Vectors = np.einsum("nks,ns->nk", answers[:, :, : weights.shape[1]], share)
        return average

    return {
        "near_right": answers[:, :, 0],
        "near_weighted": mean(visible * np.exp(SHARPNESS * likeness)),
        **{f"near_best_of_{count}": answers[:, :, :count].max(axis=2) for count in (FEW, NEAR)},
        **{f"near_mean_of_{count}": mean(visible[:, :count]) for count in (FEW, NEAR)},
    }


def _cosines(options: Vectors, answers: Vectors, hidden: NDArray[np.bool_]) -> Vectors:
    """Compute cosines, shape (questions, options, answers), and set those of the answers `hidden` from it to -1."""
    cosines = (options.reshape(-1, options.shape[2]) @ answers.T).reshape(*options.shape[:2], -1)
    cosines[np.broadcast_to(hidden[:, None], cosines.shape)] = -1
    return cosines

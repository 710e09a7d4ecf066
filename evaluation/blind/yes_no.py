"""Run blind baselines on yes/no questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...core.extras import MissingExtraError, import_extra
from ...core.numerics import one_thread
from .baselines import BaselineChoices, folds
from .blind_questions import Arranged, BlindQuestion, Embed, arrange
from .trained import CHARACTERS, ENCODER
from .word_baselines import QUESTION_ONLY, AnsweredText, most_frequent_answer

Predictor = Callable[[Sequence[AnsweredText], Sequence[AnsweredText]], Sequence[str]]
MEANINGS = {
    "text": "the most frequent answer to the same question",
    "words": "the most frequent answer to questions with the same set of words",
    "naive_bayes": "trained on words and pairs of words (naive Bayes)",
    "regression": "trained on words and pairs of words (logistic regression)",
}


def _baselines(kinds: bool, embed: Embed | None) -> dict[str, tuple[Predictor, str]]:
    """Return each baseline with its meaning. With `kinds`, some are also trained for each kind of question."""
    baselines: dict[str, tuple[Predictor, str]] = {"majority": (_majority, "the most frequent correct answer")}
    if kinds:
        baselines["kind"] = (
            partial(_by_kind, _majority),
            "the most frequent correct answer for the kind of question",
        )
    for name, meaning in MEANINGS.items():
        predict = QUESTION_ONLY[name]
        baselines[name] = (predict, meaning)
        if kinds and name in ("naive_bayes", "regression"):
            baselines[f"{name}_by_kind"] = (
                partial(_by_kind, predict),
                f"{meaning}, separately for each kind of question",
            )
    if embed is not None:
        meaning = "trained on the embedding of the question (SBERT, logistic regression)"
        baselines["embedding"] = (partial(_embedding, embed), meaning)
    baselines["ngrams"] = (_ngrams, "trained on characters (TF-IDF, logistic regression); held out")
    return baselines


def _majority(train: Sequence[AnsweredText], test: Sequence[AnsweredText]) -> list[str]:
    return [most_frequent_answer(train)] * len(test)


def _by_kind(predict: Predictor, train: Sequence[AnsweredText], test: Sequence[AnsweredText]) -> list[str]:
    """Predict with a baseline that is trained on each kind of question, or the most frequent answer without any."""
    answers = _majority(train, test)
    for kind in sorted({question.kind for question in test}):
        rows = [row for row, question in enumerate(test) if question.kind == kind]
        known = [question for question in train if question.kind == kind]
        if known:
            for row, answer in zip(rows, predict(known, [test[row] for row in rows]), strict=True):
                answers[row] = answer
    return answers


def _embedding(embed: Embed, train: Sequence[AnsweredText], test: Sequence[AnsweredText]) -> Sequence[str]:
    known, unknown = (embed([question.text for question in split]) for split in (train, test))
    return _logistic(train, known, unknown)


def _ngrams(train: Sequence[AnsweredText], test: Sequence[AnsweredText]) -> Sequence[str]:
    text = import_extra("sklearn.feature_extraction.text", what="a trained baseline")
    weigh = text.TfidfVectorizer(analyzer="char_wb", ngram_range=CHARACTERS, sublinear_tf=True)
    try:
        bags = weigh.fit_transform([question.text for question in train])
    except ValueError:  # questions without any characters
        return _majority(train, test)
    return _logistic(train, bags, weigh.transform([question.text for question in test]))


def _logistic(train: Sequence[AnsweredText], known: Any, unknown: Any) -> Sequence[str]:
    linear = import_extra("sklearn.linear_model", what="a trained baseline")
    answers = [question.answer for question in train]
    if len(set(answers)) < 2:
        return [answers[0]] * int(unknown.shape[0])
    with one_thread():
        model = linear.LogisticRegression(solver="liblinear", random_state=0).fit(known, answers)
        return [str(answer) for answer in model.predict(unknown)]


def guess_yes_no(
    questions: Sequence[BlindQuestion], train: Sequence[BlindQuestion], embed: Embed | None, seed: int
) -> tuple[Arranged, list[BaselineChoices], dict[str, str]]:
    """Run every baseline on every yes/no question. `train` and `embed` are optional, as for `guess_options`.

    Returns:
        The questions sorted by id, the choices of each baseline, and the reasons why others could not run.
    """
    rows = arrange(questions)
    test, known = (
        [AnsweredText(one.question, one.options[one.right].casefold(), one.kind) for one in split]
        for split in (rows.questions, arrange(train).questions)
    )
    divided = folds(rows, seed)
    if not known and not divided:
        return rows, [], {"all": "there is only one source video and no train split"}
    guesses: list[BaselineChoices] = []
    left_out = {} if embed else {"embedding": ENCODER}
    for name, (predict, meaning) in _baselines(len({question.kind for question in test}) > 1, embed).items():
        answers = [""] * len(test)
        try:
            if known:
                answers = list(predict(known, test))
            else:
                for others, fold in divided:
                    of_fold = predict([test[row] for row in others], [test[row] for row in fold])
                    for row, answer in zip(fold.tolist(), of_fold, strict=True):
                        answers[row] = answer
        except MissingExtraError as error:
            left_out[name] = str(error)
            continue
        choices = np.array([_index(question, answer) for question, answer in zip(rows.questions, answers, strict=True)])
        right = (choices == [question.right for question in rows.questions]).astype(np.float64)
        guesses.append(BaselineChoices(name, meaning, "trained", choices, right))
    return rows, guesses, left_out


def _index(question: BlindQuestion, answer: str) -> int:
    """Return the index of the option that is an answer, or 0."""
    options = [option.casefold() for option in question.options]
    return options.index(answer) if answer in options else 0


def guess_complements(
    rows: Arranged, guesses: Sequence[BaselineChoices], pairs: Sequence[tuple[str, str]]
) -> tuple[Arranged, list[BaselineChoices]]:
    """Return choices on pairs of questions, which are correct if both are. Pairs with unknown ids are omitted."""
    row_of = {question.id: row for row, question in enumerate(rows.questions)}
    known = sorted(
        (f"{first}+{second}", row_of[first], row_of[second])
        for first, second in pairs
        if {first, second} <= row_of.keys()
    )
    firsts, seconds = (np.array([pair[side] for pair in known], np.int64) for side in (1, 2))
    of_firsts = rows.take(firsts)
    named = tuple(replace(question, id=name) for question, (name, _, _) in zip(of_firsts.questions, known, strict=True))
    return replace(of_firsts, questions=named), [
        replace(
            guess,
            choices=np.stack([guess.choices[firsts], guess.choices[seconds]], axis=1),
            right=guess.right[firsts] * guess.right[seconds],
        )
        for guess in guesses
    ]

"""Run blind baselines on yes/no questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...core.extras import import_extra
from ...core.requirements import MissingExtraError
from ...core.threads import one_thread
from . import question_only
from .figures import BaselineChoices
from .fitting import folds
from .question_only import AnsweredText
from .questions import Arranged, BlindQuestion, Embed, arrange
from .trained import CHARACTERS, ENCODER

Answers = Callable[[Sequence[AnsweredText], Sequence[AnsweredText]], Sequence[str]]
MEANINGS = {
    "text": "the most frequent answer to the same question",
    "words": "the most frequent answer to questions with the same set of words",
    "naive_bayes": "trained on words and pairs of words (naive Bayes)",
    "regression": "trained on words and pairs of words (logistic regression)",
}


def _guessers(kinds: bool, embed: Embed | None) -> dict[str, tuple[Answers, str]]:
    found: dict[str, tuple[Answers, str]] = {"majority": (_majority, "the most frequent correct answer")}
    if kinds:
        found["kind"] = (_by_kind(_majority), "the most frequent correct answer for the kind of question")
    for name, meaning in MEANINGS.items():
        answer = question_only.GUESSERS[name]
        found[name] = (answer, meaning)
        if kinds and name in ("naive_bayes", "regression"):
            found[f"{name}_by_kind"] = (_by_kind(answer), f"{meaning}, separately for each kind of question")
    if embed is not None:
        meaning = "trained on the embedding of the question (SBERT, logistic regression)"
        found["embedding"] = (partial(_embedding, embed), meaning)
    found["ngrams"] = (_ngrams, "trained on characters (TF-IDF, logistic regression); held out")
    return found


def _majority(learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText]) -> list[str]:
    return [question_only.commonest(learnt)] * len(asked)


def _by_kind(answer: Answers) -> Answers:
    def answers(learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText]) -> list[str]:
        usual = question_only.commonest(learnt)
        said = [usual] * len(asked)
        for kind in sorted({one.kind for one in asked}):
            rows = [row for row, one in enumerate(asked) if one.kind == kind]
            known = [one for one in learnt if one.kind == kind]
            if known:
                found = answer(known, [asked[row] for row in rows])
                for row, text in zip(rows, found, strict=True):
                    said[row] = text
        return said

    return answers


def _embedding(embed: Embed, learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText]) -> Sequence[str]:
    return _logistic(learnt, embed([one.text for one in learnt]), embed([one.text for one in asked]))


def _ngrams(learnt: Sequence[AnsweredText], asked: Sequence[AnsweredText]) -> Sequence[str]:
    text = import_extra("sklearn.feature_extraction.text", what="a trained baseline")
    weigh = text.TfidfVectorizer(analyzer="char_wb", ngram_range=CHARACTERS, sublinear_tf=True)
    try:
        bags = weigh.fit_transform([one.text for one in learnt])
    except ValueError:  # questions without any characters
        return _majority(learnt, asked)
    return _logistic(learnt, bags, weigh.transform([one.text for one in asked]))


def _logistic(learnt: Sequence[AnsweredText], known: Any, asked: Any) -> Sequence[str]:
    linear = import_extra("sklearn.linear_model", what="a trained baseline")
    answers = [one.answer for one in learnt]
    if len(set(answers)) < 2:
        return [answers[0]] * int(asked.shape[0])
    with one_thread():
        model = linear.LogisticRegression(solver="liblinear", random_state=0).fit(known, answers)
        return [str(answer) for answer in model.predict(asked)]


def guess_yes_no(
    asked: Sequence[BlindQuestion], train: Sequence[BlindQuestion], embed: Embed | None, seed: int
) -> tuple[Arranged, list[BaselineChoices], dict[str, str]]:
    """Run every baseline on every yes/no question. `train` and `embed` are optional, as for `options.guess_options`.

    Returns:
        The questions sorted by id, the choices of each baseline, and the reasons why others could not run.
    """
    rows = arrange(asked)
    reads, learnt = (
        [AnsweredText(one.question, one.options[one.right].casefold(), one.kind) for one in some]
        for some in (rows.asked, arrange(train).asked)
    )
    divided = folds(rows, seed)
    if not learnt and not divided:
        return rows, [], {"all": "there is only one source video and no train split"}
    guesses, left_out = [], {} if embed else {"embedding": ENCODER}
    for name, (answer, meaning) in _guessers(len({one.kind for one in reads}) > 1, embed).items():
        said = [""] * len(reads)
        try:
            if learnt:
                said = list(answer(learnt, reads))
            else:
                for known, others in divided:
                    found = answer([reads[row] for row in known], [reads[row] for row in others])
                    for row, text in zip(others.tolist(), found, strict=True):
                        said[row] = text
        except MissingExtraError as error:
            left_out[name] = str(error)
            continue
        numbers = [
            next((at for at, option in enumerate(one.options) if option.casefold() == text), 0)
            for one, text in zip(rows.asked, said, strict=True)
        ]
        right = np.array([float(number == one.right) for number, one in zip(numbers, rows.asked, strict=True)])
        guesses.append(BaselineChoices(name, meaning, "trained", np.array(numbers, np.int64), right))
    return rows, guesses, left_out


def on_pairs(
    rows: Arranged, guesses: Sequence[BaselineChoices], pairs: Sequence[tuple[str, str]]
) -> tuple[Arranged, list[BaselineChoices]]:
    """Return choices on pairs of questions, which are correct if both are. Pairs with unknown ids are omitted."""
    place = {one.id: row for row, one in enumerate(rows.asked)}
    there = sorted((f"{one}+{other}", place[one], place[other]) for one, other in pairs if {one, other} <= place.keys())
    first, second = (np.array([pair[at] for pair in there], np.int64) for at in (1, 2))
    taken = rows.take(first)
    named = tuple(replace(one, id=name) for one, (name, _, _) in zip(taken.asked, there, strict=True))
    return replace(taken, asked=named), [
        replace(
            guess,
            choices=np.stack([guess.choices[first], guess.choices[second]], axis=1),
            right=guess.right[first] * guess.right[second],
        )
        for guess in guesses
    ]

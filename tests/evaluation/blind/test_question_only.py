from __future__ import annotations

import pytest
from stressreel.evaluation.blind.question_only import GUESSERS, AnsweredText, blind_shares, fit_logistic, words_of

LEARNT = [AnsweredText(f"Were they {verb} a {noun}?", "yes" if noun == "phone" else "no", "k")
          for noun in ("phone", "bag") for verb in ("holding", "taking", "throwing")]  # fmt: skip


def test_words() -> None:
    assert words_of("Is it?") == ["is", "it", "is it"]


@pytest.mark.parametrize("name", GUESSERS)
def test_what_words_tell_is_found_out(name: str) -> None:
    assert blind_shares(LEARNT, LEARNT)["k"][name] == 1.0


@pytest.mark.parametrize("name", ["naive_bayes", "regression"])
def test_words_are_known_in_other_sentences(name: str) -> None:
    asked = [AnsweredText("Did they wash a phone?", "yes", "k"), AnsweredText("Did they wash a bag?", "no", "k")]
    assert blind_shares(LEARNT, asked)["k"][name] == 1.0


@pytest.mark.parametrize("name", GUESSERS)
def test_a_question_with_both_answers_tells_nothing(name: str) -> None:
    both = [AnsweredText(read.text, answer, "k") for read in LEARNT for answer in ("yes", "no")]
    assert blind_shares(both, both)["k"][name] == 0.5


def test_kinds_are_apart_and_may_be_unknown() -> None:
    assert blind_shares(LEARNT, [AnsweredText("Where?", "there", "other")]) == {"other": dict.fromkeys(GUESSERS, 0.0)}


def test_nothing_is_known_where_nothing_was_learnt() -> None:
    assert fit_logistic([], [], ["first", "second"]).scores({"word": 1.0}).tolist() == [0, 0]

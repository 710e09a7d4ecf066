import pytest
from stressreel.evaluation.blind.blind_questions import BlindQuestion
from stressreel.evaluation.blind.word_baselines import (
    QUESTION_ONLY,
    AnsweredText,
    question_only_accuracy,
    word_baseline,
)


def test_words_predict_answers_in_new_sentences() -> None:
    nouns, verbs = {"phone": "yes", "bag": "no"}, ("holding", "taking", "throwing")
    learnt = [AnsweredText(f"Were they {verb} a {noun}?", nouns[noun], "k") for noun in nouns for verb in verbs]
    assert question_only_accuracy(learnt, learnt)["k"] == dict.fromkeys(QUESTION_ONLY, 1.0)
    new = [AnsweredText(f"Did they wash a {noun}?", answer, "k") for noun, answer in nouns.items()]
    found = question_only_accuracy(learnt, new)["k"]
    assert (found["naive_bayes"], found["regression"]) == (1.0, 1.0)
    both = [AnsweredText(one.text, answer, "k") for one in learnt for answer in ("yes", "no")]
    assert question_only_accuracy(both, both)["k"] == dict.fromkeys(QUESTION_ONLY, 0.5)


def asked(split: str, number: int, question: str, options: tuple[str, ...], right: int) -> BlindQuestion:
    return BlindQuestion(f"{split}{number}", question, options, right, source=f"{split} {number % 7}")


def yes_no(split: str, count: int) -> list[BlindQuestion]:
    return [asked(split, n, f"Did it {('snow', 'rain')[n % 2]}?", ("no", "yes"), n % 2) for n in range(count)]


def choices(split: str, count: int) -> list[BlindQuestion]:
    found = []
    for n in range(count):
        options = [f"they ran away {n}", f"it was never seen {n}", f"nothing happened {n}"]
        options.insert(n % 3, options.pop(0))
        found.append(asked(split, n, "Why?", tuple(options), n % 3))
    return found


def test_baseline_learns_from_train_or_other_sources() -> None:
    for train in (yes_no("train", 28), []):
        found = word_baseline(yes_no("test", 28), train)
        assert (found.accuracy.value, found.accuracy.low, found.questions) == (1, 1, 28)
        assert found.usual == pytest.approx(0.5, abs=0.2)
    found = word_baseline(choices("test", 21), choices("train", 21))
    assert (found.accuracy.value, found.usual) == (1, pytest.approx(1 / 3))
    # Without train, options have no baseline, nor has a single source.
    assert word_baseline(choices("test", 21)) is word_baseline(yes_no("test", 28)[::7]) is None

import pytest
from stressreel.evaluation.blind.blind_questions import BlindQuestion
from stressreel.evaluation.blind.word_baselines import (
    QUESTION_ONLY,
    AnsweredText,
    fit_logistic,
    question_only_accuracy,
    word_baseline,
)

LEARNT = [AnsweredText(f"Were they {verb} a {noun}?", "yes" if noun == "phone" else "no", "k")
          for noun in ("phone", "bag") for verb in ("holding", "taking", "throwing")]  # fmt: skip


def test_words_predict_answers_in_new_sentences() -> None:
    assert question_only_accuracy(LEARNT, LEARNT)["k"] == dict.fromkeys(QUESTION_ONLY, 1.0)
    asked = [AnsweredText("Did they wash a phone?", "yes", "k"), AnsweredText("Did they wash a bag?", "no", "k")]
    found = question_only_accuracy(LEARNT, asked)["k"]
    assert (found["naive_bayes"], found["regression"]) == (1.0, 1.0)


def test_questions_with_both_answers_give_chance() -> None:
    both = [AnsweredText(read.text, answer, "k") for read in LEARNT for answer in ("yes", "no")]
    assert question_only_accuracy(both, both)["k"] == dict.fromkeys(QUESTION_ONLY, 0.5)


def test_unknown_kind_has_accuracy_zero() -> None:
    assert question_only_accuracy(LEARNT, [AnsweredText("Where?", "there", "other")]) == {
        "other": dict.fromkeys(QUESTION_ONLY, 0.0)
    }


def test_logistic_without_training_scores_zero() -> None:
    assert fit_logistic([], [], ["first", "second"]).scores({"word": 1.0}).tolist() == [0, 0]


YES_NO = ("no", "yes")


def asked(split: str, number: int, question: str, options: tuple[str, ...], right: int) -> BlindQuestion:
    return BlindQuestion(f"{split}{number}", question, options, right, source=f"{split} {number % 7}")


def yes_no(split: str, count: int) -> list[BlindQuestion]:
    return [asked(split, n, "Did it rain?" if n % 2 else "Did it snow?", YES_NO, n % 2) for n in range(count)]


def choices(split: str, count: int) -> list[BlindQuestion]:
    found = []
    for n in range(count):
        options = [f"they ran away {n}", f"it was never seen {n}", f"nothing happened {n}"]
        options.insert(n % 3, options.pop(0))
        found.append(asked(split, n, "Why?", tuple(options), n % 3))
    return found


def test_yes_no_baseline_learns_from_train_or_other_sources() -> None:
    for train in (yes_no("train", 28), []):
        found = word_baseline(yes_no("test", 28), train)
        assert (found.accuracy.value, found.accuracy.low, found.questions) == (1, 1, 28)
        assert found.usual == pytest.approx(0.5, abs=0.2)


def test_words_of_options_are_learnt_at_any_position() -> None:
    found = word_baseline(choices("test", 21), choices("train", 21))
    assert (found.accuracy.value, found.usual) == (1, pytest.approx(1 / 3))


def test_equal_options_share_the_choice_in_any_order() -> None:
    test = [asked("test", n, "Why?", ("unknown a", "unknown b", "unknown c", "unknown d"), n % 4) for n in range(8)]
    train = choices("train", 21)
    found = word_baseline(test, train)
    assert found.accuracy.value == 0.25
    assert found == word_baseline(test[::-1], train[::-1])
    # Without train, options have no baseline, nor has a single source.
    assert word_baseline(choices("test", 21)) is word_baseline(yes_no("test", 28)[::7]) is None

from stressreel.evaluation.blind.word_baselines import QUESTION_ONLY, AnsweredText, fit_logistic, question_only_accuracy

LEARNT = [AnsweredText(f"Were they {verb} a {noun}?", "yes" if noun == "phone" else "no", "k")
          for noun in ("phone", "bag") for verb in ("holding", "taking", "throwing")]  # fmt: skip


def test_what_words_tell_is_found_out_and_known_in_other_sentences() -> None:
    assert question_only_accuracy(LEARNT, LEARNT)["k"] == dict.fromkeys(QUESTION_ONLY, 1.0)
    asked = [AnsweredText("Did they wash a phone?", "yes", "k"), AnsweredText("Did they wash a bag?", "no", "k")]
    found = question_only_accuracy(LEARNT, asked)["k"]
    assert (found["naive_bayes"], found["regression"]) == (1.0, 1.0)


def test_a_question_with_both_answers_tells_nothing() -> None:
    both = [AnsweredText(read.text, answer, "k") for read in LEARNT for answer in ("yes", "no")]
    assert question_only_accuracy(both, both)["k"] == dict.fromkeys(QUESTION_ONLY, 0.5)


def test_kinds_are_apart_and_may_be_unknown() -> None:
    assert question_only_accuracy(LEARNT, [AnsweredText("Where?", "there", "other")]) == {
        "other": dict.fromkeys(QUESTION_ONLY, 0.0)
    }


def test_nothing_is_known_where_nothing_was_learnt() -> None:
    assert fit_logistic([], [], ["first", "second"]).scores({"word": 1.0}).tolist() == [0, 0]

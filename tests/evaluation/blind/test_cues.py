from collections.abc import Sequence

import numpy as np
import pytest
from stressreel.evaluation.blind.blind_questions import BlindQuestion, arrange
from stressreel.evaluation.blind.cues import RULES, Measured, cues, measure, pick, twin_scores
from stressreel.evaluation.blind.train_cues import LIKELY, TRAINING, train_cues
from stressreel.language.words import name_pattern

OPTIONS = ("Aaaaa.", "the actress fell", "cc", "She did not fall")
ASKED = BlindQuestion("q", "why did the actress scream", OPTIONS, 1)
VECTORS = dict(zip(OPTIONS, ([1, 0, 0], [1, 0, 0], [0, 1, 0], [0.6, 0, 0.8]), strict=True))
VECTORS |= {ASKED.question: [0, 1, 0], "why jump": [0.6, 0.8, 0]}
NAMES = name_pattern(("actress", "Tom", "Jerry"))


def embed(texts: Sequence[str]) -> np.ndarray:
    return np.array([VECTORS.get(text, [0, 0, 1]) for text in texts], np.float32)


def view(*asked: BlindQuestion) -> Measured:
    return measure(arrange(asked), embed, NAMES)


def test_each_rule_chooses_its_option() -> None:
    train = BlindQuestion("t", "why", ("cc.", "She did not fall"), 0), BlindQuestion("u", "why", ("AAAAA", "CC"), 1)
    asked = view(ASKED)
    values = {**asked.cues, **train_cues(asked, view(*train))}
    taken = {name: pick(asked.rows, values[rule.cue] * (1 if rule.most else -1))[0] for name, rule in RULES.items()}
    found = {name: OPTIONS[int(asked.rows.original(places)[0])] for name, places in taken.items()}
    exact = dict.fromkeys(("shortest", "odd_one_out", "near_question", "right_in_train", "likely"), "cc")
    shared = ("shared_words", "shared_letters", "shared_names", "rare_word")
    exact |= dict.fromkeys(shared, "the actress fell") | {"negated": "She did not fall"}
    exact |= dict.fromkeys(("near_answers", "like_a_right"), "She did not fall")
    assert {name: found[name] for name in exact} == exact
    assert found["longest"] in ("the actress fell", "She did not fall")  # both have 16 letters
    assert found["central"] in ("Aaaaa.", "the actress fell")
    assert found["case"] in ("the actress fell", "cc")
    assert found["wrong_in_train"] in ("Aaaaa.", "She did not fall")
    assert found["mark"] != "Aaaaa."
    assert "cc" not in (found["not_right_in_train"], found["unlikely"])
    assert "She did not fall" not in (found["far_from_answers"], found["unlike_rights"])


def test_counts_of_options_words_marks_and_names() -> None:
    rows = arrange([BlindQuestion("a", "why", ("x", "y", "X."), 0), BlindQuestion("b", "why", ("z", "y", "x"), 0)])
    by_text = dict(zip(np.ravel(rows.texts()), np.ravel(cues(rows)["frequency"]), strict=True))
    assert by_text == {"x": 3, "X.": 3, "y": 2, "z": 1}  # in the whole split
    long = "Tom's cat, a BIG one, ran to him"
    asked = view(BlindQuestion("q", "Why did Tom run?", (long, "Jerry and the actress hid"), 0))
    first = asked.rows.texts()[0].index(long)
    counts = {"words": 8, "commas": 2, "apostrophes": 1, "capitals": 4, "pronouns": 1, "articles": 1, "prepositions": 1}
    counts |= {"shared_names": 1, "other_names": 0, "shared_share": 1 / 8}
    assert {name: asked.cues[name][0, first] for name in counts} == counts
    assert (asked.cues["shared_names"][0, 1 - first], asked.cues["other_names"][0, 1 - first]) == (0, 2)


def test_twin_score_finds_the_original() -> None:
    texts = ["Tom was not hitting Jerry.", "Jerry was hitting Tom.", "Spike hid.", "Tom ate the cheese."]
    for right in range(5):
        scores = twin_scores([*texts[:right], "Tom was hitting Jerry.", *texts[right:]])
        assert scores.index(max(scores)) == right


def test_ties_share_the_choice_of_existing_options() -> None:
    rows = arrange([BlindQuestion(f"q{number}", "why", (*"abc", "de", "fg"), 3) for number in range(400)])
    places, right = pick(rows, cues(rows)["letters"])
    taken = np.bincount(rows.original(places), minlength=5)
    assert (taken[:3].sum(), set(right.tolist())) == (0, {0.5})
    assert taken[3:].min() > 150
    rows = arrange([BlindQuestion("a", "why", ("x", "yy"), 0), BlindQuestion("b", "why", ("x", "yy", "zzz", "w"), 2)])
    for scores in cues(rows).values():
        assert all(rows.exists[np.arange(2), pick(rows, scores * sign)[0]].all() for sign in (1, -1))


@pytest.mark.parametrize("apart", [False, True])
def test_training_question_is_compared_with_others_only(apart: bool) -> None:
    train = [
        BlindQuestion("a", ASKED.question, ("Aaaaa.", "cc", "it rained"), 0, "v"),
        BlindQuestion("b", "why jump", ("aaaaa", "the actress fell"), 1, "v"),
        BlindQuestion("c", "why", ("Tom Aaaaa.", "it rained", "cc"), 2, "w"),
    ]
    known = view(*train)
    found = train_cues(known, known, apart=apart)
    for row, one in enumerate(train):
        others = [other for other in train if (other.source != one.source if apart else other.id != one.id)]
        alone, texts = train_cues(view(one), view(*others)), one.options
        for name in set(TRAINING) - {*LIKELY, "like_5_rights"}:  # words stay known; of fewer than 5, some count as -1
            assert found[name][row, : len(texts)] == pytest.approx(alone[name][0], abs=0.001), name

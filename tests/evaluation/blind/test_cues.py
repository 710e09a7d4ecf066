from collections.abc import Sequence

import numpy as np
from stressreel.evaluation.blind.blind_questions import BlindQuestion, arrange
from stressreel.evaluation.blind.cues import RULES, cues, measure, named, pick, twin_scores
from stressreel.evaluation.blind.train_cues import train_cues
from stressreel.language.words import name_pattern

ASKED = BlindQuestion("q", "why did the actress scream", ("Aaaaa.", "the actress fell", "cc", "She did not fall"), 1)
TRAIN = [BlindQuestion("t", "why", ("cc.", "She did not fall"), 0), BlindQuestion("u", "why", ("AAAAA", "CC"), 1)]
VECTORS = dict(zip(ASKED.options, ([1, 0, 0], [1, 0, 0], [0, 1, 0], [0.6, 0, 0.8]), strict=True))
VECTORS[ASKED.question] = VECTORS["cc"]


def embed(texts: Sequence[str]) -> np.ndarray:
    return np.array([VECTORS.get(text, [0, 0, 1]) for text in texts], np.float32)


def test_each_rule_chooses_its_option() -> None:
    view = measure(arrange([ASKED]), embed, name_pattern(("actress",)))
    values = {**view.cues, **train_cues(view, measure(arrange(TRAIN), embed, view.names))}
    taken = {name: pick(view.rows, values[rule.cue] * (1 if rule.most else -1))[0] for name, rule in RULES.items()}
    found = {name: ASKED.options[int(view.rows.original(places)[0])] for name, places in taken.items()}
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
    long, other = "Tom's cat, a BIG one, ran to him", "Jerry and Spike hid"
    rows = arrange([BlindQuestion("q", "Why did Tom run?", (long, other), 0)])
    found = cues(rows, names=name_pattern(("Tom", "Jerry", "Spike")))
    first = rows.texts()[0].index(long)
    counts = {"words": 8, "commas": 2, "apostrophes": 1, "capitals": 4, "pronouns": 1, "articles": 1, "prepositions": 1}
    counts |= {"shared_names": 1, "other_names": 0, "shared_share": 1 / 8}
    assert {name: found[name][0, first] for name in counts} == counts
    assert (found["shared_names"][0, 1 - first], found["other_names"][0, 1 - first]) == (0, 2)
    assert named(None, "Tom") == frozenset()


def test_twin_score_finds_the_original() -> None:
    texts = ["Tom was not hitting Jerry.", "Jerry was hitting Tom.", "Spike hid.", "Tom ate the cheese."]
    for right in range(5):
        scores = twin_scores([*texts[:right], "Tom was hitting Jerry.", *texts[right:]])
        assert scores.index(max(scores)) == right


def test_ties_share_the_choice_of_existing_options() -> None:
    rows = arrange([BlindQuestion(f"q{number}", "why", (*"abc", "de", "fg"), 3) for number in range(400)])
    letters = cues(rows)["letters"]
    places, right = pick(rows, letters)
    taken = np.bincount(rows.original(places), minlength=5)
    assert (taken[:3].sum(), set(right.tolist())) == (0, {0.5})
    assert taken[3:].min() > 150
    assert set(pick(rows, -letters)[1].tolist()) == {0.0}
    rows = arrange([BlindQuestion("a", "why", ("x", "yy"), 0), BlindQuestion("b", "why", ("x", "yy", "zzz", "w"), 2)])
    for scores in cues(rows).values():
        assert all(rows.exists[np.arange(2), pick(rows, scores * sign)[0]].all() for sign in (1, -1))

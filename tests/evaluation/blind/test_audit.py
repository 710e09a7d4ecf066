import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.blind.audit import Audited, audit
from stressreel.evaluation.blind.blind_questions import BlindQuestion

pytest.importorskip("sklearn")

NOUNS = [f"{one}{two}" for one in ("ba", "do", "ki", "lu", "me", "po", "ra", "su") for two in ("nt", "rp", "lk", "sh")]
SOURCES = 3  # videos, and so folds that models learn from
VERBS = ["hid", "ran", "fell", "slept", "woke", "sang"]


def embed(texts: Sequence[str]) -> np.ndarray:
    found = np.zeros((len(texts), 24), np.float32)
    for row, text in enumerate(texts):
        for word in text.casefold().rstrip(".?").split():
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4])
            found[row] += np.random.default_rng(seed).normal(size=24).astype(np.float32)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def made(count: int, seed: int = 0, options: int = 4) -> list[BlindQuestion]:
    """Questions whose options are drawn alike: nothing tells which is right."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        texts = [f"The {rng.choice(NOUNS)} {rng.choice(VERBS)} near the {rng.choice(NOUNS)}." for _ in range(options)]
        question = f"Why did the {rng.choice(NOUNS)} jump?"
        found.append(
            BlindQuestion(f"q{number:04}", question, tuple(texts), int(rng.integers(options)), f"v{number % SOURCES}")
        )
    return found


def with_right(asked: Sequence[BlindQuestion], change: Callable[[BlindQuestion], str]) -> list[BlindQuestion]:
    return [
        replace(one, options=(*one.options[: one.right], change(one), *one.options[one.right + 1 :])) for one in asked
    ]


def shares(found: Audited) -> dict[str, float]:
    return {figure.guesser: figure.share.value for figure in found.figures}


FAIR = made(120)
CUES: dict[str, tuple[Callable[[BlindQuestion], str], tuple[str, ...]]] = {
    "length": (lambda one: f"{one.options[one.right]} And it was very late.", ("longest", "option_logit", "ngrams")),
    "short": (lambda one: "It ran.", ("shortest", "option_logit", "option_network", "trees", "stacked")),
    "case": (lambda one: one.options[one.right].lower(), ("option_logit", "option_network", "ngrams")),
    "negation": (lambda one: one.options[one.right].replace("near", "not near"), ("negated", "option_logit", "trees")),
    "question": (
        lambda one: f"The {one.question.split()[3]} slept near the {one.question.split()[3]}.",
        ("near_question", "shared_words", "rare_word", "question_network", "full_network", "random_judge", "stacked"),
    ),
    "frequent": (lambda one: "The bant fell near the dorp.", ("commonest", "option_logit", "option_network", "trees")),
}  # fmt: skip


@pytest.mark.parametrize(
    "cue", [pytest.param(cue, marks=[] if cue in ("length", "question") else pytest.mark.full) for cue in CUES]
)
def test_baselines_find_a_planted_cue(cue: str) -> None:
    change, finders = CUES[cue]
    (found,) = audit(with_right(FAIR, change), embed=embed, resamples=100)
    right = shares(found)
    assert {name: share for name, share in right.items() if name in finders and share < 0.6} == {}
    assert set(finders) <= set(right)
    assert found.best.share.value > 0.9
    assert found.elsewhere.value > 0.85


def test_options_correct_in_train() -> None:
    texts = [f"The {noun} sang." for noun in NOUNS]
    train = [replace(one, options=(texts[n % 32], *one.options[1:]), right=0) for n, one in enumerate(made(64, 1))]
    again = [replace(one, options=(texts[n % 32], *one.options[1:]), right=0) for n, one in enumerate(FAIR)]
    (found,) = audit(again, train, embed=embed, resamples=100)
    assert shares(found)["right_in_train"] == 1.0
    wrong = [replace(one, right=1) for one in again]
    (found,) = audit(wrong, train, resamples=100)
    assert shares(found)["right_in_train"] == 0.0
    assert 0.2 < shares(found)["not_right_in_train"] < 0.45
    worth = {one.cue: one.alone for one in found.worth}
    assert worth["right_in_train"] == pytest.approx(shares(found)["not_right_in_train"], abs=0.1)
    assert found.learnt == 64


def answered(count: int, seed: int) -> list[BlindQuestion]:
    """Questions whose answer depends on a noun; distractors are answers about other nouns."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        asked = rng.permutation(len(NOUNS))[:4]
        options = tuple(f"It {VERBS[noun % 6]} near the {NOUNS[-noun]}." for noun in asked)
        right = int(rng.integers(4))
        text = f"Why did the {NOUNS[asked[right]]} jump?"
        found.append(BlindQuestion(f"{seed}-{number:04}", text, options, right, f"v{number % SOURCES}"))
    return found


def test_answers_of_nearest_training_questions_help() -> None:
    (found,) = audit(answered(60, 2), answered(200, 3), embed=embed, resamples=100)
    right = shares(found)
    assert min(right["trees"], right["near_answers"]) > 0.9
    assert right["option_logit"] < 0.5


@pytest.mark.full
def test_trees_learn_from_other_sources_without_train() -> None:
    (found,) = audit(answered(120, 2), embed=embed, resamples=100)
    assert shares(found)["trees"] > 0.7
    assert "near_answers" in found.left_out


@pytest.mark.parametrize("train", [made(200, 7), pytest.param([], marks=pytest.mark.full)])
def test_every_baseline_is_at_chance_without_cues(train: list[BlindQuestion]) -> None:
    (found,) = audit(made(200, 8), train, embed=embed, resamples=100)
    error = (0.25 * 0.75 / 200) ** 0.5
    assert {name: share for name, share in shares(found).items() if abs(share - 0.25) > 3.5 * error} == {}
    assert ("trees" in shares(found), "like_a_right" in shares(found)) == (True, bool(train))


def test_baselines_without_encoder_or_question_are_named() -> None:
    change, _ = CUES["question"]
    (found,) = audit(with_right(FAIR, change), resamples=100)
    assert shares(found)["shared_words"] > 0.6
    assert {"near_question", "question_network", "central"} <= set(found.left_out)
    assert not set(found.left_out) & set(shares(found))
    (found,) = audit([replace(one, question="") for one in FAIR[:60]], embed=embed, resamples=100)
    assert {"near_question", "question_network", "random_judge"} <= set(found.left_out)
    assert "option_network" in shares(found)


def turned(asked: Sequence[BlindQuestion]) -> list[BlindQuestion]:
    """The same questions in another order, and so their options."""
    return [
        replace(one, options=(*one.options[1:], one.options[0]), right=(one.right - 1) % len(one.options))
        for one in asked[::-1]
    ]


@pytest.mark.parametrize("train", [made(60, 7), pytest.param([], marks=pytest.mark.full)])
def test_order_of_questions_and_options_has_no_effect(train: list[BlindQuestion]) -> None:
    (plain,) = audit(FAIR[:60], train, embed=embed, resamples=100)
    (other,) = audit(turned(FAIR[:60]), turned(train), embed=embed, resamples=100)
    assert other.ids == plain.ids
    for name, made_there in plain.choices.items():
        if name != "place":
            assert ((made_there - 1) % 4).tolist() == other.choices[name].tolist(), name
    assert abs(plain.elsewhere.value - 0.25) < 0.15


def test_balanced_subset_has_its_own_accuracies() -> None:
    easy = with_right(FAIR[:60], lambda one: "Because of the rain, it was very late and dark indeed.")
    asked = [replace(one, balanced=False) for one in easy] + [replace(one, balanced=True) for one in FAIR[60:]]
    (found,) = audit(asked, resamples=100)
    longest = next(figure for figure in found.figures if figure.guesser == "longest")
    assert found.num_balanced == 60
    assert longest.share.value > 0.55
    assert longest.balanced.value < 0.4
    assert found.best_balanced.balanced.value < found.best.share.value


@pytest.mark.full
def test_pairs_of_answer_and_explanation() -> None:
    answers = [replace(one, part="answer") for one in FAIR[:80]]
    others = made(80, 5)
    explanations = with_right(
        [replace(two, part="explanation", question=one.question) for one, two in zip(answers, others, strict=True)],
        lambda two: answers[int(two.id[1:])].options[answers[int(two.id[1:])].right].replace("near", "beside"),
    )
    first, second, both = audit([*answers, *explanations], embed=embed, resamples=100)
    assert [first.part, second.part, both.part] == ["answer", "explanation", "both"]
    assert both.chance == pytest.approx(1 / 16)
    right = shares(both)
    assert min(right[name] for name in ("alike", "alike_words", "paired")) > 0.8
    assert right["longest"] < 0.3
    assert both.choices["alike"].shape == (80, 2)


def yes_no(count: int, seed: int = 0) -> list[BlindQuestion]:
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        noun, kind = rng.choice(NOUNS), ("first", "last")[int(rng.integers(2))]
        text = f"Did the {noun} {rng.choice(VERBS)} {kind}?"
        right, source = int(rng.integers(2)), f"v{number % SOURCES}"
        found.append(BlindQuestion(f"q{number:04}", text, ("no", "yes"), right, source, kind))
    return found


def test_yes_no_accuracy_at_chance_and_by_kind() -> None:
    (fair,) = audit(yes_no(300), embed=embed, resamples=200)
    assert fair.best.share.value < 0.62
    told = [replace(one, right=int(one.kind == "first")) for one in yes_no(300)]
    (found,) = audit(told, embed=embed, resamples=100)
    right = shares(found)
    assert right["majority"] < 0.65
    assert {name for name, share in right.items() if share < 0.95} <= {"majority", "text", "words"}
    (learnt,) = audit(yes_no(300), told, embed=embed, resamples=100)
    assert learnt.learnt == 300
    assert 0.35 < shares(learnt)["kind"] < 0.65


def test_complement_pair_needs_both_correct() -> None:
    told = [replace(one, right=int(one.kind == "first")) for one in yes_no(60)]
    pairs = [(f"q{number:04}", f"q{number + 1:04}") for number in range(0, 60, 2)] + [("q0000", "elsewhere")]
    _, found = audit(told, resamples=100, complements={"text": pairs, "video": [("x", "y")]})
    assert (found.part, len(found.ids), found.chance) == ("yes/no, text complement pairs", 30, 0.25)
    assert shares(found)["kind"] == 1.0
    assert shares(found)["majority"] < 0.6
    assert found.choices["kind"].shape == (30, 2)


def test_yes_no_and_choice_are_audited_separately() -> None:
    mixed = [replace(one, part="p") for one in yes_no(40)]
    mixed += [replace(one, id=f"c{one.id}", part="p") for one in FAIR[:40]]
    assert [one.chance for one in audit(mixed, resamples=100)] == [0.5, 0.25]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([FAIR[0], FAIR[0]], "occurs twice"),
        ([replace(FAIR[0], options=FAIR[0].options * 100)], "400 options"),
        ([replace(FAIR[0], question="Why? " * 5000)], "25,[0-9]+ characters"),
        ([replace(FAIR[0], right=4)], "4 options, and option 4"),
        ([replace(FAIR[0], options=("one",), right=0)], "1 options"),
    ],
)
def test_unusable_questions_are_refused(asked: list[BlindQuestion], message: str) -> None:
    with pytest.raises(InputError, match=message):
        audit(asked)


def test_one_source_runs_untrained_baselines_only() -> None:
    (found,) = audit([replace(one, source="v") for one in FAIR[:30]], embed=embed, resamples=100)
    assert "longest" in shares(found)
    assert {"trees", "stacked", "full_network"} <= set(found.left_out)
    assert np.isnan(found.elsewhere.value)

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.blind import trained
from stressreel.evaluation.blind.audit import Audited, audit
from stressreel.evaluation.blind.blind_questions import BlindQuestion

pytest.importorskip("sklearn")

NOUNS = [f"{one}{two}" for one in ("ba", "do", "ki", "lu", "me", "po", "ra", "su") for two in ("nt", "rp", "lk", "sh")]
SOURCES = 3  # videos, and so folds that models learn from
VERBS = ["hid", "ran", "fell", "slept", "woke", "sang"]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer trees, of one seed: what they find here is easily found."""
    monkeypatch.setattr(trained, "SEEDS", 1)
    monkeypatch.setattr(trained, "TREES", 40)


def embed(texts: Sequence[str]) -> np.ndarray:
    found = np.zeros((len(texts), 24), np.float32)
    for row, text in enumerate(texts):
        for word in text.casefold().rstrip(".?").split():
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4])
            found[row] += np.random.default_rng(seed).normal(size=24).astype(np.float32)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def made(count: int, seed: int = 0) -> list[BlindQuestion]:
    """Questions whose options are drawn alike: nothing tells which is right."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        texts = [f"The {rng.choice(NOUNS)} {rng.choice(VERBS)} near the {rng.choice(NOUNS)}." for _ in range(4)]
        question, right = f"Why did the {rng.choice(NOUNS)} jump?", int(rng.integers(4))
        found.append(BlindQuestion(f"q{number:04}", question, tuple(texts), right, f"v{number % SOURCES}"))
    return found


def with_right(asked: Sequence[BlindQuestion], change: Callable[[BlindQuestion], str]) -> list[BlindQuestion]:
    return [
        replace(one, options=(*one.options[: one.right], change(one), *one.options[one.right + 1 :])) for one in asked
    ]


def audited(*arguments: Sequence[BlindQuestion], **options: object) -> tuple[Audited, dict[str, float]]:
    """The first part's audit and the accuracies in it."""
    found = audit(*arguments, resamples=100, **options)[0]
    return found, {figure.guesser: figure.share.value for figure in found.figures}


FAIR = made(120)


@pytest.mark.parametrize(
    ("option", "finders"),
    [
        ("It ran.", "shortest option_logit option_network ngrams trees stacked"),
        (
            "The {0} slept near the {0}.",
            "near_question shared_words rare_word question_network full_network random_judge stacked",
        ),
    ],
)
def test_baselines_find_a_planted_cue(option: str, finders: str) -> None:
    """Every right option is the same, or repeats the noun of its question."""
    found, right = audited(with_right(FAIR, lambda one: option.format(one.question.split()[3])), embed=embed)
    assert {name: right[name] for name in finders.split() if right[name] < 0.6} == {}
    assert found.best.share.value > 0.9
    assert found.elsewhere.value > 0.85
    assert found.worth[0].alone > 0.85, found.worth[0]


def turned(asked: Sequence[BlindQuestion]) -> list[BlindQuestion]:
    """The same questions in another order, and so their options."""
    return [replace(one, options=(*one.options[1:], one.options[0]), right=(one.right - 1) % 4) for one in asked[::-1]]


@pytest.mark.parametrize("train", [made(80, 7), pytest.param([], marks=pytest.mark.full)])
def test_chance_without_cues_in_any_order(train: list[BlindQuestion]) -> None:
    asked = FAIR[:80]
    plain, right = audited(asked, train, embed=embed)
    error = (0.25 * 0.75 / len(asked)) ** 0.5
    assert {name: share for name, share in right.items() if abs(share - 0.25) > 3.5 * error} == {}
    assert ("trees" in right, "like_a_right" in right) == (True, bool(train))
    other, _ = audited(turned(asked), turned(train), embed=embed)
    assert other.ids == plain.ids
    for name in set(plain.choices) - {"place"}:
        assert ((plain.choices[name] - 1) % 4).tolist() == other.choices[name].tolist(), name


def test_baselines_without_their_inputs_are_named() -> None:
    silent, lone = ([replace(one, **change) for one in FAIR[:30]] for change in ({"question": ""}, {"source": "v"}))
    found, right = audited(silent)
    assert {"near_question", "question_network", "central", "shared_words"} <= set(found.left_out)
    assert not set(found.left_out) & set(right)
    found, right = audited(lone, embed=embed)
    assert {"trees", "stacked", "full_network"} <= set(found.left_out)
    assert "longest" in right
    assert np.isnan(found.elsewhere.value)


def test_balanced_subset_has_its_own_accuracies() -> None:
    easy = with_right(FAIR[:60], lambda one: "Because of the rain, it was very late and dark indeed.")
    found, right = audited([replace(one, balanced=one not in easy) for one in (*easy, *FAIR[60:])])
    balanced = {figure.guesser: figure.balanced.value for figure in found.figures}
    assert found.num_balanced == 60
    assert balanced["longest"] < 0.4 < 0.55 < right["longest"]
    assert found.best_balanced.balanced.value < found.best.share.value


@pytest.mark.full
def test_pairs_of_answer_and_explanation() -> None:
    answers = [replace(one, part="answer") for one in FAIR[:80]]
    others = [replace(two, part="explanation", question=FAIR[n].question) for n, two in enumerate(made(80, 5))]
    rights = {one.id: one.options[one.right].replace("near", "beside") for one in answers}
    explanations = with_right(others, lambda two: rights[two.id])
    found = audit([*answers, *explanations], embed=embed, resamples=100)
    assert [each.part for each in found] == ["answer", "explanation", "both"]
    right = {figure.guesser: figure.share.value for figure in found[2].figures}
    assert found[2].chance == pytest.approx(1 / 16)
    assert min(right[name] for name in ("alike", "alike_words", "paired")) > 0.8
    assert right["longest"] < 0.3
    assert found[2].choices["alike"].shape == (80, 2)


def yes_no(count: int) -> list[BlindQuestion]:
    rng = np.random.default_rng(0)
    found = []
    for number in range(count):
        noun, kind = rng.choice(NOUNS), ("first", "last")[int(rng.integers(2))]
        text, right = f"Did the {noun} {rng.choice(VERBS)} {kind}?", int(rng.integers(2))
        found.append(BlindQuestion(f"q{number:04}", text, ("no", "yes"), right, f"v{number % SOURCES}", kind))
    return found


def test_yes_no_accuracy_at_chance_and_by_kind() -> None:
    fair, told = yes_no(300), [replace(one, right=int(one.kind == "first")) for one in yes_no(300)]
    assert audited(fair, embed=embed)[0].best.share.value < 0.62
    _, right = audited(told, embed=embed)
    assert right["majority"] < 0.65
    assert {name for name, share in right.items() if share < 0.95} <= {"majority", "text", "words"}
    assert 0.35 < audited(fair, told, embed=embed)[1]["kind"] < 0.65


def test_complement_pair_needs_both_correct() -> None:
    told = [replace(one, right=int(one.kind == "first")) for one in yes_no(60)]
    choice = [replace(one, id=f"c{one.id}", part="yes/no") for one in FAIR[:12]]  # of the same part
    pairs = [(f"q{number:04}", f"q{number + 1:04}") for number in range(0, 60, 2)] + [("q0000", "elsewhere")]
    single, found, other = audit([*told, *choice], resamples=100, complements={"text": pairs, "video": [("x", "y")]})
    right = {figure.guesser: figure.share.value for figure in found.figures}
    assert (found.part, len(found.ids), len(other.ids)) == ("yes/no, text complement pairs", 30, 12)
    assert [each.chance for each in (single, found, other)] == [0.5, 0.25, 0.25]
    assert (right["kind"], found.choices["kind"].shape) == (1.0, (30, 2))
    each = single.choices["majority"] == [one.right for one in told]
    assert right["majority"] == pytest.approx((each[::2] & each[1::2]).mean())
    assert 0 < right["majority"] < each.mean()


def test_unusable_questions_are_refused() -> None:
    for asked, message in (
        ([FAIR[0], FAIR[0]], "occurs twice"),
        ([replace(FAIR[0], options=FAIR[0].options * 100)], "400 options"),
        ([replace(FAIR[0], question="Why? " * 5000)], "25,[0-9]+ characters"),
        ([replace(FAIR[0], right=4)], "4 options, and option 4"),
    ):
        with pytest.raises(InputError, match=message):
            audit(asked)

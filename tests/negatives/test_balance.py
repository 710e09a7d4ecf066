from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.typing import NDArray
from stressreel.negatives.balance import Balanced, balance
from stressreel.negatives.features import WIDTH, PairFeatures, Target, padded
from stressreel.negatives.learners import Network
from stressreel.negatives.options import even_places

ROWS, OFFERED, NEED = 120, 16, 4


@dataclass(frozen=True, eq=False)
class Made:
    """Rows whose right text has a cue that a candidate has now and then."""

    ids: list[str]
    questions: NDArray[np.float32]
    target: Target
    splits: list[str]

    def balanced(self, seed: int = 0, order: list[int] | None = None) -> dict[str, list[int]]:
        """Return the numbers of the wrong texts by row."""
        order = order if order is not None else list(range(len(self.ids)))
        found = self.result(seed, order)
        return {
            self.ids[row]: self.target.texts[row][1 + found.chosen[place]].tolist() for place, row in enumerate(order)
        }

    def result(self, seed: int, order: list[int]) -> Balanced:
        target = replace(
            self.target, texts=self.target.texts[order], cues=self.target.cues[order], keys=self.target.keys[order]
        )
        ids = [self.ids[row] for row in order]
        splits = [self.splits[row] for row in order]
        return balance(ids, self.questions[order], {"answer": target}, need=NEED, groups=ids, splits=splits, seed=seed)


def made(offered: list[list[int]], rights: list[int], splits: list[str], cue: NDArray[np.float64]) -> Made:
    """Make rows of which each is offered texts by number; `cue` has the cues of texts, shape (texts, 1)."""
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((len(cue), 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    questions = rng.standard_normal((len(rights), 16))
    questions /= np.linalg.norm(questions, axis=1, keepdims=True)
    texts = padded([[right, *some] for right, some in zip(rights, offered, strict=True)])
    known = {split: np.zeros(len(cue), np.int64) for split in sorted(set(splits))}
    for right, split in zip(rights, splits, strict=True):
        known[split][right] += 1
    target = Target(vectors.astype(np.float32), texts, cue[texts].astype(np.float32), texts, known)
    return Made([f"q{row:03}" for row in range(len(rights))], questions.astype(np.float32), target, splits)


@pytest.fixture(scope="module")
def planted() -> Made:
    """Right texts have the cue; of the new texts offered every other has it."""
    rng = np.random.default_rng(1)
    cue = np.concatenate([np.ones(ROWS), rng.random(ROWS * OFFERED) < 1 / 2]).reshape(-1, 1)
    cue = np.hstack([cue, rng.standard_normal((len(cue), 6))])  # what says nothing
    offered = [[ROWS + row * OFFERED + place for place in range(OFFERED)] for row in range(ROWS)]
    return made(offered, list(range(ROWS)), ["train"] * ROWS, cue.astype(np.float64))


def judge(found: dict[str, list[int]], data: Made) -> float:
    """Return how often a judge is right that takes any of the options with the cue; chance is one in five."""
    cue = {int(text): table[0] for texts, cues in zip(data.target.texts, data.target.cues, strict=True)
           for text, table in zip(texts, cues, strict=True)}  # fmt: skip
    return float(np.mean([1 / (1 + sum(cue[text] > 0.5 for text in wrong)) for wrong in found.values()]))


def test_a_planted_cue_gives_little_away_and_the_subset_less(planted: Made) -> None:
    found = planted.result(0, list(range(ROWS)))
    rng = np.random.default_rng(2)
    drawn, chosen, kept = {}, {}, {}
    for place, (name, texts) in enumerate(zip(planted.ids, planted.target.texts, strict=True)):
        drawn[name] = rng.choice(texts[1:], NEED, replace=False).tolist()
        chosen[name] = texts[1 + found.chosen[place]].tolist()
        if not found.guessable[place]:
            kept[name] = chosen[name]
    assert judge(drawn, planted) > 0.36
    assert judge(chosen, planted) < 0.28
    assert 0 < found.guessable.sum() <= ROWS / 4
    assert judge(kept, planted) < judge(chosen, planted)


@pytest.mark.full
def test_rows_may_come_in_any_order_and_the_seed_decides(planted: Made) -> None:
    first = planted.balanced()
    assert planted.balanced(order=np.random.default_rng(3).permutation(ROWS).tolist()) == first
    other = planted.balanced(seed=1)
    assert sum(other[name] != first[name] for name in first) > ROWS / 2


@pytest.fixture(scope="module")
def shared_texts() -> Made:
    """Two splits that are offered the same new texts, and texts that are right in several rows."""
    rng = np.random.default_rng(4)
    rights = [row if row >= 24 else row // 8 for row in range(60)]  # texts 0, 1 and 2 are right in eight rows each
    splits = ["train" if row % 3 else "test" for row in range(60)]
    new = list(range(60, 460))
    offered = [[t for t in (0, 1, 2) if t != rights[row]] + rng.choice(new, 40, replace=False).tolist()
               for row in range(60)]  # fmt: skip
    offered[7] = offered[7][2:4]  # too few
    return made(offered, rights, splits, np.zeros((460, 2)))


def test_texts_right_nowhere_are_wrong_in_one_split_and_sets_are_distinct(shared_texts: Made) -> None:
    result = shared_texts.result(0, list(range(60)))
    seen = set()
    for row, (name, split) in enumerate(zip(shared_texts.ids, shared_texts.splits, strict=True)):
        texts = shared_texts.target.texts[row]
        wrong = texts[1 + result.chosen[row]].tolist()
        assert len({*wrong, int(texts[0])}) == 1 + len(wrong)
        assert len(wrong) == (2 if row == 7 else NEED)  # a row with few candidates keeps them
        seen |= {(text, split) for text in wrong if text >= 60 and name != "q007"}
    assert len({text for text, _ in seen}) == len(seen)
    assert {split for _, split in seen} == {"train", "test"}
    assert result.guessable[7]


def test_texts_that_say_the_same_are_never_options_together() -> None:
    """Candidates differ as texts, and share keys by twos."""
    data = made([[30 + row * 10 + n for n in range(10)] for row in range(30)], list(range(30)), ["train"] * 30,
                np.zeros((330, 1)))  # fmt: skip
    keys = data.target.texts.copy()
    keys[:, 1:] = 30 + (keys[:, 1:] - 30) // 2
    data = replace(data, target=replace(data.target, keys=keys))
    for place, chosen in enumerate(data.result(0, list(range(30))).chosen):
        assert len(set(keys[place][1 + chosen].tolist())) == NEED


@pytest.mark.parametrize("rows", [5, 61, 742])
def test_places_are_exactly_even(rows: int) -> None:
    ids = [f"q{n}" for n in range(rows)]
    places = even_places(ids, 5, 0, "ud/answer")
    counts = Counter(places.values())
    assert max(counts.values()) - min(counts[place] for place in range(5)) == (rows % 5 > 0)
    assert even_places(ids[::-1], 5, 0, "ud/answer") == places
    assert rows == 5 or even_places(ids, 5, 1, "ud/answer") != places
    assert rows == 5 or even_places(ids, 5, 0, "ud/explanation") != places


def test_a_network_scores_options_in_parts_as_it_scores_whole_features() -> None:
    rng = np.random.default_rng(0)
    texts = np.array([[0, 2, 3, 4], [1, 2, 3, 0], [0, 2, 1, 4]])
    vectors, questions = (rng.standard_normal((count, 9)).astype(np.float32) for count in (5, 3))
    target = Target(vectors, texts, rng.standard_normal((*texts.shape, 6)).astype(np.float32), texts, {})
    features = PairFeatures(questions, target, rng.standard_normal((9, WIDTH)))
    rows, places = np.array([2, 0]), np.array([[0, 1, 3], [3, 2, 1]])
    table = features.of(rows, places)
    mean, scale = table.mean((0, 1)), table.std((0, 1)) + np.float32(0.1)
    inner, shift, outer = (rng.standard_normal(shape).astype(np.float32) for shape in ((table.shape[2], 8), 8, 8))
    network = Network(inner, shift, outer)
    found = features.odds(network.on_unscaled(mean, scale), rows, places)
    np.testing.assert_allclose(found, network((table - mean) / scale), rtol=1e-3, atol=1e-3)

from collections import Counter, defaultdict
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from stressreel.negatives.balance import LENT, Balanced, balance
from stressreel.negatives.option_cues import Options

ROWS, OFFERED, NEED = 100, 16, 4


@dataclass(frozen=True, eq=False)
class Made:
    """Rows whose correct text has a cue that a candidate has now and then."""

    ids: list[str]
    options: Options
    splits: list[tuple[str, ...]]

    def result(self, well_formed=lambda option: True) -> Balanced:
        return balance(
            self.ids,
            np.random.default_rng(6).standard_normal((len(self.ids), 16)).astype(np.float32) / 4,
            {"answer": self.options},
            need=NEED,
            groups=self.ids,
            splits=self.splits,
            in_train=np.array(self.splits).T == "train",
            well_formed=well_formed,
            seed=0,
        )

    def texts(self, found: Balanced) -> dict[str, list[int]]:
        """Return the numbers of the wrong texts by row."""
        return {name: self.options.text[some].tolist() for name, some in zip(self.ids, found.chosen, strict=True)}


def made(offered: list[list[int]], rights: list[int], splits: list[tuple[str, ...]], cue: NDArray[np.float64]) -> Made:
    """Make rows, each of which is offered texts by number. `cue` has the cues of texts, shape (texts, cues)."""
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((len(cue), 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    text = np.array([number for right, some in zip(rights, offered, strict=True) for number in (right, *some)])
    row = np.repeat(np.arange(len(rights)), [1 + len(some) for some in offered])
    cues = cue[text].astype(np.float32)
    learned = np.zeros((len(splits[0]), len(text), 2), np.float32)
    source = np.where(text < len(rights), text, (row + text) % len(rights))
    options = Options(row, source, text, text, text, vectors.astype(np.float32), cues, learned)
    return Made([f"q{number:03}" for number in range(len(rights))], options, splits)


def split_of(row: int, third: int = 0) -> str:
    return ("train", "validation", "test")[(row + third) % 3]


def judge(found: dict[str, list[int]], data: Made) -> float:
    """Return how often a judge is right that takes any of the options with the cue; chance is one in five."""
    cue = dict(zip(data.options.text.tolist(), data.options.cues[:, 0].tolist(), strict=True))
    return float(np.mean([1 / (1 + sum(cue[text] > 0.5 for text in wrong)) for wrong in found.values()]))


def test_planted_cue_is_balanced() -> None:
    """Correct texts have the cue; of the new texts offered every other has it. There are two divisions."""
    rng = np.random.default_rng(1)
    cue = np.concatenate([np.ones(ROWS), rng.random(ROWS * OFFERED) < 1 / 2]).reshape(-1, 1)
    cue = np.hstack([cue, rng.standard_normal((len(cue), 6))])  # what says nothing
    offered = [[ROWS + row * OFFERED + place for place in range(OFFERED)] for row in range(ROWS)]
    planted = made(offered, list(range(ROWS)), [(split_of(row), split_of(row, 1)) for row in range(ROWS)], cue)
    found = planted.result()
    chosen = planted.texts(found)
    first = {name: some[:NEED] for name, some in zip(planted.ids, offered, strict=True)}
    assert judge(first, planted) > 0.36
    assert judge(chosen, planted) < 0.27
    assert found.guessable.shape == (2, ROWS)
    for flags in found.guessable:
        assert flags.sum() <= ROWS / 4
        kept = {name: chosen[name] for name, out in zip(planted.ids, flags, strict=True) if not out}
        assert judge(kept, planted) <= judge(chosen, planted)


def test_new_texts_stay_in_one_split() -> None:
    """Two splits are offered the same new texts, and texts that are correct in several rows."""
    rng = np.random.default_rng(4)
    rights = [row if row >= 24 else row // 8 for row in range(60)]  # texts 0, 1 and 2 are correct in eight rows each
    splits = [("train" if row % 3 else "test",) for row in range(60)]
    new = list(range(60, 460))
    offered = [[t for t in (0, 1, 2) if t != rights[row]] + rng.choice(new, 40, replace=False).tolist()
               for row in range(60)]  # fmt: skip
    offered[7] = offered[7][2:4]  # too few
    data = made(offered, rights, splits, np.zeros((460, 2)))
    result = data.result()
    splits_of = defaultdict(set)
    for row, wrong in enumerate(data.texts(result).values()):
        assert len({*wrong, rights[row]}) == 1 + len(wrong)
        assert len(wrong) == (2 if row == 7 else NEED)  # a row with few candidates keeps them
        for text in wrong if row != 7 else []:
            splits_of[text].add(splits[row])
    assert all(len(some) == 1 for text, some in splits_of.items() if text >= 60)
    assert result.guessable[0, 7]


def test_source_lends_about_its_share() -> None:
    """All rows are offered the texts of the first four, and each some others."""
    rng, rows = np.random.default_rng(2), 60
    others = [rng.choice(range(4, rows), 8, replace=False).tolist() for _ in range(rows)]
    offered = [[text for text in (0, 1, 2, 3, *some) if text != row] for row, some in enumerate(others)]
    data = made(offered, list(range(rows)), [(split_of(row),) for row in range(rows)], np.zeros((rows, 1)))
    uses = Counter(text for some in data.texts(data.result()).values() for text in some)
    assert max(uses.values()) <= LENT * NEED + 1


def test_equal_and_badly_formed_texts_are_never_chosen() -> None:
    """Candidates differ as texts, and share keys by twos."""
    offered = [[30 + row * 10 + n for n in range(10)] for row in range(30)]
    data = made(offered, list(range(30)), [(split_of(row),) for row in range(30)], np.zeros((330, 1)))
    keys = np.where(data.options.text < 30, data.options.text, 30 + (data.options.text - 30) // 2)
    data = replace(data, options=replace(data.options, key=keys))
    assert all(len({*keys[chosen].tolist()}) == NEED for chosen in data.result().chosen)
    for chosen in data.result(well_formed=lambda option: option % 2 == 0).chosen:
        assert {option % 2 for option in chosen.tolist()} == {0}
        assert len({*keys[chosen].tolist()}) == NEED

"""Candidates of the sample's questions, with embeddings made up by hashing words."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.annotations.samples.causal import write_causal_annotations
from stressreel.core.seeds import rng_for
from stressreel.language.people import derive_cast
from stressreel.language.words import text_key
from stressreel.negatives.candidates import FEW, AdaptableTexts, Candidates
from stressreel.negatives.confusion import Confuser
from stressreel.negatives.options import QuestionRow

APART = 3  # neighbours that must not lend to each other


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    vectors = np.stack([sum(rng_for(0, word).normal(size=16) for word in ("", *text.split())) for text in texts])
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[QuestionRow]:
    read = read_causalchaos(write_causal_annotations(Path(tmp_path_factory.mktemp("sample"))))
    return [
        QuestionRow(row.qid, row.question, {"answer": row.answer, "explanation": row.explanation})
        for row in read.rows[:90]
    ]


@pytest.fixture(scope="module")
def adaptable(rows: list[QuestionRow]) -> AdaptableTexts:
    cast = derive_cast(text for row in rows for text in (row.question, *row.texts.values()))
    return AdaptableTexts(rows, Confuser(cast), one_style=True)


def made(rows: list[QuestionRow], adaptable: AdaptableTexts, train: str | None = None) -> Candidates:
    apart = {
        row.id: [rows[other].id for other in range(place - APART, place + APART + 1) if 0 <= other < len(rows)]
        for place, row in enumerate(rows)
    }
    return Candidates(rows, adaptable, embed, seed=0, same_question=0.95, kept_apart=apart, train=train)


def offered(candidates: Candidates) -> list[list[tuple[int, ...]]]:
    """Return source and texts of each row's candidates."""
    tables = [candidates.tables[target] for target in candidates.targets]
    return [
        [
            (source, *(table[number] for table, number in zip(tables, numbers, strict=True)))
            for source, *numbers in some.tolist()
        ]
        for some in candidates.of_rows()
    ]


def is_unchanged(adaptable: AdaptableTexts, source: int, texts: Sequence[str]) -> bool:
    lent = map(text_key, adaptable.texts[source].values())
    return any(key == own for key, own in zip(map(text_key, texts), lent, strict=True))


def test_texts_are_unchanged_only_within_a_pool(rows: list[QuestionRow], adaptable: AdaptableTexts) -> None:
    pools = [str(place % 2) for place in range(len(rows))]
    pooled = [replace(row, pool=pool) for row, pool in zip(rows, pools, strict=True)]
    found = offered(made(pooled, adaptable))
    kinds = set()
    for place, some in enumerate(found):
        right = [text_key(text) for text in adaptable.texts[place].values()]
        assert len(some) > FEW
        assert len({tuple(map(text_key, texts)) for _, *texts in some}) == len(some)
        for source, *texts in some:
            assert abs(source - place) > APART
            assert all(key != own for key, own in zip(map(text_key, texts), right, strict=True))
            unchanged = is_unchanged(adaptable, source, texts)
            kinds.add((unchanged, pools[source] == pools[place]))
            assert not unchanged or pools[source] == pools[place]
    assert kinds == {(True, True), (False, True), (False, False)}


def test_questions_outside_train_borrow_mostly_from_each_other(
    rows: list[QuestionRow], adaptable: AdaptableTexts
) -> None:
    """In two divisions. Questions that are always in train borrow unchanged texts only from each other."""
    splits = [("train" if place % 3 else "test", "train" if place % 2 else "test") for place in range(len(rows))]
    divided = [replace(row, pool="/".join(some), splits=some) for row, some in zip(rows, splits, strict=True)]
    outside = {True: 0, False: 0}
    for place, some in enumerate(offered(made(divided, adaptable, "train"))):
        for source, *texts in some:
            if splits[place] == ("train", "train"):
                assert splits[source] == splits[place] or not is_unchanged(adaptable, source, texts)
            elif splits[place] == ("test", "train"):
                outside[splits[source][0] == "test"] += 1
    share = outside[True] / sum(outside.values())
    assert 1 / 3 < share < 1  # a third of the questions are outside train

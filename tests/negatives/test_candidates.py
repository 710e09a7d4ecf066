"""Candidates of the sample's questions, with made-up embeddings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.annotations.samples.causal import write_causal_annotations
from stressreel.language.people import derive_cast
from stressreel.language.words import text_key
from stressreel.negatives.candidates import FEW, AdaptableTexts, Candidates
from stressreel.negatives.confusion import Confuser
from stressreel.negatives.options import QuestionRow

from .test_confused_options import embed

Sample = tuple[list[QuestionRow], AdaptableTexts]
APART = 3  # neighbours that must not lend to each other


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    read = read_causalchaos(write_causal_annotations(Path(tmp_path_factory.mktemp("sample")))).rows[:90]
    rows = [QuestionRow(row.qid, row.question, {"answer": row.answer, "explanation": row.explanation}) for row in read]
    cast = derive_cast(text for row in rows for text in (row.question, *row.texts.values()))
    return rows, AdaptableTexts(rows, Confuser(cast), one_style=True)


def shares_a_text(texts: Sequence[str], others: Mapping[str, str]) -> bool:
    return any(one == text_key(other) for one, other in zip(texts, others.values(), strict=True))


def offered(rows: Sequence[QuestionRow], adaptable: AdaptableTexts, train: str | None = None) -> list[list[tuple]]:
    """Return source and texts of each row's candidates, and whether one of the texts is unchanged."""
    ids = [row.id for row in rows]
    apart = {name: ids[max(0, place - APART) : place + APART + 1] for place, name in enumerate(ids)}
    made = Candidates(rows, adaptable, embed, seed=0, same_question=0.95, kept_apart=apart, train=train)
    tables = [made.tables[target] for target in made.targets]

    def candidate(source: int, *numbers: int) -> tuple[int, list[str], bool]:
        texts = [text_key(table[number]) for table, number in zip(tables, numbers, strict=True)]
        return source, texts, shares_a_text(texts, adaptable.texts[source])

    return [[candidate(*numbers) for numbers in some.tolist()] for some in made.of_rows()]


def test_texts_are_unchanged_only_within_a_pool(sample: Sample) -> None:
    rows, adaptable = [replace(row, pool=str(place % 2)) for place, row in enumerate(sample[0])], sample[1]
    kinds = set()
    for place, some in enumerate(offered(rows, adaptable)):
        assert len(some) > FEW
        assert len({tuple(texts) for _, texts, _ in some}) == len(some)
        for source, texts, unchanged in some:
            assert abs(source - place) > APART
            assert not shares_a_text(texts, adaptable.texts[place])
            kinds.add((unchanged, rows[source].pool == rows[place].pool))
    assert kinds == {(True, True), (False, True), (False, False)}


def test_questions_outside_train_borrow_mostly_from_each_other(sample: Sample) -> None:
    """In two divisions. Questions that are always in train borrow unchanged texts only from each other."""
    rows = []
    for place, row in enumerate(sample[0]):
        splits = ("train" if place % 3 else "test", "train" if place % 2 else "test")
        rows.append(replace(row, pool="/".join(splits), splits=splits))
    outside = Counter[bool]()
    for row, some in zip(rows, offered(rows, sample[1], "train"), strict=True):
        for source, _, unchanged in some:
            if row.pool == "train/train":
                assert rows[source].pool == row.pool or not unchanged
            elif row.pool == "test/train":
                outside[rows[source].splits[0] == "test"] += 1
    assert 1 / 3 < outside[True] / outside.total() < 1  # a third of the questions are outside train

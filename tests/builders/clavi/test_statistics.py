from __future__ import annotations

import pytest
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.statistics import audit_blind, count_kinds, count_slots, count_types, restore_phrases
from stressreel.builders.clavi.tables import ANSWERS
from stressreel.data_cards.statistics import Spread
from stressreel.templates import load_questions

FLIPPING = {"BE", "BA"}


def pair(number: int, a: str, b: str, c: str) -> dict:
    row = {"pair_id": f"{number:08x}", "source_id": f"S{number}"}
    for letter, phrase in zip("abc", (a, b, c), strict=True):
        verb, _, thing = phrase.partition(" ")
        row |= {f"phrase_{letter}": phrase, f"verb_{letter}": verb, f"objects_{letter}": [thing]}
    return row


def questions(pairs) -> list[dict]:
    rows = [row for one in pairs for variant in range(2) for row in question_rows(one, variant)]
    for row in rows:
        row["answer"] = ANSWERS.index(row["answer"])
    restore_phrases(rows, pairs)
    return rows


def audit(learnt, asked=None):
    tables = {"train": questions(learnt)} | ({"test": questions(asked)} if asked else {})
    return audit_blind(tables)


def scores(found) -> dict:
    return {score.name: score for score in found.scores}


PAIRS = [pair(1, "taking food", "opening door", "washing mirror"), pair(2, "taking food", "closing box", "opening bag")]


def test_spread_is_of_the_population():
    assert Spread.of([2.0, 4.0, 4.0, 6.0]) == Spread(4, 4.0, pytest.approx(2**0.5), 2.0, 6.0)
    assert Spread.of([3.0]) == Spread(1, 3.0, 0.0, 3.0, 3.0)


def test_kinds_count_pairs_by_part_commonest_first():
    kinds = count_kinds(PAIRS)
    assert next(iter(kinds["actions"].counts.items())) == ("taking food", (2, 0, 0))
    assert kinds["verbs"].counts == {
        "opening": (0, 1, 1),
        "taking": (2, 0, 0),
        "closing": (0, 1, 0),
        "washing": (0, 0, 1),
    }
    assert (kinds["actions"].swapped, kinds["actions"].asked) == (3, 5)
    assert (kinds["objects"].swapped, kinds["objects"].asked) == (3, 5)


def test_types_count_answers_and_splits():
    types = count_types({"train": questions(PAIRS[:1]), "test": questions(PAIRS[1:])}, 4)
    found = {kind.type: (kind.per_video, kind.yes, kind.no, kind.splits) for kind in types}
    assert found == {
        "E": (2, 8, 0, {"train": 4, "test": 4}),
        "E-NC": (1, 0, 4, {"train": 2, "test": 2}),
        "BE": (4, 8, 8, {"train": 8, "test": 8}),
        "BA": (4, 8, 8, {"train": 8, "test": 8}),
        "BA-NC": (8, 0, 32, {"train": 16, "test": 16}),
    }
    assert {kind.type for kind in types if kind.subset == "complement"} == FLIPPING


def test_slots_give_the_templates_back():
    slots = count_slots(questions(PAIRS))
    templates = load_questions()
    assert [slot.wording for slot in slots] == [
        template.text.format(x=f"{{{template.x}}}", y=f"{{{template.y}}}") for template in templates
    ]
    assert [slot.yes for slot in slots] == [
        tuple(float(answer == "yes") for answer in template.answers) for template in templates
    ]
    numbers = {template.id: f"{number:02d}" for number, template in enumerate(templates)}
    assert [slot.complement for slot in slots] == [numbers.get(template.complement) for template in templates]
    assert {slot.per_video for slot in slots} == {1}


@pytest.mark.parametrize(
    ("a", "b"), [("holding box", "holding box lid"), ("holding box lid", "holding box"), ("box", "a box")]
)
def test_a_phrase_inside_another_is_told_apart(a, b):
    rows = questions([pair(1, a, b, "opening bag")])
    assert rows[7]["wording"] == "Did {A} happen before {B}?"
    assert rows[7]["phrases"] == (a, b)
    assert rows[9]["phrases"] == (b, a)


def test_guessers_that_learn_nothing():
    found = scores(audit(PAIRS))
    no = found["always_no"]
    assert (no.accuracy, no.balanced, no.cacc_v, no.cacc_t) == (13 / 19, 0.5, 0, 0)
    assert no.by_type == {"E": 0, "E-NC": 1, "BE": 0.5, "BA": 0.5, "BA-NC": 1}
    early = found["early_yes"]
    assert (early.cacc_v, early.cacc_t) == (0, 0.5)
    assert early.by_type["BA-NC"] == 0.5


def test_wording_and_type_guessers():
    found = scores(audit(PAIRS))
    assert found["wording"].accuracy == 14 / 19  # E yes (2 of 3), BE no (2 of 4), BA no (10 of 12)
    assert found["wording"].balanced == pytest.approx((4 / 6 + 10 / 13) / 2)  # E and BE yes, BA no
    assert found["type"].accuracy == 15 / 19
    assert found["type"].balanced == pytest.approx((1 + 9 / 13) / 2)  # yes but for the controls
    assert found["type"].cacc_v == found["wording"].cacc_v == 0


def test_exact_questions_are_learnt_from_train():
    common = [pair(1, "taking food", "opening door", "washing mirror")]
    found = audit(common, [pair(2, "opening door", "taking food", "washing mirror")])
    assert (found.learnt, found.asked, found.questions, found.seen) == ("train", "test", 38, 1)
    assert scores(found)["question"].by_type == {"E": 1, "E-NC": 1, "BE": 0.5, "BA": 0.5, "BA-NC": 1}
    misled = audit(common, [pair(2, "washing mirror", "taking food", "opening door")])
    assert scores(misled)["question"].by_type["E-NC"] == 0
    assert scores(misled)["question"].by_type["E"] == 0.5


def test_a_source_does_not_teach_about_itself():
    alone = audit(PAIRS[:1])
    assert (alone.learnt, alone.asked, alone.seen) == ("train", "train", 0)
    assert scores(alone)["question"].by_type == scores(alone)["always_no"].by_type
    twice = [PAIRS[0], pair(3, "taking food", "opening door", "washing mirror") | {"source_id": "S1"}]
    assert scores(audit(twice))["question"].by_type == scores(alone)["always_no"].by_type
    assert audit(twice).seen == 0
    other = [PAIRS[0], pair(3, "taking food", "opening door", "washing mirror")]
    assert scores(audit(other))["question"].by_type["E"] == 1
    assert audit(other).seen == 1


def test_cuts_and_usual_order_answer_what_flips():
    usual = [pair(number, "opening box", "closing box", "washing mirror") for number in range(1, 4)]
    same = scores(audit(usual, [pair(9, "opening box", "closing box", "washing mirror")]))["cuts"]
    assert (same.cacc_v, same.cacc_t) == (1, 1)
    turned = scores(audit(usual, [pair(9, "closing box", "opening box", "washing mirror")]))["cuts"]
    assert (turned.cacc_v, turned.cacc_t) == (0, 0)


def test_couples_that_do_not_flip_are_counted():
    rows = questions(PAIRS)
    found = audit_blind({"train": rows})
    assert (found.couples, found.equal) == (16, 0)
    flipping = next(row for row in rows if row["type"] == "BE")
    flipping["answer"] = 1 - flipping["answer"]
    assert audit_blind({"train": rows}).equal == 1

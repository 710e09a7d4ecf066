import pytest
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.settings import ClaviSettings
from stressreel.builders.clavi.statistics import audit_blind, count_slots, count_types, measure_cues, restore_phrases
from stressreel.builders.clavi.tables import ANSWERS
from stressreel.templates import load_questions


def pair(number: int, a: str, b: str, c: str) -> dict:
    row = {"pair_id": f"{number:08x}", "source_id": f"S{number}"}
    for letter, phrase in zip("abc", (a, b, c), strict=True):
        verb, _, thing = phrase.partition(" ")
        row |= {f"phrase_{letter}": phrase, f"class_{letter}": phrase, f"verb_{letter}": verb}
        row[f"objects_{letter}"] = [thing]
    times = {"start_a_s": 1.0, "end_a_s": 6.0, "start_b_s": 9.0, "end_b_s": 14.0}
    return row | times | {"out_a": 0.5, "in_a": 6.5, "in_b": 8.5, "out_b": 14.5}


def questions(pairs) -> list[dict]:
    rows = [row for one in pairs for variant in range(2) for row in question_rows(one, variant)]
    for row in rows:
        row["answer"] = ANSWERS.index(row["answer"])
    restore_phrases(rows, pairs)
    return rows


def audit(learnt, asked=None, **settings):
    pairs = {"train": learnt} | ({"test": asked} if asked else {})
    found = audit_blind({split: questions(rows) for split, rows in pairs.items()}, pairs, ClaviSettings(**settings))
    return found, {score.name: score for score in found.scores}


PAIRS = [pair(1, "taking food", "opening door", "washing mirror"), pair(2, "taking food", "closing box", "opening bag")]
USUAL, UNUSUAL = ("opening box", "closing box", "washing mirror"), ("closing box", "opening box", "washing mirror")


def test_types_count_answers_and_splits():
    types = count_types({"train": questions(PAIRS[:1]), "test": questions(PAIRS[1:])}, 4)
    assert {kind.type: kind[1:] for kind in types} == {
        "E": ("control", 2, {"train": 4, "test": 4}, 8, 0),
        "E-NC": ("control", 1, {"train": 2, "test": 2}, 0, 4),
        "BE": ("complement", 4, {"train": 8, "test": 8}, 8, 8),
        "BA": ("complement", 4, {"train": 8, "test": 8}, 8, 8),
        "BA-NC": ("control", 8, {"train": 16, "test": 16}, 0, 32),
    }


def test_slots_restore_the_templates():
    slots, templates = count_slots(questions(PAIRS)), load_questions()
    numbers = {template.id: f"{number:02d}" for number, template in enumerate(templates)}
    for slot, template in zip(slots, templates, strict=True):
        assert slot.wording == template.text.format(x=f"{{{template.x}}}", y=f"{{{template.y}}}")
        assert slot.yes == tuple(float(answer == "yes") for answer in template.answers)
        assert (slot.complement, slot.per_video) == (numbers.get(template.complement), 1)


@pytest.mark.parametrize(
    ("a", "b"), [("holding box", "holding box lid"), ("holding box lid", "holding box"), ("box", "a box")]
)
def test_a_phrase_inside_another_is_distinguished(a, b):
    rows = questions([pair(1, a, b, "opening bag")])
    assert [rows[place]["wording"] for place in (7, 9)] == ["Did {A} happen before {B}?", "Did {B} happen after {A}?"]


def test_baselines_that_need_no_phrases():
    _, found = audit(PAIRS)
    no = found["always_no"]
    assert (no.accuracy, no.balanced, no.cacc_v, no.cacc_t) == (13 / 19, 0.5, 0, 0)
    assert no.by_type == {"E": 0, "E-NC": 1, "BE": 0.5, "BA": 0.5, "BA-NC": 1}
    early = found["early_yes"]
    assert (early.cacc_v, early.cacc_t, early.by_type["BA-NC"]) == (0, 0.5, 0.5)
    assert found["wording"].accuracy == 14 / 19  # E yes (2 of 3), BE no (2 of 4), BA no (10 of 12)
    assert found["wording"].balanced == pytest.approx((4 / 6 + 10 / 13) / 2)  # E and BE yes, BA no
    assert found["type"].accuracy == 15 / 19
    assert found["type"].balanced == pytest.approx((1 + 9 / 13) / 2)  # yes except for the controls
    assert found["type"].cacc_v == found["wording"].cacc_v == 0


def test_exact_questions_are_learnt_from_train():
    common = [pair(1, "taking food", "opening door", "washing mirror")]
    found, scores = audit(common, [pair(2, "opening door", "taking food", "washing mirror")])
    assert (found.learnt, found.asked, found.questions, found.seen) == ("train", "test", 38, 1)
    assert scores["question"].by_type == {"E": 1, "E-NC": 1, "BE": 0.5, "BA": 0.5, "BA-NC": 1}
    _, misled = audit(common, [pair(2, "washing mirror", "taking food", "opening door")])
    assert (misled["question"].by_type["E-NC"], misled["question"].by_type["E"]) == (0, 0.5)


def test_a_source_does_not_teach_about_itself():
    again = pair(3, "taking food", "opening door", "washing mirror")
    for pairs in (PAIRS[:1], [PAIRS[0], again | {"source_id": "S1"}]):
        alone, scores = audit(pairs)
        assert (alone.learnt, alone.asked, alone.seen) == ("train", "train", 0)
        assert scores["question"].by_type == scores["always_no"].by_type
    other, scores = audit([PAIRS[0], again])
    assert (other.seen, scores["question"].by_type["E"]) == (1, 1)


@pytest.mark.parametrize(("asked", "score"), [(USUAL, 1), (UNUSUAL, 0)])
def test_cuts_and_usual_order_answer_what_flips(asked, score):
    blind, found = audit([pair(number, *USUAL) for number in range(1, 4)], [pair(9, *asked)])
    assert (found["cuts"].cacc_v, found["cuts"].cacc_t) == (score, score)
    assert blind.cuts["sequence"].value == score


def test_balanced_cuts_do_not_distinguish_the_videos():
    blind, found = audit([pair(number, *USUAL) for number in range(1, 4)], [pair(9, *USUAL)], cuts="balanced")
    assert (found["cuts"].cacc_v, found["cuts"].cacc_t, blind.cuts["sequence"].value) == (0, 0.5, 0)


def test_couples_that_do_not_flip_are_counted():
    rows = questions(PAIRS)
    found = audit_blind({"train": rows}, {"train": PAIRS})
    assert (found.couples, found.equal) == (16, 0)
    flipping = next(row for row in rows if row["type"] == "BE")
    flipping["answer"] = 1 - flipping["answer"]
    assert audit_blind({"train": rows}, {"train": PAIRS}).equal == 1


@pytest.mark.parametrize(
    ("counts", "splits"),
    [({"train": 9, "validation": 5}, ("train", "validation", 5)), ({"test": 4}, ("test", "test", 4))],
)
def test_phrase_baselines_find_a_fixed_order_and_controls_of_their_own(counts, splits):
    """One split is tested in halves."""
    pairs = {
        split: [pair(number, *(f"{verb} thing{number}" for verb in "pqz")) for number in range(count)]
        for split, count in counts.items()
    }
    cues = measure_cues(pairs)
    assert (cues.learnt, cues.asked, cues.pairs) == splits
    assert cues.order["verb"] == cues.control["verb"] == max(cues.order.values()) == 1

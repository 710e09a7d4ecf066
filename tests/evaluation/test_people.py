import json
from collections import Counter

import pytest
from stressreel.builders import benchmark_of
from stressreel.core.errors import InputError, UsageError
from stressreel.core.output import open_output
from stressreel.evaluation.people import Item, check_answers, plan, read_answers


@pytest.fixture(scope="module")
def planned(built):
    """Returns a plan of CLAVI, by default for 40 items with seed 1."""
    output = open_output(built)

    def make(**changed):
        return plan(output, benchmark_of(output), **{"items": 40, "seed": 1, **changed})

    return make


@pytest.fixture
def answered(planned, tmp_path):
    """Writes a file with an answer to every item, changed as given."""
    drawn = planned(items=4)

    def make(changed=None, **given):
        answer = {"choice": "yes", "mark": "", "reason": "", "seconds": 1.5}
        found = [{"key": item.key, **answer} for item in drawn.items]
        found[0] |= changed or {}
        content = {
            **{"format": "stressreel answers", "version": 1, "output": "clavi", "fingerprint": drawn.fingerprint},
            **{"seed": 1, "items": 4, "condition": "video+text", "annotator": "Anna", "answers": found},
        }
        path = tmp_path / "answers-Anna.json"
        path.write_text(json.dumps({**content, **given}))
        return path

    return make


def test_plan_depends_on_seed_and_count_alone(planned):
    first = planned()
    assert planned() == first
    chosen = Counter(item.question_id for item in first.items)
    for condition in ("video", "text"):
        other = planned(condition=condition)
        assert Counter(item.question_id for item in other.items) == chosen
        assert not {item.key for item in other.items} & {item.key for item in first.items}
    assert {item.question_id for item in planned(seed=2).items} != chosen.keys()
    assert len({item.key for item in first.items}) == len(first.items) == 42
    assert (first.count, chosen.total() - len(chosen)) == (40, 2)
    everything = planned(items=100_000)
    assert everything.count < 100_000
    assert sum(item.repeat for item in everything.items) == max(2, round(0.05 * everything.count))


def test_related_items_are_far_apart(planned):
    for seed in range(5):
        items = planned(items=30, seed=seed).items
        for question in {item.question for item in items}:
            places = [place for place, item in enumerate(items) if item.question == question]
            for low, high in zip(places, [*places[1:], places[0] + len(items)], strict=True):
                assert high - low >= 5 or len(places) == 1


def test_conditions_hide_what_they_name(planned):
    assert {bool(item.question) for item in planned(condition="video").items} == {False}
    assert {item.video_id for item in planned(condition="text").items} == {None}
    with pytest.raises(UsageError, match="video\\+text, video, text; got 'sound'"):
        planned(condition="sound")


def test_answers_are_read_and_fit(answered, planned):
    answers = read_answers(answered())
    check_answers(answers, planned(items=4))
    assert (answers.annotator, len(answers.answers), answers.answers[0].seconds) == ("Anna", 6, 1.5)
    marked = read_answers(answered({"choice": None, "mark": "wrong", "reason": "No door."})).answers[0]
    assert (marked.choice, marked.mark, marked.reason) == (None, "wrong", "No door.")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"fingerprint": "0" * 64}, "the fingerprint is"),
        ({"seed": 2}, "the seed is 2"),
        ({"items": 5}, "the items is 5"),
        ({"condition": "text"}, "the condition is 'text'"),
        ({"changed": {"key": "0" * 12}}, "no item '000000000000'"),
        ({"changed": {"choice": 1}}, "allowed: yes or no"),
    ],
)
def test_answers_to_other_pages_are_refused(answered, planned, given, words):
    with pytest.raises(InputError, match=words):
        check_answers(read_answers(answered(**given)), planned(items=4))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"format": "other"}, "the format is 'other'"),
        ({"version": 2}, "version 2"),
        ({"condition": "sound"}, "the condition is 'sound'"),
        ({"items": 0}, "the number of items is 0"),
        ({"seed": "1"}, "seed is '1', not an integer"),
        ({"annotator": ""}, "the annotator is ''"),
        ({"annotator": "a\nb"}, "the annotator is"),
        ({"answers": [{}]}, r"answers\[0\] has no key"),
        ({"changed": {"mark": "several"}}, "either a choice or a mark"),
        ({"changed": {"choice": None}}, "either a choice or a mark"),
        ({"changed": {"choice": True}}, "choice is True"),
        ({"changed": {"choice": None, "mark": "no idea"}}, "mark 'no idea'"),
        ({"changed": {"reason": "x" * 2001}}, "longer than 2,000"),
        ({"changed": {"seconds": -1}}, "took -1 seconds"),
    ],
)
def test_damaged_answers_are_refused(answered, given, words):
    with pytest.raises(InputError, match=words):
        read_answers(answered(**given))


def test_an_item_is_answered_once(answered):
    path = answered()
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "answers": content["answers"] * 2}))
    with pytest.raises(InputError, match="answered twice"):
        read_answers(path)


def test_choices_are_indices_of_options():
    binary, several = Item("a", "a", None, "", ()), Item("b", "b", None, "", ("x", "y", "z"))
    assert [binary.picks("no"), binary.picks("yes"), several.picks(2), several.picks(None)] == [0, 1, 2, None]
    for item, choice in ((several, 3), (several, -1), (several, "yes"), (binary, "maybe"), (binary, 0)):
        with pytest.raises(ValueError, match="allowed"):
            item.picks(choice)

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.builders.perturbed.benchmark import Perturbed
from stressreel.builders.perturbed.caption_choices import NUM_CAPTIONS, caption_choices, right_places
from stressreel.builders.perturbed.scores import Captions, read_setting
from stressreel.core.errors import InputError
from stressreel.core.output import open_output
from stressreel.evaluation.metrics.answers import plain
from stressreel.evaluation.metrics.robustness import Setting


def make_captions(texts):
    """One clip for each list of captions."""
    names = [f"clip{number}" for number in range(len(texts))]
    flat = [(number, place, text) for number, own in enumerate(texts) for place, text in enumerate(own)]
    ids = [f"{names[number]}#{place}" for number, place, _ in flat]
    return Captions(names, names, ids, [text for _, _, text in flat], np.array([number for number, _, _ in flat]))


def check_choices(captions, texts):
    """The choices, each of which has one answer in every setting."""
    choices = caption_choices(captions, texts)
    for name, choice in choices.items():
        own = [n for n, clip in enumerate(captions.clip_ids) if clip == name]
        assert choice.right == own[0]
        for key, numbers in choice.wrong.items():
            wrong = [plain(texts[key][number]) for number in numbers]
            shown = [plain(texts[key][choice.right]), *wrong]
            assert len(set(shown)) == len(shown) == NUM_CAPTIONS
            assert "" not in shown
            assert not {plain(texts[key][number]) for number in own} & set(wrong)
    return choices


def test_perturbation_exchanges_only_equal_captions():
    captions = make_captions([["a"], ["b"], ["c"], ["d"], ["e"], ["f"]])
    texts = {"": captions.texts, "bc": ["a", "x", "x", "d", "e", "f"], "de": ["a", "b", "c", "x", "x", "f"]}
    first = check_choices(captions, texts)["clip0"]
    assert first.others
    for name in first.others:  # only the caption that is alike is exchanged
        assert len(set(first.wrong[""]) & set(first.wrong[name])) == NUM_CAPTIONS - 2


@pytest.mark.parametrize("clips", [["a dog"] * 6, ["a", "b", "c", "d"]])
def test_too_few_different_captions(clips):
    captions = make_captions([[text] for text in clips])
    with pytest.raises(InputError, match=f"in 'clean', only {len(set(clips))} of {len(clips)} captions differ"):
        caption_choices(captions, {"": captions.texts})


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=2), min_size=1, max_size=9), st.data())
def test_offered_captions_have_one_answer(clips, data):
    captions = make_captions(clips)
    texts = {"": captions.texts}
    for name in ("one", "two"):
        become = data.draw(st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from(["x", "y", ""]), max_size=3))
        texts[name] = [become.get(text, text) for text in captions.texts]
    try:
        choices = check_choices(captions, texts)
    except InputError:
        choices = {}
    for name in set(captions.clips) - set(choices):  # left out only where it has to be
        own = [number for number, clip in enumerate(captions.clip_ids) if clip == name]
        firsts = [captions.clip_ids.index(other) for other in captions.clips if other != name]
        assert any(
            len({shown[n] for n in firsts} - {shown[n] for n in own} - {""}) < NUM_CAPTIONS - 1 or not shown[own[0]]
            for shown in texts.values()
        )


def test_each_caption_is_distractor_equally_often():
    captions = make_captions([[f"clip {number}"] for number in range(400)])
    choices = check_choices(captions, {"": captions.texts})
    used = np.bincount([number for each in choices.values() for number in each.offered("", 0)], minlength=400)
    assert used.mean() == NUM_CAPTIONS
    assert np.mean(used == NUM_CAPTIONS) > 0.9  # a third if sampled independently
    assert used.min() >= NUM_CAPTIONS - 1
    assert used.max() <= NUM_CAPTIONS + 1


@given(st.integers(0, 300), st.integers(0, 300), st.sampled_from(["", "jpeg", "jumble"]), st.integers(0, 5))
def test_correct_positions_are_balanced(count, first, visual, severity):
    setting = Setting(visual, severity if visual else 0)
    places = right_places(setting, count, first)
    assert_even(places)
    assert right_places(setting, count, first) == places
    assert_even([*right_places(Setting(text="typos"), first), *places])  # within a task, too


def assert_even(places):
    counts = np.bincount(places, minlength=NUM_CAPTIONS)
    assert len(counts) == NUM_CAPTIONS
    assert counts.max() - counts.min() <= 1


def test_settings_differ_in_order_and_name():
    settings = [
        Setting(),
        Setting("jpeg", 1),
        Setting("jpeg", 2),
        Setting(text="typos"),
        Setting("box_jumble", 1, "ocr"),
    ]
    assert len({tuple(right_places(setting, 20)) for setting in settings}) == len(settings)
    assert [read_setting(setting.name) for setting in settings] == settings


@pytest.mark.parametrize("limit", [7, 8])
def test_positions_of_exported_tasks(build_once, limit):
    more = ("--perturbations", "jpeg,jumble", "--text-perturbations", "shuffle_order", "--modality", "all")
    out = build_once("build-perturbed", "--msrvtt", "sample", "--limit", limit, "--no-render", *more)
    checked = 0
    for task in Perturbed().tasks(open_output(out), None):
        by_setting = defaultdict(list)
        for doc in task.docs:
            assert doc["option_ids"][doc["answer_index"]].startswith(f"{doc['clip_id']}#")
            by_setting[doc["setting"]].append(doc["answer_index"])
        for places in (*by_setting.values(), [doc["answer_index"] for doc in task.docs]):
            assert_even(places)
            checked += 1
    assert checked > 10

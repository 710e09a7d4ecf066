"""Captions to choose from: no two are alike in any setting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.builders.perturbed.choices import NUM_CAPTIONS, CaptionChoice, caption_choices
from stressreel.builders.perturbed.scores import Captions
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.answers import plain


def captions_of(texts: list[list[str]]) -> Captions:
    """One clip for each list of captions."""
    names = [f"clip{number}" for number in range(len(texts))]
    flat = [(number, place, text) for number, own in enumerate(texts) for place, text in enumerate(own)]
    return Captions(
        names,
        names,
        [f"{names[number]}#{place}" for number, place, _ in flat],
        [text for _, _, text in flat],
        np.array([number for number, _, _ in flat]),
    )


def no_nouns(text: str) -> str:
    return " ".join("[UNK]" if word in ("dog", "cat", "bird", "man", "cow", "road") else word for word in text.split())


CLIPS = [
    ["a dog runs"],
    ["a cat runs", "a cat is running"],
    ["a bird sings"],
    ["a man cooks"],
    ["A dog, runs."],
    ["a cow jumps over a road"],
    ["a man sleeps"],
    ["two boats sail"],
]


def check(captions: Captions, texts: dict[str, list[str]], choices: dict[str, CaptionChoice]) -> None:
    own = {name: [n for n, clip in enumerate(captions.of) if clip == name] for name in captions.clips}
    for name, choice in choices.items():
        for key, numbers in choice.captions.items():
            shown = [plain(texts[key][number]) for number in numbers]
            assert numbers[choice.place] == own[name][0]
            assert len(set(shown)) == len(shown) == NUM_CAPTIONS
            assert "" not in shown
            wrong = [text for place, text in enumerate(shown) if place != choice.place]
            assert not {plain(texts[key][number]) for number in own[name]} & set(wrong)


def test_captions_that_a_perturbation_makes_alike_are_not_offered_together() -> None:
    captions = captions_of(CLIPS)
    texts = {"": captions.texts, "no_nouns": [no_nouns(text) for text in captions.texts]}
    choices = caption_choices(captions, texts)
    check(captions, texts, choices)
    assert set(choices) == set(captions.clips)
    assert not any(choice.others for choice in choices.values()), "four clips differ in both, so both have the same"


def test_a_perturbation_has_other_captions_where_none_fit_everywhere() -> None:
    captions = captions_of([["a"], ["b"], ["c"], ["d"], ["e"], ["f"]])
    texts = {"": captions.texts, "bc": ["a", "x", "x", "d", "e", "f"], "de": ["a", "b", "c", "x", "x", "f"]}
    choices = caption_choices(captions, texts)
    check(captions, texts, choices)
    first = choices["clip0"]
    assert first.others
    for name in first.others:
        kept = set(first.captions[""]) & set(first.captions[name])
        assert len(kept) == NUM_CAPTIONS - 1, "only the caption that is alike is exchanged"


def test_a_clip_without_four_others_is_left_out() -> None:
    captions = captions_of([["a", "b"], ["b"], ["c"], ["d"], ["e"]])
    choices = caption_choices(captions, {"": captions.texts})
    assert set(choices) == {"clip1", "clip2", "clip3", "clip4"}, "clip1 says what clip0 also says"


def test_a_caption_that_says_nothing_is_not_offered() -> None:
    captions = captions_of([["a"], ["b"], ["c"], ["d"], ["e"], ["f"]])
    texts = {"": captions.texts, "none": ["a", "b", "", "d", "e", "f"]}
    choices = caption_choices(captions, texts)
    check(captions, texts, choices)
    assert set(choices) == {"clip0", "clip1", "clip3", "clip4", "clip5"}


@pytest.mark.parametrize("clips", [["a dog"] * 6, ["a", "b", "c", "d"]])
def test_too_few_captions_are_said(clips: list[str]) -> None:
    captions = captions_of([[text] for text in clips])
    with pytest.raises(InputError, match=f"'clean' shows {len(set(clips))} different ones of {len(clips)}"):
        caption_choices(captions, {"": captions.texts})


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=2), min_size=1, max_size=9), st.data())
def test_whatever_is_offered_has_one_answer(clips: list[list[str]], data: st.DataObject) -> None:
    captions = captions_of(clips)
    texts = {"": captions.texts}
    for name in ("one", "two"):
        become = data.draw(st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from(["x", "y", ""]), max_size=3))
        texts[name] = [become.get(text, text) for text in captions.texts]
    try:
        choices = caption_choices(captions, texts)
    except InputError:
        choices = {}
    check(captions, texts, choices)
    for name in set(captions.clips) - set(choices):  # left out only where it has to be
        own = [number for number, clip in enumerate(captions.of) if clip == name]
        firsts = [captions.of.index(other) for other in captions.clips if other != name]
        few = [
            len({plain(shown[n]) for n in firsts} - {plain(shown[n]) for n in own} - {""}) < NUM_CAPTIONS - 1
            or not shown[own[0]]
            for shown in texts.values()
        ]
        assert any(few)

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.actions import Action, VideoDraft, split_by_video

NAMES = st.lists(st.text("abcdef0123", min_size=1, max_size=6), unique=True, max_size=60)


@pytest.mark.parametrize(
    ("asked", "phrase", "verb", "subject"),
    [
        ("Did Tom dip his fingers in the ink", "Tom dipped his fingers in the ink", "dip", "Tom"),
        ("Did the old dog start to run", "the old dog started to run", "run", "the old dog"),
        ("Did Tom suddenly put it down", "Tom suddenly put it down", "put", "Tom"),
        ("Were Tom and Jerry eating", "Tom and Jerry were eating", "eat", "Tom and Jerry"),
        ("", "opening a door", "open", ""),
    ],
)
def test_question_and_statement_share_their_subject(asked, phrase, verb, subject):
    assert Action("k", "l", phrase, verb, frozenset(), question=asked).subject == subject


@given(NAMES, st.randoms(use_true_random=False), st.tuples(*[st.floats(0.001, 1)] * 3))
def test_splits_have_exact_shares_and_no_order(names, random, weights):
    splits = split_by_video(names, 3)
    shuffled = list(names)
    random.shuffle(shuffled)
    assert split_by_video(shuffled, 3) == splits
    counts = Counter(splits.values())
    assert (counts["train"], counts["validation"]) == (round(0.7 * len(names)), round(0.15 * len(names)))
    assert len(splits) == len(names)
    if len(names) > 2:  # no split is empty on request
        shares = [weight / sum(weights) for weight in weights]
        counts = Counter(split_by_video(names, 0, shares, none_empty=True).values())
        exact = [round(share * len(names)) for share in shares[:2]]
        assert set(counts) == {"train", "validation", "test"}
        assert 0 in (*exact, len(names) - sum(exact)) or [counts["train"], counts["validation"]] == exact


def action(phrase, verb, *objects):
    return Action(phrase, phrase, phrase, verb, frozenset(objects), words=frozenset({verb, *objects}))


def test_phrases_left_out_keep_their_words():
    counts, draft = Counter[str](), VideoDraft("a", "train", length_s=10)
    draft.add(action("opening the door", "open", "door"), "open the door", (1, 4), counts)
    draft.add(action("opening the old door", "open", "door"), "open the old door", (1, 4), counts)
    draft.add(action("waving", "wave"), "wave", (8, 10.4), counts)
    draft.add(action("jumping", "jump"), "jump", (8, 10.6), counts)
    draft.add(action("bowing", "bow"), "bow", (10, 12), counts)
    draft.add("state", "let the soup cool", (5, 6), counts, "imperative")
    video = draft.finished("train")
    assert [(s.action.phrase, s.start_s, s.end_s) for s in video.segments] == [
        ("opening the door", 1, 4),
        ("waving", 8, 10),
        ("jumping", 8, 10.6),  # the build skips it
    ]
    assert video.verbs >= {"open", "wave", "bow", "let"}
    assert video.objects >= {"door", "soup"}
    assert [(m.start_s, m.end_s) for m in video.mentions] == [(1, 4), (10, 12), (5, 6)]
    assert video.mentions[0].words == {"open", "door"}
    assert {"let", "soup", "cool"} <= video.mentions[2].words
    assert "the" not in video.mentions[2].words
    assert {name: count for name, count in counts.items() if count} == {
        "phrases": 6,
        "phrases_that_repeat_another": 1,
        "phrases_left_out_past_the_end": 1,
        "phrases_left_out_state": 1,
        "ends_clamped_to_length": 1,
    }

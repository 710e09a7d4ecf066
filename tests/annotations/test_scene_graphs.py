from collections import Counter

import pytest
from stressreel.annotations.actions import AnnotatedVideo, Segment
from stressreel.annotations.charades import class_actions
from stressreel.annotations.scene_graphs import charades_graph, frames_of
from stressreel.templates import load_classes
from stressreel.templates.agqa import ANYTHING, load_agqa

ACTIONS = class_actions(load_classes())


def graph(*segments, length=10.0, objects=""):
    return counted(*segments, length=length, objects=objects)[0]


def counted(*segments, length=10.0, objects=""):
    parts, counts = tuple(Segment(ACTIONS[key], start, end) for key, start, end in segments), Counter[str]()
    video = AnnotatedVideo("V", "train", "S", length, parts, frozenset(), frozenset(), {"objects": objects})
    return charades_graph(video, counts), counts


def test_frames_every_half_second_cover_the_video():
    found = graph(("c015", 1.0, 2.0), length=2.2)
    assert (found.provenance, found.times) == ("charades", (0.0, 0.5, 1.0, 1.5, 2.0))
    assert found.actions[0].frames == 0b11100
    assert found.relations == {"holding": {"phone": 0b11100}}
    assert found.contacts == {"phone": 0b11100}
    brief = [frames_of((0.0, 0.5, 1.0), start, end) for start, end in ((0.6, 0.65), (7.0, 8.0))]
    assert brief == [0b10, 0b100]  # the nearest frame


def test_actions_and_classes_are_merged_as_in_agqa():
    adjacent = graph(("c015", 1, 3), ("c015", 2, 4), ("c015", 4, 5), ("c015", 7, 8))
    assert [(span.start, span.end) for span in adjacent.actions] == [(1, 5), (7, 8)]
    found, counts = counted(("c147", 1, 2), ("c156", 3, 4), ("c146", 0, 1), ("c123", 1, 2), ("c015", 5, 5))
    phrases = ["awakening somewhere", "making some food", "sitting on a sofa", "eating some food"]
    assert [span.phrase for span in found.actions] == phrases
    assert found.relations["awakening in"] == {ANYTHING: 0b111}
    assert found.relations["sitting on"] == {"sofa": 0b11100}
    assert counts == {"intervals_not_named": 2, "empty_intervals": 1}
    assert graph(("c146", 0, 1), ("c134", 1, 2)).actions[0].phrase == "awakening in bed"


@pytest.mark.parametrize("key", load_agqa().replaced)
def test_every_class_keeps_its_verb_and_object(key):
    words, entry = load_agqa(), load_classes().classes[key]
    event = words.events[graph((key, 1, 2)).actions[0].phrase]
    if entry.verb not in ("cook", "awaken"):
        assert (event.verb or "").startswith({"lie": "lying"}.get(entry.verb, entry.verb[:3]))
        assert words.of_charades[entry.object] == event.object


def test_listed_objects_are_seen_but_not_touched():
    found = graph(("c087", 1, 2), objects="cup/glass/bottle;Sofa;spoon")
    assert found.seen == {"dish", "sofa", "picture", "phone"}  # a sofa is no bed
    assert set(found.contacts) == {"picture", "phone"}
    put = graph(("c009", 1, 2))  # a table is not put on itself
    assert set(put.relations["putting down"]) == {ANYTHING}
    assert set(put.contacts) == {"table", ANYTHING}

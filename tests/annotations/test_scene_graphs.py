from collections import Counter

import pytest
from stressreel.annotations.actions import AnnotatedVideo, Segment
from stressreel.annotations.charades import class_actions
from stressreel.annotations.scene_graphs import SceneGraph, charades_graph, frames_of
from stressreel.templates import load_classes
from stressreel.templates.agqa import ANYTHING, load_agqa

ACTIONS = class_actions(load_classes())


def graph_of_actions(
    *segments: tuple[str, float, float],
    length: float = 10.0,
    objects: str = "",
    counts: Counter[str] | None = None,
) -> SceneGraph:
    parts = tuple(Segment(ACTIONS[key], start, end) for key, start, end in segments)
    video = AnnotatedVideo("V", "train", "S", length, parts, frozenset(), frozenset(), {"objects": objects})
    return charades_graph(video, counts)


def test_frames_every_half_second_cover_the_video() -> None:
    graph = graph_of_actions(("c015", 1.0, 2.0), length=2.2)
    assert graph.times == (0.0, 0.5, 1.0, 1.5, 2.0)
    assert graph.actions[0].frames == 0b11100
    assert graph.relations == {"holding": {"phone": 0b11100}}
    assert graph.contacts == {"phone": 0b11100}
    assert graph.provenance == "charades"


@pytest.mark.parametrize(("start", "end", "frames"), [(0.6, 0.65, 0b10), (7.0, 8.0, 0b100)])
def test_brief_action_has_the_nearest_frame(start: float, end: float, frames: int) -> None:
    assert frames_of((0.0, 0.5, 1.0), start, end) == frames


def test_overlapping_and_adjacent_intervals_are_merged() -> None:
    graph = graph_of_actions(("c015", 1, 3), ("c015", 2, 4), ("c015", 4, 5), ("c015", 7, 8))
    assert [(span.start, span.end) for span in graph.actions] == [(1, 5), (7, 8)]


def test_classes_are_merged_as_in_agqa() -> None:
    counts: Counter[str] = Counter()
    segments = ("c147", 1, 2), ("c156", 3, 4), ("c146", 0, 1), ("c123", 1, 2), ("c015", 5, 5)
    graph = graph_of_actions(*segments, counts=counts)
    phrases = ["awakening somewhere", "making some food", "sitting on a sofa", "eating some food"]
    assert [span.phrase for span in graph.actions] == phrases
    assert graph.relations["awakening in"] == {ANYTHING: 0b111}
    assert graph.relations["sitting on"] == {"sofa": 0b11100}
    assert counts == {"intervals_not_named": 2, "empty_intervals": 1}
    assert graph_of_actions(("c146", 0, 1), ("c134", 1, 2)).actions[0].phrase == "awakening in bed"


def test_every_class_keeps_its_verb_and_object() -> None:
    words, classes = load_agqa(), load_classes().classes
    for key, entry in classes.items():
        event = words.events[graph_of_actions((key, 1, 2)).actions[0].phrase]
        if key in words.replaced and entry.verb not in ("cook", "awaken"):
            assert (event.verb or "").startswith({"lie": "lying"}.get(entry.verb, entry.verb[:3]))
            assert words.of_charades[entry.object] == event.object


def test_table_is_not_put_on_itself() -> None:
    graph = graph_of_actions(("c009", 1, 2))
    assert set(graph.relations["putting down"]) == {ANYTHING}
    assert set(graph.contacts) == {"table", ANYTHING}


def test_listed_objects_are_seen() -> None:
    graph = graph_of_actions(("c087", 1, 2), objects="cup/glass/bottle;Sofa;spoon")
    assert graph.seen == {"dish", "sofa", "picture", "phone"}  # a sofa is no bed
    assert set(graph.contacts) == {"picture", "phone"}

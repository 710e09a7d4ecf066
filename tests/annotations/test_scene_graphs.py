from collections import Counter

from stressreel.annotations.actions import AnnotatedVideo, Segment
from stressreel.annotations.charades import class_actions
from stressreel.annotations.scene_graphs import charades_graph, frames_of
from stressreel.templates import load_classes
from stressreel.templates.agqa import ANYTHING, load_agqa

ACTIONS = class_actions(load_classes())


def video(*segments: tuple[str, float, float], length: float = 10.0, objects: str = "") -> AnnotatedVideo:
    parts = tuple(Segment(ACTIONS[key], start, end) for key, start, end in segments)
    return AnnotatedVideo("V", "train", "S", length, parts, frozenset(), frozenset(), {"objects": objects})


def test_frames_are_half_a_second_apart_and_cover_the_length() -> None:
    graph = charades_graph(video(("c015", 1.0, 2.0), length=2.2))
    assert graph.times == (0.0, 0.5, 1.0, 1.5, 2.0)
    assert graph.actions[0].frames == 0b11100
    assert graph.relations == {"holding": {"phone": 0b11100}}
    assert graph.contacts == {"phone": 0b11100}
    assert graph.provenance == "charades"


def test_a_brief_action_has_the_nearest_frame() -> None:
    assert frames_of((0.0, 0.5, 1.0), 0.6, 0.65) == 0b10
    assert frames_of((0.0, 0.5, 1.0), 7.0, 8.0) == 0b100


def test_overlapping_and_touching_intervals_of_an_action_are_one() -> None:
    graph = charades_graph(video(("c015", 1, 3), ("c015", 2, 4), ("c015", 4, 5), ("c015", 7, 8)))
    assert [(span.start, span.end) for span in graph.actions] == [(1, 5), (7, 8)]


def test_classes_that_agqa_merges() -> None:
    counts: Counter[str] = Counter()
    graph = charades_graph(
        video(("c147", 1, 2), ("c156", 3, 4), ("c146", 0, 1), ("c123", 1, 2), ("c015", 5, 5)), counts
    )
    phrases = ["awakening somewhere", "making some food", "sitting on a sofa", "eating some food"]
    assert [span.phrase for span in graph.actions] == phrases
    assert graph.relations["awakening in"] == {ANYTHING: 0b111}
    assert graph.relations["sitting on"] == {"sofa": 0b11100}
    assert counts == {"intervals_not_named": 2, "empty_intervals": 1}
    in_bed = charades_graph(video(("c146", 0, 1), ("c134", 1, 2)))
    assert in_bed.actions[0].phrase == "awakening in bed"


def test_every_class_counts_with_the_verb_and_object_of_charades() -> None:
    words, classes = load_agqa(), load_classes().classes
    for key, entry in classes.items():
        graph = charades_graph(video((key, 1, 2)))
        event = words.events[graph.actions[0].phrase]
        if key in words.replaced and entry.verb not in ("cook", "awaken"):
            assert (event.verb or "").startswith({"lie": "lying"}.get(entry.verb, entry.verb[:3]))
            assert words.of_charades[entry.object] == event.object


def test_what_is_put_on_a_table_is_not_the_table() -> None:
    graph = charades_graph(video(("c009", 1, 2)))
    assert set(graph.relations["putting down"]) == {ANYTHING}
    assert set(graph.contacts) == {"table", ANYTHING}


def test_objects_that_are_listed_are_seen() -> None:
    graph = charades_graph(video(("c087", 1, 2), objects="cup/glass/bottle;Sofa;spoon"))
    assert graph.seen == {"dish", "sofa", "picture", "phone"}  # a sofa is no bed
    assert set(graph.contacts) == {"picture", "phone"}

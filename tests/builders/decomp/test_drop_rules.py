import pytest
from stressreel.annotations.scene_graphs import ActionSpan, Provenance, SceneGraph, frame_times, frames_of, graph_of
from stressreel.builders.decomp.drop_rules import judge, steps_of, view_of
from stressreel.builders.decomp.questions import Question
from stressreel.templates.agqa_making import load_rules

from .notation import cases, read, timed

TIMES = frame_times(60.0)


def graph(*acts: str, video_id: str = "V", provenance: Provenance = "drawn", seen: tuple[str, ...] = ()) -> SceneGraph:
    """Make a graph of what happens when: "holding a phone 5-12"."""
    spans = [ActionSpan(phrase, start, end, frames_of(TIMES, start, end)) for phrase, start, end in map(timed, acts)]
    return graph_of(video_id, TIMES, spans, provenance, seen)


@pytest.mark.parametrize(("acts", "question", "expected"), cases("drop_rules"))
def test_drop_rules(acts: list[str], question: Question, expected: str) -> None:
    assert (judge(view_of(graph(*acts)), question) or "nothing") == expected


def test_seen_objects_are_not_missing() -> None:
    asked, phone = read("interaction(interacting with, laptop)"), "holding a phone 5-12"
    assert judge(view_of(graph(phone)), asked) == "no"
    assert judge(view_of(graph(phone, seen=("laptop",))), asked) is None
    assert judge(view_of(graph(phone, provenance="charades")), asked) is None


def test_steps_count_references_and_windows() -> None:
    assert steps_of(read("interaction(holding, object(watching), between(a, b))")) == 1 + 1 + 3
    assert steps_of(read("relExists(holding, before(longestAction))")) == 1 + 2 + 2
    order = "beforeOrAfter(interaction(interacting with, bag), toAction(taking, firstObject(holding)))"
    assert steps_of(read(order)) == load_rules().steps["objTime"] + 2

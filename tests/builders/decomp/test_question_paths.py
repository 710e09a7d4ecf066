import pytest
from stressreel.builders.decomp.question_graphs import Edge
from stressreel.builders.decomp.question_paths import UNANSWERED, UNKNOWN, question_path, question_path_text
from stressreel.core.errors import InputError
from sub_questions import figure_one, one_graph

from .test_decomposition import check_golden


def test_unknown_and_unanswered_questions() -> None:
    video = one_graph({"a": ("Interaction", None), "b": ("And", "yes")}, [("b", "And", ["a"])])
    path = question_path(video, "b", {"a": "yes"})
    assert [(step.verdict, step.prediction) for step in path.steps] == [(UNKNOWN, "yes"), (UNANSWERED, None)]
    assert path.edges == (Edge(1, "And", (0,)),)
    assert not path.error_edges
    text = question_path_text(path)
    assert "b? [And] → not answered" in text
    assert "a? [Interaction] → 'yes', correct answer unknown" in text


def test_error_path_as_text() -> None:
    said = dict.fromkeys(("phone", "touching", "photographing", "touching after"), "yes")
    said |= dict.fromkeys(("picture", "taking"), "no") | {"first": "dish", "root": "maybe"}
    check_golden("golden_path.txt", question_path_text(question_path(figure_one(), "root", said)).splitlines())


def test_unknown_root_is_refused() -> None:
    with pytest.raises(InputError, match=r"'phone' .* video 'v1' \(1 in total\): 'root'"):
        question_path(figure_one(), "phone", {})

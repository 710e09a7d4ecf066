from typing import Any

import pytest
from figures import keep_drawn
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from stressreel.data_cards import question_graph
from stressreel.data_cards.question_graph import FILLS, IN_A_ROW, PATH, TOO_MANY, layers, question_graph_png
from stressreel.evaluation.metrics.question_graphs import VideoGraphs
from stressreel.evaluation.metrics.question_paths import question_path
from sub_questions import figure_one, one_graph


def wide(children: int) -> VideoGraphs:
    questions = {f"c{n}": ("Interaction", "yes") for n in range(children)}
    return one_graph(questions | {"p": ("And", "yes")}, [("p", "And", list(questions))])


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return keep_drawn(monkeypatch, question_graph)


def boxes(axes: Any) -> list[FancyBboxPatch]:
    return [each for each in axes.patches if isinstance(each, FancyBboxPatch)]


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def test_a_question_stands_below_all_of_its_parents() -> None:
    questions = {"c": ("Interaction", "yes"), "a": ("And", "yes"), "p": ("And", "yes")}
    graph = one_graph(questions, [("a", "And", ["c"]), ("p", "And", ["a", "c"])])
    assert layers(question_path(graph, "p", {})) == ([[2], [1], [0]], 0)


def test_wide_graphs_are_broken_into_rows() -> None:
    for children in (1, IN_A_ROW, IN_A_ROW + 1, 23):
        rows, hidden = layers(question_path(wide(children), "p", {}))
        assert (hidden, sum(map(len, rows))) == (0, children + 1)
        assert max(map(len, rows)) <= IN_A_ROW


def test_boxes_are_coloured_by_verdict_and_the_error_path_is_marked(drawn: list[Any]) -> None:
    said = dict.fromkeys(("phone", "touching", "photographing", "taking"), "yes")
    said |= dict.fromkeys(("picture", "touching after", "root"), "no") | {"first": "dish"}
    question_graph_png(question_path(figure_one(), "root", said))
    axes = drawn[0].axes[0]
    colours = [tuple(round(255 * part) for part in box.get_facecolor()[:3]) for box in boxes(axes)]
    counted = {name: colours.count(rgb(colour)) for name, colour in FILLS.items()}
    assert {name: count for name, count in counted.items() if count} == {"right": 4, "wrong": 4, "not scored": 2}
    arrows = [each for each in axes.patches if isinstance(each, FancyArrowPatch)]
    assert len(arrows) == 11
    assert sum(tuple(round(255 * part) for part in each.get_edgecolor()[:3]) == rgb(PATH) for each in arrows) == 3
    assert "Interaction ↯" in [text.get_text() for text in axes.texts]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["right", "wrong", "not scored", "error path", "↯ contradiction"]


def test_too_large_a_graph_is_drawn_in_part(drawn: list[Any]) -> None:
    question_graph_png(question_path(wide(TOO_MANY + 4), "p", {}))
    axes = drawn[0].axes[0]
    assert len(boxes(axes)) == TOO_MANY
    assert axes.get_legend().get_title().get_text() == "5 more questions are not drawn"

"""The picture of one question's graph."""

from io import BytesIO
from typing import Any

import pytest
from figures import PNG, keep_drawn, painted
from PIL import Image
from stressreel.data_cards import question_graph
from stressreel.data_cards.question_graph import FILLS, IN_A_ROW, PATH, TOO_MANY, layers, question_graph_png
from stressreel.metrics.question_graphs import VideoGraphs
from stressreel.metrics.question_paths import QuestionPath, question_path
from sub_questions import figure_one, one_graph

SAID = {
    "phone": "yes",
    "touching": "yes",
    "photographing": "yes",
    "picture": "no",
    "taking": "yes",
    "touching after": "no",
    "first": "dish",
    "root": "no",
}


def wide(children: int) -> VideoGraphs:
    questions = {f"c{n}": ("Interaction", "yes") for n in range(children)}
    return one_graph(questions | {"p": ("And", "yes")}, [("p", "And", list(questions))])


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return keep_drawn(monkeypatch, question_graph)


def path_of(said: dict[str, str]) -> QuestionPath:
    return question_path(figure_one(), "root", said)


def test_every_question_stands_below_its_parents() -> None:
    path = path_of(SAID)
    rows, hidden = layers(path)
    assert hidden == 0
    level = {place: number for number, row in enumerate(rows) for place in row}
    assert sorted(level) == list(range(10))
    assert rows[0] == [9]
    assert all(level[parent] < level[child] for parent, _, children in path.edges for child in children)


@pytest.mark.parametrize("children", [1, IN_A_ROW, IN_A_ROW + 1, 23])
def test_wide_graphs_are_broken_into_rows(children: int) -> None:
    rows, hidden = layers(question_path(wide(children), "p", {}))
    assert hidden == 0
    assert max(map(len, rows)) <= IN_A_ROW
    assert sum(map(len, rows)) == children + 1


def test_boxes_are_coloured_by_verdict_and_the_error_path_is_marked(drawn: list[Any]) -> None:
    question_graph_png(path_of(SAID))
    axes = drawn[0].axes[0]
    colours = [tuple(round(255 * part) for part in box.get_facecolor()[:3]) for box in axes.patches]
    wanted = {name: tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for name, colour in FILLS.items()}
    assert {name: colours.count(colour) for name, colour in wanted.items()} == {
        "right": 4,  # phone, touching, photographing, taking
        "wrong": 4,  # picture, touching after, first, root
        "right answer not known": 0,
        "not answered": 0,
        "not scored": 2,
    }
    arrows = [text.arrow_patch for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
    assert len(arrows) == 11
    red = [
        arrow
        for arrow in arrows
        if arrow.get_edgecolor()[:3] == tuple(int(PATH[at : at + 2], 16) / 255 for at in (1, 3, 5))
    ]
    assert len(red) == len(path_of(SAID).error_edges) == 3
    said = [text.get_text() for text in axes.texts]
    assert "Interaction ↯" in said
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["right", "wrong", "not scored", "error path", "↯ contradiction"]


def test_a_graph_that_is_all_right_has_no_path(drawn: list[Any]) -> None:
    right = {key: node.answer for key, node in figure_one().nodes.items() if node.answer}
    question_graph_png(path_of(right))
    assert [text.get_text() for text in drawn[0].axes[0].get_legend().get_texts()] == ["right", "not scored"]


def test_too_large_a_graph_is_drawn_in_part(drawn: list[Any]) -> None:
    question_graph_png(question_path(wide(TOO_MANY + 4), "p", {}))
    axes = drawn[0].axes[0]
    assert len(axes.patches) == TOO_MANY
    assert axes.get_legend().get_title().get_text() == "5 more questions are not drawn"


def test_a_question_alone_is_drawn() -> None:
    assert question_graph_png(question_path(one_graph({"a": ("Interaction", None)}), "a", {})).startswith(PNG)


def test_it_is_the_same_picture_every_time() -> None:
    with painted():
        first, again = (question_graph_png(path_of(SAID)) for _ in range(2))
    assert first == again
    assert Image.open(BytesIO(first)).width == 1080

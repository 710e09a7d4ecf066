"""The picture of one question's graph."""

import itertools
from typing import Any

import numpy as np
import pytest
from figures import keep_drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from stressreel.data_cards import question_graph
from stressreel.data_cards.plots import WIDTH_IN
from stressreel.data_cards.question_graph import (
    BETWEEN_IN,
    FILLS,
    GAP_IN,
    IN_A_ROW,
    PATH,
    TOO_MANY,
    layers,
    question_graph_png,
    routes,
)
from stressreel.evaluation.metrics.question_graphs import VideoGraphs
from stressreel.evaluation.metrics.question_paths import QuestionPath, question_path
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


def boxes(axes: Any) -> list[FancyBboxPatch]:
    return [each for each in axes.patches if isinstance(each, FancyBboxPatch)]


def path_of(said: dict[str, str]) -> QuestionPath:
    return question_path(figure_one(), "root", said)


def test_a_question_stands_below_all_of_its_parents() -> None:
    questions = {"c": ("Interaction", "yes"), "a": ("And", "yes"), "p": ("And", "yes")}
    graph = one_graph(questions, [("a", "And", ["c"]), ("p", "And", ["a", "c"])])
    assert layers(question_path(graph, "p", {})) == ([[2], [1], [0]], 0)


@pytest.mark.parametrize("children", [1, IN_A_ROW, IN_A_ROW + 1, 23])
def test_wide_graphs_are_broken_into_rows(children: int) -> None:
    rows, hidden = layers(question_path(wide(children), "p", {}))
    assert hidden == 0
    assert max(map(len, rows)) <= IN_A_ROW
    assert sum(map(len, rows)) == children + 1


@st.composite
def shared_children(draw: st.DrawFn) -> VideoGraphs:
    count = draw(st.integers(2, 30))
    rules = [
        (f"n{parent}", "And", [f"n{child}" for child in children])
        for parent in range(1, count)
        for children in [draw(st.lists(st.integers(0, parent - 1), min_size=1, max_size=5, unique=True))]
    ]
    return one_graph({f"n{number}": ("And", "yes") for number in range(count)}, rules)


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(shared_children(), st.integers(0, 1000))
def test_no_line_runs_through_a_box(video: VideoGraphs, seed: int) -> None:
    path = question_path(video, video.graphs[0].root, {})
    rows, _ = layers(path)
    rng = np.random.default_rng(seed)
    box_in = (WIDTH_IN - 0.3) / max(2, *map(len, rows)) - BETWEEN_IN
    where, top = {}, 0.0
    for row in rows:
        for number, place in enumerate(row):
            where[place] = ((number + 0.5) * (WIDTH_IN - 0.3) / len(row), top, top + 0.5 + rng.random())
        top = max(where[place][2] for place in row) + GAP_IN
    pairs = [(edge.parent, child) for edge in path.edges for child in edge.children if edge.parent in where]
    lines = routes(pairs, rows, where, box_in)
    assert lines.keys() == set(pairs)
    for (parent, child), points in lines.items():
        assert (points[0], points[-1]) == ((where[parent][0], where[parent][2]), (where[child][0], where[child][1]))
        share = np.linspace(0, 1, 200)[:, None]
        along = np.concatenate([a + share * (np.array(b) - a) for a, b in itertools.pairwise(map(np.array, points))])
        for across, upper, lower in where.values():
            inside = (np.abs(along[:, 0] - across) < box_in / 2 - 1e-6) & (along[:, 1] > upper + 1e-6)
            assert not (inside & (along[:, 1] < lower - 1e-6)).any()


def test_boxes_are_coloured_by_verdict_and_the_error_path_is_marked(drawn: list[Any]) -> None:
    question_graph_png(path_of(SAID))
    axes = drawn[0].axes[0]
    colours = [tuple(round(255 * part) for part in box.get_facecolor()[:3]) for box in boxes(axes)]
    wanted = {name: tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5)) for name, colour in FILLS.items()}
    assert {name: colours.count(colour) for name, colour in wanted.items()} == {
        "right": 4,  # phone, touching, photographing, taking
        "wrong": 4,  # picture, touching after, first, root
        "correct answer unknown": 0,
        "not answered": 0,
        "not scored": 2,
    }
    arrows = [each for each in axes.patches if isinstance(each, FancyArrowPatch)]
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


def test_too_large_a_graph_is_drawn_in_part(drawn: list[Any]) -> None:
    question_graph_png(question_path(wide(TOO_MANY + 4), "p", {}))
    axes = drawn[0].axes[0]
    assert len(boxes(axes)) == TOO_MANY
    assert axes.get_legend().get_title().get_text() == "5 more questions are not drawn"

from stressreel.builders.decomp.gallery import IN_A_ROW, TOO_MANY, layers
from stressreel.builders.decomp.question_graphs import VideoGraphs
from stressreel.builders.decomp.question_paths import question_path
from sub_questions import one_graph


def wide(children: int) -> VideoGraphs:
    questions = {f"c{n}": ("Interaction", "yes") for n in range(children)}
    return one_graph(questions | {"p": ("And", "yes")}, [("p", "And", list(questions))])


def test_a_question_stands_below_all_of_its_parents() -> None:
    questions = {"c": ("Interaction", "yes"), "a": ("And", "yes"), "p": ("And", "yes")}
    graph = one_graph(questions, [("a", "And", ["c"]), ("p", "And", ["a", "c"])])
    assert layers(question_path(graph, "p", {})) == ([[2], [1], [0]], 0)


def test_wide_graphs_are_broken_into_rows() -> None:
    for children in (1, IN_A_ROW, IN_A_ROW + 1, 23):
        rows, hidden = layers(question_path(wide(children), "p", {}))
        assert (hidden, sum(map(len, rows))) == (0, children + 1)
        assert max(map(len, rows)) <= IN_A_ROW


def test_too_large_a_graph_is_shown_in_part() -> None:
    rows, hidden = layers(question_path(wide(TOO_MANY + 4), "p", {}))
    assert (sum(map(len, rows)), hidden) == (TOO_MANY, 5)

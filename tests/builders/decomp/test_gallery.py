from pathlib import Path

from commands import rows
from stressreel.builders.decomp.gallery import IN_A_ROW, TOO_MANY, gallery, layers
from stressreel.builders.decomp.question_graphs import VideoGraphs
from stressreel.builders.decomp.question_paths import question_path
from stressreel.builders.decomp.scores import graphs_of_video
from stressreel.builders.decomp.tables import by_video
from stressreel.core.output import open_output
from stressreel.data_cards.gallery.answers import Answers
from stressreel.evaluation.metrics.predictions import Predictions
from sub_questions import Asked, one_graph


def wide(children: int) -> VideoGraphs:
    questions: dict[str, Asked] = {f"c{n}": ("Interaction", "yes") for n in range(children)}
    return one_graph(questions | {"p": ("And", "yes")}, [("p", "And", list(questions))])


def test_layout_places_wraps_and_truncates() -> None:
    questions: dict[str, Asked] = {"c": ("Interaction", "yes"), "a": ("And", "yes"), "p": ("And", "yes")}
    graph = one_graph(questions, [("a", "And", ["c"]), ("p", "And", ["a", "c"])])
    assert layers(question_path(graph, "p", {})) == ([[2], [1], [0]], 0)
    for children in (1, IN_A_ROW, IN_A_ROW + 1, TOO_MANY + 4):
        rows, hidden = layers(question_path(wide(children), "p", {}))
        assert (sum(map(len, rows)), hidden) == (min(children + 1, TOO_MANY), max(0, children + 1 - TOO_MANY))
        assert max(map(len, rows)) <= IN_A_ROW


def test_graph_page_shows_nodes_and_edges(built_graphs: Path) -> None:
    output = open_output(built_graphs)
    found = gallery(output, Answers())
    stored = list(output.rows("graphs"))
    assert found.count == len(stored)
    questions = {row["key"]: row for row in rows(built_graphs, "questions")}
    for row, shown in zip(stored, found.exhibits(range(found.count)), strict=True):
        content = shown.content
        assert shown.id == row["root"]
        assert [node["id"] for node in content["nodes"]] == row["nodes"]
        assert [node["answer"] for node in content["nodes"]] == [questions[key]["answer"] for key in row["nodes"]]
        edges = [(edge["parent"], edge["rule"], edge["children"]) for edge in content["edges"]]
        assert edges == [(e["parent"], e["rule"], list(dict.fromkeys(e["children"]))) for e in row["edges"]]


def test_gallery_verdicts_equal_those_of_scores(built_graphs: Path) -> None:
    output = open_output(built_graphs)
    said = {row["key"]: "yes" for row in rows(built_graphs, "questions")}
    given = [{"id": key, "answer": answer} for key, answer in said.items()]
    found = gallery(output, Answers(Predictions(Path("p.jsonl"), given)))
    contradictory = 0
    shown = {each.id: each for each in found.exhibits(range(found.count))}
    for video in map(graphs_of_video, by_video(output)):
        for graph in video.graphs:
            path = question_path(video, graph.root, said)
            content = shown[graph.root].content
            verdicts = [step.verdict if step.verdict in ("right", "wrong") else "" for step in path.steps]
            assert [node["verdict"] for node in content["nodes"]] == verdicts
            assert [node["path"] for node in content["nodes"]] == [step.on_path for step in path.steps]
            against = {(edge["parent"], edge["rule"]) for edge in content["edges"] if edge["contradicts"]}
            assert against == path.contradictions
            errors = {(edge["parent"], child) for edge in content["edges"] for child in edge["errors"]}
            assert errors == path.error_edges
            contradictory += any(each.verdict == "contradictory" for each in shown[graph.root].asked)
    assert contradictory > 0

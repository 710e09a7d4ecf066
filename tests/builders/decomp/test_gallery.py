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


def test_page_shows_graphs_and_their_verdicts(built_graphs: Path) -> None:
    output, questions = open_output(built_graphs), {row["key"]: row for row in rows(built_graphs, "questions")}
    said = dict.fromkeys(questions, "yes")
    answers = Answers(Predictions(Path("p.jsonl"), [{"id": key, "answer": answer} for key, answer in said.items()]))
    found = gallery(output, answers)
    shown = {each.id: each for each in found.exhibits(range(found.count))}
    stored = {row["root"]: row for row in output.rows("graphs")}
    assert shown.keys() == stored.keys()
    for video in map(graphs_of_video, by_video(output)):
        for graph in video.graphs:
            row, path = stored[graph.root], question_path(video, graph.root, said)
            nodes, edges = (shown[graph.root].content[name] for name in ("nodes", "edges"))
            assert [(node["id"], node["answer"]) for node in nodes] == [
                (k, questions[k]["answer"]) for k in row["nodes"]
            ]
            drawn = [(edge["parent"], edge["rule"], edge["children"]) for edge in edges]
            assert drawn == [(e["parent"], e["rule"], list(dict.fromkeys(e["children"]))) for e in row["edges"]]
            verdicts = [step.verdict if step.verdict in ("right", "wrong") else "" for step in path.steps]
            assert [node["verdict"] for node in nodes] == verdicts
            assert [node["path"] for node in nodes] == [step.on_path for step in path.steps]
            assert {(edge["parent"], edge["rule"]) for edge in edges if edge["contradicts"]} == path.contradictions
            assert {(edge["parent"], child) for edge in edges for child in edge["errors"]} == path.error_edges
    assert any(each.verdict == "contradictory" for exhibit in shown.values() for each in exhibit.asked)

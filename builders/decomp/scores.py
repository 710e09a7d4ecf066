"""Score answers to question graphs by accuracy, composition and consistency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...evaluation.metrics.bootstrap import estimates
from ...evaluation.metrics.items import ALL, read_columns
from ...evaluation.metrics.predictions import (
    BANNED_CATEGORY,
    OTHER_SPLIT,
    MatchedPredictions,
    Predictions,
    identity,
    match,
)
from ...evaluation.metrics.scores import Explanation, ScoreOptions, Scores
from .compositional_accuracy import AnswerCounts, constant_groups, count, headline, measure, tables
from .question_graphs import (
    BANNED,
    Edge,
    Node,
    QuestionGraph,
    VideoGraphs,
    constant_answers,
)
from .question_paths import question_path, question_path_json, question_path_text
from .tables import VideoRows, by_video

SHOWN = 5  # maximum number of unreadable answers listed in scores.json


def node_from_row(row: Row) -> Node:
    """Convert a row to a question."""
    return Node(row["key"], row["video_id"], row["question"], row["kind"], row["answer"], row["program"])


def question_graph_from_row(row: Row) -> QuestionGraph:
    """Convert a row to a graph."""
    edges = tuple(Edge(edge["parent"], edge["rule"], tuple(edge["children"])) for edge in row["edges"])
    return QuestionGraph(row["root"], row["video_id"], tuple(row["nodes"]), edges)


def graphs_of_video(rows: VideoRows) -> VideoGraphs:
    """Convert the rows of a video to its question graphs."""
    nodes = {key: node_from_row(row) for key, row in rows.questions.items()}
    return VideoGraphs(rows.video_id, nodes, [question_graph_from_row(row) for row in rows.graphs])


def read_graphs(output: FinishedOutput, split: str) -> Iterator[VideoGraphs]:
    """Yield the graphs of a split, or of all splits, one video at a time."""
    return map(graphs_of_video, by_video(output, None if split == ALL else split))


def matched(output: FinishedOutput, config: str, predictions: Predictions, options: ScoreOptions) -> MatchedPredictions:
    """Match predictions with the scored questions.

    Raises:
        InputError: A question has no prediction, and `options.partial` is not set.
    """
    rows, splits = read_columns(output, config, ("key", "kind"), ALL)
    scored, others = [], dict[str, str]()
    for key, kind, split in zip(rows["key"], rows["kind"], splits, strict=True):
        if options.split not in (ALL, split):
            others[key] = OTHER_SPLIT
        elif kind in BANNED:
            others[key] = BANNED_CATEGORY
        else:
            scored.append(key)
    return match(predictions, scored, others=others, partial=options.partial)


def score_answers(output: FinishedOutput, config: str, predictions: Predictions, options: ScoreOptions) -> Scores:
    """Score answers to the questions of an output. Questions of excluded categories need no prediction.

    Two constant baselines, "yes" and the most frequent answer to each category, are also scored, since a constant
    answer rarely contradicts itself.
    """
    matches = matched(output, config, predictions, options)
    predicted = {key: str(value) for key, value in matches.given.items()}
    nodes = [node for video in read_graphs(output, options.split) for node in video.nodes.values()]
    left_out = () if options.released else constant_groups(nodes)
    counting = partial(count, released=options.released, left_out=left_out)
    counted, answer_counts = counting(read_graphs(output, options.split), predicted)
    scored = estimates(counted, measure(counted.cells), seed=options.seed, resamples=options.resamples)

    constants = {}
    for name, constant in constant_answers(nodes).items():
        # Questions that the model answers
        answered = {key: answer for key, answer in constant.items() if key in predicted}
        constants[name] = counting(read_graphs(output, options.split), answered)[0]
    return Scores(
        benchmark="decomp",
        split=options.split,
        answers={
            "read": matches.read,
            "scored": answer_counts.questions - answer_counts.missing,
            "unreadable": len(answer_counts.unreadable),
            "unreadable_first": [
                {"id": key, "answer": predicted[key][:80]} for key in answer_counts.unreadable[:SHOWN]
            ],
            **matches.unmatched(),
            "missing": answer_counts.missing,
            "scored_sha256": identity({node.key for node in nodes if node.kind not in BANNED} & predicted.keys()),
        },
        headline=headline(scored),
        tables=tables(counted, scored, constants),
        tally=counted,
        footnotes=notes(answer_counts, left_out, released=options.released),
    )


def notes(counts: AnswerCounts, left_out: Sequence[str], *, released: bool) -> tuple[str, ...]:
    """Return the notes to print below the scores."""
    lines = [f"{counts.graphs:,} graphs; {counts.isolated:,} roots that no rule decomposes count for accuracy only."]
    if left_out:
        lines.append(
            f"Excluded from accuracy, as all their correct answers are the same: questions of {' and '.join(left_out)}."
        )
    if counts.missing:
        lines.append("Parents and rules that depend on a question without a prediction are also excluded.")
    if released:
        lines.append(
            "Scored like the released scorer: answers are compared verbatim, and questions identified by text."
        )
    return tuple(lines)


def explain(output: FinishedOutput, question: str, predictions: Predictions) -> Explanation:
    """Show which sub-questions of a root were answered correctly, and which answers contradict each other.

    Raises:
        InputError: No root has this key.
    """
    for rows in by_video(output):
        if any(graph["root"] == question for graph in rows.graphs):
            video = graphs_of_video(rows)
            answers = match(predictions, list(video.nodes), partial=True).given
            path = question_path(video, question, {key: str(value) for key, value in answers.items()})
            return Explanation(question_path_text(path), question_path_json(path))
    raise InputError(
        f"no root of {output.path} has the key {question!r}. Roots are the rows of the `questions` config in which "
        "`is_root` is true; their keys do not end in an underscore and a number."
    )

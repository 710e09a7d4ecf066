"""Verify question graphs by recomputing what the roots' programs determine, and by finding contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Row
from ...templates.agqa import load_agqa
from ..runtime.table_checks import Derivation, Derived
from .generation import MakingOptions
from .graph_answers import NO, YES, verdict
from .inference import GRAPH, ROOT
from .parsing import parse_program
from .question_graphs import check_graph, named_object
from .questions import notation
from .scores import node_from_row, question_graph_from_row
from .settings import settings_of
from .tables import GRAPHS, QUESTIONS, REASONS, VideoRows, by_video
from .video_graphs import Root, depth_of, graphs_of
from .wording import word_root

ANSWERED = ("answer", "reason", "decided_by", "recomputed")  # programs do not determine these
ROOTS_OWN = ("question", "novel_composition", "more_steps")  # the source determines these
SOURCES = ("", GRAPH, ROOT, "published", "same", "answer", "only object")
CONFLICT = "conflict"
IMPLYING = ("Interaction", "After", "Before", "While")  # rules with any number of children


def derived(output: FinishedOutput) -> Iterator[Derivation]:
    """Recompute all graphs from the programs of their roots. Published graphs are only checked for their shape."""
    settings = settings_of(output.info)
    making = MakingOptions(seed=settings.seed) if settings.collection == "charades" else None
    annotated = making is not None or any(name.endswith(".pkl") for name in output.info["inputs"])
    seen: dict[str, str] = {}
    for split in output.splits(QUESTIONS.name):
        for video in by_video(output, split):
            if seen.setdefault(video.video_id, split) != split:
                yield f"{video.video_id} is in {seen[video.video_id]} and {split}"
            for row in video.questions.values():
                yield from (f"{row['key']}: {problem}" for problem in wrongly_answered(row))
            if settings.collection == "release_hierarchies":
                yield from (f"{row['root']}: {problem}" for row in video.graphs for problem in misshapen(row, video))
                continue
            try:
                roots = [_root(row) for row in video.questions.values() if row["is_root"]]
            except InputError as error:
                yield f"{video.video_id}: a root's program cannot be read: {error}"
                return
            decomposed = graphs_of(video.video_id, roots, None, settings.wording)
            for row in decomposed.rows():
                yield Derived(QUESTIONS.name, split, expected_of(row, split, making, annotated=annotated))
            yield from (Derived(GRAPHS.name, split, row) for row in decomposed.graphs())
            yield from contradictions(video, from_agqa=settings.collection == "agqa")


def _root(row: Row) -> Root:
    program = row["agqa_program"] or ""
    return Root(row["key"], row["question"], parse_program(program), row["answer"] or "", program)


def expected_of(row: Row, split: str, making: MakingOptions | None, *, annotated: bool) -> Row:
    """Return the columns of a question's row that can be recomputed.

    `making` contains the limits used to generate the roots, which affect wording and flags. `annotated` is true if
    scene graphs determine the answers.
    """
    unknown = [*(ANSWERED if annotated else ()), *(ROOTS_OWN if row["is_root"] else ())]
    kept = {name: value for name, value in row.items() if name not in unknown}
    if not row["is_root"]:
        return {**kept, "recomputed": None}
    if making is not None:
        question = parse_program(row["agqa_program"])
        kept["question"] = word_root(question, row["video_id"], notation(question), seed=making.seed)
        novel, more = (split != "train" and flag for flag in making.flags(question))
        kept |= {"novel_composition": novel, "more_steps": more}
    return {**kept, "reason": "", "decided_by": ROOT}


def wrongly_answered(row: Row) -> Iterator[str]:
    """Yield contradictions between an answer, its reason, its source and the options."""
    answer, reason, source, options = row["answer"], row["reason"], row["decided_by"], row["options"]
    if (answer is None) != bool(reason) or (reason and reason not in REASONS):
        yield f"the answer is {answer!r}, the reason {reason!r}"
    known = source in SOURCES or source in load_agqa().rules or (reason == CONFLICT and ", " in source)
    if bool(source) != (answer is not None or reason == CONFLICT) or not known:
        yield f"the answer is {answer!r}, decided_by {source!r}"
    if answer is not None and options and answer.lower() not in options:
        yield f"the answer {answer!r} is not one of {', '.join(options)}"


def misshapen(graph: Row, video: VideoRows) -> Iterator[str]:
    """Yield everything that is wrong with a graph's nodes, order of children, depth or template."""
    try:
        check_graph(question_graph_from_row(graph), {key: node_from_row(row) for key, row in video.questions.items()})
    except InputError as error:
        yield str(error)
        return
    count, edges = len(graph["nodes"]), graph["edges"]
    below = {count - 1, *(child for edge in edges for child in edge["children"])}
    expected = (depth_of(count, edges), not edges, video.questions[graph["root"]]["template"])
    if len(below) != count or (graph["depth"], graph["isolated"], graph["template"]) != expected:
        yield "its depth, template or isolation does not match its edges and root"


def contradictions(video: VideoRows, *, from_agqa: bool) -> Iterator[str]:
    """Yield the questions whose answers contradict those of their children.

    With `from_agqa`, the roots come from AGQA and may contradict each other.
    """
    for graph in video.graphs:
        nodes = [video.questions.get(key) for key in graph["nodes"]]
        for edge in graph["edges"]:
            indices = [edge["parent"], *edge["children"]]
            parent, *children = (nodes[index] if index < len(nodes) else None for index in indices)
            if parent is None or None in children:
                continue  # the graph differs from that of its root's program, which is reported elsewhere
            if from_agqa and parent["is_root"]:
                children = [row | {"answer": None} if row and row["is_root"] else row for row in children]
            if problem := contradiction(edge["rule"], parent, [row for row in children if row]):
                yield f"{graph['root']}: {parent['key']}: {problem}"


def contradiction(rule: str, parent: Row, children: Sequence[Row]) -> str:
    """Describe how the answer of a parent contradicts those of its children, or return ""."""
    answer, answers = parent["answer"], [row["answer"] for row in children]
    if answer is None or (len(children) != 2 - (rule in ("First", "Last")) and rule not in IMPLYING):
        return ""
    match rule:
        case "Interaction" | "After" | "Before" | "While" | "Between" | "Longer Choose" | "Shorter Choose":
            wrong = answer != NO and NO in answers
        case "And" | "Xor":
            needed = [YES, YES if rule == "And" else NO]
            missed = [
                child_answer is not None and child_answer != need
                for child_answer, need in zip(answers, needed, strict=True)
            ]
            wrong = any(missed) if answer == YES else answers == needed
        case "Choose":
            expected = [verdict(answer == option) for option in parent["options"]]
            wrong = len(expected) == 2 and any(
                child_answer is not None and child_answer != implied
                for child_answer, implied in zip(answers, expected, strict=True)
            )
        case "Equals":
            name = named_object(parent["program"]) or answers[0]
            known = parent["kind"] == "Object Equals" and None not in (name, answers[1])
            wrong = known and (answer == YES) != (name == answers[1])
        case _:  # a single object is both first and last
            wrong = children[0]["kind"].startswith("Object") and answers[0] not in (None, answer)
    return f"{rule} of {' and '.join(map(str, answers))} is {answer}" if wrong else ""

"""Checks of a finished output of question graphs, from its rows alone."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...metrics.question_graphs import named_object
from ...records.checks import Check, VerifyOptions
from ...records.output import FinishedOutput
from ...records.schema import Row
from ...runtime.decoded import check_decord
from ...templates.agqa import load_agqa
from .answers import GRAPH, ROOT
from .graph_answers import REASONS, verdict
from .settings import settings_of
from .source_checks import check_annotations, check_source
from .tables import QUESTIONS, VIDEOS
from .taken_apart_again import check_programs
from .video_checks import check_decoded, check_files
from .video_rows import VideoRows, by_video

YES, NO = "yes", "no"
CONFLICT = "conflict"
SOURCES = ("", GRAPH, ROOT, "published", "same", "answer", "only object")
NOT_PUBLISHED = "not_published"
IMPLYING = ("Interaction", "After", "Before", "While")  # whatever number of children there are


def is_published(output: FinishedOutput) -> bool:
    """Whether the graphs are published ones: what is in them is not ours to mend."""
    return bool(output.info["settings"]["collection"] == "release_hierarchies")


def check_graphs(output: FinishedOutput) -> Iterator[str]:
    """Every graph names questions of its video, children before parents, and ends in its root; depths and flags fit."""
    for video in by_video(output):
        yield from (f"{video.video_id}: the question {key} comes more than once" for key in video.twice)
        roots = Counter(graph["root"] for graph in video.graphs)
        yield from (f"{video.video_id}: the graph of {root} comes more than once" for root in roots if roots[root] > 1)
        expected = {key for key, row in video.questions.items() if row["is_root"]}
        yield from (f"{video.video_id}: the root {root} has no graph" for root in sorted(expected - roots.keys()))
        used: set[str] = set()
        for graph in video.graphs:
            used |= set(graph["nodes"])
            yield from (f"{graph['root']}: {problem}" for problem in _shape(graph, video))
        yield from (
            f"{video.video_id}: the question {key} is in no graph" for key in sorted(video.questions.keys() - used)
        )


def _shape(graph: Row, video: VideoRows) -> Iterator[str]:
    nodes = graph["nodes"]
    if absent := [key for key in nodes if key not in video.questions]:
        yield f"its question {absent[0]} is not in config questions"
        return
    if not nodes or nodes[-1] != graph["root"] or not video.questions[graph["root"]]["is_root"]:
        yield "its last question is not its root"
        return
    if len(set(nodes)) != len(nodes):
        yield "it names a question twice"
    depths, parents = [0] * len(nodes), set[int]()
    below = {len(nodes) - 1}
    for edge in sorted(graph["edges"], key=lambda edge: edge["parent"]):
        if not all(0 <= child < edge["parent"] < len(nodes) for child in edge["children"]):
            yield f"rule {edge['rule']}: a child does not come before its parent"
            return
        parents.add(edge["parent"])
        below |= set(edge["children"])
        depths[edge["parent"]] = max(
            depths[edge["parent"]], 1 + max((depths[child] for child in edge["children"]), default=0)
        )
    if len(below) != len(nodes):
        yield f"{nodes[min(set(range(len(nodes))) - below)]} composes nothing"
    if depths[-1] != graph["depth"]:
        yield f"depth is {graph['depth']}, its edges give {depths[-1]}"
    if graph["isolated"] != (not graph["edges"]):
        yield "isolated does not fit its edges"
    if graph["template"] != video.questions[graph["root"]]["template"]:
        yield "its template is not that of its root"


def check_rules(output: FinishedOutput) -> Iterator[str]:
    """Every rule has parents, a number of children, and children of the groups that it allows.

    Of published graphs only the rules' names and that they have children: the rest is how we take questions apart.
    """
    rules = load_agqa().rules
    published = is_published(output)
    for video in by_video(output):
        for graph in video.graphs:
            nodes = video.nodes(graph)
            if nodes is None:
                continue
            for edge in graph["edges"]:
                rule = rules.get(edge["rule"])
                if rule is None:
                    yield f"{graph['root']}: there is no rule {edge['rule']!r}"
                    continue
                places = [edge["parent"], *edge["children"]]
                if published and edge["children"]:
                    continue
                if not all(0 <= place < len(nodes) for place in places):
                    continue  # `check_graphs` tells
                parent, *children = [nodes[place] for place in places]
                if parent["group"] not in rule.parents:
                    yield f"{graph['root']}: rule {rule.name} composes {parent['key']}, a question of {parent['group']}"
                allowed = rule.children * len(children) if rule.any_number else rule.children
                if len(children) != len(allowed) or not children:
                    yield f"{graph['root']}: rule {rule.name} has {len(children)} children of {parent['key']}"
                    continue
                for child, groups in zip(children, allowed, strict=True):
                    if child["group"] not in groups:
                        yield f"{graph['root']}: rule {rule.name} has {child['key']}, of {child['group']}, as a child"


def check_kinds(output: FinishedOutput) -> Iterator[str]:
    """Kinds, groups, what is banned, options and answers fit; an answer or a reason is there."""
    vocabulary, published = load_agqa(), is_published(output)
    for row in output.rows(QUESTIONS.name):
        kind = vocabulary.kinds.get(row["kind"])
        if kind is None:
            yield f"{row['key']}: there is no kind {row['kind']!r}"
            continue
        if (kind.group, kind.banned) != (row["group"], row["banned"]):
            yield f"{row['key']}: {kind.name} is of group {kind.group}, banned {kind.banned}"
        answer = row["answer"]
        if (answer is None) != bool(row["reason"]):
            yield f"{row['key']}: answer {answer!r} with reason {row['reason']!r}"
        if problem := _source_of_answer(row):
            yield f"{row['key']}: {problem}"
        told = answer.lower() if published and answer is not None else answer
        if answer is not None and row["options"] and told not in row["options"]:
            yield f"{row['key']}: {answer!r} is none of its options {', '.join(row['options'])}"
        if kind.answer == "yes/no" and row["options"] != [NO, YES]:
            yield f"{row['key']}: a {kind.name} question whose options are {row['options']}"


def _source_of_answer(row: Row) -> str:
    """Describe what is wrong with where an answer comes from, or why there is none; empty if nothing is."""
    source, reason = row["decided_by"], row["reason"]
    if reason and reason not in (*REASONS, NOT_PUBLISHED):
        return f"there is no reason {reason!r}"
    decided = row["answer"] is not None or reason == CONFLICT
    if bool(source) != decided or (row["is_root"] and source not in ("", ROOT)):
        return f"decided_by is {source!r}, the answer {row['answer']!r}"
    if reason == CONFLICT:
        return "" if source.count(", ") >= 1 else f"decided_by is {source!r}, which does not name who contradicts whom"
    if not row["is_root"] and source not in SOURCES and source not in load_agqa().rules:
        return f"decided_by is {source!r}"
    return ""


def check_texts(output: FinishedOutput) -> Iterator[str]:
    """In a video a sub-question's text belongs to one meaning, and a meaning to one sub-question.

    Published graphs are left out: their notation is their own.
    """
    if is_published(output):
        return
    for video in by_video(output):
        programs: dict[str, set[str]] = defaultdict(set)
        keys: dict[str, list[str]] = defaultdict(list)
        for key, row in video.questions.items():
            if not row["is_root"]:
                programs[row["question"]].add(row["program"])
                keys[row["program"]].append(key)
        for text, meant in programs.items():
            if len(meant) > 1:
                yield f"{video.video_id}: {text!r} stands for {len(meant)} programs"
        for program, asked in keys.items():
            if len(asked) > 1:
                yield f"{video.video_id}: {program} is asked as {', '.join(asked)}"


def check_answers(output: FinishedOutput) -> Iterator[str]:
    """No question's answer contradicts those of the questions that it is composed of, by any rule of any graph.

    Where roots are AGQA's, two of them may contradict each other, which is not ours to mend; so may published answers.
    """
    if is_published(output):
        return
    given = settings_of(output.info).collection == "agqa"
    for video in by_video(output):
        for graph in video.graphs:
            nodes = video.nodes(graph)
            if nodes is None:
                continue  # `check_graphs` tells
            for edge in graph["edges"]:
                if not all(0 <= place < len(nodes) for place in (edge["parent"], *edge["children"])):
                    continue
                parent, children = nodes[edge["parent"]], [nodes[child] for child in edge["children"]]
                if given and parent["is_root"]:
                    children = [{**row, "answer": None} if row["is_root"] else row for row in children]
                if problem := contradiction(edge["rule"], parent, children):
                    yield f"{graph['root']}: {parent['key']}: {problem}"


def contradiction(rule: str, parent: Row, children: Sequence[Row]) -> str:
    """Describe what is contradictory between the answers of a parent and its children; empty if nothing is.

    Args:
        rule: The composition rule.
        parent: The parent's row.
        children: The children's rows in order.
    """
    answer, answers = parent["answer"], [row["answer"] for row in children]
    if answer is None or (len(children) != 2 - (rule in ("First", "Last")) and rule not in IMPLYING):
        return ""
    said = f"{rule} of {' and '.join(map(str, answers))} is {answer}"
    match rule:
        case "Interaction" | "After" | "Before" | "While" | "Between" | "Longer Choose" | "Shorter Choose":
            wrong = answer != NO and NO in answers
        case "And" | "Xor":
            needed = [YES, YES if rule == "And" else NO]
            missed = [one is not None and one != need for one, need in zip(answers, needed, strict=True)]
            wrong = any(missed) if answer == YES else answers == needed
        case "Choose":
            options = list(parent["options"])
            expected = [verdict(answer == option) for option in options]
            wrong = len(options) == 2 and any(
                one is not None and one != other for one, other in zip(answers, expected, strict=True)
            )
        case "Equals":
            wrong = _differs(parent, children)
        case _:  # the only one is the first and the last
            wrong = children[0]["kind"].startswith("Object") and answers[0] not in (None, answer)
    return said if wrong else ""


def _differs(parent: Row, children: Sequence[Row]) -> bool:
    """Return whether an Equals contradicts what is compared: an object and a question for one."""
    first, second = children
    if second["answer"] is None or parent["kind"] != "Object Equals":
        return False
    name = named_object(parent["program"]) or first["answer"]
    return name is not None and (parent["answer"] == YES) != (name == second["answer"])


def check_videos(output: FinishedOutput) -> Iterator[str]:
    """Every video that is asked about is in config `videos`, once, and in one split."""
    splits: dict[str, set[str]] = defaultdict(set)
    for split in output.splits(QUESTIONS.name):
        for row in output.rows(QUESTIONS.name, ["video_id"], split):
            splits[row["video_id"]].add(split)
    for video, names in splits.items():
        if len(names) > 1:
            yield f"{video} is in {' and '.join(sorted(names))}"
    if VIDEOS.name in output.info["counts"]:
        there = Counter(row["video_id"] for row in output.rows(VIDEOS.name, ["video_id"]))
        yield from (
            f"{video} is asked about, and not in config videos" for video in sorted(splits.keys() - there.keys())
        )
        yield from (f"{video} is in config videos {count} times" for video, count in there.items() if count > 1)


def decomp_checks(info: Mapping[str, Any], options: VerifyOptions) -> dict[str, Check]:
    """Return the checks of a build, cheap ones first."""
    checks: dict[str, Check] = {
        "source": check_source,
        "kinds": check_kinds,
        "videos and splits": check_videos,
        "graphs": check_graphs,
        "rules": check_rules,
        "texts": check_texts,
        "programs": check_programs,
        "answers": check_answers,
        "annotations": lambda output: check_annotations(output, options),
    }
    if settings_of(info).embed == "yes":
        if options.decode:
            checks["decoded"] = lambda output: check_decoded(output, options.workers)
            checks["decord"] = lambda output: check_decord(output, options.workers)
        checks["sources"] = lambda output: check_files(output, options)
    return checks

"""Score answers to graphs of sub-questions.

AGQA-Decomp (Gandhi et al. 2022): accuracy, compositional accuracy (CA), right for the wrong reasons (RWR) and internal
consistency (IC), as in the authors' released scorer except for the differences listed in `question_graphs`.
Compositional precision, recall and F1 are those of VA³ (Liao et al. 2024, arXiv 2407.03008).

* **Accuracy** of a group: mean over correct answers of the accuracy on the questions with this answer, so that always
  predicting the most frequent answer does not score well. Overall accuracy is computed in the same way over all
  questions.
* **CA**: accuracy on parents whose children are all answered correctly. **RWR**: on those with an incorrectly answered
  child; **RWR-n** with n of them. **Delta** = RWR − CA. Children of excluded categories or without a known answer are
  ignored, and so are parents without other children. Scores by rule count each (parent, rule); scores by group count
  each parent with the children of all its rules. CA, RWR and Delta without a qualifier are over all rules.
* **IC** of a rule: mean of its two counters; of a group: mean of the counters of its rules; overall: mean of all 18. It
  is undefined if a counter never applied. Our "IC (defined)" is the mean of those that did.
* **cP**: with A "the parent is correct" and B "all its children are correct", cP = P(B | A), cR = P(A | B), and c-F1 is
  their harmonic mean; cP⁻, cR⁻ and c-F1⁻ are the same for not A and not B. Parents and children are those of CA, so cR
  equals CA by parents.
* **Correlation**: Pearson's correlation, over graphs, of the fraction of consistent (parent, rule) and the fraction of
  correct answers.

Scores range from 0 to 1, Delta from −1 to 1; NaN corresponds to the scorer's N/A. A question counts once per video, at
its first occurrence, except that the correlation uses each graph separately.

A question without a prediction counts neither as correct nor as incorrect. A parent is excluded from CA, RWR, c-F1 and
IC if a child that they use has no prediction, as it would otherwise count as correct in all its children although one
is unknown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...core.errors import InputError
from ...core.results import Cell, Estimate, Table
from ...evaluation.metrics.bootstrap import Floats, Means, Measure, Tally
from .question_graphs import (
    AFTER,
    ANSWERED_YES_NO,
    BANNED,
    BEFORE,
    CONSISTENCY,
    CONSISTENCY_OF_GROUP,
    COUNTERS,
    GROUP_OF,
    NO,
    OVERALL,
    RULES,
    SCORED_GROUPS,
    YES,
    Edge,
    Node,
    ReadAnswers,
    VideoGraphs,
    check_graph,
    children_by_rule,
    comparable,
    consistency,
    read_answers,
    single_verdict,
)

BINARY = frozenset({YES, NO, BEFORE, AFTER})
BY_RULE, BY_GROUP = "rule", "group"
PLAIN = "plain accuracy"
"""The share of questions answered correctly, which harnesses report as accuracy."""
MOST_WRONG = 5
"""Number of wrong children up to which tables list RWR-n."""
SLICES = ("all", "main", "sub", "binary", "open")
ALMOST_CONSTANT = 1e-12
"""Variance below which a fraction is the same in all graphs."""

Name = tuple[str, ...]


@dataclass
class AnswerCounts:
    """How many questions, predictions and graphs were scored.

    Attributes:
        missing: Number of questions without a prediction, which are excluded.
        unreadable: Keys of questions with an unreadable prediction.
        graphs: Number of graphs with more than one question.
        isolated: Number of graphs with only one question.
    """

    questions: int = 0
    missing: int = 0
    unreadable: list[str] = field(default_factory=list)
    graphs: int = 0
    isolated: int = 0


class _Sums:
    def __init__(self) -> None:
        self.sums = defaultdict[Name, float](float)
        self.counts = defaultdict[Name, int](int)

    def add(self, name: Name, value: float) -> None:
        self.sums[name] += value
        self.counts[name] += 1


def count(
    videos: Iterable[VideoGraphs],
    predictions: Mapping[str, str],
    *,
    released: bool = False,
    left_out: Collection[str] = (),
) -> tuple[Tally, AnswerCounts]:
    """Sum correct and consistent answers by video, holding one video in memory at a time.

    Questions without an answer in `predictions` are excluded. The groups in `left_out`, such as `constant_groups`, are
    excluded from accuracy. `released` counts like the released scorer; see `question_graphs`.

    Returns:
        The sums, and counts of questions. Cells are parts joined by "|": "accuracy|<group>|<answer>"; "plain accuracy"
            over all questions; "CA", "RWR" and "RWR-<n>" of "rule|<rule>" or "group|<group>";
            "IC|rule|<rule>|<counter>" and "IC|group|<group>|<rule>|<counter>", 1 if consistent; "cP", "cR", "cP⁻" and
            "cR⁻" of a slice ("cP|all", main, sub, binary, open); and the moments of both fractions of a graph,
            "graph|IC", "graph|accuracy", "graph|IC²", "graph|accuracy²", "graph|IC·accuracy".

    Raises:
        InputError: A graph is invalid (`question_graphs.check_graph`), a video occurs twice, or no question can be
            scored.
    """
    by_source: dict[str, _Sums] = {}
    answer_counts = AnswerCounts()
    for video in videos:
        if video.video_id in by_source:
            raise InputError(f"video {video.video_id!r} occurs twice. Provide all graphs about a video together.")
        used = dict.fromkeys(key for graph in video.graphs for key in graph.nodes)
        for graph in video.graphs:
            check_graph(graph, video.nodes)
        answers = read_answers((video.nodes[key] for key in used), predictions, released=released)
        sums = by_source[video.video_id] = _count_video(video, answers, {key: index for index, key in enumerate(used)})
        for name in [name for name in sums.counts if name[0] == "accuracy"]:
            if name[1] in left_out:
                del sums.sums[name], sums.counts[name]
            else:
                sums.sums["accuracy", OVERALL, name[2]] += sums.sums[name]
                sums.counts["accuracy", OVERALL, name[2]] += sums.counts[name]
                sums.sums[(PLAIN,)] += sums.sums[name]
                sums.counts[(PLAIN,)] += sums.counts[name]
        answer_counts.questions += sum(node.kind not in BANNED for node in answers.nodes)
        answer_counts.missing += len(answers.missing)
        answer_counts.unreadable += answers.unreadable
        answer_counts.graphs += sum(bool(graph.edges) for graph in video.graphs)
        answer_counts.isolated += sum(not graph.edges for graph in video.graphs)
    if not answer_counts.graphs + answer_counts.isolated:
        raise InputError("there are no question graphs to score. Provide the graphs of at least one video.")
    names = sorted({name for sums in by_source.values() for name in sums.counts})
    if not names:
        raise InputError(
            "nothing in these question graphs can be scored: no scored question has a correct answer, and no two "
            "answers can be compared. Provide graphs with correct answers, and answers to their questions."
        )
    sources = sorted(by_source)
    totals, counts = (
        np.array([[float(of[name]) for name in names] for of in rows])
        for rows in ([by_source[source].sums for source in sources], [by_source[source].counts for source in sources])
    )
    return Tally(tuple(sources), tuple("|".join(name) for name in names), totals, counts).answered(), answer_counts


def constant_groups(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return the groups in which all yes/no questions have the same correct answer."""
    truths = defaultdict[str, set[str | None]](set)
    for node in nodes:
        if node.kind in ANSWERED_YES_NO and node.answer is not None:
            truths[GROUP_OF[node.kind]].add(comparable(node.answer, node.kind))
    return tuple(group for group in SCORED_GROUPS if len(truths[group]) == 1)


def _count_video(video: VideoGraphs, answers: ReadAnswers, index: Mapping[str, int]) -> _Sums:
    sums = _Sums()
    seen, composed, checked = set[str](), set[str](), set[str]()
    roots = {index[graph.root] for graph in video.graphs}
    for graph in video.graphs:
        at = [index[key] for key in graph.nodes]
        # The released scorer reads isolated questions from a separate file and counts all of them.
        apart = answers.released and not graph.edges
        for node in at:
            if answers.right[node] is None or (not apart and answers.names[node] in seen):
                continue
            if not apart:
                seen.add(answers.names[node])
            right, truth = float(answers.right[node] or 0), answers.truths[node] or ""
            sums.add(("accuracy", GROUP_OF[answers.nodes[node].kind], truth), right)
        edges = (
            Edge(at[parent], rule, tuple([at[child] for child in children])) for parent, rule, children in graph.edges
        )
        rules = children_by_rule(edges)
        judged = consistent = 0
        for parent, by_rule in rules.items():
            if answers.nodes[parent].kind in BANNED:
                continue
            name, group = answers.names[parent], GROUP_OF[answers.nodes[parent].kind]
            if answers.right[parent] is not None and name not in composed:
                composed.add(name)
                _add_composed(sums, answers, parent, by_rule, parent in roots)
            new = name not in checked
            checked.add(name)
            for rule in by_rule:
                verdict = consistency(answers, rules, parent, rule)
                if new:
                    for counter, wrong in zip(CONSISTENCY.get(rule, ()), verdict, strict=False):
                        if wrong is not None:
                            sums.add(("IC", BY_RULE, rule, counter), float(not wrong))
                            sums.add(("IC", BY_GROUP, group, rule, counter), float(not wrong))
                single = single_verdict(verdict, rule, answers.says[parent])
                judged += single is not None
                consistent += single is False
        known = [of for node in at if (of := answers.right[node]) is not None]
        if judged and known:
            ic, accuracy = consistent / judged, sum(known) / len(known)
            moments = {"IC": ic, "accuracy": accuracy, "IC²": ic * ic, "accuracy²": accuracy * accuracy}
            for moment, value in {**moments, "IC·accuracy": ic * accuracy}.items():
                sums.add(("graph", moment), value)
    return sums


def _add_composed(
    sums: _Sums, answers: ReadAnswers, parent: int, by_rule: Mapping[str, Sequence[int]], is_main: bool
) -> None:
    right = bool(answers.right[parent])
    every: dict[str, bool] = {}
    lacking = False
    for rule, children in by_rule.items():
        if any(answers.absent[child] and answers.truths[child] is not None for child in children):
            lacking = True
            continue
        counted = [child for child in children if answers.right[child] is not None]
        every |= {answers.names[child]: bool(answers.right[child]) for child in counted}
        if counted:
            _add_bucket(sums, BY_RULE, rule, right, sum(not answers.right[child] for child in counted))
    if lacking or not every:
        return
    wrong = sum(not is_right for is_right in every.values())
    _add_bucket(sums, BY_GROUP, GROUP_OF[answers.nodes[parent].kind], right, wrong)
    is_binary = answers.truths[parent] in BINARY
    for part in ("all", "main" if is_main else "sub", "binary" if is_binary else "open"):
        sums.add(("cP" if right else "cP⁻", part), float((not wrong) == right))
        sums.add(("cR⁻" if wrong else "cR", part), float((not wrong) == right))


def _add_bucket(sums: _Sums, by: str, name: str, right: bool, wrong: int) -> None:
    for label in (name, OVERALL):
        if wrong:
            sums.add(("RWR", by, label), float(right))
            sums.add((f"RWR-{wrong}", by, label), float(right))
        else:
            sums.add(("CA", by, label), float(right))


def measure(cells: Sequence[str]) -> Measure:
    """Return a function that computes the scores from the means of `count`'s cells.

    The scores are "plain accuracy", "accuracy", "accuracy of <group>", "CA", "RWR", "Delta", "IC", "IC (defined)",
    "c-F1", "c-F1⁻" and "IC–accuracy correlation". A qualifier follows a comma: "CA, After", "CA, parents", "CA, Choose
    parents", the same for RWR and Delta, "IC, After" and "IC, Choose parents". Scores without cells are omitted.

    Accuracy and IC are means over cells and therefore use `bootstrap.Means.expanded`.
    """
    by_group: dict[str, list[str]] = {}
    for name in cells:
        if name.startswith("accuracy|"):
            by_group.setdefault(name.split("|", 2)[1], []).append(name)

    def scores(means: Means) -> dict[str, Floats]:
        undefined = np.full_like(next(iter(means.values())), np.nan)

        def mean(*name: str) -> Floats:
            return means.get("|".join(name), undefined)

        def counter(*name: str) -> Floats:
            return means.expanded.get("|".join(("IC", *name)), undefined)

        result = {PLAIN: means[PLAIN]} if PLAIN in means else {}
        result |= {
            "accuracy" if group == OVERALL else f"accuracy of {group}": _mean_of_defined(
                [means.expanded[of] for of in by_group[group]]
            )
            for group in (OVERALL, *SCORED_GROUPS)
            if group in by_group
        }
        for by, names in ((BY_RULE, (OVERALL, *RULES)), (BY_GROUP, (OVERALL, *SCORED_GROUPS))):
            for name in names:
                if any(f"{score}|{by}|{name}" in means for score in ("CA", "RWR")):
                    right, wrong = (mean(score, by, name) for score in ("CA", "RWR"))
                    behind = _behind(by, name)
                    result |= {f"CA{behind}": right, f"RWR{behind}": wrong, f"Delta{behind}": wrong - right}
        counters = [counter(BY_RULE, *counter_name) for counter_name in COUNTERS]
        if any(name.startswith("IC|") for name in means):
            result["IC"] = _mean(counters)
            result["IC (defined)"] = _mean_of_defined(counters)
        for by, rules in ((BY_RULE, {rule: (rule,) for rule in CONSISTENCY}), (BY_GROUP, CONSISTENCY_OF_GROUP)):
            for name, allowed in rules.items():
                within = () if by == BY_RULE else (name,)
                these = [(by, *within, *counter_name) for counter_name in COUNTERS if counter_name[0] in allowed]
                if any("|".join(("IC", *counter_name)) in means for counter_name in these):
                    result[f"IC{_behind(by, name)}"] = _mean([counter(*counter_name) for counter_name in these])
        for sign in ("", "⁻"):
            for part in SLICES:
                if f"cP{sign}|{part}" in means or f"cR{sign}|{part}" in means:
                    behind = "" if part == "all" else f", {part}"
                    result[f"c-F1{sign}{behind}"] = _harmonic(mean(f"cP{sign}", part), mean(f"cR{sign}", part))
        if "graph|IC" in means:
            result["IC–accuracy correlation"] = _pearson(means)
        return result

    return scores


def _behind(by: str, name: str) -> str:
    if by == BY_RULE:
        return "" if name == OVERALL else f", {name}"
    return ", parents" if name == OVERALL else f", {name} parents"


def _mean_of_defined(values: Sequence[Floats]) -> Floats:
    """Average the values that are defined, limited to 0 to 1, which expanded means may exceed."""
    stacked = np.stack(values)
    there = ~np.isnan(stacked)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(there, stacked, 0).sum(axis=0) / there.sum(axis=0)
    return np.clip(mean, 0, 1)


def _mean(values: Sequence[Floats]) -> Floats:
    mean: Floats = np.mean(values, axis=0)
    return np.clip(mean, 0, 1)


def _harmonic(first: Floats, second: Floats) -> Floats:
    """Return the harmonic mean, which is 0 for two zeros."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(first + second == 0, 0.0, 2 * first * second / (first + second))


def _pearson(means: Means) -> Floats:
    first, second = means["graph|IC"], means["graph|accuracy"]
    spread = means["graph|IC²"] - first**2, means["graph|accuracy²"] - second**2
    varied = (spread[0] > ALMOST_CONSTANT) & (spread[1] > ALMOST_CONSTANT)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = (means["graph|IC·accuracy"] - first * second) / np.sqrt(spread[0] * spread[1])
    bounded: Floats = np.where(varied, np.clip(correlation, -1, 1), np.nan)
    return bounded


def headline(scored: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Return the scores without a qualifier, and the accuracy of each group."""
    return {name: value for name, value in scored.items() if ", " not in name}


def tables(
    counted: Tally, scored: Mapping[str, Estimate], constants: Mapping[str, Tally] | None = None
) -> tuple[Table, ...]:
    """Return tables of accuracy, compositional accuracy, consistency and compositional F1.

    `constants` are sums of constant baselines on the same graphs, which are shown beside the consistency.
    """
    means, totals = counted.whole(), counted.totals()
    return (
        _accuracies(scored, means, totals),
        *(_composed(scored, means, totals, by) for by in (BY_RULE, BY_GROUP)),
        *_consistencies(scored, means, totals, constants or {}),
        _compositional_f1(means, totals),
    )


def _accuracies(scored: Mapping[str, Estimate], means: Mapping[str, float], totals: Mapping[str, int]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in (*SCORED_GROUPS, OVERALL):
        cells = {name.split("|", 2)[2]: name for name in totals if name.startswith(f"accuracy|{group}|")}
        if cells:
            total = sum(totals[name] for name in cells.values())
            plain = sum(means[name] * totals[name] for name in cells.values()) / total
            score = scored["accuracy" if group == OVERALL else f"accuracy of {group}"]
            sides = (means.get(f"accuracy|{group}|{answer}") for answer in (YES, NO))
            rows.append((group, score, plain, *sides, len(cells), total))
    return Table(
        "accuracy",
        "Accuracy by group",
        ("group", "accuracy", "plain", "on yes", "on no", "answers", "questions"),
        tuple(rows),
        "Accuracy is the mean over correct answers; plain is the mean over questions.",
    )


def _composed(scored: Mapping[str, Estimate], means: Mapping[str, float], totals: Mapping[str, int], by: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in (*(RULES if by == BY_RULE else SCORED_GROUPS), OVERALL):
        behind = _behind(by, name)
        both = (scored.get(f"{score}{behind}") for score in ("CA", "RWR", "Delta"))
        fine = (means.get(f"RWR-{wrong}|{by}|{name}") for wrong in range(1, MOST_WRONG + 1))
        counts = (totals.get(f"{score}|{by}|{name}", 0) for score in ("CA", "RWR"))
        rows.append((name, *both, *fine, *counts))
    what = "rule" if by == BY_RULE else "group of the parent"
    return Table(
        f"composition_by_{by}",
        f"Compositional accuracy by {what}",
        (what, "CA", "RWR", "Delta", *(f"RWR-{wrong}" for wrong in range(1, MOST_WRONG + 1)), "n CA", "n RWR"),
        tuple(rows),
        "Accuracy on parents whose children are all correct (CA) or not (RWR; RWR-n: n of them incorrect).",
    )


def _consistencies(
    scored: Mapping[str, Estimate],
    means: Mapping[str, float],
    totals: Mapping[str, int],
    constants: Mapping[str, Tally],
) -> tuple[Table, ...]:
    baselines = {name: of.whole() for name, of in constants.items()}
    of_constants = {
        name: {
            score: float(value[0])
            for score, value in measure(of.cells)(of.means(np.ones((1, len(of.sources))))).items()
        }
        for name, of in constants.items()
    }
    counters = tuple(
        (rule, counter, means.get(cell), totals.get(cell, 0), *(baseline.get(cell) for baseline in baselines.values()))
        for rule, counter in COUNTERS
        for cell in [f"IC|{BY_RULE}|{rule}|{counter}"]
    )
    names = [
        *((f"IC{_behind(BY_RULE, rule)}", f"rule {rule}") for rule in CONSISTENCY),
        *((f"IC{_behind(BY_GROUP, group)}", f"group {group}") for group in CONSISTENCY_OF_GROUP),
        ("IC", OVERALL),
        ("IC (defined)", "Overall, of counters that counted"),
    ]
    return (
        Table(
            "consistency_counters",
            "Consistency by counter",
            ("rule", "counter", "IC", "counted", *(f"IC of {name}" for name in constants)),
            counters,
            "Contradictory answers can violate both counters of a rule.",
        ),
        Table(
            "consistency",
            "Internal consistency",
            ("of", "IC", *(f"IC of {name}" for name in constants)),
            tuple((label, scored.get(name), *(of.get(name) for of in of_constants.values())) for name, label in names),
            "Constant answers never contradict each other: compare with them.",
        ),
    )


def _compositional_f1(means: Mapping[str, float], totals: Mapping[str, int]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for part in SLICES:
        values: list[Cell] = []
        for sign in ("", "⁻"):
            pair = [means.get(f"{score}{sign}|{part}", np.nan) for score in ("cP", "cR")]
            values += [*pair, float(_harmonic(np.array(pair[0]), np.array(pair[1])))]
        rows.append((part, *values, sum(totals.get(f"{score}|{part}", 0) for score in ("cP", "cP⁻"))))
    return Table(
        "compositional_f1",
        "Compositional precision, recall and F1",
        ("parents", "cP", "cR", "c-F1", "cP⁻", "cR⁻", "c-F1⁻", "n"),
        tuple(rows),
        "Main: roots of graphs; sub: their sub-questions. Binary: the correct answer is yes, no, before or after.",
    )

"""Scores of graphs of sub-questions: hand-made graphs, models whose scores are known, and a slow second program."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.core.results import text_table
from stressreel.evaluation.metrics.bootstrap import Tally, estimates
from stressreel.evaluation.metrics.compositional_accuracy import count, headline, measure, tables
from stressreel.evaluation.metrics.question_graphs import (
    BANNED,
    GROUP_OF,
    RULES,
    SCORED_GROUPS,
    Edge,
    Node,
    QuestionGraph,
    VideoGraphs,
)
from sub_questions import Asked, choice, figure_one, one_graph

OBJECTS = ("phone", "dish")
NONE = pytest.approx(float("nan"), nan_ok=True)


def cells(counted: Tally) -> dict[str, tuple[int, int]]:
    """What is right of how many, by cell."""
    sums, counts = counted.sums.sum(axis=0), counted.counts.sum(axis=0)
    return {name: (round(a), round(b)) for name, a, b in zip(counted.cells, sums, counts, strict=True)}


def values(counted: Tally) -> dict[str, float]:
    whole = measure(counted.cells)(counted.means(np.ones((1, len(counted.sources)))))
    return {name: float(value[0]) for name, value in whole.items()}


def score(video: VideoGraphs, said: Mapping[str, str], *, released: bool = False) -> dict[str, float]:
    return values(count([video], said, released=released)[0])


def truths(*videos: VideoGraphs) -> dict[str, str]:
    """What a model says that is always right; of questions without a right answer, yes."""
    return {node.key: node.answer or "yes" for video in videos for node in video.nodes.values()}


# Accuracy


def test_accuracy_is_the_mean_over_right_answers() -> None:
    video = one_graph(
        {
            **{f"y{n}": ("Interaction", "yes") for n in range(3)},
            "n": ("Interaction", "no"),
            "e": ("Object Exists", "no"),
            "f": ("First Object", "phone"),
            "banned": ("Object", "phone"),
            "null": ("Interaction", None),
        }
    )
    said = {"y0": "yes", "y1": "yes", "y2": "no", "n": "no", "e": "yes", "f": "dish", "banned": "phone", "null": "no"}
    found = score(video, said)
    assert found["accuracy of Interaction"] == pytest.approx((2 / 3 + 1 / 1) / 2)
    assert found["accuracy of Object Exists"] == 0
    # Over answers, not over groups: yes 2 of 3, no 1 of 2, phone 0 of 1.
    assert found["accuracy"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert found["plain accuracy"] == 3 / 6
    assert "accuracy of Choose" not in found
    counted = count([video], said)[0]
    assert not any("accuracy|Object|" in name for name in counted.cells)


def shared(text_of_b: str) -> VideoGraphs:
    """Two graphs of one video; a is in both, b1 and b2 have a key each."""
    nodes = {
        key: Node(key, "v", text, kind, answer)
        for key, text, kind, answer in (
            ("a", "a?", "Interaction", "yes"),
            ("b1", "b?", "Interaction", "yes"),
            ("r1", "r1?", "And", "yes"),
            ("b2", text_of_b, "Interaction", "yes"),
            ("r2", "r2?", "And", "yes"),
        )
    }
    both = [QuestionGraph(f"r{n}", "v", ("a", f"b{n}", f"r{n}"), (Edge(2, "And", (0, 1)),)) for n in (1, 2)]
    return VideoGraphs("v", nodes, both)


def test_a_question_counts_once_by_key_or_by_text() -> None:
    video = shared("b?")
    said = truths(video) | {"b1": "no"}
    assert cells(count([video], said)[0])["accuracy|Interaction|yes"] == (2, 3)
    assert cells(count([video], said, released=True)[0])["accuracy|Interaction|yes"] == (1, 2)  # the first wins
    assert cells(count([shared("c?")], said, released=True)[0])["accuracy|Interaction|yes"] == (2, 3)


# Composition


def test_compositional_accuracy_of_a_graph_by_hand() -> None:
    said = truths(figure_one()) | {"picture": "no", "taking": "no", "touching after": "no"}
    found = cells(count([figure_one()], said)[0])
    # taking ← picture wrong; touching after ← taking wrong; root ← both right; First has banned children only.
    assert (found["RWR|rule|Interaction"], found["RWR-1|rule|Interaction"]) == ((0, 1), (0, 1))
    assert (found["RWR|rule|After"], found["RWR-1|rule|After"]) == ((0, 1), (0, 1))
    assert found["CA|rule|Equals"] == (1, 1)
    assert (found["CA|rule|Overall"], found["RWR|rule|Overall"]) == ((1, 1), (0, 2))
    assert (found["RWR|group|Interaction"], found["RWR|group|Exists Temporal Localization"]) == ((0, 1), (0, 1))
    assert (found["CA|group|Equals"], found["CA|group|Overall"]) == ((1, 1), (1, 1))
    assert not any("|First" in name for name in found if name.startswith(("CA", "RWR")))
    result = values(count([figure_one()], said)[0])
    assert (result["CA"], result["RWR"], result["Delta"]) == (1, 0, -1)
    assert result["Delta, After"] == NONE
    assert result["CA, After"] == NONE
    assert "Delta, First" not in result


def test_compositional_precision_and_recall_by_hand() -> None:
    parts: dict[str, Asked] = {}
    rules = []
    for name, answer in (("a", "yes"), ("b", "yes"), ("c", "no"), ("d", "phone")):
        kind = "Choose" if answer == "phone" else "Interaction After"
        parts |= {f"{name}0": ("Interaction", "yes"), name: (kind, answer)}
        rules.append((name, "Longer Choose" if answer == "phone" else "After", [f"{name}0"]))
    parts["root"] = ("And", "yes")
    rules.append(("root", "And", ["a", "b"]))
    video = one_graph(parts, rules)
    said = truths(video) | {"a": "no", "b0": "no", "d": "dish", "d0": "no"}
    # A and B of each: a 0 1; b 1 0; c 1 1; d 0 0; root 1 0.
    found = cells(count([video], said)[0])
    assert [found[f"{name}|all"] for name in ("cP", "cR", "cP⁻", "cR⁻")] == [(1, 3), (1, 2), (1, 2), (1, 3)]
    assert [found.get(f"{name}|main") for name in ("cP", "cR", "cP⁻", "cR⁻")] == [(0, 1), None, None, (0, 1)]
    assert [found[f"{name}|sub"] for name in ("cP", "cR", "cP⁻", "cR⁻")] == [(1, 2), (1, 2), (1, 2), (1, 2)]
    assert [found.get(f"{name}|open") for name in ("cP", "cR", "cP⁻", "cR⁻")] == [None, None, (1, 1), (1, 1)]
    assert found["cP|binary"] == (1, 3)
    result = values(count([video], said)[0])
    assert result["c-F1"] == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    assert result["c-F1⁻"] == pytest.approx(2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))
    assert result["c-F1, main"] == NONE
    assert result["c-F1⁻, open"] == 1
    assert result["CA, parents"] == found["cR|all"][0] / found["cR|all"][1]


# What is not answered, and what cannot be scored


def test_missing_answers_are_left_out_unreadable_ones_are_wrong_and_both_are_reported() -> None:
    said = truths(figure_one()) | {"phone": "who knows"}
    del said["picture"], said["what"]
    counted, asked = count([figure_one()], said)
    assert cells(counted)["accuracy|Object Exists|yes"] == (0, 1)
    assert asked.missing == 1
    assert asked.unreadable == ["phone"]
    assert count([figure_one()], said, released=True)[1].unreadable == []
    _, asked = count([figure_one()], {"root": "yes"})
    assert asked.missing == 7


def test_a_parent_is_left_out_if_one_of_its_children_is_missing() -> None:
    said = truths(figure_one())
    whole = cells(count([figure_one()], said)[0])
    del said["picture"]  # of taking, by Interaction
    counted = cells(count([figure_one()], said)[0])
    assert not [name for name in counted if name.startswith(("CA|rule|Interaction", "RWR", "IC|rule|Interaction"))]
    assert counted["CA|rule|After"] == (1, 1)
    assert counted["CA|group|Overall"] == (whole["CA|group|Overall"][0] - 1,) * 2
    video = one_graph(
        {"a": ("Interaction", "yes"), "b": ("Interaction", "yes"), "p": ("Interaction After", "yes")},
        [("p", "Interaction", ["a"]), ("p", "After", ["b"])],
    )
    found = cells(count([video], {"b": "yes", "p": "yes"})[0])
    assert found["CA|rule|Overall"] == (1, 1)
    assert not any("|group|" in name for name in found if name.startswith("CA"))


def test_what_cannot_be_scored_is_refused() -> None:
    with pytest.raises(InputError, match="there are no question graphs"):
        count([], {})
    with pytest.raises(InputError, match="'v1' occurs twice"):
        count([figure_one(), figure_one()], {})
    with pytest.raises(InputError, match="nothing in these question graphs"):
        count([one_graph({"a": ("Interaction", None)})], {})
    bad = one_graph({"a": ("Interaction", "yes")})
    with pytest.raises(InputError, match="not a question of that video"):
        count([replace(bad, nodes={})], {})


# Tables


def test_consistency_of_a_rule_needs_both_counters_and_of_all_needs_eighteen() -> None:
    parts: dict[str, Asked] = {"a": ("Interaction", "yes"), "b": ("Interaction", "yes"), "p": ("And", "yes")}
    video = one_graph(parts, [("p", "And", ["a", "b"])])
    one_sided, both = score(video, truths(video)), score(video, {"a": "yes", "b": "no", "p": "yes"})
    assert np.isnan([one_sided[name] for name in ("IC, And", "IC, Conjunction parents", "IC")]).all()
    assert (one_sided["IC (defined)"], both["IC, And"]) == (1, 0)
    assert both["IC, Conjunction parents"] == NONE  # Xor was never counted


def test_tables_show_all_and_constant_answers_beside_consistency() -> None:
    videos = [figure_one(), replace(choice(), video_id="v2")]
    counted, _ = count(videos, truths(*videos) | {"picture": "no"})
    constant, _ = count(videos, dict.fromkeys(truths(*videos), "yes"))
    scored = estimates(counted, measure(counted.cells))
    assert list(headline(scored))[:3] == ["plain accuracy", "accuracy", "accuracy of Object Exists"]
    assert not any(", " in name for name in headline(scored))
    by_name = {table.name: table for table in tables(counted, scored, {"always yes": constant})}
    assert list(by_name) == [
        *("accuracy", "composition_by_rule", "composition_by_group", "consistency_counters", "consistency"),
        "compositional_f1",
    ]
    assert [row[0] for row in by_name["composition_by_rule"].rows] == [*RULES, "Overall"]
    assert [row[0] for row in by_name["composition_by_group"].rows] == [*SCORED_GROUPS, "Overall"]
    assert len(by_name["consistency_counters"].rows) == 18
    assert by_name["consistency"].headings == ("of", "IC", "IC of always yes")
    first = next(row for row in by_name["composition_by_rule"].rows if row[0] == "First")
    assert first[1:] == (None,) * 8 + (0, 0)
    for table in by_name.values():
        assert all(len(row) == len(table.headings) for row in table.rows)
        assert text_table(table)


# A second program, from the description of the released scorer: slow, by text, on dictionaries

YES_NO_KINDS = ["Object Exists", "Relation Exists", "Interaction", "And", "Xor"] + [
    f"{what} {time}" for what in ("Interaction", "Exists") for time in ("After", "Before", "While", "Between")
]


def as_released(video: VideoGraphs) -> Iterator[tuple[dict[str, Node], dict[str, dict[str, list[str]]]]]:
    """The graphs as the released files have them: everything by text."""
    for graph in video.graphs:
        nodes = [video.nodes[key] for key in graph.nodes]
        hierarchy: dict[str, dict[str, list[str]]] = {}
        for parent, rule, children in graph.edges:
            hierarchy.setdefault(nodes[parent].text, {})[rule] = [nodes[child].text for child in children]
        yield {node.text: node for node in nodes}, hierarchy


class Slow:
    """Counts as the description says, which stops at a missing prediction; here it is left out."""

    def __init__(self, said: Mapping[str, str]) -> None:
        self.said = said
        self.right, self.total = Counter[str](), Counter[str]()

    def add(self, name: str, value: bool) -> None:
        self.total[name] += 1
        self.right[name] += value

    def pred(self, node: Node) -> object:
        return self.said.get(node.key, object())

    def absent(self, *nodes: Node) -> bool:
        return any(node.key not in self.said and node.kind not in BANNED for node in nodes)

    def ok(self, node: Node) -> bool:
        return self.pred(node) == node.answer

    def video(self, video: VideoGraphs) -> None:
        seen, seen_parents, seen_checks = set[str](), set[str](), set[str]()
        for questions, hierarchy in as_released(video):
            for text, node in questions.items():
                if node.kind in BANNED or node.answer is None or self.absent(node) or (text in seen and hierarchy):
                    continue
                if hierarchy:
                    seen.add(text)
                self.add(f"accuracy|{GROUP_OF[node.kind]}|{node.answer}", self.ok(node))
                self.add(f"accuracy|Overall|{node.answer}", self.ok(node))
            for text, rules in hierarchy.items():
                node = questions[text]
                if node.kind in BANNED:
                    continue
                if node.answer is not None and not self.absent(node) and text not in seen_parents:
                    seen_parents.add(text)
                    for rule, children in rules.items():
                        self.bucket(node, [questions[child] for child in children], ["rule|" + rule, "rule|Overall"])
                    union = {child for children in rules.values() for child in children}
                    names = ["group|" + GROUP_OF[node.kind], "group|Overall"]
                    self.bucket(node, [questions[child] for child in union], names)
                if text not in seen_checks:
                    seen_checks.add(text)
                    for rule in rules:
                        for counter, wrong in self.checks(questions, hierarchy, text, rule).items():
                            self.add(f"IC|rule|{rule}|{counter}", not wrong)
                            self.add(f"IC|group|{GROUP_OF[node.kind]}|{rule}|{counter}", not wrong)

    def bucket(self, parent: Node, children: list[Node], names: list[str]) -> None:
        counted = [child for child in children if child.kind not in BANNED and child.answer is not None]
        wrong = [child for child in counted if not self.ok(child)]
        for name in names if counted and not self.absent(*counted) else []:
            if wrong:
                self.add("RWR|" + name, self.ok(parent))
                self.add(f"RWR-{len(wrong)}|" + name, self.ok(parent))
            else:
                self.add("CA|" + name, self.ok(parent))

    def checks(
        self, questions: dict[str, Node], hierarchy: dict[str, dict[str, list[str]]], text: str, rule: str
    ) -> dict[str, bool]:
        p = self.pred(questions[text])
        children = [questions[child] for child in hierarchy[text][rule]]
        existence = [child for child in children if child.kind in YES_NO_KINDS]
        c = [self.pred(child) for child in existence]
        found: dict[str, bool] = {}
        pair = rule in ("Xor", "Equals", "Choose")
        if self.absent(questions[text], *(children if pair else existence)):
            return found
        if rule in ("Interaction", "After", "Before", "While"):
            if p == "yes" and c:
                found["Yes"] = any(each != "yes" for each in c)
            if any(each == "no" for each in c):
                found["No"] = p != "no"
        if rule in ("And", "Between") and c:
            if p == "yes":
                found["Yes"] = any(each != "yes" for each in c)
            elif all(each == "yes" for each in c):
                found["Yes"] = True
            if p == "no":
                found["No"] = not any(each == "no" for each in c)
            elif any(each == "no" for each in c):
                found["No"] = True
        if not pair or any(child.kind in BANNED for child in children):
            return found
        c1, c2 = (self.pred(child) for child in children)
        if rule == "Xor":
            if p == "yes" or (c1 == "yes" and c2 == "no"):
                found["Yes"] = not (p == "yes" and c1 == "yes" and c2 == "no")
            if p == "no" or not (c1 == "yes" and c2 == "no"):
                found["No"] = (c1 == "yes" and c2 == "no") if p == "no" else p != "no"
        if rule == "Equals" and questions[text].kind == "Object Equals":
            if children[0].text in hierarchy:
                if p == "yes" or c1 == c2:
                    found["Yes"] = c1 != c2 if p == "yes" else p != "yes"
                if p == "no" or c1 != c2:
                    found["No"] = c1 == c2 if p == "no" else p != "no"
            else:
                o = children[0].program[10:-1]
                if p == "yes" or c2 == o:
                    found["Yes"] = (c2 != o or c1 != "yes") if p == "yes" else p != "yes"
                if p == "no" or c2 != o or c1 != "yes":
                    found["No"] = c2 == o if p == "no" else p != "no"
        if rule == "Choose" and p in ("before", "after"):
            found["Temporal"] = (c1, c2) != (("yes", "no") if p == "before" else ("no", "yes"))
        elif rule == "Choose" and isinstance(p, str):
            options = [hierarchy.get(child.text, {}).get("Equals") for child in children]
            if None not in options:
                texts = [option[0] for option in options if option]
                if f"{p} exist" in texts[0]:
                    found["Object"] = (c1, c2) != ("yes", "no")
                elif f"{p} exist" in texts[1]:
                    found["Object"] = (c1, c2) != ("no", "yes")
        return found


def slow_graph(video: VideoGraphs, graph: QuestionGraph, said: Mapping[str, str]) -> tuple[float, float] | None:
    """Consistency and accuracy of a graph; each (parent, rule) once."""
    slow = Slow(said)
    ((questions, hierarchy),) = as_released(replace(video, graphs=[graph]))
    wrong, total = 0, 0
    for text, rules in hierarchy.items():
        if questions[text].kind in BANNED:
            continue
        for rule in rules:
            found = slow.checks(questions, hierarchy, text, rule)
            said_of = slow.pred(questions[text])
            if rule != "Choose" and said_of in ("yes", "no"):
                found = {name: value for name, value in found.items() if name.lower() == said_of}
            total += bool(found)
            wrong += next(iter(found.values()), False)
    scored = [
        node
        for node in questions.values()
        if node.kind not in BANNED and node.answer is not None and not slow.absent(node)
    ]
    if not total or not scored:
        return None
    return 1 - wrong / total, sum(map(slow.ok, scored)) / len(scored)


WORDS = ("yes", "no", "before", "after", *OBJECTS)
WEIGHTED = ("And", "Xor", "Choose", "Object Equals", "Object Exists", "First Object", "Interaction After", "Object")


@st.composite
def random_videos(draw: st.DrawFn) -> tuple[list[VideoGraphs], dict[str, str]]:
    """Videos with graphs that share texts, and answers to most questions."""
    videos, said = [], dict[str, str]()
    for video in ("v1", "v2")[: draw(st.integers(1, 2))]:
        nodes: dict[str, Node] = {}
        graphs = []
        for number in range(draw(st.integers(1, 3))):
            keys: list[str] = []
            used = set[str]()
            for place in range(draw(st.integers(1, 6))):
                kind = draw(st.sampled_from(WEIGHTED) | st.sampled_from(sorted(GROUP_OF)))
                about = draw(st.sampled_from(OBJECTS))
                alone = f"{video} {number} {place}?"
                named = {"Object Exists": f"Does a {about} exist?", "Object Equals": f"Is the {about} the first?"}
                text = named.get(kind, f"{kind} {about}?" if draw(st.booleans()) else alone)
                if text in used:
                    text, about = alone, "?"
                used.add(text)
                key = f"{video}-{number}_{place}"
                answer = draw(st.none() | st.sampled_from(WORDS))
                programs = {"Object Exists": f"objExists({about})", "Object Equals": f"equals({about}, x(y))"}
                nodes[key] = Node(key, video, text, kind, answer, programs.get(kind, ""))
                keys.append(key)
                if draw(st.integers(0, 9)):
                    said[key] = draw(st.sampled_from(WORDS))
            edges = []
            for parent in range(1, len(keys)):
                kind = nodes[keys[parent]].kind
                own = {"Object Equals": ["Equals"], "Choose": ["Choose"], "Xor": ["Xor"], "And": ["And"]}.get(kind, [])
                for rule in own or draw(st.lists(st.sampled_from(RULES), max_size=2, unique=True)):
                    least, most = (2, 2) if rule in ("Equals", "Choose", "Xor") else (1, 3)
                    size = st.lists(st.integers(0, parent - 1), min_size=least, max_size=most)
                    edges.append(Edge(parent, rule, tuple(draw(size))))
            graphs.append(QuestionGraph(keys[-1], video, tuple(keys), tuple(edges)))
        videos.append(VideoGraphs(video, nodes, graphs))
    return videos, said


def slow_counts(videos: Sequence[VideoGraphs], said: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    slow = Slow(said)
    for video in videos:
        slow.video(video)
    return {name: (slow.right[name], total) for name, total in slow.total.items()}


def mine(counted: Tally) -> dict[str, tuple[int, int]]:
    return {name: of for name, of in cells(counted).items() if not name.startswith(("cP", "cR", "graph", "plain"))}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random_videos())
def test_released_counts_are_those_of_the_second_program(given: tuple[list[VideoGraphs], dict[str, str]]) -> None:
    videos, said = given
    wanted = slow_counts(videos, said)
    if not wanted:
        return
    counted, _ = count(videos, said, released=True)
    assert mine(counted) == wanted
    pairs = [of for video in videos for graph in video.graphs if (of := slow_graph(video, graph, said))]
    if pairs:
        means = counted.means(np.ones((1, len(counted.sources))))
        assert counted.totals()["graph|IC"] == len(pairs)
        assert means["graph|IC"][0] == pytest.approx(np.mean([pair[0] for pair in pairs]))
        assert means["graph|IC·accuracy"][0] == pytest.approx(np.mean([a * b for a, b in pairs]))
    found = values(counted)
    for rule in ("Interaction", "And", "Xor", "Equals", "Choose", "Between"):
        both = [a / b for name, (a, b) in wanted.items() if name.startswith(f"IC|rule|{rule}|")]
        if len(both) == 2:
            assert found[f"IC, {rule}"] == pytest.approx(np.mean(both))
    if len(pairs) > 1:
        spread = np.array(pairs).T
        wanted_correlation = np.corrcoef(spread)[0, 1] if spread.std(axis=1).min() > 1e-6 else float("nan")
        assert found["IC–accuracy correlation"] == pytest.approx(wanted_correlation, nan_ok=True)
    buckets = [wanted.get(f"{score}|rule|Overall") for score in ("CA", "RWR")]
    for score_name, bucket in zip(("CA", "RWR"), buckets, strict=True):
        if bucket:
            assert found[score_name] == pytest.approx(bucket[0] / bucket[1])
    for group in (*SCORED_GROUPS, "Overall"):
        shares = [a / b for name, (a, b) in wanted.items() if name.startswith(f"accuracy|{group}|")]
        name = "accuracy" if group == "Overall" else f"accuracy of {group}"
        assert (found[name] if shares else 0) == pytest.approx(np.mean(shares) if shares else 0)


# Intervals hold their estimates


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 25), st.integers(1, 12), st.floats(0.05, 0.95), st.floats(0, 3))
def test_an_interval_of_a_mean_over_answers_holds_its_estimate(
    seed: int, videos: int, answers: int, share: float, spread: float
) -> None:
    rng = np.random.default_rng(seed)
    counts = np.floor(rng.lognormal(0, spread, (videos, answers)) * (rng.random((videos, answers)) < share))
    counts[0, 0] += 1
    sums = np.floor(counts * rng.beta(0.4, 0.6, counts.shape) / np.maximum(1, rng.integers(1, 3) * counts**0.5))
    names = tuple(f"accuracy|Overall|{number}" for number in range(answers))
    kept = counts.sum(axis=0) > 0
    cells_of = tuple(name for name, there in zip(names, kept, strict=True) if there)
    counted = Tally(tuple(map(str, range(videos))), cells_of, sums[:, kept], counts[:, kept])
    found = estimates(counted, measure(cells_of), seed=seed)["accuracy"]
    assert found.low - 1e-9 <= found.value <= found.high + 1e-9

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.builders.decomp.compositional_accuracy import count, measure, tables
from stressreel.builders.decomp.question_graphs import RULES, Edge, Node, QuestionGraph, VideoGraphs
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.bootstrap import Tally, estimates
from sub_questions import Asked, choice, figure_one, one_graph

GROUPS = ("Interaction", "Exists Temporal Localization")
NONE = pytest.approx(float("nan"), nan_ok=True)


def cells(counted: Tally) -> dict[str, tuple[int, int]]:
    sums, counts = counted.sums.sum(axis=0), counted.counts.sum(axis=0)
    return {name: (round(a), round(b)) for name, a, b in zip(counted.cells, sums, counts, strict=True)}


def values(counted: Tally) -> dict[str, float]:
    whole = measure(counted.cells)(counted.means(np.ones((1, len(counted.sources)))))
    return {name: float(value[0]) for name, value in whole.items()}


def truths(*videos: VideoGraphs) -> dict[str, str]:
    """What a model says that is always right; of questions without a right answer, yes."""
    return {node.key: node.answer or "yes" for video in videos for node in video.nodes.values()}


def test_accuracy_averages_over_correct_answers() -> None:
    parts: dict[str, Asked] = {f"y{n}": ("Interaction", "yes") for n in range(3)}
    parts |= {"n": ("Interaction", "no"), "e": ("Object Exists", "no")}
    parts |= {"f": ("First Object", "phone"), "banned": ("Object", "phone"), "null": ("Interaction", None)}
    said = {"y0": "yes", "y1": "yes", "y2": "no", "n": "no", "e": "yes", "f": "dish", "banned": "phone", "null": "no"}
    counted, _ = count([one_graph(parts)], said)
    found = values(counted)
    assert found["accuracy of Interaction"] == pytest.approx((2 / 3 + 1 / 1) / 2)
    assert found["accuracy of Object Exists"] == 0
    # Over answers, not over groups: yes 2 of 3, no 1 of 2, phone 0 of 1.
    assert found["accuracy"] == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert found["plain accuracy"] == 3 / 6
    assert not any("accuracy|Object|" in name for name in counted.cells)


def shared(text_of_b: str) -> VideoGraphs:
    """Two graphs of one video and one of a alone; a is in all, b1 and b2 have a key each, the roots the same text."""
    texts = {"a": "a?", "b1": "b?", "r1": "r?", "b2": text_of_b, "r2": "r?"}
    nodes = {key: Node(key, "v", texts[key], "And" if key[0] == "r" else "Interaction", "yes") for key in texts}
    both = [QuestionGraph(f"r{n}", "v", ("a", f"b{n}", f"r{n}"), (Edge(2, "And", (0, 1)),)) for n in (1, 2)]
    return VideoGraphs("v", nodes, [*both, QuestionGraph("a", "v", ("a",), ())])


def test_question_counts_once_by_key_or_text() -> None:
    said = truths(shared("b?")) | {"b1": "no"}
    ours, theirs = (cells(count([shared("b?")], said, released=released)[0]) for released in (False, True))
    assert ours["accuracy|Interaction|yes"] == (2, 3)
    assert theirs["accuracy|Interaction|yes"] == (2, 3)  # of both b the first wins; a alone is counted again
    assert cells(count([shared("c?")], said, released=True)[0])["accuracy|Interaction|yes"] == (3, 4)
    assert (ours["CA|rule|And"], ours["IC|rule|And|Yes"]) == ((1, 1), (1, 2))
    assert ("CA|rule|And" in theirs, theirs["IC|rule|And|Yes"]) == (False, (0, 1))


def test_compositional_accuracy_of_a_graph_by_hand() -> None:
    said = truths(figure_one()) | {"picture": "no", "taking": "no", "touching after": "no"}
    counted, _ = count([figure_one()], said)
    # taking ← picture wrong; touching after ← taking wrong; root ← both right; First has banned children only.
    assert {name: cell for name, cell in cells(counted).items() if name.startswith(("CA|", "RWR"))} == {
        **{f"RWR{wrong}|rule|{rule}": (0, 1) for rule in ("Interaction", "After") for wrong in ("", "-1")},
        **{f"RWR{wrong}|group|{group}": (0, 1) for group in GROUPS for wrong in ("", "-1")},
        **{f"RWR{wrong}|{by}|Overall": (0, 2) for by in ("rule", "group") for wrong in ("", "-1")},
        **{f"CA|{by}|{name}": (1, 1) for by in ("rule", "group") for name in ("Equals", "Overall")},
    }
    result = values(counted)
    assert (result["CA"], result["RWR"], result["Delta"]) == (1, 0, -1)
    assert np.isnan([result["CA, After"], result["Delta, After"]]).all()
    assert "Delta, First" not in result


def test_compositional_precision_and_recall_by_hand() -> None:
    parts: dict[str, Asked] = {}
    rules = []
    for name, answer in (("a", "yes"), ("b", "yes"), ("c", "no"), ("d", "phone")):
        kind = "Choose" if answer == "phone" else "Interaction After"
        parts |= {f"{name}0": ("Interaction", "yes"), name: (kind, answer)}
        rules.append((name, "Longer Choose" if answer == "phone" else "After", [f"{name}0"]))
    video = one_graph(parts | {"root": ("And", "yes")}, [*rules, ("root", "And", ["a", "b"])])
    counted, _ = count([video], truths(video) | {"a": "no", "b0": "no", "d": "dish", "d0": "no"})
    found, result = cells(counted), values(counted)
    # A and B of each: a 0 1; b 1 0; c 1 1; d 0 0; root 1 0.
    for of, expected in (
        ("all", [(1, 3), (1, 2), (1, 2), (1, 3)]),
        ("main", [(0, 1), None, None, (0, 1)]),
        ("sub", [(1, 2), (1, 2), (1, 2), (1, 2)]),
        ("open", [None, None, (1, 1), (1, 1)]),
    ):
        assert [found.get(f"{name}|{of}") for name in ("cP", "cR", "cP⁻", "cR⁻")] == expected
    assert found["cP|binary"] == (1, 3)
    assert result["c-F1"] == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    assert (result["c-F1, main"], result["c-F1⁻, open"], result["CA, parents"]) == (NONE, 1, 1 / 2)


def test_parents_of_missing_children_are_excluded() -> None:
    said = truths(figure_one())
    del said["picture"]  # of taking, by Interaction
    counted = cells(count([figure_one()], said)[0])
    assert not [name for name in counted if name.startswith(("CA|rule|Interaction", "RWR", "IC|rule|Interaction"))]
    assert counted["CA|rule|After"] == (1, 1)
    kinds: dict[str, Asked] = {
        "a": ("Interaction", "yes"),
        "b": ("Interaction", "yes"),
        "p": ("Interaction After", "yes"),
    }
    video = one_graph(kinds, [("p", "Interaction", ["a"]), ("p", "After", ["b"])])
    found = cells(count([video], {"b": "yes", "p": "yes"})[0])
    assert {name: cell for name, cell in found.items() if name.startswith("CA")} == {
        "CA|rule|After": (1, 1),
        "CA|rule|Overall": (1, 1),
    }


def test_graphs_without_scores_are_refused() -> None:
    with pytest.raises(InputError, match="'v1' occurs twice"):
        count([figure_one(), figure_one()], {})
    with pytest.raises(InputError, match="nothing in these question graphs"):
        count([one_graph({"a": ("Interaction", None)})], {})


def test_consistency_and_its_correlation_with_accuracy() -> None:
    videos, said = [], dict[str, str]()
    # Consistent and all right, contradictory and two of three right, consistent and one of three right.
    for number, answers in enumerate(("yes yes yes", "yes no yes", "no yes no")):
        names = [f"{part}{number}" for part in "abp"]
        kinds: dict[str, Asked] = {name: ("Interaction", "yes") for name in names[:2]} | {names[2]: ("And", "yes")}
        videos.append(one_graph(kinds, [(names[2], "And", names[:2])], video=f"v{number}"))
        said |= dict(zip(names, answers.split(), strict=True))
    one_sided = values(count(videos[:1], said)[0])
    assert np.isnan([one_sided[name] for name in ("IC, And", "IC, Conjunction parents", "IC")]).all()
    assert one_sided["IC (defined)"] == 1
    counted, _ = count(videos, said)
    found, means = values(counted), counted.means(np.ones((1, 3)))
    assert (means["graph|IC"][0], means["graph|IC·accuracy"][0]) == pytest.approx((2 / 3, (1 + 0 + 1 / 3) / 3))
    assert found["IC–accuracy correlation"] == pytest.approx(np.corrcoef([1, 0, 1], [1, 2 / 3, 1 / 3])[0, 1])
    assert found["IC, And"] == pytest.approx((1 / 2 + 1 / 2) / 2)  # each counter once right, once wrong
    assert found["IC, Conjunction parents"] == NONE  # Xor was never counted


def test_tables_list_constant_baselines() -> None:
    videos = [figure_one(), replace(choice(), video_id="v2")]
    counted, _ = count(videos, truths(*videos) | {"picture": "no"})
    constant, _ = count(videos, dict.fromkeys(truths(*videos), "yes"))
    found = tables(counted, estimates(counted, measure(counted.cells)), {"always yes": constant})
    by_name = {table.name: table for table in found}
    assert [row[0] for row in by_name["composition_by_rule"].rows] == [*RULES, "Overall"]
    assert len(by_name["consistency_counters"].rows) == 18
    assert by_name["consistency"].headings == ("of", "IC", "IC of always yes")
    assert ("First", *(None,) * 8, 0, 0) in by_name["composition_by_rule"].rows
    assert all(len(row) == len(table.headings) for table in found for row in table.rows)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 25), st.integers(1, 12), st.floats(0.05, 0.95), st.floats(0, 3))
def test_interval_contains_the_mean_over_answers(seed, videos, answers, share, spread) -> None:
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

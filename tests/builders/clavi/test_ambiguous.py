"""Pairs of which A or B has another interval in the clip: they are flagged, counted, and left out of scores."""

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from changed import derived, put
from charades_files import write_charades
from commands import refuses, run
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.actions import Action, AnnotatedVideo, Segment
from stressreel.builders.clavi.pairs import Candidate, Cuts, Limits, cuts_of, recurs, released_pairs, same_class
from stressreel.builders.clavi.settings import ClaviSettings, decided
from stressreel.builders.clavi.tables import clavi_configs
from stressreel.core.output import open_output

Span = tuple[str, float, float]
A, B = ("a", 5.0, 10.0), ("b", 20.0, 26.0)
CUTS = Cuts(4_000, 11_000, 19_000, 27_000)


def candidate(*more: Span) -> Candidate:
    actions = {key: Action(key, key, key, f"verb {key}", frozenset([key])) for key in "abcx"}
    segments = tuple(Segment(actions[key], start, end) for key, start, end in (A, B, *more))
    clip = AnnotatedVideo("VIDEO", "train", "S", 90.0, segments, frozenset(), frozenset(), {})
    return Candidate(clip, segments[0], segments[1], (), "00000000")


@pytest.mark.parametrize(
    ("more", "ambiguous"),
    [
        ((), False),
        ((("a", 0, 60),), True),
        ((("b", 0, 60),), True),
        ((("b", 0, 20.5),), True),  # before B, and into it
        ((("b", 0, 5),), True),  # in the clip, which starts before A
        ((("b", 0, 4),), False),
        ((("a", 26.9, 60),), True),
        ((("a", 27, 60),), False),
        ((("a", 0, 9),), False),
        ((("b", 25, 60),), False),
        ((("a", 60, 0),), False),  # no time at all
        ((("c", 0, 60),), False),
    ],
)
def test_another_interval_makes_the_order_ambiguous(more: tuple[Span, ...], ambiguous: bool) -> None:
    assert recurs(candidate(*more), CUTS, same_class) is ambiguous


SPANS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.integers(0, 60)), max_size=4)


@given(SPANS, st.integers(0, 99))
def test_ambiguity_agrees_with_brute_force(spans: list[Span], seed: int) -> None:
    """Counted in hundredths of a second: A after its end, or B before its start, in what the clip shows."""
    settings = decided(ClaviSettings(charades="sample", seed=seed))
    last = ("x", 70.0, 75.0)  # an action elsewhere, without which no pair is selected
    for pair in released_pairs(candidate(*spans, last).video, same_class, Limits(), Counter()):
        cuts = cuts_of(pair, settings)
        shown = set(range(-(-cuts.out_a // 10), cuts.out_b // 10))
        times = {key: set() for key in "abcx"}
        for each in pair.video.segments:
            times[each.action.key] |= set(range(int(each.start_s * 100), int(each.end_s * 100)))
        late = {time for time in times[pair.a.action.key] & shown if time >= pair.a.end_s * 100}
        early = {time for time in times[pair.b.action.key] & shown if time < pair.b.start_s * 100}
        assert recurs(pair, cuts, same_class) is bool(late | early)


@pytest.mark.parametrize("given", [{"rules": "paper"}, {"strict": True}, {"relations": ("overlap",)}])
def test_no_column_where_no_pair_can_be_ambiguous(given: dict[str, object]) -> None:
    def flagged(**more: object) -> set[str]:
        tables = clavi_configs(decided(ClaviSettings(charades="sample", **more)))  # type: ignore[arg-type]
        return {table.name for table in tables if "ambiguous" in {column.name for column in table.columns}}

    assert flagged() == {"questions", "pairs"}
    assert flagged(**given) == set()


ACTIONS = {
    "CLEAR": "c008 5 10;c106 13 20;c059 40 50",
    "SPANS": "c008 5 10;c106 13 20;c008 0 50;c059 40 50",
}


@pytest.fixture(scope="module")
def charades(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_charades(tmp_path_factory.mktemp("ambiguous") / "charades", ACTIONS)


@pytest.fixture(scope="module")
def out(build_once: Callable[..., Path], charades: Path) -> Path:
    """Two pairs, one of them ambiguous; read only."""
    return build_once("build-clavi", "--charades", charades, "--no-render")


def answers(out: Path, path: Path, *, flagged: bool) -> Path:
    rows = [row for row in open_output(out).rows("questions") if flagged or not row["ambiguous"]]
    right = [{"id": row["question_id"], "answer": ("no", "yes")[row["answer"]]} for row in rows]
    path.write_text("\n".join(map(json.dumps, right)))
    return path


def test_questions_about_the_order_are_flagged(out: Path) -> None:
    pairs = {row["pair_id"]: row for row in open_output(out).rows("pairs")}
    assert sorted((row["source_id"], row["ambiguous"]) for row in pairs.values()) == [("CLEAR", False), ("SPANS", True)]
    assert {row["relation"] for row in pairs.values()} == {"sequence"}
    for row in open_output(out).rows("questions"):
        assert row["ambiguous"] is (pairs[row["pair_id"]]["ambiguous"] and row["subset"] == "complement")
    card = " ".join((out / "README.md").read_text().split())
    assert "In 1 of the 2 pairs, another interval of A" in card
    assert "16 questions are about this order" in card
    assert "A does not recur" not in card
    assert derived(out) == []
    assert all(derived(out, put(place)) for place in ("pairs.ambiguous", "questions.ambiguous", "pairs.relation"))


def test_rules_of_the_paper_exclude_the_pair(charades: Path, tmp_path: Path) -> None:
    done = run("build-clavi", "--charades", charades, "--rules", "paper", "--no-render", "--out", tmp_path / "o")
    assert done.code == 0, done.err
    assert {row["source_id"] for row in open_output(tmp_path / "o").rows("pairs") if row["class_a"] == "c008"} == {
        "CLEAR"
    }


@pytest.mark.usefixtures("paint")
@pytest.mark.parametrize("flagged", [True, False], ids=["all answered", "flagged unanswered"])
def test_scores_without_them(out: Path, tmp_path: Path, flagged: bool) -> None:
    file = answers(out, tmp_path / "p.jsonl", flagged=flagged)
    done = run("stressreel", "score", out, "--predictions", file, "--without", "ambiguous")
    assert done.code == 0, done.err
    scores = json.loads((tmp_path / "p.without-ambiguous.scores" / "scores.json").read_text())
    assert scores["without"] == "ambiguous"
    assert scores["answers"]["scored"] == 2 * 38 - 16
    assert scores["answers"].get("flagged", 0) == 16 * flagged
    couples = {(row["score"], row["subset"]): row["couples"] for row in scores["tables"]["consistent"]}
    assert couples["CAcc_V", "complement"] == couples["CAcc_T", "complement"] == 8
    assert couples["CAcc_V", "control"] == 2 * 11


def test_scores_with_and_without_them_are_not_compared(out: Path, tmp_path: Path) -> None:
    file = answers(out, tmp_path / "p.jsonl", flagged=True)
    for more in ((), ("--without", "ambiguous")):
        assert run("stressreel", "score", out, "--predictions", file, *more).code == 0
    folders = (tmp_path / "p.scores", tmp_path / "p.without-ambiguous.scores")
    refuses(run("stressreel", "compare", *folders), "answer different questions", "--without")


def test_outputs_without_the_column_are_refused(
    out: Path, build_once: Callable[..., Path], charades: Path, tmp_path: Path
) -> None:
    file = answers(out, tmp_path / "p.jsonl", flagged=True)
    causal = build_once("build-causal", "--annotations", "sample", "--no-render", "--splits", "UD")
    paper = build_once("build-clavi", "--charades", charades, "--no-render", "--rules", "paper")
    for other, name in ((causal, "ambiguous"), (paper, "ambiguous"), (out, "type")):
        done = run("stressreel", "score", other, "--predictions", file, "--without", name)
        refuses(done, f"--without {name} cannot be used", f"has no column '{name}'", code=2)


@pytest.mark.shared
def test_flags_on_real_annotations(shared: Path, tmp_path: Path) -> None:
    """Against the CSV, read here: does A happen after its end, or B before its start, within the clip?"""
    folder = shared / "data" / "charades"
    assert run("build-clavi", "--charades", folder, "--no-render", "--out", tmp_path / "o", "--no-progress").code == 0
    annotated: dict[str, list[Span]] = {}
    for path in folder.glob("Charades_v1_t*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                parts = [text.split() for text in row["actions"].split(";") if text.strip()]
                annotated[row["id"]] = [(key, float(start), float(end)) for key, start, end in parts]
    pairs = list(open_output(tmp_path / "o").rows("pairs"))
    for pair in pairs:
        spans = [span for span in annotated[pair["source_id"]] if span[1] < span[2]]
        again = any(
            max(start, pair["end_a_s"]) < min(end, pair["out_b"]) for key, start, end in spans if key == pair["class_a"]
        ) or any(
            max(start, pair["out_a"]) < min(end, pair["start_b_s"])
            for key, start, end in spans
            if key == pair["class_b"]
        )
        assert pair["ambiguous"] is again, pair
    assert sum(pair["ambiguous"] for pair in pairs) == 14
    assert sum(row["ambiguous"] for row in open_output(tmp_path / "o").rows("questions")) == 224

"""`stressreel probe` on a tiny model: every condition is asked, scored and compared with the baseline."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from commands import Ran, refuses, rows, run, succeed
from extras import needs
from stressreel.builders.clavi.benchmark import Clavi
from stressreel.core.output import open_output

pytestmark = needs("transformers")
SHORT = ("unimodal", "crossmodal", "video", "text")


@pytest.fixture(scope="session")
def model(once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    return once("qwen2-vl", tiny_models.write_qwen2_vl)


def probe(out: Path, model: Path, to: Path, *more: object) -> Ran:
    arguments = ("--transformers", model, "--to", to, "--frames", 1, "--limit", 4, "--max-tokens", 2)
    return run("stressreel", "probe", out, *arguments, "--resamples", 100, *more)


def test_every_condition_is_asked_and_compared(built: Path, model: Path, tmp_path: Path) -> None:
    done = probe(built, model, tmp_path / "p")
    assert done.code == 0, done.err
    names = ["baseline", "language-only", "video-only", *(f"{s}-{o}" for o in ("average", "knockout") for s in SHORT)]
    assert [name for name in names if name not in done.out] == []
    found = json.loads((tmp_path / "p" / "probe.json").read_text())
    (table,) = found["tables"]
    assert [row["condition"] for row in table["conditions"]] == names
    assert {path.stem for path in (tmp_path / "p").glob("*.jsonl")} == set(names)
    assert set(found["effects"]) == set(names[3:])
    for name, effect in found["effects"].items():
        assert effect["moved"] > 0, name
        assert sum(effect[quadrant] for quadrant in ("VV", "VT", "TV", "TT")) == pytest.approx(1, abs=1e-3)
    for row in table["conditions"]:
        said = tmp_path / "p" / f"{row['condition']}.jsonl"
        given = ("--predictions", said, "--partial", "--out", tmp_path / row["condition"])
        scored = run("stressreel", "score", built, *given, "--json", "--resamples", 100)
        assert json.loads(scored.out)["headline"]["accuracy"]["value"] == row["scores"]["accuracy"]["value"]
    assert "crossmodal-average" in (tmp_path / "p" / "probe.md").read_text()
    again = probe(built, model, tmp_path / "p", "--json")
    assert json.loads(again.out) == found


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "titles"), [("causal", ("A (ud, test)", "E (causal_confusion, test)")), ("suite", ("γr",))]
)
def test_every_scored_table_is_compared(
    name: str, titles: tuple[str, ...], model: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    out = request.getfixturevalue(f"built_{name}")
    more = ("--setting", "clean", "--setting", "jpeg-3") if name == "suite" else ()
    done = probe(out, model, tmp_path / "p", "--short-circuits", "text", "--operators", "average", *more)
    assert done.code == 0, done.err
    assert all(title in done.out for title in titles)
    assert "open_ended" not in done.out


@pytest.mark.full
def test_attention_of_complements_is_compared(built: Path, model: Path, tmp_path: Path) -> None:
    small = ("--frames", 1, "--max-tokens", 1, "--size", 28, "--limit", 38)
    asked = ("--transformers", model, "--to", tmp_path / "p", *small)
    more = ("--short-circuits", "text", "--operators", "average", "--attention-distances", "--pairs", 3)
    done = succeed("stressreel", "probe", built, *asked, *more, "--rounds", 2, "--resamples", 100, "--json")
    found = {row["complements"]: row for row in json.loads(done.out)["attention_distances"]}
    assert set(found) == {"text", "video"}
    for row in found.values():
        assert row["both_right"]["pairs"] + row["not_both"]["pairs"] == 3
        (mean,) = (part["mean"]["value"] for part in (row["both_right"], row["not_both"]) if part["pairs"] == 3)
        assert 0 < mean < 2**0.5
    assert "attention maps of complements" in (tmp_path / "p" / "probe.md").read_text()
    again = run("stressreel", "probe", built, *asked, *more, "--rounds", 2, "--resamples", 100, "--json")
    assert again.out == done.out


def test_complements_are_those_of_the_paper(built: Path) -> None:
    rows_by_id = {row["question_id"]: row for row in rows(built, "questions", "test")}
    found = Clavi().complements(open_output(built), "test")
    assert len({(pair.kind, pair.first, pair.second) for pair in found}) == len(found)
    videos = len({row["video_id"] for row in rows_by_id.values()})
    assert [sum(pair.kind == kind for pair in found) for kind in ("video", "text")] == [2 * videos, 2 * videos]
    for pair in found:
        first, second = rows_by_id[pair.first], rows_by_id[pair.second]
        assert first["type"] == second["type"] == "BA"
        assert first["answer"] != second["answer"]
        assert (first["video_id"] == second["video_id"]) == (pair.kind == "text")
        assert (first["question"] == second["question"]) == (pair.kind == "video")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--short-circuits", "sideways"), "must be `all`, or some of unimodal"),
        (("--operators", "mean"), "unknown operator"),
        (("--layer", "99"), "no attention module matches 99"),
    ],
)
def test_wrong_usage_is_said(built: Path, model: Path, tmp_path: Path, arguments: Any, said: str) -> None:
    refuses(probe(built, model, tmp_path / "p", *arguments), said, code=2)


def test_what_cannot_be_probed_is_refused(built_suite: Path, built_causal: Path, model: Path, tmp_path: Path) -> None:
    for chosen in (("--setting", "clean"), ("--setting", "jpeg-*")):
        refuses(probe(built_suite, model, tmp_path / "p", *chosen), "measured against clean", code=2)
    (tmp_path / "q.jsonl").write_text('{"id": 1, "question": "Q?"}\n')
    refuses(probe(tmp_path / "q.jsonl", model, tmp_path / "p"), "Specify the output of a build", code=2)
    refuses(probe(built_causal, model, tmp_path / "p", "--attention-distances"), "no complement pairs", code=2)

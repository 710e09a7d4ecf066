"""`stressreel probe` on a tiny model: every condition is asked, scored and compared with the baseline."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from commands import Ran, refuses, rows, run, run_json, score_json
from extras import needs
from stressreel.builders.clavi.benchmark import Clavi
from stressreel.core.output import open_output

pytestmark = needs("transformers")
SHORT = ("unimodal", "crossmodal", "video", "text")
ONE = ("--short-circuits", "text", "--operators", "average")


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
    for row in table["conditions"][::5]:
        said = tmp_path / "p" / f"{row['condition']}.jsonl"
        scored = score_json(built, said, "--partial", "--out", str(tmp_path / row["condition"]))
        assert scored["headline"]["accuracy"]["value"] == row["scores"]["accuracy"]["value"]
    assert "crossmodal-average" in (tmp_path / "p" / "probe.md").read_text()
    assert json.loads(probe(built, model, tmp_path / "p", "--json").out) == found


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "titles", "more"),
    [
        ("causal", ("A (ud, test)", "E (causal_confusion, test)"), ()),
        ("suite", ("γr",), ("--setting", "clean", "--setting", "jpeg-3")),
    ],
)
def test_every_scored_table_is_compared(
    name: str, titles: tuple[str, ...], more: Any, model: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    done = probe(request.getfixturevalue(f"built_{name}"), model, tmp_path / "p", *ONE, *more)
    assert done.code == 0, done.err
    assert all(title in done.out for title in titles)
    assert "open_ended" not in done.out


@pytest.mark.full
def test_attention_of_complements_is_compared(built: Path, model: Path, tmp_path: Path) -> None:
    small = ("--to", tmp_path / "p", "--frames", 1, "--max-tokens", 1, "--size", 28, "--limit", 38, "--resamples", 100)
    command = ("stressreel", "probe", built, "--transformers", model, *small, *ONE)
    report = run_json(*command, "--attention-distances", "--pairs", 3, "--rounds", 2)
    found = {row["complements"]: row for row in report["attention_distances"]}
    assert set(found) == {"text", "video"}
    for row in found.values():
        assert row["both_right"]["pairs"] + row["not_both"]["pairs"] == 3
        (mean,) = (part["mean"]["value"] for part in (row["both_right"], row["not_both"]) if part["pairs"] == 3)
        assert 0 < mean < 2**0.5
    assert "attention maps of complements" in (tmp_path / "p" / "probe.md").read_text()
    assert run_json(*command, "--attention-distances", "--pairs", 3, "--rounds", 2) == report


def test_complements_are_those_of_the_paper(built: Path) -> None:
    asked = {row["question_id"]: row for row in rows(built, "questions", "test")}
    found = Clavi().complements(open_output(built), "test")
    twice = 2 * len({row["video_id"] for row in asked.values()})
    assert Counter(pair.kind for pair in set(found)) == {"video": twice, "text": twice}
    for pair in found:
        first, second = asked[pair.first], asked[pair.second]
        assert (first["type"], first["answer"]) == (second["type"], 1 - second["answer"]) == ("BA", first["answer"])
        same, other = ("video_id", "question") if pair.kind == "text" else ("question", "video_id")
        assert (first[same] == second[same], first[other] == second[other]) == (True, False)


@pytest.mark.full
def test_causal_questions_have_no_complements(built_causal: Path, model: Path, tmp_path: Path) -> None:
    refuses(probe(built_causal, model, tmp_path / "p", "--attention-distances"), "no complement pairs", code=2)


def test_what_cannot_be_probed_is_refused(built: Path, built_recipes: Path, model: Path, tmp_path: Path) -> None:
    refuses(probe(built, model, tmp_path / "p", "--layer", "99"), "no attention module matches 99", code=2)
    for setting in ("clean", "jpeg-*"):
        refuses(probe(built_recipes, model, tmp_path / "p", "--setting", setting), "against clean", code=2)

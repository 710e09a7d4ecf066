"""`build-causal` as users run it, on the built-in sample and on the real annotations."""

import csv
from pathlib import Path
from typing import Any

import pytest
from commands import info, rows, run, succeed
from endpoint import running
from stressreel.annotations.samples import cached_sample

SCORED = ("--balance", "none", "--no-render", "--no-progress")


@pytest.fixture(scope="module")
def causal() -> Path:
    """The causal sample where `--annotations sample` keeps it; read only."""
    return cached_sample("causal")


def test_tables_of_the_sample(built_causal: Path) -> None:
    assert list(info(built_causal)["counts"].items()) == [
        ("ud", {"train": 42, "validation": 9, "test": 9}),
        ("un", {"train": 40, "validation": 10, "test": 10}),
        ("causal_confusion", {"test": 9}),
        ("open_ended", {"train": 42, "validation": 9, "test": 9}),
        ("clips", {"clips": 60}),
    ]


def test_a_config_without_rows_is_none(causal: Path, tmp_path: Path) -> None:
    lines = (causal / "Annotations.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (some := tmp_path / "a.csv").write_text("".join(lines[:31]), encoding="utf-8")  # no episode of test
    succeed("build-causal", "--annotations", some, "--splits", "UN", "--out", tmp_path / "out", *SCORED)
    assert "test" not in info(tmp_path / "out")["counts"]["un"]
    assert "causal_confusion" not in info(tmp_path / "out")["counts"]
    assert "## Causal confusion" not in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert run("stressreel", "verify", tmp_path / "out").code == 0


def test_a_language_model_confuses(causal: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """It negates "was" and "wanted" and can exchange nobody."""

    def answer(request: dict[str, Any], before: int) -> str:
        task, text = (message["content"] for message in request["messages"])
        said = text.replace(" was ", " was not ").replace(" wanted ", " did not want ") if "negate" in task else ""
        return said or "impossible"

    secret = {**environment, "STRESSREEL_LLM_KEY": "sk-very-secret"}
    with running(answer) as server:
        model = ("--llm-base-url", server.url, "--llm-model", "echo-1")
        arguments = ("--annotations", causal / "Annotations.csv", "--splits", "UD", *SCORED, *model)
        assert "36 requests" in run("build-causal", *arguments, "--dry-run", env=secret).out
        assert server.requests == []
        succeed("build-causal", *arguments, "--out", tmp_path / "o", env=secret)
        count = len(server.requests)
        assert count >= 36
        succeed("build-causal", *arguments, "--out", tmp_path / "p", env=secret)
        assert len(server.requests) == count
    assert info(tmp_path / "p")["fingerprint"] == info(tmp_path / "o")["fingerprint"]
    kinds = [source["kind"] for row in rows(tmp_path / "o", "causal_confusion") for source in row["sources"]]
    assert ("negation" in kinds, "swap" in kinds) == (True, False)
    assert "echo-1" in info(tmp_path / "o")["tools"]["language model"]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if b"sk-very-secret" in path.read_bytes()] == []


@pytest.mark.full
@pytest.mark.shared
@pytest.mark.timeout(900)  # minutes of mining where something else runs beside
def test_one_in_ten_of_the_real_annotations(shared: Path, tmp_path: Path) -> None:
    with open(shared / "data" / "causalchaos" / "Annotations.csv", encoding="utf-8-sig", newline="") as handle:
        header, *lines = csv.reader(handle)
    with open(tmp_path / "Annotations.csv", "w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([header, *lines[::10]])
    out = tmp_path / "o"
    succeed("build-causal", "--annotations", tmp_path / "Annotations.csv", "--no-render", "--out", out)
    counts, notes = info(out)["counts"], info(out)["notes"]
    assert counts["ud"] == {"train": 346, "validation": 75, "test": 74}
    assert sum(counts["ps"].values()) == sum(counts["un"].values()) == 495
    names = ("wrong_options_right_in_train", "right_options_in_train")
    wrong, right = (count / total for count, total in (notes[name]["ud"]["test"]["answer"] for name in names))
    assert abs(wrong - right) < 0.12  # to be known from train says nothing
    assert notes["leaks"]["un"]["test"]["episode"] == 0
    assert notes["confusion"]["answer"]["swap"]["placed"] > 50  # negations add a "not", so few are taken
    assert run("stressreel", "verify", out).code == 0

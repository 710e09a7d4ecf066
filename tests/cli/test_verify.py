"""Every check of `stressreel verify` fails on a good build that is broken in its way."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import refuses, run, run_json, succeed
from stressreel.builders.parts import checks_for
from stressreel.builders.rebuild import RebuildOptions
from stressreel.builders.runtime import verify
from stressreel.builders.runtime.table_checks import check_files
from stressreel.builders.runtime.verify import run_checks
from stressreel.core.output import Check, Compared, NotChecked, NotRun, open_output

Change = Callable[[Path], object]


def shard(out: Path, config: str, split: str = "train") -> Path:
    return next((out / config).glob(f"{split}-*.parquet"))


def rows(table: str, change: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Change the rows of a table's training split."""

    def write(out: Path) -> None:
        path = shard(out, table, "left_out" if table == "left_out" else "train")
        stored = pq.read_table(path)
        found = stored.to_pylist()
        change(found)
        pq.write_table(pa.Table.from_pylist(found, schema=stored.schema), path)

    return write


def text(name: str, old: str, new: str) -> Change:
    def write(out: Path) -> None:
        assert old in (out / name).read_text()
        (out / name).write_text((out / name).read_text().replace(old, new, 1))

    return write


def break_splits(out: Path) -> None:
    source = pq.read_table(shard(out, "pairs", "test")).to_pylist()[0]["source_id"]
    rows("pairs", lambda found: found[0].update(source_id=source))(out)


def without_column(out: Path) -> None:
    pq.write_table(pq.read_table(shard(out, "questions")).drop_columns(["template_id"]), shard(out, "questions"))


def cut_short(found: list[dict[str, Any]]) -> None:
    found[0]["video"]["bytes"] = found[0]["video"]["bytes"][:-4000]


break_card = text("README.md", "1.4.0", "1.4.1")
BREAKS: dict[str, tuple[str, Change]] = {
    "a shard that the glob of the card's head matches": (
        "files",
        lambda out: shutil.copy(shard(out, "questions"), out / "questions" / "train-more.parquet"),
    ),
    "a column lost": ("schema", without_column),
    "something left out without a name": ("left_out", rows("left_out", lambda r: r.pop())),
    "another writer": ("written", lambda out: pq.write_table(pq.read_table(shard(out, "pairs")), shard(out, "pairs"))),
    "a row lost": ("counts", rows("questions", lambda r: r.pop())),
    "a shard lost": ("counts", lambda out: shard(out, "pairs", "test").unlink()),
    "another text": ("hashes", rows("pairs", lambda r: r[0].update(subject="XXXX"))),
    "an id twice": ("unique_ids", rows("questions", lambda r: r[1].update(question_id=r[0]["question_id"]))),
    "a source in two splits": ("splits", break_splits),
    "the command": ("settings", text("build.json", "--seed 0", "--seed 7")),
    "another answer": ("derived", rows("questions", lambda r: r[0].update(answer=1 - r[0]["answer"]))),
    "another moment": ("derived", rows("pairs", lambda r: r[0].update(in_a=r[0]["in_a"] + 0.002))),
    "another rate": ("decoded", rows("videos", lambda r: r[0].update(fps=99.0))),
    "V' as V": ("shown", rows("videos", lambda r: r[1].update(video=r[0]["video"], sha256=r[0]["sha256"]))),
    "a video cut short": ("decord", rows("videos", cut_short)),
    "the card": ("card", break_card),
    "a figure": ("figures", lambda out: next((out / "figures").iterdir()).write_bytes(b"another picture")),
    "croissant.json": ("croissant", text("croissant.json", '"sha256": "', '"sha256": "0')),
    "the card's head": ("load_dataset", text("README.md", "pairs/train-*", "pairs/training-*")),
}


@pytest.fixture
def copy(four_pairs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(four_pairs, tmp_path / "copy"))


def test_a_good_build_passes_every_check(four_pairs: Path) -> None:
    report = run_json("stressreel", "verify", four_pairs)
    assert report["passed"]
    assert {check["name"]: check["passed"] for check in report["checks"]} == {name: True for name, _ in BREAKS.values()}


@pytest.mark.parametrize(("name", "damage"), BREAKS.values(), ids=BREAKS)
def test_check_fails_on_what_it_is_for(copy: Path, name: str, damage: Change) -> None:
    damage(copy)
    output = open_output(copy)
    (outcome,) = run_checks(output, {name: checks_for(output, None, RebuildOptions())[name]})
    assert not outcome.passed
    assert "checked: " not in outcome.problems[0]


def test_report_and_exit_code(copy: Path) -> None:
    found, other = open_output(copy).info["fingerprint"], "0" * 16
    done = succeed("stressreel", "verify", copy, "--no-decode", "--fingerprint", found[:20].upper())
    assert "ok    fingerprint" in done.out
    assert "maker" not in done.out
    break_card(copy)
    path = shard(copy, "videos", "test")
    path.write_bytes(path.read_bytes()[:-20])
    done = run("stressreel", "verify", copy, "--no-decode", "--fingerprint", other)
    assert done.code == 1
    assert f"FAIL  fingerprint\n        the fingerprint is {found}, not {other}" in done.out
    assert done.out.count(f"{path.name} cannot be read") == done.out.count("magic bytes") == 1
    assert "could still have been forged" in done.out
    refuses(run("stressreel", "card", copy), path.name)


def test_which_files_may_lie_in_an_output(copy: Path) -> None:
    good = ("LICENSE", ".gitattributes", ".git/HEAD", ".cache/huggingface/download/README.md.metadata", "figures/a.png")
    bad = ("notes.txt", "questions/a/b/test-0.parquet", ".huggingface.yaml", "figures/mine.png")
    for name in (*good, *bad):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(b"")
    text("README.md", "<!-- end of", "![mine](figures/a.png)\n\n<!-- end of")(copy)
    (outcome,) = run_checks(open_output(copy), {"files": check_files})
    assert {problem.partition(" ")[0] for problem in outcome.problems} == {*bad}


def test_only_checks_that_could_run_count(four_pairs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(verify.TRUSTED, "later", ("earlier",))
    given: dict[str, Check] = {
        "fine": lambda output: [Compared("3 rows")],
        "earlier": lambda output: ["wrong"],
        "later": lambda output: pytest.fail("trusts what has failed"),
        "optional": lambda output: [NotRun("a package is missing")],
        "partly": lambda output: [NotRun("a model is missing"), Compared("3 rows")],
        "impossible": lambda output: [NotChecked("it is of another version", "version")],
    }
    output = open_output(four_pairs)
    report = list(run_checks(output, given))
    assert [outcome.name for outcome in report if outcome.ran] == ["fine", "earlier", "partly", "impossible"]
    assert [outcome.name for outcome in report if not outcome.passed] == ["earlier", "impossible"]
    del given["earlier"], given["later"]
    assert verify.Verification("out", "", tuple(run_checks(output, given))).failed
    accepted = verify.Verification("out", "", tuple(run_checks(output, given, ["version"])))
    assert accepted.passed
    assert accepted.verdict().startswith("2 of 3 checks passed; incomplete: impossible; not run: optional, partly")

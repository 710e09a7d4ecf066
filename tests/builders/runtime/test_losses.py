from dataclasses import replace
from pathlib import Path

import datasets
import pytest
from number_units import Numbers, build_numbers, plan_of
from stressreel.builders.runtime.table_checks import check_left_out
from stressreel.core.checks import Compared
from stressreel.core.left_out import LEFT_OUT, LeftOut
from stressreel.core.output import FinishedOutput
from stressreel.core.plan import Part, Unit

PHRASE = LeftOut("reading", "phrase", "xyzzy", "phrases_left_out_no_verb", "no verb", "v1", "own.csv", 3)


def built(out: Path, bad: str = "") -> FinishedOutput:
    plan = replace(plan_of(9), left_out=(PHRASE,), notes={"phrases_left_out_no_verb": 1})
    info = build_numbers(out, Numbers(bad=frozenset([bad])), plan, max_skip=0.5)
    return FinishedOutput(out, info)


def problems(output: FinishedOutput) -> list[str]:
    return [str(finding) for finding in check_left_out(output) if not isinstance(finding, Compared)]


def test_skips_follow_rows_left_out_by_plan(tmp_path: Path) -> None:
    output = built(tmp_path / "out", bad="u04")
    assert output.info["counts"][LEFT_OUT.name] == {LEFT_OUT.name: 3}
    rows = list(output.rows(LEFT_OUT.name, ["stage", "kind", "name", "reason", "line"]))
    assert [list(row.values()) for row in rows] == [
        ["reading", "phrase", "xyzzy", "phrases_left_out_no_verb", 3],
        ["rendering", "unit", "u04", "undecodable", None],
        ["rendering", "video", "v4", "undecodable", None],
    ]
    assert problems(output) == []


def test_parts_and_shared_items_are_listed_once(tmp_path: Path) -> None:
    units = {
        "v.blur": ((Part("a", "own.csv", (2,)), Part("b", "own.csv", (3, 4))), "v"),
        "v.noise": ((Part("a", "own.csv", (2,)), Part("b", "own.csv", (3, 4))), "v"),
        "w": ((Part("c", "own.csv", (5,)),), "w"),
        "w2": ((Part("d", "own.csv", (6,)),), "w"),
        "y": ((Part("y", "own.csv", (8,)),), "y"),
        "x.blur": ((Part("e", "own.csv", (7,)),), "x"),
        "x.noise": ((Part("e", "own.csv", (7,)),), "x"),
    }
    waving = Part("waving", "own.csv", (5,))
    uses = {"w": (waving, Part("jumping", "own.csv", (6,))), "w2": (waving,)}
    plan = replace(
        plan_of(1),
        units=tuple(
            Unit(name, "test", source, {}, parts=parts, uses=uses.get(name, ()))
            for name, (parts, source) in units.items()
        ),
        part="video",
        use="phrase",
    )
    bad = frozenset({"v.blur", "v.noise", "w", "x.noise", "y"})
    info = build_numbers(tmp_path / "out", Numbers(bad=bad), plan, max_skip=1)
    output = FinishedOutput(tmp_path / "out", info)
    rows = list(output.rows(LEFT_OUT.name, ["kind", "name", "file", "line", "detail"]))
    assert [list(row.values()) for row in rows] == [
        ["video", "a", "own.csv", 2, "v.blur is broken"],
        ["video", "b", "own.csv", None, "v.blur is broken (lines 3, 4)"],
        ["video", "v", "own.csv", None, "v.blur is broken"],
        ["video", "c", "own.csv", 5, "w is broken"],
        ["phrase", "jumping", "own.csv", 6, "w is broken"],
        ["video", "y", "own.csv", 8, "y is broken"],
        ["video", "e", "own.csv", 7, "x.noise is broken (only in x.noise)"],
    ]
    assert problems(output) == []


def test_load_dataset_reads_the_table(tmp_path: Path) -> None:
    output = built(tmp_path / "out")
    files = {LEFT_OUT.name: [str(path) for path in output.shards(LEFT_OUT.name)]}
    table = datasets.load_dataset("parquet", data_files=files, split=LEFT_OUT.name, cache_dir=str(tmp_path / "cache"))
    assert table["name"][:] == ["xyzzy"]


def test_left_out_rows_change_the_fingerprint(tmp_path: Path) -> None:
    with_phrase = built(tmp_path / "a").info
    without = build_numbers(tmp_path / "b", Numbers())
    assert LEFT_OUT.name not in without["counts"]
    assert with_phrase["plan_sha256"] != without["plan_sha256"]
    assert with_phrase["fingerprint"] != without["fingerprint"]


@pytest.mark.parametrize(
    "change",
    [
        lambda info: info["skips"]["list"].clear(),
        lambda info: info["skips"]["list"].append({"source_id": "v7", "reason": "undecodable"}),
        lambda info: info["notes"].update(phrases_left_out_no_verb=2),
        lambda info: info["skips"].update(rows_that_refer_to_them={"clips": {"test": 1}}),
    ],
)
def test_counts_unlike_left_out_are_reported(tmp_path: Path, change) -> None:  # type: ignore[no-untyped-def]
    output = built(tmp_path / "out", bad="u04")
    change(output.info)
    assert len(problems(output)) == 1

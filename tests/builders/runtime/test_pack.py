"""Packing gives the same shards regardless of executor and interruption."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
from number_units import Numbers, build_numbers, plan_of
from stressreel.builders.runtime.executors import Inline, Result
from stressreel.builders.runtime.output import BuildJournal
from stressreel.builders.runtime.store import FolderStore, Store
from stressreel.builders.runtime.table_checks import check_left_out
from stressreel.core import shards
from stressreel.core.errors import BuildError, MismatchError
from stressreel.core.fingerprint import read_units
from stressreel.core.output import Compared, FinishedOutput
from stressreel.core.plan import LEFT_OUT, Builder, LeftOut, Part, Unit


def tables(out: Path) -> dict[str, list[Mapping[str, Any]]]:
    return {
        path.relative_to(out).as_posix(): pq.read_table(path).to_pylist() for path in sorted(out.glob("*/*.parquet"))
    }


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", 9000)
    monkeypatch.setattr(shards, "ROW_GROUP_BYTES", 4000)


class Backwards(Inline):
    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        return reversed(list(super().execute(builder, units, store)))


def test_content_does_not_depend_on_executor(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert build_numbers(one, Numbers()) == build_numbers(two, Numbers(), executor=Backwards())
    assert tables(one) == tables(two)
    assert min(path.name for path in (one / "clips").iterdir()) == "test-00000-of-00002.parquet"
    assert not (one / ".build" / "staging").exists()
    clips = [row for name, rows in tables(one).items() if "clips" in name for row in rows]
    assert {row["video"]["bytes"] for row in clips} == {unit.id.encode() * 1000 for unit in plan_of(9).units}
    assert sum(unit.rows for unit in read_units(one)) == 27


@pytest.mark.parametrize("size", [1000, 20_000])
def test_shards_hold_as_many_rows_as_fit(size: int, tmp_path: Path) -> None:
    build_numbers(tmp_path / "out", Numbers(size))
    parts: dict[str, list[list[Mapping[str, Any]]]] = {}
    for name, rows in tables(tmp_path / "out").items():
        parts.setdefault(name.rpartition("-of-")[0].rpartition("-")[0], []).append(rows)
    for split in ("train", "test"):
        cut = parts[f"clips/{split}"]
        units = [unit.id for unit in plan_of(9).units if unit.split == split]
        assert [row["id"] for rows in cut for row in rows] == units
        # a clip and its row are some 3 * size + 100 bytes; a row alone may be larger than a shard
        held = [sum(len(row["video"]["bytes"]) + 100 for row in rows) for rows in cut]
        assert all(total <= shards.SHARD_BYTES or len(rows) == 1 for total, rows in zip(held, cut, strict=True))
        assert all(total + 3 * size + 100 > shards.SHARD_BYTES for total in held[:-1])


@pytest.mark.parametrize("stop", [0, 3])
def test_interrupted_packing_resumes(stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, plain, finish, done = tmp_path / "out", tmp_path / "plain", BuildJournal.add_shard, list[str]()

    def interrupted(journal: BuildJournal, *values: Any) -> None:
        if len(done) == stop:
            raise KeyboardInterrupt
        done.append("shard")
        finish(journal, *values)

    with monkeypatch.context() as patch:
        patch.setattr(BuildJournal, "add_shard", interrupted)
        with pytest.raises(KeyboardInterrupt):
            build_numbers(out, Numbers())
    with pytest.raises(MismatchError):
        build_numbers(out, Numbers(), plan_of(5))
    assert build_numbers(out, Numbers()) == build_numbers(plain, Numbers())
    assert tables(out) == tables(plain)
    assert not [path for path in out.rglob("*") if ".part" in path.name or path.name.endswith(".tmp")]


def test_file_changed_after_rendering_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FolderStore, "read", lambda *given: b"something else")
    with pytest.raises(BuildError, match="has changed since it was rendered"):
        build_numbers(tmp_path / "out", Numbers(), plan_of(2))


# What is left out

PHRASE = LeftOut("reading", "phrase", "xyzzy", "phrases_left_out_no_verb", "no verb", "v1", "own.csv", 3)


def built(out: Path, bad: str = "") -> FinishedOutput:
    plan = replace(plan_of(9), left_out=(PHRASE,), notes={"phrases_left_out_no_verb": 1})
    info = build_numbers(out, Numbers(bad=frozenset([bad])), plan, max_skip=0.5)
    return FinishedOutput(out, info)


def problems(output: FinishedOutput) -> list[str]:
    return [str(finding) for finding in check_left_out(output) if not isinstance(finding, Compared)]


def test_skips_follow_rows_left_out_by_plan(tmp_path: Path) -> None:
    output, without = built(tmp_path / "out", bad="u04"), build_numbers(tmp_path / "whole", Numbers())
    assert output.info["counts"][LEFT_OUT.name] == {LEFT_OUT.name: 3}
    assert LEFT_OUT.name not in without["counts"]
    files = {LEFT_OUT.name: [str(path) for path in output.shards(LEFT_OUT.name)]}
    table = datasets.load_dataset("parquet", data_files=files, split=LEFT_OUT.name, cache_dir=str(tmp_path / "cache"))
    assert [[row[name] for name in ("stage", "kind", "name", "reason", "line")] for row in table] == [
        ["reading", "phrase", "xyzzy", "phrases_left_out_no_verb", 3],
        ["rendering", "unit", "u04", "undecodable", None],
        ["rendering", "video", "v4", "undecodable", None],
    ]
    assert problems(output) == []
    with_phrase = built(tmp_path / "phrase").info
    assert with_phrase["plan_sha256"] != without["plan_sha256"]
    assert with_phrase["fingerprint"] != without["fingerprint"]


def test_parts_and_shared_items_are_listed_once(tmp_path: Path) -> None:
    def part(name: str, *lines: int) -> Part:
        return Part(name, "own.csv", lines)

    units = {
        **dict.fromkeys(("v.blur", "v.noise"), ("v", part("a", 2), part("b", 3, 4))),
        "w": ("w", part("c", 5)),
        "w2": ("w", part("d", 6)),
        "y": ("y", part("y", 8)),
        **dict.fromkeys(("x.blur", "x.noise"), ("x", part("e", 7))),
    }
    uses = {"w": (part("waving", 5), part("jumping", 6)), "w2": (part("waving", 5),)}
    made = [Unit(name, "test", source, {}, parts=tuple(parts)) for name, (source, *parts) in units.items()]
    made = [replace(unit, uses=uses.get(unit.id, ())) for unit in made]
    bad = frozenset({"v.blur", "v.noise", "w", "x.noise", "y"})
    plan = replace(plan_of(1), units=tuple(made), part="video", use="phrase")
    output = FinishedOutput(out := tmp_path / "out", build_numbers(out, Numbers(bad=bad), plan, max_skip=1))
    rows = list(output.rows(LEFT_OUT.name, ["kind", "name", "line", "detail"]))
    assert [list(row.values()) for row in rows] == [
        ["video", "a", 2, "v.blur is broken"],
        ["video", "b", None, "v.blur is broken (lines 3, 4)"],
        ["video", "v", None, "v.blur is broken"],
        ["video", "c", 5, "w is broken"],
        ["phrase", "jumping", 6, "w is broken"],
        ["video", "y", 8, "y is broken"],
        ["video", "e", 7, "x.noise is broken (only in x.noise)"],
    ]
    assert problems(output) == []


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

"""The canary: one GUID of a dataset in all its files, which `verify` checks."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import stressreel
from changed import Held
from stressreel.builders import load_benchmark
from stressreel.builders.runtime.table_checks import Derivation, Derived, check_derived, check_schema
from stressreel.core.files import write_json
from stressreel.core.fingerprint import canary_of
from stressreel.core.output import NotChecked, open_output
from stressreel.core.schema import Column, Config, Row

CONFIGS = load_benchmark("clavi").configs({"settings": {"render": True}})


def test_all_files_and_exports_contain_the_canary(built: Path, tmp_path: Path) -> None:
    stressreel.export_files(built, to=tmp_path / "files")
    stressreel.export_webdataset(built, to=tmp_path / "tars")
    stressreel.export_tasks(built, "inspect", to=tmp_path / "inspect")
    info = json.loads((built / "build.json").read_text())
    canary = canary_of(info["plan_sha256"])
    assert info["canary"] == canary
    for shard in built.rglob("*.parquet"):
        assert pq.read_metadata(shard).metadata[b"canary"] == canary.encode()
    texts = [built / name for name in ("README.md", "build.json", "croissant.json")]
    for file in [*texts, *(tmp_path / name / "output.json" for name in ("files", "tars", "inspect"))]:
        assert canary in file.read_text(encoding="utf-8"), file
    assert [*check_schema(open_output(built), CONFIGS)][:-1] == []


@pytest.mark.parametrize(
    ("file", "problem"),
    [("units.parquet", "units.parquet: the canary"), ("build.json", "does not follow from plan_sha256")],
)
def test_wrong_or_missing_canary_is_reported(built: Path, tmp_path: Path, file: str, problem: str) -> None:
    out = shutil.copytree(built, tmp_path / "out")
    if file == "build.json":
        info = json.loads((out / file).read_text())
        write_json(out / file, {**info, "canary": canary_of("another plan")})
    else:
        table = pq.read_table(out / file)
        kept = {key: value for key, value in (table.schema.metadata or {}).items() if key != b"canary"}
        pq.write_table(table.replace_schema_metadata(kept), out / file)
    assert problem in str(next(iter(check_schema(open_output(out), CONFIGS))))


TABLE = Config(
    "questions", "", (Column("id", "string", ""), Column("words", "strings", ""), Column("n", "float64", ""))
)
ROWS: list[Row] = [{"id": name, "words": [name], "n": 0.1} for name in "abc"]
MUST = [Derived("questions", "test", {"id": name, "words": (name,)}) for name in "abc"]


@pytest.mark.parametrize(
    ("found", "derived", "lines"),
    [
        (ROWS, MUST, []),
        (ROWS, [], []),
        (ROWS, ["a rule is broken", *MUST], ["a rule is broken"]),
        (ROWS, [NotChecked("why", "tools"), *MUST], [NotChecked("why", "tools")]),
        ([{**ROWS[0], "words": []}, *ROWS[1:]], MUST, ["questions/test: a: words is [], not ('a',)"]),
        (ROWS[:2], MUST, ["questions/test: the rows end where c is expected; the rest is skipped"]),
        (ROWS[1:], MUST, ["questions/test: found b where a is expected; the rest is skipped"]),
        (ROWS, MUST[:2], ["questions/test: c and the rows after it are not expected"]),
    ],
)
def test_each_difference_is_reported_once(found: list[Row], derived: list[Derivation], lines: list[object]) -> None:
    output = Held(Path(), {"counts": {"questions": {"test": 3}}}, {"questions": {"test": found}})
    assert list(check_derived(output, [TABLE], derived))[:-1] == lines

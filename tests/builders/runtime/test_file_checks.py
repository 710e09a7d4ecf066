"""The canary: one GUID of a dataset in all its files, which `verify` checks."""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import stressreel
from stressreel.builders import load_benchmark
from stressreel.builders.runtime.table_checks import check_schema
from stressreel.core.canary import canary_of
from stressreel.core.files import write_json
from stressreel.core.output import open_output

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

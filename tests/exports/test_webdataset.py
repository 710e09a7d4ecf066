"""Outputs as tar shards: every byte arrives, the same again gives the same, and whole shards are kept."""

import gc
import hashlib
import json
import re
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest
from commands import refuses, rows, run
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.causalchaos import SAMPLE
from stressreel.builders import benchmark_of
from stressreel.core.errors import UsageError
from stressreel.core.output import FinishedOutput
from stressreel.core.schema import Column, Config
from stressreel.core.shards import ShardWriter
from stressreel.exports import webdataset
from stressreel.exports.media import video_bytes
from stressreel.exports.webdataset import LONGEST_KEY, byte_size, member_key, write_webdataset

SIZE = "300kB"  # some shards of the sample; that of the fixture
PLAIN = ("string", "int32", "int64", "float64", "bool")
TABLES = [
    ("clavi", "videos"),
    pytest.param("causal", "clips", marks=pytest.mark.full),
    pytest.param("perturbed", "jpeg", marks=pytest.mark.full),
]


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def export(out: Path, folder: Path, *more: object) -> Any:
    return run("stressreel", "export", "webdataset", out, "--to", folder, "--shard-size", SIZE, "--no-progress", *more)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("name", "table"), TABLES)
def test_the_package_webdataset_reads_every_video(
    name: str, table: str, opened: dict[str, FinishedOutput], exported: Callable[..., Path]
) -> None:
    wds = pytest.importorskip("webdataset")
    for split in opened[name].splits(table):
        shards = [str(path) for path in sorted((exported("webdataset", name) / table).glob(f"{split}-*.tar"))]
        found = {}
        for sample in wds.WebDataset(shards, shardshuffle=False):
            found[sample["__key__"]] = json.loads(sample["json"])["sha256"]
            assert found[sample["__key__"]] == hashlib.sha256(sample["mp4"]).hexdigest()
        built = rows(opened[name].path, table, split)
        assert found == {row["video"]["path"].removesuffix(".mp4"): row["sha256"] for row in built}
    gc.collect()  # the package leaves its files to be closed


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_datasets_reads_splits_types_and_videos(
    name: str, table: str, opened: dict[str, FinishedOutput], exported: Callable[..., Path], tmp_path: Path
) -> None:
    output = opened[name]
    config = next(each for each in benchmark_of(output).configs(output.info) if each.name == table)
    loaded = datasets.load_dataset(str(exported("webdataset", name)), table, cache_dir=str(tmp_path))
    assert {split: len(each) for split, each in loaded.items()} == output.info["counts"][table]
    for split, each in loaded.items():
        built = rows(output.path, table, split)
        videos = [row.pop("video")["bytes"] for row in built]
        assert each.remove_columns("mp4")["json"][:] == built
        assert [row["mp4"]["bytes"] for row in each.cast_column("mp4", datasets.Video(decode=False))] == videos
        kinds = {column.name: column.kind for column in config.columns if column.kind != "video"}
        assert set(each.features["json"]) == set(kinds)
        assert all(each.features["json"][key].dtype == kind for key, kind in kinds.items() if kind in PLAIN)


def test_types_are_known_where_the_first_samples_have_none(tmp_path: Path) -> None:
    inner = (Column("a", "int32", ""), Column("b", "string", ""))
    columns = (
        *(Column(kind, kind, "") for kind in (*PLAIN, "strings", "integers")),
        Column("records", "records", "", fields=inner),
        Column("label", "label", "", names=("no", "yes")),
        Column("sha256", "string", ""),
        Column("video", "video", ""),
    )
    config = Config("clips", "", columns)
    values: dict[str, Any] = {"string": "é", "int32": 1, "int64": 2**40, "float64": 0.5, "bool": True, "label": 1}
    values |= {"strings": ["x"], "integers": [3], "records": [{"a": 1, "b": None}]}
    video = {"sha256": hashlib.sha256(b"video").hexdigest()}
    found = [{**(values if number == 7 else dict.fromkeys(values)), **video} for number in range(8)]
    writer = ShardWriter(tmp_path / "out" / "clips" / "own-00000-of-00001.parquet", config)
    for number, row in enumerate(found):
        writer.add({**row, "video": {"bytes": b"video", "path": f"{number}.mp4"}}, 1)
    writer.close()
    info = {"builder": "own", "dataset_version": "1.0.0", "fingerprint": "1" * 64, "counts": {"clips": {"own": 8}}}
    output = FinishedOutput(tmp_path / "out", {**info, "source": SAMPLE.as_json()})
    assert write_webdataset(output, [config], tmp_path / "tars", shard_size=byte_size("11kB")) == (8, 2, 0)
    loaded = datasets.load_dataset(str(tmp_path / "tars"), "clips", cache_dir=str(tmp_path / "cache"), split="own")
    assert loaded.remove_columns("mp4")["json"][:] == [
        {**row, "label": None if row["label"] is None else "yes"} for row in found
    ]
    assert "license: cc0-1.0" in (tmp_path / "tars" / "README.md").read_text()


def test_shards_hold_nothing_of_this_machine(exported: Callable[..., Path]) -> None:
    shards = sorted((exported("webdataset", "clavi") / "videos").glob("*.tar"))
    assert len(shards) > 3
    for path in shards:
        assert path.stat().st_size <= byte_size(SIZE) + 10_240  # what tar pads
        with tarfile.open(path) as tar:
            members = tar.getmembers()
        assert [member.name.split(".")[1] for member in members] == ["mp4", "json"] * (len(members) // 2)
        for member in members:
            assert (member.mtime, member.uid, member.gid, member.uname, member.gname) == (0, 0, 0, "", "")
            assert (member.mode, member.pax_headers) == (0o644, {})
        assert path.read_bytes()[257:265] == b"ustar\x0000"


def test_a_large_video_has_a_shard_of_its_own(build_once: Callable[..., Path], tmp_path: Path) -> None:
    out = build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast")
    done = run("stressreel", "export", "webdataset", out, "--to", tmp_path / "a", "--shard-size", "11kB")
    count = len(rows(out, "videos"))
    assert f"Wrote {count} videos to {tmp_path / 'a'} in {count} shards" in done.out
    assert f"export: {count}/{count} videos" in done.err


def test_whole_shards_are_kept(
    opened: dict[str, FinishedOutput], exported: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, written, output = tmp_path / "tars", [], opened["clavi"]
    real = webdataset._write_shard

    def stop(path: Path, *given: Any) -> Any:
        if len(written) == 3:
            path.write_bytes(b"half a shard")
            raise KeyboardInterrupt
        written.append(path)
        return real(path, *given)

    with monkeypatch.context() as patch:
        patch.setattr(webdataset, "_write_shard", stop)
        with pytest.raises(KeyboardInterrupt):
            write_webdataset(output, benchmark_of(output).configs(output.info), folder, shard_size=byte_size(SIZE))
    kept = sorted(folder.rglob("*.tar"))
    assert len(kept) == 3
    assert not list(folder.rglob(".*"))
    kept[2].write_bytes(kept[2].read_bytes()[:-1] + b"x")
    stamps = [path.stat().st_mtime_ns for path in kept[:2]]
    seen: list[Any] = []
    monkeypatch.setattr(webdataset, "video_bytes", lambda part, row: seen.append(row) or video_bytes(part, row))
    done = export(output.path, folder)
    assert "of which 2 were there already" in done.out
    assert [path.stat().st_mtime_ns for path in kept[:2]] == stamps
    files = json.loads((folder / "output.json").read_text())["files"]
    before = sum(files[path.relative_to(folder).as_posix()]["rows"] for path in kept[:2])
    assert 0 < len({row["video_id"] for row in seen}) == len(rows(output.path, "videos")) - before
    assert content(folder) == content(exported("webdataset", "clavi"))


def test_another_export_needs_force(outputs: dict[str, Path], exported: Callable[..., Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(exported("webdataset", "clavi"), tmp_path / "tars"))
    refuses(export(outputs["clavi"], folder), "an export", "--force")
    about = json.loads((folder / "output.json").read_text())
    (folder / "output.json").write_text(json.dumps({**about, "complete": False}))
    whole = ("stressreel", "export", "webdataset", outputs["clavi"], "--to", folder, "--no-progress")
    refuses(run(*whole), "the beginning of an export of something else, or with other options")
    assert run(*whole, "--force").code == 0
    assert sorted(path.name for path in folder.rglob("*.tar")) == ["test-000000.tar", "train-000000.tar"]


def test_sizes() -> None:
    sizes = {"500MB": 500_000_000, "1.5 GB": 1_500_000_000, "11kb": 11_000, "20Kb": 20_000}
    assert {text: byte_size(text) for text in sizes} == sizes
    for text in ("", "500", "MB", "-1MB", "0MB", "10kB", "nanMB", "1e3MB", "5TB", "500MiB"):
        with pytest.raises(UsageError, match="--shard-size"):
            byte_size(text)


@given(st.lists(st.text(min_size=1, max_size=120), min_size=2, max_size=3, unique=True))
def test_keys_are_plain_and_stay_apart(names: list[str]) -> None:
    keys = [member_key(f"{name}.mp4") for name in names]
    assert len(set(keys)) == len(names)
    for key in keys:
        assert len(key) <= LONGEST_KEY
        assert re.fullmatch(r"[^./]+", key)
        assert key.isascii()
    assert member_key("0a1b_2.mp4") == "0a1b_2"
    assert member_key("S01E01.5.mp4") == "S01E01%2E5"

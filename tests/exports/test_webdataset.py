"""Outputs as tar shards: every byte arrives, the same again gives the same, and whole shards are kept."""

import gc
import hashlib
import json
import re
import shutil
import tarfile
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
from stressreel.core.output import FinishedOutput, open_output
from stressreel.core.schema import Column, Config
from stressreel.core.shards import ShardWriter
from stressreel.exports import webdataset
from stressreel.exports.media import video_bytes
from stressreel.exports.webdataset import LONGEST_KEY, byte_size, member_key, write_webdataset

SIZE = "300kB"  # some shards of the sample
PLAIN = ("string", "int32", "int64", "float64", "bool")
NO_MORE = re.compile(r"[^.]+")


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def export(out: Path, folder: Path, *more: object) -> Any:
    return run("stressreel", "export", "webdataset", out, "--to", folder, "--shard-size", SIZE, "--no-progress", *more)


@pytest.fixture(scope="session")
def exported(outputs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tars")
    for name, out in outputs.items():
        done = export(out, folder / name)
        assert done.code == 0, done.err
    return {name: folder / name for name in outputs}


def hashes(out: Path, table: str, split: str = "*") -> dict[str, str]:
    """SHA-256 of videos as their rows have it, by what their files are called."""
    return {row["video"]["path"].removesuffix(".mp4"): row["sha256"] for row in rows(out, table, split)}


TABLES = [("clavi", "videos"), ("causal", "clips"), ("perturbed", "jpeg")]


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("name", "table"), TABLES)
def test_the_package_webdataset_reads_every_video(
    name: str, table: str, outputs: dict[str, Path], exported: dict[str, Path]
) -> None:
    wds = pytest.importorskip("webdataset")
    for split in open_output(outputs[name]).splits(table):
        shards = [str(path) for path in sorted((exported[name] / table).glob(f"{split}-*.tar"))]
        found = {}
        for sample in wds.WebDataset(shards, shardshuffle=False):
            about = json.loads(sample["json"])
            assert about["sha256"] == hashlib.sha256(sample["mp4"]).hexdigest()
            found[sample["__key__"]] = about["sha256"]
        assert found == hashes(outputs[name], table, split)
    gc.collect()  # the package leaves its files to be closed


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_datasets_reads_every_video(
    name: str, table: str, outputs: dict[str, Path], exported: dict[str, Path], tmp_path: Path
) -> None:
    loaded = datasets.load_dataset("webdataset", data_dir=str(exported[name] / table), cache_dir=str(tmp_path))
    found = {}
    for split in loaded.values():
        for row in split.cast_column("mp4", datasets.Video(decode=False)):
            found[row["__key__"].split("/")[-1]] = hashlib.sha256(row["mp4"]["bytes"]).hexdigest()
            assert row["json"]["sha256"] == hashlib.sha256(row["mp4"]["bytes"]).hexdigest()
    assert found == hashes(outputs[name], table)


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_datasets_reads_splits_and_types_from_the_card(
    name: str, table: str, outputs: dict[str, Path], exported: dict[str, Path], tmp_path: Path
) -> None:
    output = open_output(outputs[name])
    config = next(each for each in benchmark_of(output).configs(output.info) if each.name == table)
    loaded = datasets.load_dataset(str(exported[name]), table, cache_dir=str(tmp_path))
    assert {split: len(each) for split, each in loaded.items()} == output.info["counts"][table]
    for split, each in loaded.items():
        expected = [
            {key: value for key, value in row.items() if key != "video"} for row in rows(output.path, table, split)
        ]
        assert each.remove_columns("mp4")["json"][:] == expected
        kinds = {column.name: column for column in config.columns if column.kind != "video"}
        assert set(each.features["json"]) == set(kinds)
        assert all(each.features["json"][key].dtype == kinds[key].kind for key in kinds if kinds[key].kind in PLAIN)


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


def test_samples_hold_their_rows_and_nothing_of_this_machine(
    outputs: dict[str, Path], exported: dict[str, Path]
) -> None:
    plain = {row.pop("video")["path"]: row for row in rows(outputs["clavi"], "videos")}
    shards = sorted((exported["clavi"] / "videos").glob("*.tar"))
    assert len(shards) > 3
    found = {}
    for path in shards:
        assert path.stat().st_size <= byte_size(SIZE) + 10_240  # what tar pads
        with tarfile.open(path) as tar:
            members = tar.getmembers()
            assert [member.name.split(".")[1] for member in members] == ["mp4", "json"] * (len(members) // 2)
            for member in members:
                assert (member.mtime, member.uid, member.gid, member.uname, member.gname) == (0, 0, 0, "", "")
                assert (member.mode, member.pax_headers) == (0o644, {})
                if member.name.endswith(".json"):
                    found[member.name.removesuffix("json") + "mp4"] = json.load(tar.extractfile(member) or path.open())
        assert path.read_bytes()[257:265] == b"ustar\x0000"
    assert found == plain
    assert (exported["clavi"] / "questions" / "test.jsonl").read_text().count("\n") == len(
        rows(outputs["clavi"], "questions", "test")
    )


def test_the_same_again_is_the_same(outputs: dict[str, Path], exported: dict[str, Path], tmp_path: Path) -> None:
    assert export(outputs["clavi"], tmp_path / "again").code == 0
    assert content(tmp_path / "again") == content(exported["clavi"])


def test_a_large_video_has_a_shard_of_its_own(outputs: dict[str, Path], tmp_path: Path) -> None:
    out = outputs["clavi"]
    done = run("stressreel", "export", "webdataset", out, "--to", tmp_path / "a", "--shard-size", "11kB")
    assert done.code == 0, done.err
    count = len(rows(out, "videos"))
    assert f"Wrote {count} videos" in done.out
    assert f"in {count} shards" in done.out
    assert f"export: {count}/{count} videos" in done.err


def test_whole_shards_are_kept(
    outputs: dict[str, Path], exported: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, written = tmp_path / "tars", []
    real = webdataset._write_shard

    def stop(path: Path, *given: Any) -> Any:
        if len(written) == 3:
            path.write_bytes(b"half a shard")
            raise KeyboardInterrupt
        written.append(path)
        return real(path, *given)

    output = open_output(outputs["clavi"])
    configs = benchmark_of(output).configs(output.info)
    with monkeypatch.context() as patch:
        patch.setattr(webdataset, "_write_shard", stop)
        with pytest.raises(KeyboardInterrupt):
            write_webdataset(output, configs, folder, shard_size=byte_size(SIZE))
    kept = sorted(folder.rglob("*.tar"))
    assert len(kept) == 3
    assert not list(folder.rglob(".*"))
    kept[2].write_bytes(kept[2].read_bytes()[:-1] + b"x")
    stamps = [path.stat().st_mtime_ns for path in kept[:2]]
    seen: list[Any] = []
    monkeypatch.setattr(webdataset, "video_bytes", lambda part, row: seen.append(row) or video_bytes(part, row))
    done = export(outputs["clavi"], folder)
    assert "of which 2 were there already" in done.out
    assert [path.stat().st_mtime_ns for path in kept[:2]] == stamps
    before = sum(receipt["rows"] for receipt in receipts(folder, kept[:2]))
    assert 0 < len({row["video_id"] for row in seen}) == len(rows(outputs["clavi"], "videos")) - before
    assert content(folder) == content(exported["clavi"])


def receipts(folder: Path, paths: list[Path]) -> list[dict[str, Any]]:
    files = json.loads((folder / "output.json").read_text())["files"]
    return [files[path.relative_to(folder).as_posix()] for path in paths]


def test_another_export_needs_force(outputs: dict[str, Path], exported: dict[str, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(exported["clavi"], tmp_path / "tars"))
    refuses(export(outputs["clavi"], folder), "an export", "--force")
    about = json.loads((folder / "output.json").read_text())
    (folder / "output.json").write_text(json.dumps({**about, "complete": False}))
    whole = run("stressreel", "export", "webdataset", outputs["clavi"], "--to", folder, "--no-progress")
    refuses(whole, "the beginning of an export of something else, or with other options")
    one = run("stressreel", "export", "webdataset", outputs["clavi"], "--to", folder, "--no-progress", "--force")
    assert one.code == 0, one.err
    assert sorted(path.name for path in folder.rglob("*.tar")) == ["test-000000.tar", "train-000000.tar"]


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 500_000_000), ("1.5 GB", 1_500_000_000), ("11kb", 11_000), ("20Kb", 20_000)]
)
def test_sizes(text: str, size: int) -> None:
    assert byte_size(text) == size


@pytest.mark.parametrize("text", ["", "500", "MB", "-1MB", "0MB", "10kB", "nanMB", "1e3MB", "5TB", "500MiB"])
def test_sizes_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="--shard-size"):
        byte_size(text)


@given(st.lists(st.text(min_size=1, max_size=120), min_size=2, max_size=3, unique=True))
def test_keys_are_plain_and_stay_apart(names: list[str]) -> None:
    keys = [member_key(f"{name}.mp4") for name in names]
    assert len(set(keys)) == len(names)
    for key in keys:
        assert len(key) <= LONGEST_KEY
        assert NO_MORE.fullmatch(key)
        assert key.isascii()
        assert "/" not in key
    assert member_key("0a1b_2.mp4") == "0a1b_2"
    assert member_key("S01E01.5.mp4") == "S01E01%2E5"

"""Outputs as MP4 files, as tar shards and in released layouts, read by libraries and continued after a stop."""

import gc
import hashlib
import json
import re
import shutil
import tarfile
from pathlib import Path

import datasets
import pytest
from commands import refuses, rows, run
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.causalchaos import SAMPLE
from stressreel.builders import benchmark_of
from stressreel.core.errors import InputError, OutputError, UsageError
from stressreel.core.output import FinishedOutput
from stressreel.core.schema import Column, Config
from stressreel.core.shards import ShardWriter
from stressreel.exports import layouts
from stressreel.exports.layouts import byte_size, member_key, write_layout, write_videos

SHA = hashlib.sha256(b"x").hexdigest()
PLAIN = ("string", "int32", "int64", "float64", "bool")
SIZE = "300kB"  # some shards of the sample; that of the fixture
OPTIONS = {"files": ("--no-progress",), "webdataset": ("--no-progress", "--shard-size", SIZE)}


def content(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def export(form, out, folder, *more):
    return run("stressreel", "export", form, out, "--to", folder, *OPTIONS[form], *more)


@pytest.mark.parametrize("name", ["clavi", "causal", "perturbed"])
def test_files_contain_every_row_and_video(name, opened, exported):
    output, found = opened[name], content(exported("files", name))
    about = json.loads(found.pop("output.json"))
    assert (about["complete"], about["fingerprint"]) == (True, output.info["fingerprint"])
    lines = {}
    for config in benchmark_of(output).declared(output.info):
        labels = {column.name: column.names for column in config.columns if column.kind == "label"}
        for split in output.info["counts"].get(config.name, {}):
            for row in rows(output.path, config.name, split):
                row |= {column: names[row[column]] for column, names in labels.items() if row[column] is not None}
                file = f"{config.name}/{split}.jsonl"
                if video := row.pop("video", None):
                    assert found.pop(f"{config.name}/{split}/{video['path']}") == video["bytes"]
                    row, file = {"file_name": video["path"], **row}, f"{config.name}/{split}/metadata.jsonl"
                lines.setdefault(file, []).append(row)
    assert {file: [json.loads(line) for line in text.decode().splitlines()] for file, text in found.items()} == lines


def test_videofolder_reads_every_video(built, exported, tmp_path):
    folder = exported("files", "clavi") / "videos"
    loaded = datasets.load_dataset("videofolder", data_dir=str(folder), cache_dir=str(tmp_path))
    read = [row for split in loaded.values() for row in split.cast_column("video", datasets.Video(decode=False))]
    videos = {row["sha256"]: row["video"]["bytes"] or Path(row["video"]["path"]).read_bytes() for row in read}
    assert videos == {row["sha256"]: row["video"]["bytes"] for row in rows(built, "videos")}


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_libraries_read_every_row_of_shards(built, exported, tmp_path):
    folder = exported("webdataset", "clavi")
    loaded = datasets.load_dataset(str(folder), "videos", cache_dir=str(tmp_path))
    wds = pytest.importorskip("webdataset")
    for split in ("train", "test"):
        stored, table = rows(built, "videos", split), loaded[split]
        shards = [str(path) for path in sorted((folder / "videos").glob(f"{split}-*.tar"))]
        read = {one["__key__"]: one["mp4"] for one in wds.WebDataset(shards, shardshuffle=False)}
        assert read == {row["video"]["path"].removesuffix(".mp4"): row["video"]["bytes"] for row in stored}
        videos = [row["mp4"]["bytes"] for row in table.cast_column("mp4", datasets.Video(decode=False))]
        assert videos == [row.pop("video")["bytes"] for row in stored]
        assert table.remove_columns("mp4")["json"][:] == stored
    gc.collect()  # the package leaves its files to be closed


def config_of(*more):
    return Config("clips", "", (*more, Column("sha256", "string", ""), Column("video", "video", "")))


def write_clips(out, config, rows, counted=None):
    """Write an output of rows, whose videos are their last elements."""
    writer = ShardWriter(out / "clips" / "own-00000-of-00001.parquet", config)
    for number, (*values, video) in enumerate(rows):
        row = dict(zip((column.name for column in config.columns), values, strict=False))
        writer.add({**row, "video": {"bytes": video, "path": f"{number}.mp4"}}, 1)
    writer.close()
    info = {"builder": "own", "dataset_version": "1.0.0", "fingerprint": "1" * 64, "source": SAMPLE.as_json()}
    return FinishedOutput(out, {**info, "counts": {"clips": {"own": counted or len(rows)}}})


def test_types_are_declared_if_first_samples_are_null(tmp_path):
    inner = (Column("a", "int32", ""), Column("b", "string", ""))
    values = {"string": "é", "int32": 1, "int64": 2**40, "float64": 0.5, "bool": True, "label": 1}
    values |= {"strings": ["x"], "integers": [3], "records": [{"a": 1, "b": None}]}
    more = {"label": {"names": ("no", "yes")}, "records": {"fields": inner}}
    config = config_of(*(Column(kind, kind, "", **more.get(kind, {})) for kind in values))
    rows, large = [[*[None] * len(values), SHA, b"x"]] * 7, b"v" * 20_000
    output = write_clips(tmp_path, config, [*rows, [*values.values(), hashlib.sha256(large).hexdigest(), large]])
    assert write_videos(output, [config], tmp_path / "tars", shard_size=byte_size("11kB")) == (8, 0, 3)
    loaded = datasets.load_dataset(str(tmp_path / "tars"), "clips", cache_dir=str(tmp_path / "cache"), split="own")
    assert {kind: loaded.features["json"][kind].dtype for kind in PLAIN} == {kind: kind for kind in PLAIN}
    *nulls, last = ({key: row[key] for key in values} for row in loaded["json"][:])
    assert nulls == [dict.fromkeys(values)] * 7
    assert last == {**values, "label": "yes"}
    assert "license: cc0-1.0" in (tmp_path / "tars" / "README.md").read_text()


def test_damaged_output_is_not_exported(tmp_path):
    config = config_of()
    for name, damaged, counted, message in (
        ("video", b"y", 3, r"clips/own: the video 2.mp4 does not match its sha256"),
        ("count", b"x", 4, "found 3 rows, but 4 were built"),
    ):
        output = write_clips(tmp_path / name, config, [[SHA, video] for video in (b"x", b"x", damaged)], counted)
        for form, size in (("files", None), ("tars", byte_size("11kB"))):
            with pytest.raises(InputError, match=message):
                write_videos(output, [config], tmp_path / name / form, shard_size=size)
            assert not [*(tmp_path / name / form).rglob("*.tar"), *(tmp_path / name / form).rglob("*.jsonl")]


def test_shards_contain_nothing_of_this_machine(exported):
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


def test_split_includes_video_tables_without_that_split(outputs, tmp_path):
    found = {}
    for name in ("clavi", "causal"):
        export("files", outputs[name], tmp_path / name, "--split", "test")
        found[name] = {f"{Path(file).parent}/{Path(file).suffix}" for file in content(tmp_path / name)}
    assert found["clavi"] == {"./.json", "pairs/.jsonl", "questions/.jsonl", "videos/test/.jsonl", "videos/test/.mp4"}
    assert {"clips/clips/.mp4", "ud/.jsonl"} <= found["causal"]
    assert not any("train" in path for path in content(tmp_path / "causal"))
    done = export("files", outputs["clavi"], tmp_path / "new", "--split", "dev")
    refuses(done, "no such split; it has train, test", code=2)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("form", "writer"), [("files", "write_atomic"), ("webdataset", "_write_shard")])
def test_stopped_export_continues(form, writer, opened, exported, tmp_path, monkeypatch):
    folder, output, real = tmp_path / "to", opened["clavi"], getattr(layouts, writer)
    size, written = byte_size(SIZE) if form == "webdataset" else None, 0

    def stop(path, *given):
        nonlocal written
        if written == 4 and path.suffix != ".md":
            path.with_name(f".{path.name}.7.tmp{path.suffix}").write_bytes(b"left by a writer that was killed")
            raise KeyboardInterrupt
        written += path.suffix != ".md"
        return real(path, *given)

    with monkeypatch.context() as patch:
        patch.setattr(layouts, writer, stop)
        with pytest.raises(KeyboardInterrupt):
            write_videos(output, benchmark_of(output).declared(output.info), folder, shard_size=size)
    assert json.loads((folder / "output.json").read_text())["complete"] is False
    damaged, short, *kept = (path for path in sorted(folder.rglob("[!.]*")) if path.suffix in (".mp4", ".tar"))
    assert len(kept) == 2
    damaged.write_bytes(b"x" * damaged.stat().st_size)
    short.write_bytes(b"x")
    stamps = {path: path.stat().st_mtime_ns for path in kept}
    assert "of which 2 already existed" in export(form, output.path, folder).out
    assert {path: path.stat().st_mtime_ns for path in kept} == stamps
    assert content(folder) == content(exported(form, "clavi"))


def test_other_kinds_and_options_are_not_overwritten(outputs, exported, tmp_path):
    out, folder = outputs["clavi"], exported("files", "clavi")
    before = content(folder)
    refuses(export("files", out, folder), "an export", "--force")
    refuses(export("webdataset", out, folder, "--force"), "is not empty")
    assert content(folder) == before
    tars = Path(shutil.copytree(exported("webdataset", "clavi"), tmp_path / "tars"))
    about = (tars / "output.json").read_text()
    (tars / "output.json").write_text(about.replace('"complete": true', '"complete": false'))
    refuses(run("stressreel", "export", "webdataset", out, "--to", tars), "or with other options")


def test_output_without_videos_is_refused(build_once, tmp_path):
    out = build_once("build-clavi", "--charades", "sample", "--no-render", "--limit", 2, "--version", "1.2.0")
    for kind in ("files", "lmms-eval"):
        refuses(run("stressreel", "export", kind, out, "--to", tmp_path / kind), "contains no videos")
        assert not (tmp_path / kind).exists()


def test_shard_sizes_are_parsed():
    sizes = {"500MB": 500_000_000, "1.5 GB": 1_500_000_000, "11kb": 11_000, "20Kb": 20_000}
    assert {text: byte_size(text) for text in sizes} == sizes
    for text in ("", "500", "MB", "-1MB", "0MB", "10kB", "nanMB", "1e3MB", "5TB", "500MiB"):
        with pytest.raises(UsageError, match="--shard-size"):
            byte_size(text)


@given(st.lists(st.text(min_size=1, max_size=120), min_size=2, max_size=3, unique=True))
def test_member_keys_are_plain_and_distinct(names):
    keys = [member_key(f"{name}.mp4") for name in names]
    assert len(set(keys)) == len(names)
    assert all(re.fullmatch(r"[!-~]{1,90}", key) and not {*"./"} & {*key} for key in keys)
    assert [member_key(f"{name}.mp4") for name in ("0a1b_2", "S01E01.5")] == ["0a1b_2", "S01E01%2E5"]


# Released layouts


def test_released_layout_is_written_whole_or_not(tmp_path):
    (tmp_path / "b").mkdir()
    for folder in (tmp_path / "a" / "b", tmp_path / "b"):
        assert write_layout(folder, [("one.json", b"1"), ("two.json", b"2")]) == 2
        assert content(folder) == {"one.json": b"1", "two.json": b"2"}
    (tmp_path / "file").touch()
    for folder in (tmp_path / "b", tmp_path / "file"):
        with pytest.raises(InputError, match="but this layout needs an empty folder"):
            write_layout(folder, [("one.json", b"2")])
    with pytest.raises(InputError, match="the name of two files"):
        write_layout(tmp_path / "new", [("a.json", b"1"), ("a.json", b"2")])
    with pytest.raises(OutputError, match="cannot write"):
        write_layout(tmp_path / "file" / "new", [("one.json", b"1")])
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b", "file"}
    assert content(tmp_path / "b") == {"one.json": b"1", "two.json": b"2"}


def test_export_released_command(built, built_graphs, tmp_path):
    to, released = tmp_path / "to", ("stressreel", "export", "released", built_graphs, "--to")
    assert run(*released, to).out == f"Wrote 4 files to {to}.\n"  # three videos in test, and the roots that are alone
    assert json.loads((to / "isolated.json").read_text("utf-8")) == []  # none in the sample
    assert run(*released, tmp_path / "train", "--split", "train").out.startswith("Wrote 8 files")
    refuses(run("stressreel", "export", "released", built, "--to", tmp_path / "no"), "clavi")
    assert not (tmp_path / "no").exists()

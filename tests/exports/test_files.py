"""Outputs as MP4 files: every byte arrives, readers find them, and an export that was stopped goes on."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import datasets
import pytest
from commands import refuses, rows, run
from stressreel.builders import benchmark_of
from stressreel.core.errors import InputError
from stressreel.core.export_folder import plain_name
from stressreel.core.files import write_atomic
from stressreel.core.output import FinishedOutput
from stressreel.core.schema import Column, Config
from stressreel.core.shards import ShardWriter
from stressreel.exports import files, media
from stressreel.exports.files import write_files
from stressreel.exports.media import rows_from, video_bytes

KEYS = Config("clips", "", (Column("id", "string", ""), Column("sha256", "string", ""), Column("video", "video", "")))
TABLES = [
    ("clavi", "videos"),
    pytest.param("causal", "clips", marks=pytest.mark.full),
    pytest.param("perturbed", "jpeg", marks=pytest.mark.full),
]


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["clavi", "causal", "perturbed"])
def test_every_row_arrives(name: str, opened: dict[str, FinishedOutput], exported: Callable[..., Path]) -> None:
    output, found = opened[name], content(exported("files", name))
    about = json.loads(found.pop("output.json"))
    assert (about["complete"], about["fingerprint"]) == (True, output.info["fingerprint"])
    lines: dict[str, list[Any]] = {}
    for config in benchmark_of(output).configs(output.info):
        labels = {column.name: column.names for column in config.columns if column.kind == "label"}
        for split in output.info["counts"].get(config.name, {}):
            for row in rows(output.path, config.name, split):
                row |= {column: names[row[column]] for column, names in labels.items() if row[column] is not None}
                if "video" in row:
                    video = row.pop("video")
                    assert found.pop(f"{config.name}/{split}/{video['path']}") == video["bytes"]
                    lines.setdefault(f"{config.name}/{split}/metadata.jsonl", []).append(
                        {"file_name": video["path"], **row}
                    )
                else:
                    lines.setdefault(f"{config.name}/{split}.jsonl", []).append(row)
    assert set(found) == set(lines)
    for file, expected in lines.items():
        assert [json.loads(line) for line in found[file].decode().splitlines()] == expected
    if name == "clavi":
        assert {row["answer"] for row in lines["questions/test.jsonl"]} == {"no", "yes"}


@pytest.mark.parametrize(("name", "table"), TABLES)
def test_videofolder_reads_every_video(
    name: str, table: str, outputs: dict[str, Path], exported: Callable[..., Path], tmp_path: Path
) -> None:
    folder = exported("files", name) / table
    loaded = datasets.load_dataset("videofolder", data_dir=str(folder), cache_dir=str(tmp_path))
    found = {}
    for split in loaded.values():
        for row in split.cast_column("video", datasets.Video(decode=False)):
            data = row["video"]["bytes"] or Path(row["video"]["path"]).read_bytes()
            found[row["sha256"]] = hashlib.sha256(data).hexdigest()
    assert found == {row["sha256"]: row["sha256"] for row in rows(outputs[name], table)}


def test_one_split_goes_with_all_videos_that_have_none(outputs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("clavi", "causal"):
        run("stressreel", "export", "files", outputs[name], "--to", tmp_path / name, "--split", "test", "--no-progress")
    clavi, causal = (
        {path.rpartition("/")[0] + "/" + path.rpartition(".")[2] for path in content(tmp_path / name)}
        for name in ("clavi", "causal")
    )
    assert clavi == {"/json", "pairs/jsonl", "questions/jsonl", "videos/test/jsonl", "videos/test/mp4"}
    assert {"clips/clips/mp4", "ud/jsonl"} <= causal
    assert not any("train" in path for path in content(tmp_path / "causal"))
    done = run("stressreel", "export", "files", outputs["clavi"], "--to", tmp_path / "new", "--split", "dev")
    refuses(done, "no such split; it has train, test", code=2)
    assert not (tmp_path / "new").exists()


def test_a_stopped_export_goes_on(
    opened: dict[str, FinishedOutput], exported: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, written, output = tmp_path / "files", [], opened["clavi"]

    def stop(path: Path, data: bytes) -> None:
        if len(written) == 9:
            raise KeyboardInterrupt
        written.append(path)
        write_atomic(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_atomic", stop)
        with pytest.raises(KeyboardInterrupt):
            write_files(output, benchmark_of(output).configs(output.info), folder)
    assert json.loads((folder / "output.json").read_text())["complete"] is False
    damaged, short, *kept = written
    damaged.write_bytes(b"x" * damaged.stat().st_size)
    short.write_bytes(b"x")
    (folder / "videos" / "train" / ".a.mp4.7.tmp.mp4").write_bytes(b"left by a writer that was killed")
    stamps = {path: path.stat().st_mtime_ns for path in kept}
    done = run("stressreel", "export", "files", output.path, "--to", folder, "--no-progress")
    assert f"of which {len(kept)} were there already" in done.out
    assert {path: path.stat().st_mtime_ns for path in kept} == stamps
    assert content(folder) == content(exported("files", "clavi"))


def test_an_export_is_written_over_with_force_alone(
    outputs: dict[str, Path], exported: Callable[..., Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(exported("files", "clavi"), tmp_path / "files"))
    theirs = {"mine.txt": b"mine", "videos/mine.txt": b"mine"}
    for name, data in theirs.items():
        (folder / name).write_bytes(data)
    for out in (outputs["clavi"], outputs["perturbed"]):
        refuses(run("stressreel", "export", "files", out, "--to", folder), "an export", "--force")
    for kind in ("lmms-eval", "webdataset"):  # another kind is not written over
        done = run("stressreel", "export", kind, outputs["clavi"], "--to", folder, "--force")
        refuses(done, "holds something already, and no output.json")
    assert content(folder) == content(exported("files", "clavi")) | theirs
    done = run("stressreel", "export", "files", outputs["perturbed"], "--to", folder, "--force", "--no-progress")
    assert done.code == 0, done.err
    assert content(folder) == content(exported("files", "perturbed")) | theirs
    assert not (folder / "pairs").exists()


def test_an_output_without_videos_has_nothing_to_export(build_once: Any, tmp_path: Path) -> None:
    out = build_once("build-clavi", "--charades", "sample", "--no-render", "--limit", 2, "--version", "1.2.0")
    for kind in ("files", "webdataset", "lmms-eval", "inspect"):
        refuses(run("stressreel", "export", kind, out, "--to", tmp_path / kind), "holds no videos")
        assert not (tmp_path / kind).exists()


def test_a_video_that_is_not_its_own_is_refused() -> None:
    part = media.Part(KEYS, "test", 1, "video")
    row = {"id": "a", "sha256": hashlib.sha256(b"x").hexdigest(), "video": {"bytes": b"x", "path": "a.mp4"}}
    assert video_bytes(part, row) == b"x"
    with pytest.raises(InputError, match=r"clips/test: the video a\.mp4 does not have its sha256"):
        video_bytes(part, {**row, "video": {"bytes": b"y", "path": "a.mp4"}})


def test_names_that_lead_elsewhere_are_refused() -> None:
    assert plain_name("-é 1.mp4") == "-é 1.mp4"
    for name in ("../a.mp4", "/a.mp4", "a/b.mp4", "", ".a.mp4", "c:a.mp4", "a\\b.mp4", "a\0", "a\x7f", None, 3):
        with pytest.raises(InputError, match="no name for a file"):
            plain_name(name)


def test_rows_are_read_from_any_on_without_the_groups_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [str(number) for number in range(25)]
    for number, (start, stop) in enumerate([(0, 11), (11, 25)]):
        writer = ShardWriter(tmp_path / "clips" / f"test-{number:05d}-of-00002.parquet", KEYS)
        for name in ids[start:stop]:
            writer.add({"id": name, "sha256": "", "video": None}, 1)
            if int(name) % 4 == 3:
                writer.flush()
        writer.close()
    output = FinishedOutput(tmp_path, {"counts": {"clips": {"test": 25}}})
    part = media.Part(KEYS, "test", 25, "video")
    for start in range(27):
        assert [row["id"] for row in rows_from(output, part, start)] == ids[start:]
    read, real = [], media.group_rows

    def counted(file: Any, index: int) -> Iterator[Any]:
        read.append(index)
        return real(file, index)

    monkeypatch.setattr(media, "group_rows", counted)
    assert [row["id"] for row in rows_from(output, part, 20)] == ids[20:]
    assert len(read) == 2  # of seven: 20 to 23, and the last
    with pytest.raises(InputError, match="25 rows are there, 26 were built"):
        list(rows_from(FinishedOutput(tmp_path, {"counts": {"clips": {"test": 26}}}), part, 0))

import io
import json
import os
import resource
import shutil
import signal
import time
from pathlib import Path

import av
import datasets
import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from commands import info, refuses, run, run_process, start, succeed, wait_until

SMALL = ("--limit", 4, "--preset", "ultrafast", "--no-progress")


def fingerprint(out: Path) -> str:
    return info(out)["fingerprint"]


def test_build_records_its_inputs_and_loads_with_videos(built: Path, tmp_path: Path) -> None:
    content = info(built)
    totals = {name: sum(counts.values()) for name, counts in content["counts"].items()}
    assert totals.pop("left_out") > 0
    assert totals == {"questions": 38 * totals["pairs"], "videos": 2 * totals["pairs"], "pairs": totals["pairs"]}
    assert (content["dataset_version"], content["settings"]["seed"], content["skips"]["count"]) == ("1.2.0", 0, 0)
    assert {"av", "libavcodec", "stressreel"} <= set(content["tools"])
    assert "Charades_v1_train.csv" in content["inputs"]
    assert str(built) not in json.dumps(content)
    table = datasets.load_dataset(str(built), "videos", split="test", cache_dir=str(tmp_path))
    assert isinstance(table.features["video"], datasets.Video)
    row = table.cast_column("video", datasets.Video(decode=False))[0]
    assert row["video"]["path"] == f"{row['video_id']}.mp4"
    with av.open(io.BytesIO(row["video"]["bytes"])) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("h264", "yuv420p")
        assert not container.streams.audio
        assert sum(1 for _ in container.decode(video=0)) == row["num_frames"]


@pytest.mark.full
def test_with_two_workers_in_another_folder(sample: Path, four_pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "elsewhere" / "deep"
    assert run("build-clavi", "--charades", sample, "--out", out, "--workers", 2, *SMALL).code == 0
    assert (out / "build.json").read_bytes() == (four_pairs / "build.json").read_bytes()
    assert (out / "README.md").read_bytes() == (four_pairs / "README.md").read_bytes()


@pytest.mark.full
def test_after_kill_and_resume(sample: Path, four_pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("--charades", sample, "--out", out, "--workers", 2, *SMALL)
    journal = out / ".build" / "journal.jsonl"
    for wanted in (1, 2):
        process = start("build-clavi", *arguments)
        wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= wanted, process)  # noqa: B023
        process.send_signal(signal.SIGKILL)
        process.communicate()
    with open(journal, "ab") as handle:
        handle.write(b'{"facts": {"half')  # a line that the kill cut off
    (out / "questions").mkdir(exist_ok=True)
    (out / "questions" / ".train-00000-of-00001.parquet.123.tmp.parquet").write_bytes(b"half")
    before = journal.read_bytes().split(b"\n")[:-1]
    receipts = [json.loads(line)["unit"] for line in before if b'"facts"' in line]
    succeed("build-clavi", *arguments)
    assert fingerprint(out) == fingerprint(four_pairs)
    assert (out / "README.md").read_bytes() == (four_pairs / "README.md").read_bytes()
    names = [{path.relative_to(folder) for path in folder.rglob("*")} for folder in (out, four_pairs)]
    assert names[0] == names[1]
    lines = journal.read_bytes().split(b"\n")[:-1]
    assert lines[: len(before)] == before
    for unit in receipts:  # nothing that had a receipt was done again
        assert sum(unit.encode() in line for line in lines if b'"facts"' in line) == 1
    assert receipts


@pytest.mark.full
def test_workers_do_not_outlive_a_killed_build(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start("build-clavi", "--charades", sample, "--out", out, "--workers", 2, "--no-progress")
    wait_until((out / ".build" / "staging").exists, process)
    pids = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert pids
    while any(Path(f"/proc/{pid}/exe").exists() for pid in pids):  # one that only waits to be reaped has none
        time.sleep(0.05)


def test_a_finished_build_is_left_alone(sample: Path, four_pairs: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in four_pairs.rglob("*.parquet")}
    done = succeed("build-clavi", "--charades", sample, "--out", four_pairs, "--workers", 2, *SMALL)
    assert "already complete" in done.err
    done = run("build-clavi", "--charades", sample, "--out", four_pairs, "--seed", 7, *SMALL)
    refuses(done, "settings.seed: 0 → 7", "--fresh")
    assert before == {path: path.stat().st_mtime_ns for path in four_pairs.rglob("*.parquet")}


@pytest.mark.full
def test_disk_that_takes_no_more(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    arguments = ("--charades", sample, "--out", out, "--workers", 1, *SMALL)
    refuses(run_process("build-clavi", *arguments, preexec_fn=limit), "cannot write")
    assert not (out / "build.json").exists()
    assert not list(out.glob("videos/*"))
    assert run("build-clavi", *arguments).code == 0


@pytest.fixture
def faulty(sample: Path, tmp_path: Path) -> Path:
    """The sample without one of its videos, one that does not open, and one cut off in the middle."""
    folder = tmp_path / "faulty"
    shutil.copytree(sample, folder)
    videos = folder / "Charades_v1_480"
    (videos / "SR0B2.mp4").unlink()
    (videos / "SR2K0.mp4").write_bytes(b"not a video at all")
    whole = (videos / "SR1G7.mp4").read_bytes()
    (videos / "SR1G7.mp4").write_bytes(whole[: len(whole) // 3])
    return folder


def test_missing_and_broken_videos_are_listed_or_counted(faulty: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    arguments = ("--charades", faulty, "--out", out, "--limit", 6, "--preset", "ultrafast")
    refuses(run("build-clavi", *arguments), "SR0B2", "SR2K0.mp4: ", "--allow-missing")
    assert not (out / ".build" / "staging").exists()
    refuses(run("build-clavi", *arguments, "--allow-missing"), "--max-skip", "SR1G7.mp4")
    assert not (out / "build.json").exists()
    assert run("build-clavi", *arguments, "--allow-missing", "--max-skip", 0.5).code == 0
    refuses(run("build-clavi", *arguments), "--fresh")
    assert {skip["source_id"] for skip in info(out)["skips"]["list"]} == {"SR0B2", "SR2K0", "SR1G7"}
    assert "SR1G7" not in {row["source_id"] for row in pq.read_table(out / "pairs").to_pylist()}
    assert run("stressreel", "verify", out).code == 0


@pytest.mark.full
def test_a_changed_source_is_rendered_again(sample: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "c", tmp_path / "o"
    shutil.copytree(sample, folder)
    arguments = ("--charades", folder, "--out", out, "--limit", 2, "--preset", "ultrafast", "--no-progress")
    assert run("build-clavi", *arguments).code == 0
    first = fingerprint(out)
    journal = out / ".build" / "journal.jsonl"
    lines = journal.read_bytes().split(b"\n")[:2]
    journal.write_bytes(b"\n".join(lines) + b"\n")
    (out / "build.json").unlink()
    for path in (folder / "Charades_v1_480").iterdir():
        os.utime(path, (0, 0))
    assert run("build-clavi", *arguments).code == 0
    assert fingerprint(out) == first
    assert journal.read_bytes().count(b'"facts"') == 4


def test_dry_run_writes_nothing(sample: Path, tmp_path: Path) -> None:
    done = succeed("build-clavi", "--charades", sample, "--out", tmp_path / "o", "--dry-run")
    assert "22 videos, 418 questions" in done.out
    assert "9 of 9" in done.out
    assert "GB" in done.out
    assert not (tmp_path / "o").exists()


def test_dry_run_names_used_and_unused_columns(tmp_path: Path) -> None:
    lines = ["video_id;start;end;phrase;mood", "a;0:01;0:06;wave;x", "a;0:10;0:16;jump;x", "a;3;3;clap;y"]
    (tmp_path / "own.csv").write_text("\n".join(lines))
    words = ("--segments", tmp_path / "own.csv", "--no-render", "--dry-run")
    refused = run("build-clavi", *words, cwd=tmp_path)
    assert refused.code == 1
    assert "--columns video=video_id" in refused.err
    done = succeed("build-clavi", *words, "--columns", "video=video_id", cwd=tmp_path)
    assert "note: own.csv: these columns are not used: mood." in done.err
    assert "rows left out of zero length: 1" in done.out


def test_sound_is_swapped_with_the_picture(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "o"
    arguments = ("--limit", 1, "--audio", "keep", "--preset", "ultrafast")
    assert run("build-clavi", "--charades", sample, "--out", out, *arguments).code == 0
    rows = [row for path in out.glob("videos/*.parquet") for row in pq.read_table(path).to_pylist()]
    pair = next(row for path in out.glob("pairs/*.parquet") for row in pq.read_table(path).to_pylist())
    cuts = [pair[name] - pair["out_a"] for name in ("out_a", "in_a", "in_b", "out_b")]
    v, w = (_sound(row["video"]["bytes"]) for row in sorted(rows, key=lambda row: row["video_id"]))
    rate = 16000
    start_b, length_b = int((cuts[2] + 0.5) * rate), int((cuts[3] - cuts[2] - 1) * rate)
    piece = v[start_b : start_b + length_b]
    moved = w[int(0.5 * rate) : int(0.5 * rate) + length_b]
    loud = np.abs(np.fft.rfft(piece)).argmax()
    assert abs(int(loud) - int(np.abs(np.fft.rfft(moved)).argmax())) <= 3
    assert abs(int(loud) - int(np.abs(np.fft.rfft(v[:length_b])).argmax())) > 20


def _sound(content: bytes) -> np.ndarray:
    with av.open(io.BytesIO(content)) as container:
        return np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])


def test_pairs_file_rebuilds_ids_and_cuts(sample: Path, four_pairs: Path, tmp_path: Path) -> None:
    rows = [row for path in four_pairs.glob("pairs/*.parquet") for row in pq.read_table(path).to_pylist()]
    released = {
        f"{number:08x}": {
            "vid_id": row["source_id"],
            "vid_len": "27.00",
            "info": [[row[f"class_{x}"], f"{row[f'start_{x}_s']:.2f}", f"{row[f'end_{x}_s']:.2f}"] for x in "ab"],
            "other_actions": row["other_actions"],
            "ext": {name: str(row[name]) for name in ("out_a", "out_b", "in_a", "in_b")},
        }
        for number, row in enumerate(rows)
    }
    (tmp_path / "pairs.json").write_text(json.dumps(released))
    out = tmp_path / "o"
    arguments = ("--charades", sample, "--pairs", tmp_path / "pairs.json", "--no-render", "--seed", 5)
    assert run("build-clavi", *arguments, "--out", out).code == 0
    again = {row["pair_id"]: row for path in out.glob("pairs/*.parquet") for row in pq.read_table(path).to_pylist()}
    assert set(again) == set(released)
    for number, row in enumerate(rows):
        for name in ("source_id", "class_a", "class_b", "out_a", "in_a", "in_b", "out_b", "other_actions"):
            assert again[f"{number:08x}"][name] == row[name]
    assert run("stressreel", "verify", out).code == 0


def test_config_file_between_flag_and_default(sample: Path, tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(yaml.safe_dump({"seed": 11, "limit": 2, "no-render": True, "charades": str(sample)}))
    out = tmp_path / "o"
    assert run("build-clavi", "--config", config, "--seed", 12, "--out", out).code == 0
    assert info(out)["settings"]["seed"] == 12
    assert sum(info(out)["counts"]["pairs"].values()) == 2
    assert set(info(out)["counts"]) == {"questions", "pairs", "left_out"}

import io
import json
import shutil
import signal
import time
from pathlib import Path

import av
import datasets
import numpy as np
import pytest
from commands import info, refuses, rows, run, start, succeed, wait_until

SMALL = ("--limit", 4, "--preset", "ultrafast", "--no-progress")


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
    succeed("build-clavi", "--charades", sample, "--out", out, "--workers", 2, *SMALL)
    for name in ("build.json", "README.md"):
        assert (out / name).read_bytes() == (four_pairs / name).read_bytes()


@pytest.mark.full
def test_after_kill_and_resume(sample: Path, four_pairs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ("--charades", sample, "--out", out, "--workers", 2, *SMALL)
    journal = out / ".build" / "journal.jsonl"
    for wanted in (1, 2):
        process = start("build-clavi", *arguments)
        wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= wanted, process)  # noqa: B023
        pids = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert pids or wanted == 1
        process.send_signal(signal.SIGKILL)
        process.communicate()
        while any(Path(f"/proc/{pid}/exe").exists() for pid in pids):  # one that only waits to be reaped has none
            time.sleep(0.05)
    with open(journal, "ab") as handle:
        handle.write(b'{"facts": {"half')  # a line that the kill cut off
    (out / "questions").mkdir(exist_ok=True)
    (out / "questions" / ".train-00000-of-00001.parquet.123.tmp.parquet").write_bytes(b"half")
    before = journal.read_bytes().split(b"\n")[:-1]
    receipts = [json.loads(line)["unit"] for line in before if b'"facts"' in line]
    succeed("build-clavi", *arguments)
    assert info(out)["fingerprint"] == info(four_pairs)["fingerprint"]
    names = [{path.relative_to(folder) for path in folder.rglob("*")} for folder in (out, four_pairs)]
    assert names[0] == names[1]
    lines = journal.read_bytes().split(b"\n")[:-1]
    assert lines[: len(before)] == before
    assert receipts
    for unit in receipts:  # nothing that had a receipt was done again
        assert sum(unit.encode() in line for line in lines if b'"facts"' in line) == 1


def test_missing_and_broken_videos_are_listed_or_counted(sample: Path, tmp_path: Path) -> None:
    """One video is missing, one does not open, and one is cut off in the middle."""
    videos = shutil.copytree(sample, tmp_path / "faulty") / "Charades_v1_480"
    (videos / "SR0B2.mp4").unlink()
    (videos / "SR2K0.mp4").write_bytes(b"not a video at all")
    whole = (videos / "SR1G7.mp4").read_bytes()
    (videos / "SR1G7.mp4").write_bytes(whole[: len(whole) // 3])
    out = tmp_path / "o"
    arguments = ("--charades", tmp_path / "faulty", "--out", out, "--limit", 6, "--preset", "ultrafast")
    refuses(run("build-clavi", *arguments), "SR0B2", "SR2K0.mp4: ", "--allow-missing")
    assert not (out / ".build" / "staging").exists()
    refuses(run("build-clavi", *arguments, "--allow-missing"), "--max-skip", "SR1G7.mp4")
    assert not (out / "build.json").exists()
    succeed("build-clavi", *arguments, "--allow-missing", "--max-skip", 0.5)
    assert {skip["source_id"] for skip in info(out)["skips"]["list"]} == {"SR0B2", "SR2K0", "SR1G7"}
    assert "SR1G7" not in {row["source_id"] for row in rows(out, "pairs")}
    assert run("stressreel", "verify", out).code == 0


def test_dry_run_writes_nothing(sample: Path, tmp_path: Path) -> None:
    done = succeed("build-clavi", "--charades", sample, "--out", tmp_path / "o", "--dry-run")
    assert "22 videos, 418 questions" in done.out
    assert "9 of 9" in done.out
    assert "GB" in done.out
    assert not (tmp_path / "o").exists()


def test_sound_is_swapped_with_the_picture(sample: Path, tmp_path: Path) -> None:
    out, rate = tmp_path / "o", 16000
    succeed("build-clavi", "--charades", sample, "--out", out, "--limit", 1, "--audio", "keep", "--preset", "ultrafast")
    (pair,) = rows(out, "pairs")
    in_b, out_b = (pair[name] - pair["out_a"] for name in ("in_b", "out_b"))
    start_b, length_b = int((in_b + 0.5) * rate), int((out_b - in_b - 1) * rate)

    def loudest(row: dict, begin: int) -> int:
        with av.open(io.BytesIO(row["video"]["bytes"])) as container:
            sound = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])
        return int(np.abs(np.fft.rfft(sound[begin : begin + length_b])).argmax())

    v, w = sorted(rows(out, "videos"), key=lambda row: row["video_id"])
    assert abs(loudest(v, start_b) - loudest(w, int(0.5 * rate))) <= 3
    assert abs(loudest(v, start_b) - loudest(v, 0)) > 20

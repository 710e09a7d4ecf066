"""`build-causal` as users run it, on the built-in sample and on the real annotations."""

import csv
import io
import json
import signal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import av
import numpy as np
import pytest
from commands import info, refuses, rows, run, start, wait_until
from stressreel.annotations.samples.cache import cached_sample

FAST = ("--preset", "ultrafast", "--no-progress", "--tagger", "pattern")
TEXTS = ("--no-render", "--no-progress", "--tagger", "pattern")
SCORED = ("--balance", "none", *TEXTS)


@pytest.fixture(scope="module")
def causal() -> Path:
    """The causal sample where `--annotations sample` keeps it; read only."""
    return cached_sample("causal")


class TestDataset:
    def test_tables(self, built_causal: Path) -> None:
        counts = info(built_causal)["counts"]
        assert counts["ud"] == counts["open_ended"] == {"train": 42, "validation": 9, "test": 9}
        assert counts["un"] == {"train": 40, "validation": 10, "test": 10}
        assert counts["causal_confusion"] == {"test": 9}
        assert counts["clips"] == {"clips": 60}
        assert list(counts) == ["ud", "un", "causal_confusion", "open_ended", "clips"]

    def test_a_config_without_rows_is_none(self, causal: Path, tmp_path: Path) -> None:
        lines = (
            (causal / "Annotations.csv").read_text(encoding="utf-8").splitlines()[:31]
        )  # three episodes, none of test
        (tmp_path / "Annotations.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        build = ("--annotations", tmp_path / "Annotations.csv", "--splits", "UN", "--out", tmp_path / "out", *SCORED)
        done = run("build-causal", *build)
        assert done.code == 0, done.err
        assert "test" not in info(tmp_path / "out")["counts"]["un"]
        assert "causal_confusion" not in info(tmp_path / "out")["counts"]
        assert "## Causal confusion" not in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
        assert run("stressreel", "verify", tmp_path / "out").code == 0

    def test_clips_are_cut_to_the_frame(self, causal: Path, built_causal: Path) -> None:
        for row in rows(built_causal, "clips")[:3]:
            assert row["num_frames"] == row["end_frame"] - row["start_frame"]
            with av.open(str(causal / "videos" / f"{row['episode']}.mp4")) as container:
                source = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
            with av.open(io.BytesIO(row["video"]["bytes"])) as container:
                clip = [frame.to_ndarray(format="gray") for frame in container.decode(video=0)]
            assert len(clip) == row["num_frames"]
            for place in (0, len(clip) - 1):
                own = np.abs(clip[place].astype(float) - source[row["start_frame"] + place]).mean()
                assert own < 3
                assert own < np.abs(clip[place].astype(float) - source[row["start_frame"] + place - 8]).mean()

    def test_confusions_replace_wrong_options_only(self, built_causal: Path) -> None:
        plain = {row["qid"]: row for row in rows(built_causal, "ud", "test")}
        replaced = 0
        for row in rows(built_causal, "causal_confusion"):
            before = plain[row["qid"]]
            assert row["answer_index"] == before["answer_index"]
            differing = [n for n in range(len(row["options"])) if row["options"][n] != before["options"][n]]
            assert row["answer_index"] not in differing
            assert all(row["sources"][n]["kind"] in ("negation", "swap") for n in differing)
            own = [row["sources"][n] for n in differing if row["sources"][n]["qid"] == row["qid"]]
            assert all(source["cos_text"] > 0.3 for source in own)
            replaced += len(differing)
        assert replaced >= 9

    def test_card(self, built_causal: Path) -> None:
        card = (built_causal / "README.md").read_text()
        assert "whose licence stressreel does not know" in card
        assert "the option most similar to the question (SBERT)" in card
        assert "0 of 36 (0.0 %)" in card
        assert (built_causal / "figures" / "blind.png").is_file()


class TestSameContent:
    @pytest.mark.full
    def test_texts_alone_are_the_same(self, causal: Path, built_causal: Path, tmp_path: Path) -> None:
        given = ("--annotations", causal / "Annotations.csv", "--splits", "UD,UN", *TEXTS)
        done = run("build-causal", *given, "--out", tmp_path / "o")
        assert done.code == 0, done.err
        mine, whole = info(tmp_path / "o")["fingerprints"], info(built_causal)["fingerprints"]
        assert mine == {key: value for key, value in whole.items() if not key.startswith("clips/")}
        assert run("stressreel", "verify", tmp_path / "o").code == 0

    @pytest.mark.full
    def test_after_a_kill_and_with_two_workers(self, causal: Path, built_causal: Path, tmp_path: Path) -> None:
        out = tmp_path / "o"
        given = ("--annotations", causal / "Annotations.csv", "--splits", "UD,UN", *FAST)
        arguments = (*given, "--workers", 2, "--out", out)
        process = start("build-causal", *arguments)
        journal = out / ".build" / "journal.jsonl"
        wait_until(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 3, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        done = run("build-causal", *arguments, "--workers", 1)
        assert done.code == 0, done.err
        assert "continuing an earlier run" in done.err
        assert info(out)["fingerprint"] == info(built_causal)["fingerprint"]
        assert (out / "README.md").read_bytes() == (built_causal / "README.md").read_bytes()


class TestVideos:
    def test_offsets_and_rates(self, causal: Path, tmp_path: Path) -> None:
        (tmp_path / "offsets.csv").write_text("Episode,Offset\nS90E01,-3\n")
        (tmp_path / "fps.txt").write_text("S90E02=50\n")
        half = (causal / "Annotations.csv").read_text(encoding="utf-8-sig").splitlines()[:31]
        (tmp_path / "a.csv").write_text("\n".join(half))
        given = ("--annotations", tmp_path / "a.csv", "--videos", causal / "videos")
        arguments = (*given, "--splits", "UD", "--confuse", 0, "--negatives", "random", *FAST)
        more = ("--offsets", tmp_path / "offsets.csv", "--fps-map", tmp_path / "fps.txt", "--out", tmp_path / "o")
        done = run("build-causal", *arguments, *more, "--max-skip", 0.1)
        assert done.code == 0, done.err
        clips = rows(tmp_path / "o", "clips")
        assert all(c["first_frame"] == c["start_frame"] - 3 for c in clips if c["episode"] == "S90E01")
        halved = [c for c in clips if c["episode"] == "S90E02"]
        assert all(abs(c["num_frames"] - (c["end_frame"] - c["start_frame"]) / 2) <= 1 for c in halved)
        assert run("stressreel", "verify", tmp_path / "o").code == 0


class TestUse:
    def test_the_sample_by_its_name(self, tmp_path: Path, environment: dict[str, str]) -> None:
        arguments = ("--annotations", "sample", "--splits", "UN", "--confuse", 0, *SCORED, "--out", tmp_path / "o")
        done = run("build-causal", *arguments, env=environment)
        assert done.code == 0, done.err
        card = (tmp_path / "o" / "README.md").read_text()
        assert "This is not CausalChaos" in card
        assert "license: cc0-1.0" in card
        files = "build.json croissant.json figures open_ended README.md un units.parquet .build"
        assert {path.name for path in (tmp_path / "o").iterdir()} == set(files.split())

    def test_dry_run_with_divisions_apart(self, causal: Path) -> None:
        given = ("--annotations", causal / "Annotations.csv", "--splits", "UN", "ps", "--balance", "none")
        done = run("build-causal", *given, "--dry-run", *FAST)
        assert done.code == 0, done.err
        assert "60 clips of 6 episodes" in done.out
        assert "  un " in done.out
        assert "  ud " not in done.out

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("--annotations", "sample", "--splits", "UD,XX"), "an unknown division: XX"),
            (("--out", "o"), "Missing option '--annotations'"),
            (("--annotations", "sample"), "--out"),
            (("--annotations", "sample", "--dry-run", "UD"), "does not belong to any option"),
            (("--annotations", "sample", "--dry-run", "--llm-base-url", "http://x"), "--llm-model"),
            (("--annotations", "sample", "--dry-run", "--confuse", "3"), "0<=x<=2"),
        ],
    )
    def test_wrong_usage(self, arguments: tuple[str, ...], said: str) -> None:
        refuses(run("build-causal", *arguments), said, code=2)

    def test_wrong_inputs(self, tmp_path: Path) -> None:
        dry = ("--dry-run", *TEXTS)
        refuses(run("build-causal", "--annotations", tmp_path / "none.csv", *dry), "there is no file", code=2)
        refuses(run("build-causal", "--annotations", "sample", "--beta", "7", *dry), "beta is 0 to 1", code=2)
        (tmp_path / "a.csv").write_text(
            "QID,Filename,Start Frame,End Frame,Question,Answer,Explanation\n1,E1,9,5,why?,a,b\n1,E1,x,5,why?,,b\n"
        )
        done = run("build-causal", "--annotations", tmp_path / "a.csv", *dry)
        refuses(done, "line 2, column End Frame", "line 3, column QID", "line 3, column Answer", "nothing was written")

    def test_another_build_in_the_same_folder(self, causal: Path, built_causal: Path) -> None:
        given = ("--annotations", causal / "Annotations.csv", "--splits", "UD,UN", "--balance", "none", *FAST)
        refuses(run("build-causal", *given, "--out", built_causal), "settings.mining.balance: strict → none")


class Replies(BaseHTTPRequestHandler):
    """A language model that negates "was" and "wanted" and can exchange nobody."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        task, text = (message["content"] for message in body["messages"])
        self.asked.append(text)
        answer = text.replace(" was ", " was not ").replace(" wanted ", " did not want ") if "negate" in task else ""
        content = json.dumps({"choices": [{"message": {"content": answer or "impossible"}}]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def test_a_language_model_confuses(causal: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Replies)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/v1"
        arguments = ("--annotations", causal / "Annotations.csv", "--splits", "UD", *SCORED)
        model = ("--llm-base-url", url, "--llm-model", "echo-1")
        secret = {**environment, "STRESSREEL_LLM_KEY": "sk-very-secret"}
        dry = run("build-causal", *arguments, *model, "--dry-run", env=secret)
        assert "36 requests" in dry.out
        assert Replies.asked == []
        done = run("build-causal", *arguments, *model, "--out", tmp_path / "o", env=secret)
        assert done.code == 0, done.err
        count = len(Replies.asked)
        assert count >= 36
        again = run("build-causal", *arguments, *model, "--out", tmp_path / "p", env=secret)
        assert again.code == 0
        assert len(Replies.asked) == count
        assert info(tmp_path / "p")["fingerprint"] == info(tmp_path / "o")["fingerprint"]
    finally:
        server.shutdown()
        server.server_close()
    kinds = [s["kind"] for row in rows(tmp_path / "o", "causal_confusion") for s in row["sources"]]
    assert "negation" in kinds
    assert "swap" not in kinds
    assert "echo-1" in info(tmp_path / "o")["tools"]["language model"]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in files if b"sk-very-secret" in path.read_bytes()] == []


@pytest.mark.full
@pytest.mark.shared
@pytest.mark.timeout(900)  # minutes of mining where something else runs beside
def test_one_in_ten_of_the_real_annotations(shared: Path, tmp_path: Path) -> None:
    with open(shared / "data" / "causalchaos" / "Annotations.csv", encoding="utf-8-sig", newline="") as handle:
        header, *lines = csv.reader(handle)
    with open(tmp_path / "Annotations.csv", "w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([header, *lines[::10]])
    out = tmp_path / "o"
    done = run("build-causal", "--annotations", tmp_path / "Annotations.csv", *TEXTS, "--out", out)
    assert done.code == 0, done.err
    counts = info(out)["counts"]
    assert counts["ud"] == {"train": 346, "validation": 75, "test": 74}
    assert sum(counts["ps"].values()) == sum(counts["un"].values()) == 495
    notes = info(out)["notes"]
    wrong, right = (
        count / total
        for count, total in (
            notes[name]["ud"]["test"]["answer"] for name in ("wrong_options_right_in_train", "right_options_in_train")
        )
    )
    assert abs(wrong - right) < 0.12  # to be known from train says nothing
    assert notes["leaks"]["un"]["test"]["episode"] == 0
    assert notes["confusion"]["answer"]["swap"]["placed"] > 50  # negations add a "not", so few are taken
    assert run("stressreel", "verify", out).code == 0

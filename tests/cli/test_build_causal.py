"""`build-causal` as users run it, on the built-in sample and on the real annotations."""

import csv
import io
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from commands import info, rows, run, succeed
from endpoint import running
from stressreel.annotations.samples import cached_sample

FAST = ("--preset", "ultrafast", "--no-progress")
TEXTS = ("--no-render", "--no-progress")
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
        lines = (causal / "Annotations.csv").read_text(encoding="utf-8").splitlines()[:31]  # no episode of test
        (tmp_path / "Annotations.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        build = ("--annotations", tmp_path / "Annotations.csv", "--splits", "UN", "--out", tmp_path / "out", *SCORED)
        succeed("build-causal", *build)
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


class TestVideos:
    def test_offsets_and_rates(self, causal: Path, tmp_path: Path) -> None:
        (tmp_path / "offsets.csv").write_text("Episode,Offset\nS90E01,-3\n")
        (tmp_path / "fps.txt").write_text("S90E02=50\n")
        half = (causal / "Annotations.csv").read_text(encoding="utf-8-sig").splitlines()[:31]
        (tmp_path / "a.csv").write_text("\n".join(half))
        given = ("--annotations", tmp_path / "a.csv", "--videos", causal / "videos")
        fast = ("--preset", "ultrafast", "--no-progress")
        arguments = (*given, "--splits", "UD", "--confuse", 0, "--negatives", "random", *fast)
        more = ("--offsets", tmp_path / "offsets.csv", "--fps-map", tmp_path / "fps.txt", "--out", tmp_path / "o")
        succeed("build-causal", *arguments, *more, "--max-skip", 0.1)
        clips = rows(tmp_path / "o", "clips")
        assert all(c["first_frame"] == c["start_frame"] - 3 for c in clips if c["episode"] == "S90E01")
        halved = [c for c in clips if c["episode"] == "S90E02"]
        assert all(abs(c["num_frames"] - (c["end_frame"] - c["start_frame"]) / 2) <= 1 for c in halved)
        assert run("stressreel", "verify", tmp_path / "o").code == 0


class TestUse:
    def test_the_sample_by_its_name(self, tmp_path: Path, environment: dict[str, str]) -> None:
        plain = ("--confuse", 0, "--balance", "none", "--no-render", "--no-progress")
        arguments = ("--annotations", "sample", "--splits", "UN", *plain, "--out", tmp_path / "o")
        succeed("build-causal", *arguments, env=environment)
        card = (tmp_path / "o" / "README.md").read_text()
        assert "This is not CausalChaos" in card
        assert "license: cc0-1.0" in card
        files = "build.json croissant.json open_ended README.md un units.parquet .build"
        assert {path.name for path in (tmp_path / "o").iterdir()} == set(files.split())

    def test_dry_run_with_divisions_apart(self, causal: Path) -> None:
        given = ("--annotations", causal / "Annotations.csv", "--splits", "UN", "ps", "--balance", "none")
        done = succeed("build-causal", *given, "--dry-run", *FAST)
        assert "  un " in done.out
        assert "  ps " in done.out
        assert "  ud " not in done.out


def test_a_language_model_confuses(causal: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """It negates "was" and "wanted" and can exchange nobody."""

    def answer(request: dict[str, Any], before: int) -> str:
        task, text = (message["content"] for message in request["messages"])
        said = text.replace(" was ", " was not ").replace(" wanted ", " did not want ") if "negate" in task else ""
        return said or "impossible"

    secret = {**environment, "STRESSREEL_LLM_KEY": "sk-very-secret"}
    with running(answer) as server:
        model = ("--llm-base-url", server.url, "--llm-model", "echo-1")
        arguments = ("--annotations", causal / "Annotations.csv", "--splits", "UD", *SCORED, *model)
        assert "36 requests" in run("build-causal", *arguments, "--dry-run", env=secret).out
        assert server.requests == []
        succeed("build-causal", *arguments, "--out", tmp_path / "o", env=secret)
        count = len(server.requests)
        assert count >= 36
        assert run("build-causal", *arguments, "--out", tmp_path / "p", env=secret).code == 0
        assert len(server.requests) == count
    assert info(tmp_path / "p")["fingerprint"] == info(tmp_path / "o")["fingerprint"]
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
    succeed("build-causal", "--annotations", tmp_path / "Annotations.csv", *TEXTS, "--out", out)
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

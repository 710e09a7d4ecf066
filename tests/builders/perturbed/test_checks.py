"""Every check of a suite of perturbed clips fails on a good build that is broken in its way."""

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import rows, run
from numpy.typing import NDArray
from stressreel.builders.perturbed.checks import Order, disordered, noise_limit, perturbed_checks
from stressreel.builders.perturbed.settings import PerturbedSettings
from stressreel.records.checks import VerifyOptions
from stressreel.records.output import FinishedOutput, open_output
from stressreel.runtime.verify import run_checks
from stressreel.video.encode import write_video
from stressreel.video.pyav import to_rgb
from stressreel.video.thumbnails import frames_of, look_at, misplaced

Row = dict
NAMES = ("impulse_noise", "mpeg1", "reverse_sampling", "jumble")
FAST = ("--preset", "ultrafast", "--no-progress")


@pytest.fixture(scope="module")
def suite(msrvtt: Path, build_once: Callable[..., Path]) -> Path:
    """Two clips under four perturbations; read only."""
    arguments = ("--perturbations", ",".join(NAMES), "--severity", "1,4,5", "--limit", 2, *FAST)
    return build_once("build-perturbed", "--msrvtt", msrvtt, *arguments)


@pytest.fixture(scope="module")
def parts(two_parts: Path, build_once: Callable[..., Path]) -> Callable[..., Path]:
    """Builds two parts of one bar-coded video, whose frames differ much; read only."""
    given = ("--captions", two_parts / "c.csv", "--severity", "2")
    return lambda *arguments: build_once("build-perturbed", *given, *arguments, *FAST)


@pytest.fixture
def copy(suite: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(suite, tmp_path / "copy"))


def rewrite(out: Path, name: str, change: Callable[[list[Row]], object]) -> None:
    path = next((out / name).glob("*.parquet"))
    table = pq.read_table(path)
    found = table.to_pylist()
    change(found)
    pq.write_table(pa.Table.from_pylist(found, schema=table.schema), path)


def problems(output: FinishedOutput, name: str) -> list[str]:
    (outcome,) = run_checks(output, {name: perturbed_checks(output.info, VerifyOptions(decode=True, workers=1))[name]})
    assert not any("could not be checked" in problem for problem in outcome.problems)
    return list(outcome.problems)


def put_video(row: Row, content: bytes) -> None:
    row["video"]["bytes"] = content


def encoded(frames: Iterable[NDArray[np.uint8]], path: Path, rate: int = 25) -> bytes:
    write_video(path, frames, rate=Fraction(rate))
    return path.read_bytes()


def pictures(content: bytes) -> list[NDArray[np.uint8]]:
    return [to_rgb(frame) for frame in frames_of(content)]


def lose_a_row(out: Path) -> None:
    rewrite(out, "jumble", lambda rows: rows.pop())


def lose_a_clean_clip(out: Path) -> None:
    rewrite(out, "clean", lambda rows: rows.pop())


def repeat_a_row(out: Path) -> None:
    rewrite(out, "mpeg1", lambda rows: rows.append(rows[0]))


def add_a_severity(out: Path) -> None:
    rewrite(out, "jumble", lambda rows: rows.append({**rows[0], "severity": 3}))


def change_captions(out: Path) -> None:
    rewrite(out, "impulse_noise", lambda rows: rows[0].update(captions=["something else"]))


def change_source(out: Path) -> None:
    rewrite(out, "impulse_noise", lambda rows: rows[0].update(source_id="video1"))


def change_times(out: Path) -> None:
    rewrite(out, "jumble", lambda rows: rows[0].update(start_s=1.0, end_s=2.0))


def name_another_source(out: Path) -> None:
    file = out / "build.json"
    file.write_text(file.read_text().replace("--msrvtt DIR", "--youcook2 DIR"))


def change_level(out: Path) -> None:
    rewrite(out, "impulse_noise", lambda rows: rows[0].update(level="0.04"))


def forget_the_clamp(out: Path) -> None:
    rewrite(out, "mpeg1", lambda rows: rows[1].update(written_quantiser=80))


def give_clean_a_level(out: Path) -> None:
    rewrite(out, "clean", lambda rows: rows[0].update(level="0"))


def change_num_frames(out: Path) -> None:
    rewrite(out, "jumble", lambda rows: rows[0].update(num_frames=rows[0]["num_frames"] - 1))


def change_fps(out: Path) -> None:
    rewrite(out, "mpeg1", lambda rows: rows[0].update(fps=24.0))


def change_the_place(out: Path) -> None:
    rewrite(out, "jumble", lambda rows: rows[0].update(first_frame=1))


def change_the_source_s_length(out: Path) -> None:
    for name in ("clean", *NAMES):
        rewrite(out, name, lambda rows: [row.update(source_frames=33) for row in rows])


def cut_a_video_short(out: Path) -> None:
    rewrite(out, "clean", lambda rows: put_video(rows[0], rows[0]["video"]["bytes"][:-4000]))


def damage_a_video(out: Path) -> None:
    rewrite(out, "impulse_noise", lambda rows: put_video(rows[0], b"no video"))


def empty_a_video(out: Path) -> None:
    rewrite(out, "clean", lambda rows: put_video(rows[0], b""))


def drop_the_last_frame(out: Path) -> None:
    def change(rows: list[Row]) -> None:
        put_video(rows[0], encoded(pictures(rows[0]["video"]["bytes"])[:-1], out / "new.mp4"))

    rewrite(out, "jumble", change)


def change_the_size(out: Path) -> None:
    def change(rows: list[Row]) -> None:
        small = (frame[:-2].copy() for frame in pictures(rows[0]["video"]["bytes"]))
        put_video(rows[0], encoded(small, out / "new.mp4"))

    rewrite(out, "impulse_noise", change)


def change_the_speed(out: Path) -> None:
    def change(rows: list[Row]) -> None:
        put_video(rows[0], encoded(pictures(rows[0]["video"]["bytes"]), out / "new.mp4", 24))

    rewrite(out, "impulse_noise", change)


def leave_unreversed(out: Path) -> None:
    clean = {row["clip_id"]: row["video"]["bytes"] for row in rows(out, "clean")}
    rewrite(out, "reverse_sampling", lambda rows: put_video(rows[-1], clean[rows[-1]["clip_id"]]))


def exchange_severities(out: Path) -> None:
    def change(rows: list[Row]) -> None:
        rows[0]["video"], rows[2]["video"] = rows[2]["video"], rows[0]["video"]

    rewrite(out, "reverse_sampling", change)


def leave_unperturbed(out: Path) -> None:
    clean = {row["clip_id"]: row["video"]["bytes"] for row in rows(out, "clean")}
    rewrite(out, "impulse_noise", lambda rows: put_video(rows[-1], clean[rows[-1]["clip_id"]]))


BREAKS: list[tuple[str, Callable[[Path], None], str]] = [
    ("source", name_another_source, "the source is not YouCook2"),
    ("rows", lose_a_row, "severity 5 comes 0 times"),
    ("rows", lose_a_clean_clip, "clean: clip video90002, severity 0 comes 0 times"),
    ("rows", repeat_a_row, "comes 2 times"),
    ("rows", add_a_severity, "severity 3 is not part of the build"),
    ("rows", change_captions, "other captions"),
    ("rows", change_source, "other source_id"),
    ("rows", change_times, "other start_s, end_s"),
    ("levels", change_level, "level is 0.04, not 0.03"),
    ("levels", forget_the_clamp, "severity 4: written_quantiser is 80, not 31"),
    ("levels", give_clean_a_level, "clean: clip video90001"),
    ("same_length", change_num_frames, "num_frames is 33, of the clean clip 34"),
    ("same_length", change_fps, "fps is 24.0, of the clean clip 25.0"),
    ("same_length", change_the_place, "jumble: clip video90001, severity 1: frames 1 to 34 are not in 0 to 33"),
    ("same_length", change_the_source_s_length, "frames 0 to 33 are not in 0 to 32"),
    ("decoded", damage_a_video, "cannot be decoded"),
    ("decoded", empty_a_video, "clean: clip video90001: it cannot be decoded"),
    ("decoded", drop_the_last_frame, "33 frames, num_frames says 34"),
    ("decoded", change_the_size, "320x238, the clean clip 320x240"),
    ("decoded", change_the_speed, "it lasts 1.417 s, the clean clip 1.360 s"),
    ("decord", damage_a_video, "impulse_noise: video90001_1.mp4: PyAV cannot decode it"),
    ("decord", cut_a_video_short, "clean: video90001_0.mp4: decord"),
    ("pictures", leave_unperturbed, "impulse_noise: clip video90002, severity 5"),
    ("index_maps", leave_unreversed, "frames are not where the recipe puts them"),
    ("index_maps", exchange_severities, "reverse_sampling: clip video90001, severity 5"),
]


def test_every_check_is_broken_here(suite: Path) -> None:
    checks = perturbed_checks(open_output(suite).info, VerifyOptions(decode=True, workers=1))
    elsewhere = {"annotations", "sources"}  # test_forger.py
    assert {name for name, _, _ in BREAKS} == set(checks) - elsewhere


def test_a_good_build_passes(suite: Path) -> None:
    done = run("stressreel", "verify", suite, "--json")
    report = json.loads(done.out)
    assert [check for check in report["checks"] if not check["passed"]] == []
    assert {"rows", "levels", "decoded", "index_maps", "hashes", "load_dataset"} <= {
        c["name"] for c in report["checks"]
    }


@pytest.mark.parametrize(("name", "damage", "words"), BREAKS, ids=[damage.__name__ for _, damage, _ in BREAKS])
def test_check_fails_on_what_it_is_for(copy: Path, name: str, damage: Callable[[Path], None], words: str) -> None:
    damage(copy)
    found = problems(open_output(copy), name)
    assert any(words in problem for problem in found), found


def test_which_checks_there_are(suite: Path) -> None:
    info = open_output(suite).info
    assert "decoded" not in perturbed_checks(info, VerifyOptions(decode=False, workers=1))
    recipes = info | {"settings": info["settings"] | {"render": False}}
    checks = perturbed_checks(recipes, VerifyOptions(decode=True, workers=1))
    assert list(checks) == ["source", "rows", "levels", "annotations"]


def test_what_was_skipped_may_be_absent(copy: Path) -> None:
    output = open_output(copy)
    rewrite(copy, "jumble", lambda rows: rows.__delitem__(slice(0, 3)))
    assert len(problems(output, "rows")) == 3
    skip = {"unit_id": "video90001.jumble", "source_id": "video90001", "reason": "undecodable", "detail": ""}
    excused = replace(output, info=output.info | {"skips": {"count": 1, "by_reason": {}, "list": [skip]}})
    assert problems(excused, "rows") == []
    assert problems(excused, "decoded") == []


def test_both_checks_of_frames_share_one_pass(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = open_output(suite)
    passes = []

    def see_all(output: FinishedOutput, workers: int) -> list[tuple[str, str]]:
        passes.append(workers)
        return [("decoded", "a"), ("index_maps", "b"), ("decoded", "c")]

    monkeypatch.setattr("stressreel.builders.perturbed.checks.see_all", see_all)
    checks = perturbed_checks(output.info, VerifyOptions(decode=True, workers=3))
    assert [list(checks[name](output)) for name in ("decoded", "index_maps")] == [["a", "c"], ["b"]]
    assert passes == [3]


def test_two_exchanged_frames_are_found(parts: Callable[..., Path], tmp_path: Path) -> None:
    out = parts("--clip-first", "--perturbations", "box_jumble")
    output = open_output(out)
    assert problems(output, "index_maps") == []

    def change(rows: list[Row]) -> None:
        frames = pictures(rows[0]["video"]["bytes"])
        frames[3], frames[20] = frames[20], frames[3]
        put_video(rows[0], encoded(frames, tmp_path / "new.mp4", 30))

    rewrite(out, "box_jumble", change)
    (problem,) = problems(output, "index_maps")
    assert "2 frames are not where the recipe puts them; the first, 3," in problem


TEMPORAL = ("sampling", "reverse_sampling", "jumble", "box_jumble", "freeze")


@pytest.fixture(scope="module")
def whole(parts: Callable[..., Path]) -> Path:
    """Parts of a source that was perturbed as a whole; read only."""
    return parts("--perturbations", "temporal,jpeg", "--severity", "2,5")


def put(row: Row, frames: Iterable[NDArray[np.uint8]], path: Path) -> None:
    put_video(row, encoded(frames, path, 30))


class TestPartsOfAWholeSource:
    def test_where_they_lie_is_recorded(self, whole: Path) -> None:
        for name in ("clean", "jpeg", "freeze"):
            places = {(row["start_s"], row["source_frames"], row["first_frame"]) for row in rows(whole, name)}
            assert places == {(0.5, 90, 15), (1.2, 90, 36)}

    def test_they_are_where_their_recipes_put_them(self, whole: Path) -> None:
        output = open_output(whole)
        assert problems(output, "same_length") == problems(output, "decoded") == problems(output, "index_maps") == []

    @pytest.mark.parametrize("name", TEMPORAL)
    @pytest.mark.parametrize("part", [0, 1])
    def test_the_clean_clip_in_their_place_is_found(self, whole: Path, tmp_path: Path, name: str, part: int) -> None:
        out = Path(shutil.copytree(whole, tmp_path / "copy"))
        clean = rows(out, "clean")[part]["video"]["bytes"]
        rewrite(out, name, lambda rows: put_video(rows[2 * part], clean))
        (problem,) = problems(open_output(out), "index_maps")
        assert problem.startswith(f"{name}: clip film_")
        assert "not where the recipe puts them" in problem

    @pytest.mark.parametrize("name", TEMPORAL)
    def test_exchanged_severities_are_found(self, whole: Path, tmp_path: Path, name: str) -> None:
        out = Path(shutil.copytree(whole, tmp_path / "copy"))

        def change(rows: list[Row]) -> None:
            rows[2]["video"], rows[3]["video"] = rows[3]["video"], rows[2]["video"]

        rewrite(out, name, change)
        assert len(problems(open_output(out), "index_maps")) == 2

    def test_what_no_clip_shows_is_not_believed(self, whole: Path, tmp_path: Path) -> None:
        out = Path(shutil.copytree(whole, tmp_path / "copy"))

        def change(rows: list[Row]) -> None:
            inverted = [255 - frame for frame in pictures(rows[0]["video"]["bytes"])]
            put(rows[0], inverted, tmp_path / "new.mp4")

        rewrite(out, "jumble", change)
        (problem,) = problems(open_output(out), "index_maps")
        assert "40 frames are not where" in problem  # of 42; two come from where no clip is
        assert "a frame of no clean clip instead of" in problem

    def test_a_wrong_place_is_found(self, whole: Path, tmp_path: Path) -> None:
        out = Path(shutil.copytree(whole, tmp_path / "copy"))
        for name in ("clean", *TEMPORAL, "jpeg"):
            rewrite(out, name, lambda rows: [row.update(first_frame=row["first_frame"] + 1) for row in rows])
        assert problems(open_output(out), "same_length") == []
        assert len(problems(open_output(out), "index_maps")) >= 8


@pytest.mark.parametrize(("position", "wrong"), [(0, [1, 2, 7]), (1, [1]), (6, [6]), (7, [7])])
def test_a_held_frame_from_outside_is_compared_with_its_first(tmp_path: Path, position: int, wrong: list[int]) -> None:
    """Frames 7 and 8 are in a clean clip; 2 and 3 are in none, so what is first shown for them is believed."""
    source = np.random.default_rng(0).integers(0, 256, (10, 1024)).astype(np.uint8)
    np.save(tmp_path / "0.npy", source[7:9])
    shown = np.array([2, 2, 2, 3, 3, 7, 8, 2])
    order = Order(shown, ((tmp_path / "0.npy", 7), (tmp_path / "gone.npy", 0)), 12.0)
    pictures = source[shown].astype(np.float32)
    assert disordered(pictures, order) == []
    pictures[position] = source[5]
    assert [found for found, _ in disordered(pictures, order)] == wrong


def test_a_frame_of_no_clean_clip_is_called_that(tmp_path: Path) -> None:
    np.save(tmp_path / "0.npy", np.full((2, 1024), 100, np.uint8))
    order = Order(np.array([0, 1]), ((tmp_path / "0.npy", 0),), 12.0)
    assert disordered(np.full((2, 1024), 111, np.float32), order) == []
    assert disordered(np.full((2, 1024), 113, np.float32), order) == [(0, -1), (1, -1)]


def test_the_noise_limit_follows_the_quantiser() -> None:
    assert [noise_limit(PerturbedSettings(crf=crf)) for crf in (10, 23, 29, 35)] == [12, 12, 24, 48]
    assert noise_limit(PerturbedSettings(crf=51, lossless=True)) == 12


def test_misplaced_in_pieces_is_misplaced(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reverse = rows(suite, "reverse_sampling")[0]
    clean = look_at(rows(suite, "clean")[0]["video"]["bytes"])
    shown = look_at(reverse["video"]["bytes"])
    order = np.arange(shown.num_frames)
    whole = misplaced(shown.pictures, clean.pictures, order)
    monkeypatch.setattr("stressreel.video.thumbnails.AT_ONCE", 7)
    assert misplaced(shown.pictures, clean.pictures, order) == whole != []
    assert misplaced(shown.pictures, clean.pictures, order // 2 * 2)[:1] != []
    assert misplaced(shown.pictures, clean.pictures, (order // 2 * 2)[::-1]) == []

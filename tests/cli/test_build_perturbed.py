import io
import shutil
from fractions import Fraction

import av
import cv2
import datasets
import numpy as np
import pytest
import stressreel
from commands import info, refuses, rows, run, succeed
from stressreel.builders.perturbed.scores import videos_changed
from stressreel.core.errors import InputError
from stressreel.core.output import open_output
from stressreel.corruptions.registry import list_corruptions
from stressreel.evaluation.metrics.robustness import Setting
from stressreel.video.encode import write_video

NAMES = [corruption.name for corruption in list_corruptions()]
SOME = ("clean", "impulse_noise", "mpeg1", "jumble", "box_jumble", "sampling")  # by default
PLACE = ("source_frames", "first_frame")
FAST = ("--preset", "ultrafast", "--no-progress")


def decoded(row):
    with av.open(io.BytesIO(row["video"]["bytes"])) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


@pytest.fixture(scope="module")
def short(once):
    """Two seconds of moving detail, and a caption; read only."""

    def write(folder):
        folder.mkdir()
        detail = cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, (48, 130, 3), np.uint8), (0, 0), 2)
        detail = cv2.normalize(detail, None, 0, 255, cv2.NORM_MINMAX)
        write_video(folder / "film.mp4", (detail[:, n : n + 80] for n in range(50)), rate=Fraction(25))
        (folder / "captions.csv").write_text("video,caption\nfilm,it passes by\n")

    return once("short", write)


@pytest.fixture(scope="module")
def suite(short, build_once):
    """All 90 of a short clip, and those outside of `all`, without loss; read only."""
    options = ("--perturbations", "all,extra", "--lossless", *FAST[:2])
    return build_once("build-perturbed", "--captions", short / "captions.csv", *options)


@pytest.fixture(scope="module")
def film(bars, once):
    """Four seconds with keyframes and B-frames, and captions of the whole and of a part; read only."""

    def write(folder):
        folder.mkdir()
        bars.write(folder / "film.mp4", frames=100, rate=Fraction(25), gop=20, b_frames=2)
        shutil.copy(folder / "film.mp4", folder / "other.mp4")
        (folder / "c.csv").write_text("video,caption,start,end\nfilm,a part,1.2,3.3\nother,the whole,,\n")

    return once("film", write)


def test_one_config_for_each_and_clean(suite, tmp_path):
    counts = info(suite)["counts"]
    assert list(counts) == ["clean", *NAMES]
    assert [sum(splits.values()) for splits in counts.values()] == [1] + [5] * len(NAMES)
    table = datasets.load_dataset(str(suite), "mpeg1", split="test", cache_dir=str(tmp_path))
    assert isinstance(table.features["video"], datasets.Video)
    shown = {(row["severity"], row["level"], row["written_quantiser"]) for row in table.remove_columns("video")}
    assert shown == {(1, "20", 20), (2, "40", 31), (3, "60", 31), (4, "80", 31), (5, "100", 31)}
    assert {row["written_quantiser"] for row in rows(suite, "jpeg") + rows(suite, "clean")} == {None}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in SOME else pytest.mark.full) for name in ("clean", *NAMES)]
)
def test_rows_are_what_load_and_corrupt_give(suite, short, name):
    stored = rows(suite, name)
    (clean,) = stressreel.load(suite, "clean", videos=short)
    clips = stressreel.load(suite, name, videos=short)
    severities = [0] if name == "clean" else [1, 2, 3, 4, 5]
    assert [clip.row["severity"] for clip in clips] == [row["severity"] for row in stored] == severities
    least = 4 if name == "box_jumble" else len(severities)  # so short a clip has few boxes to exchange
    assert len({row["sha256"] for row in stored}) >= least
    for clip, row in zip(clips, stored, strict=True):
        assert np.array_equal(clip.frames, decoded(row))
        assert (row["num_frames"], row["fps"]) == (50, 25.0)
        if name not in ("clean", "mpeg1", "mpeg2"):
            given = {"severity": row["severity"], "key": row["source_id"]}
            assert np.array_equal(clip.frames, stressreel.corrupt(clean.frames, name, **given))


@pytest.mark.parametrize("first", [False, True])
def test_perturbed_before_or_after_they_are_cut(film, build_once, first):
    names = "sampling,jumble,mpeg2"
    given = ("--captions", film / "c.csv", "--perturbations", names, "--severity", 4, "--lossless", *FAST[:2])
    out = build_once("build-perturbed", *given, *(["--clip-first"] if first else []))
    for name in names.split(","):
        stored = rows(out, name)
        places = [(row["start_s"], row["num_frames"], *(row[column] for column in PLACE)) for row in stored]
        assert places == [(1.2, 53, 53, 0) if first else (1.2, 53, 100, 30), (None, 100, 100, 0)]
        for clip, row in zip(stressreel.load(out, name, videos=film), stored, strict=True):
            assert np.array_equal(clip.frames, decoded(row))
    clean, whole = (decoded(row) for row in rows(out, "clean"))
    place = np.arange(53) // 16 * 16 if first else np.arange(30, 83) // 16 * 16 - 30
    assert np.array_equal(decoded(rows(out, "sampling")[0]), clean[place] if first else whole[place + 30])


@pytest.mark.parametrize("first", [(), pytest.param(("--clip-first",), marks=pytest.mark.full)])
def test_rows_state_what_is_shown(bars, track, tmp_path, first):
    """The picture lasts from 0.4 s to 4.4 s, and the sound from 0 s to 6 s."""
    pcm = track(codec="pcm_s16le", stop=Fraction(6))
    bars.write(tmp_path / "film.mkv", frames=100, rate=Fraction(25), start=10, track=pcm)
    spans = [(0, 2), (3, 4.9), (0.1, 4.6), (1, 2), (0, 5), (0, 60)]
    lines = [f"film,caption {start} {end},{start},{end}" for start, end in spans]
    (tmp_path / "c.csv").write_text("\n".join(["video,caption,start,end", *lines]) + "\n")
    given = ("--captions", tmp_path / "c.csv", "--perturbations", "jumble", "--severity", 5, *FAST, *first)
    out = tmp_path / "o"
    refuses(run("build-perturbed", *given, "--out", out), "too_short", "--max-skip")
    succeed("build-perturbed", *given, "--out", out, "--max-skip", 1)
    skips = info(out)["skips"]["list"]
    assert {skip["unit_id"] for skip in skips} == {"film_0_5000", "film_0_60000"}
    assert all("has a picture from 0.40 to 4.40 s (100 frames)" in skip["detail"] for skip in skips)
    expected = {(0.4, 2.0): 40, (3.0, 4.4): 35, (0.4, 4.4): 100, (1.0, 2.0): 25}
    for table in ("clean", "jumble"):
        stored = rows(out, table)
        assert {(row["start_s"], row["end_s"]): row["num_frames"] for row in stored} == expected
        assert all(row["end_s"] - row["start_s"] == pytest.approx(len(decoded(row)) / 25) for row in stored)
        clips = stressreel.load(out, table, videos=tmp_path)
        assert [len(clip.frames) for clip in clips] == [row["num_frames"] for row in stored]
    succeed("stressreel", "verify", out, "--sources", tmp_path, "--sample", 2)


CLIP_FIRST = pytest.param(("--clip-first",), marks=pytest.mark.full, id="clip first")
CHOICES = (5, 200, slice(3, None, 13), slice(None, None, -9), [0, 31, 7, 7, -1], range(20, 23), np.array([24], "u1"))


@pytest.fixture(scope="module", params=[pytest.param((), id="whole first"), CLIP_FIRST])
def recipes(request, film, build_once):
    given = ("--captions", film / "c.csv", "--no-render", "--severity", "2,5", *request.param)
    return build_once("build-perturbed", *given)


@pytest.mark.parametrize("name", ["clean", "motion_blur", "rotation", "mpeg1", "jumble", "freeze"])
def test_chosen_frames_are_those_of_the_whole_clip(recipes, film, name):
    stored = rows(recipes, name)
    assert "video" not in stored[0]
    assert {row[column] for row in stored for column in PLACE} == {None}
    assert {row["changed"] for row in stored} == {None}
    severity = None if name == "clean" else 5
    whole = list(stressreel.load(recipes, name, videos=film, severity=severity))
    assert [len(clip.frames) for clip in whole] == [53, 100]
    for choice in CHOICES:
        chosen = stressreel.load(recipes, name, videos=film, severity=severity, frames=choice)
        for clip, part in zip(whole, chosen, strict=True):
            assert part.row == clip.row
            assert np.array_equal(part.frames, clip.frames[part.positions])
            if not isinstance(choice, int):
                assert np.array_equal(part.positions, np.arange(len(clip.frames))[choice])


CHOICE = "frames must be a positive number of frames"


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("rain", {}, "has no perturbation 'rain'"),
        ("jpeg", {"videos": "none"}, "no folder"),
        ("jpeg", {"split": "train"}, "no split 'train' of jpeg"),
        ("jpeg", {"videos": "."}, "1 of 1 source videos are not in .* film"),
        ("clean", {"severity": 3}, "no clean at severity 3"),
        ("jpeg", {"frames": [3, 50]}, "clip film has no frame 50: its 50 frames"),  # a render knows at once
        *[("jpeg", {"frames": frames}, CHOICE) for frames in (0, True, "8", [], [1.5], [[1], [1, 2]], slice(0, 9, 0))],
    ],
)
def test_load_says_what_is_wrong(suite, short, tmp_path, monkeypatch, name, given, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=says):
        stressreel.load(suite, name, **{"videos": short, **given})


def test_recipes_without_a_video_or_frame(recipes, film, tmp_path):
    for frames, says in (([53], "no frame 53: its 53 frames"), (slice(60, 70), "selects no frames")):
        with pytest.raises(InputError, match=says):
            stressreel.load(recipes, "jpeg", videos=film, frames=frames)[0]
    shutil.copy(film / "film.mp4", tmp_path)
    with pytest.raises(InputError, match=r"1 of 2 source videos .* allow_missing=True"):
        stressreel.load(recipes, "jpeg", videos=tmp_path)
    clips = stressreel.load(recipes, "jpeg", videos=tmp_path, allow_missing=True, frames=4)
    assert clips.missing == clips[1:].missing == ("other",)
    assert [(clip.row["source_id"], clip.positions.tolist()) for clip in clips] == [("film", [0, 17, 34, 52])] * 2


def test_changed_is_false_for_equal_frames(tmp_path):
    """Six boxes of 36 frames: no two fit into 35, and a still has nothing to reorder."""
    picture = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)
    for name, step in (("moves", 2), ("still", 0)):
        write_video(
            tmp_path / f"{name}.mp4", (np.roll(picture, step * n, axis=1) for n in range(35)), rate=Fraction(25)
        )
    (tmp_path / "c.csv").write_text("video,caption,start,end\nmoves,x,,\nstill,x,,\nstill,y,0,1\nmoves,y,0,1.2\n")
    given = ("--captions", tmp_path / "c.csv", "--perturbations", "box_jumble,jumble,jpeg", "--severity", "1,5", *FAST)
    out = tmp_path / "o"
    succeed("build-perturbed", *given, "--out", out)
    clean = {row["clip_id"]: row for row in rows(out, "clean")}
    assert {row["changed"] for row in clean.values()} == {False}
    for table in ("box_jumble", "jumble", "jpeg"):
        for row in rows(out, table):
            same = np.array_equal(decoded(row), decoded(clean[row["clip_id"]]))
            still = row["source_id"] == "still" or (table == "box_jumble" and row["severity"] == 5)
            assert row["changed"] is (not same) is (table == "jpeg" or not still)
    assert "| `box_jumble` | 50.0% | 0.0% |" in (out / "README.md").read_text(encoding="utf-8")
    scored = videos_changed(open_output(out), [Setting("box_jumble", 5), Setting("jpeg", 1)], "test")
    assert scored == {("box_jumble", 1): 0.5, ("box_jumble", 5): 0, ("jpeg", 1): 1, ("jpeg", 5): 1}
    succeed("stressreel", "verify", out, "--sources", tmp_path)

import io
import shutil
from fractions import Fraction

import av
import cv2
import datasets
import numpy as np
import pytest
import stressreel
from commands import info, refuses, rows, run
from stressreel.builders.perturbed.scores import videos_changed
from stressreel.core.errors import InputError
from stressreel.core.output import open_output
from stressreel.corruptions.registry import list_corruptions
from stressreel.evaluation.metrics.robustness import Setting
from stressreel.video.encode import write_video

NAMES = [corruption.name for corruption in list_corruptions()]
SOME = ("impulse_noise", "mpeg1", "jumble", "box_jumble", "sampling")  # by default
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
    """All 90 of a short clip, without loss; read only."""
    return build_once("build-perturbed", "--captions", short / "captions.csv", "--lossless", *FAST[:2])


@pytest.fixture(scope="module")
def film(bars, once):
    """Four seconds with keyframes and B-frames, and captions of the whole and of a part; read only."""

    def write(folder):
        folder.mkdir()
        bars.write(folder / "film.mp4", frames=100, rate=Fraction(25), gop=20, b_frames=2)
        shutil.copy(folder / "film.mp4", folder / "other.mp4")
        (folder / "c.csv").write_text("video,caption,start,end\nfilm,a part,1.2,3.3\nother,the whole,,\n")

    return once("film", write)


class TestDataset:
    def test_one_config_for_each_and_clean(self, suite, tmp_path):
        counts = info(suite)["counts"]
        assert list(counts) == ["clean", *NAMES]
        assert [sum(splits.values()) for splits in counts.values()] == [1] + [5] * len(NAMES)
        for name, severities in (("clean", {0}), ("mpeg1", {1, 2, 3, 4, 5})):
            table = datasets.load_dataset(str(suite), name, split="test", cache_dir=str(tmp_path))
            assert isinstance(table.features["video"], datasets.Video)
            assert set(table.remove_columns("video")["severity"]) == severities
        shown = {(row["severity"], row["level"], row["written_quantiser"]) for row in rows(suite, "mpeg1")}
        assert shown == {(1, "20", 20), (2, "40", 31), (3, "60", 31), (4, "80", 31), (5, "100", 31)}
        assert {row["written_quantiser"] for row in rows(suite, "jpeg") + rows(suite, "clean")} == {None}

    @pytest.mark.parametrize(
        "name", ["clean", *(pytest.param(name, marks=() if name in SOME else pytest.mark.full) for name in NAMES)]
    )
    def test_rows_are_what_load_and_corrupt_give(self, suite, short, name):
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

    @pytest.mark.full
    def test_content_depends_on_neither_workers_nor_other_severities(self, short, suite, tmp_path):
        names = "noise,rotation,jumble,mpeg2"
        given = ("--captions", short / "captions.csv", "--perturbations", names, "--severity", 3, "--lossless", *FAST)
        for workers in (1, 2):
            assert run("build-perturbed", *given, "--out", tmp_path / f"{workers}", "--workers", workers).code == 0
        for file in ("build.json", "README.md"):
            assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()
        for name in ("shot_noise", "rotation", "jumble", "mpeg2"):
            (alone,) = rows(tmp_path / "1", name)
            assert alone in rows(suite, name), name


class TestClipsOfLongSources:
    @pytest.mark.parametrize("first", [False, True])
    def test_perturbed_before_or_after_they_are_cut(self, film, build_once, first):
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
        shown = decoded(rows(out, "sampling")[0])
        assert np.array_equal(shown, clean[place] if first else whole[place + 30])

    def test_clip_past_the_end_is_skipped_alone(self, film, tmp_path):
        shutil.copy(film / "film.mp4", tmp_path)
        (tmp_path / "c.csv").write_text("video,caption,start,end\nfilm,nothing,9,12\nfilm,something,1,2\n")
        given = ("--captions", tmp_path / "c.csv", "--perturbations", "jpeg", "--severity", 1, *FAST)
        out = tmp_path / "o"
        refuses(run("build-perturbed", *given, "--out", out), "too_short", "--max-skip")
        assert run("build-perturbed", *given, "--out", out, "--max-skip", 0.6).code == 0
        assert [skip["unit_id"] for skip in info(out)["skips"]["list"]] == ["film_9000_12000"]
        assert [row["start_s"] for row in rows(out, "jpeg")] == [1.0]
        assert run("stressreel", "verify", out).code == 0

    @pytest.mark.parametrize("first", [(), pytest.param(("--clip-first",), marks=pytest.mark.full)])
    def test_rows_state_what_is_shown(self, bars, track, tmp_path, first):
        """The picture lasts from 0.4 s to 4.4 s, and the sound from 0 s to 6 s."""
        pcm = track(codec="pcm_s16le", stop=Fraction(6))
        bars.write(tmp_path / "film.mkv", frames=100, rate=Fraction(25), start=10, track=pcm)
        spans = [(0, 2), (3, 4.9), (0.1, 4.6), (1, 2)]
        lines = [f"film,caption {start} {end},{start},{end}" for start, end in [*spans, (0, 5), (0, 60)]]
        (tmp_path / "c.csv").write_text("\n".join(["video,caption,start,end", *lines]) + "\n")
        given = ("--captions", tmp_path / "c.csv", "--perturbations", "jumble", "--severity", 5, *FAST, *first)
        out = tmp_path / "o"
        assert run("build-perturbed", *given, "--out", out, "--max-skip", 1).code == 0
        skips = info(out)["skips"]["list"]
        assert {skip["unit_id"] for skip in skips} == {"film_0_5000", "film_0_60000"}
        assert all("has a picture from 0.40 to 4.40 s (100 frames)" in skip["detail"] for skip in skips)
        expected = {(0.4, 2.0): 40, (3.0, 4.4): 35, (0.4, 4.4): 100, (1.0, 2.0): 25}
        for table in ("clean", "jumble"):
            stored = rows(out, table)
            assert {(row["start_s"], row["end_s"]): row["num_frames"] for row in stored} == expected
            assert all(row["end_s"] - row["start_s"] == pytest.approx(len(decoded(row)) / 25) for row in stored)
            for clip, row in zip(stressreel.load(out, table, videos=tmp_path), stored, strict=True):
                assert len(clip.frames) == row["num_frames"]
        assert run("stressreel", "verify", out, "--sources", tmp_path, "--sample", 2).code == 0


class TestChanged:
    """Rows say whether a perturbed video differs from the clean one."""

    def test_changed_is_false_for_equal_frames(self, bars, tmp_path):
        """Six boxes of 36 frames: no two fit into 35, and a still has nothing to reorder."""
        for name, still in (("moves", False), ("still", True)):
            picture = np.random.default_rng(0).integers(0, 256, (48, 64, 3), np.uint8)
            pictures = (picture if still else np.roll(picture, 2 * n, axis=1) for n in range(35))
            write_video(tmp_path / f"{name}.mp4", pictures, rate=Fraction(25))
        shutil.copy(tmp_path / "moves.mp4", tmp_path / "part.mp4")
        (tmp_path / "c.csv").write_text("video,caption,start,end\nmoves,x,,\nstill,x,,\nstill,y,0,1\npart,x,0,1.2\n")
        given = (
            "--captions",
            tmp_path / "c.csv",
            "--perturbations",
            "box_jumble,jumble,jpeg",
            "--severity",
            "1,5",
            *FAST,
        )
        out = tmp_path / "o"
        assert run("build-perturbed", *given, "--out", out).code == 0
        clean = {row["clip_id"]: row for row in rows(out, "clean")}
        assert {row["changed"] for row in clean.values()} == {False}
        for table in ("box_jumble", "jumble", "jpeg"):
            for row in rows(out, table):
                same = np.array_equal(decoded(row), decoded(clean[row["clip_id"]]))
                still = row["source_id"] == "still" or (table == "box_jumble" and row["severity"] == 5)
                assert row["changed"] is (not same) is (table == "jpeg" or not still)
                assert row["changed"] == (row["sha256"] != clean[row["clip_id"]]["sha256"])
        card = (out / "README.md").read_text(encoding="utf-8")
        assert "| `box_jumble` | 50.0% | 0.0% |" in card
        assert "| `jumble` | 50.0% | 50.0% |" in card
        assert "| `jpeg` | 100" not in card
        scored = videos_changed(open_output(out), [Setting("box_jumble", 5), Setting("jpeg", 1)], "test")
        assert scored == {("box_jumble", 1): 0.5, ("box_jumble", 5): 0, ("jpeg", 1): 1, ("jpeg", 5): 1}
        assert run("stressreel", "verify", out, "--sources", tmp_path).code == 0

    def test_recipes_leave_it_open(self, recipes):
        assert {row["changed"] for row in rows(recipes, "box_jumble")} == {None}
        assert videos_changed(open_output(recipes), [Setting("box_jumble", 5)], "test") == {}


CLIP_FIRST = pytest.param(("--clip-first",), marks=pytest.mark.full, id="clip first")


@pytest.fixture(scope="module", params=[pytest.param((), id="whole first"), CLIP_FIRST])
def recipes(request, film, build_once):
    given = ("--captions", film / "c.csv", "--no-render", "--severity", "2,5", *request.param)
    return build_once("build-perturbed", *given)


CHOICES = (5, 200, slice(3, None, 13), slice(None, None, -9), [0, 31, 7, 7, -1], range(20, 23), np.array([24], "u1"))


class TestSomeFrames:
    """Frames asked for alone, of recipes without videos, are those of the whole clip."""

    @pytest.mark.parametrize("name", ["clean", "motion_blur", "rotation", "mpeg1", "jumble", "freeze"])
    def test_they_are_those_of_the_whole_clip(self, recipes, film, name):
        assert "video" not in rows(recipes, name)[0]
        assert {row[column] for row in rows(recipes, name) for column in PLACE} == {None}
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

    def test_a_number_of_frames_is_at_equal_distances(self, recipes, film):
        def positions(frames):
            return [clip.positions.tolist() for clip in stressreel.load(recipes, "clean", videos=film, frames=frames)]

        assert positions(1) == [[0], [0]]
        assert positions(4) == [[0, 17, 34, 52], [0, 33, 66, 99]]
        assert [len(set(chosen)) for chosen in positions(300)] == [53, 100]

    @pytest.mark.parametrize("frames", [0, True, "8", [], [1.5], [[1], [1, 2]], slice(0, 9, 0), {3}])
    def test_what_is_no_choice(self, suite, short, frames):
        with pytest.raises(InputError, match="frames must be a positive number of frames"):
            stressreel.load(suite, "jpeg", videos=short, frames=frames)

    def test_frames_that_are_not_there(self, recipes, film, suite, short):
        for frames, says in (([53], "has no frame 53: its 53 frames"), (slice(60, 70), "selects no frames: clip")):
            with pytest.raises(InputError, match=says):
                stressreel.load(recipes, "jpeg", videos=film, frames=frames)[0]
        with pytest.raises(InputError, match="clip film has no frame 50: its 50 frames"):  # a render knows at once
            stressreel.load(suite, "jpeg", videos=short, frames=[3, 50])


class TestUse:
    def test_missing_videos_and_ambiguous_names(self, msrvtt, tmp_path):
        (tmp_path / "c.csv").write_text("video,caption,start,end\na.mp4,x,1,2\na.jpeg.mp4,y,,\n")
        given = ("--captions", tmp_path / "c.csv", "--perturbations", "jpeg", "--dry-run")
        refuses(run("build-perturbed", *given), "'a.jpeg'", "Rename the video a.jpeg.")
        assert run("build-perturbed", *given, "--limit", 1).code == 0
        given = ("--msrvtt", msrvtt, "--videos", tmp_path, "--out", tmp_path / "o", "--perturbations", "jpeg")
        refuses(run("build-perturbed", *given), "5 source videos missing", "--allow-missing")

    @pytest.mark.parametrize(
        ("name", "given", "says"),
        [
            ("rain", {}, "has no perturbation 'rain'"),
            ("jpeg", {"videos": "none"}, "no folder"),
            ("jpeg", {"split": "train"}, "no split 'train' of jpeg"),
            ("jpeg", {}, "1 of 1 source videos are not in .* film"),
            ("clean", {"severity": 3}, "no clean at severity 3"),
        ],
    )
    def test_load_says_what_is_wrong(self, suite, tmp_path, name, given, says):
        with pytest.raises(InputError, match=says):
            stressreel.load(suite, name, **{"videos": tmp_path, **given})

    def test_load_without_a_video(self, msrvtt, tmp_path, build_once):
        given = ("--perturbations", "jpeg", "--limit", 2, "--no-render")
        out = build_once("build-perturbed", "--msrvtt", msrvtt, *given)
        shutil.copy(msrvtt / "videos" / "all" / "video90002.mp4", tmp_path)
        with pytest.raises(InputError, match=r"1 of 2 source videos .* allow_missing=True"):
            stressreel.load(out, "jpeg", videos=tmp_path)
        clips = stressreel.load(out, "jpeg", videos=tmp_path, allow_missing=True)
        assert clips.missing == clips[1:].missing == ("video90001",)
        assert [row["clip_id"] for row in clips.rows] == ["video90002"] * 5


@pytest.mark.shared
@pytest.mark.full
def test_sizes_of_the_paper(shared):
    done = run("build-perturbed", "--msrvtt", shared / "data" / "msrvtt", "--dry-run")
    assert "90,000 perturbed clips" in done.out
    done = run("build-perturbed", "--youcook2", shared / "data" / "youcook2", "--dry-run")
    assert "3,350 clips of 436 source videos" in done.out
    assert "301,500 perturbed clips" in done.out

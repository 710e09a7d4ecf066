import io
import shutil
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import datasets
import numpy as np
import pytest
import stressreel
from commands import info, refuses, rows, run
from numpy.typing import NDArray
from stressreel.corruptions.registry import list_corruptions
from stressreel.video.encode import write_video
from stressreel.video.index import FrameIndex
from stressreel.video.store import FrameStore

NAMES = [corruption.name for corruption in list_corruptions()]
PLACE = ("source_frames", "first_frame")
FAST = ("--preset", "ultrafast", "--no-progress")
Once = Callable[[str, Callable[[Path], object]], Path]


def decoded(content: bytes) -> list[NDArray[np.uint8]]:
    with av.open(io.BytesIO(content)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@pytest.fixture(scope="module")
def suite(msrvtt: Path, build_once: Callable[..., Path]) -> Path:
    """All 90 of a clip; read only."""
    return build_once("build-perturbed", "--msrvtt", msrvtt, "--limit", 1, *FAST)


@pytest.fixture(scope="module")
def long_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One video of 4 s and captions for two overlapping parts of it."""
    folder = tmp_path_factory.mktemp("long")
    shades = (np.full((32, 48, 3), 2 * number, np.uint8) for number in range(100))
    write_video(folder / "film.mp4", shades, rate=Fraction(25))
    lines = ["video,caption,start,end", "film,it gets lighter,0.4,2.0", "film,it is light,1.6,3.6"]
    (folder / "captions.csv").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def short(once: Once) -> Path:
    """Two seconds of moving detail, and a caption; read only."""

    def write(folder: Path) -> None:
        folder.mkdir()
        detail = cv2.GaussianBlur(np.random.default_rng(0).integers(0, 256, (48, 130, 3), np.uint8), (0, 0), 2)
        detail = cv2.normalize(detail, None, 0, 255, cv2.NORM_MINMAX)
        write_video(folder / "film.mp4", (detail[:, n : n + 80] for n in range(50)), rate=Fraction(25))
        (folder / "captions.csv").write_text("video,caption\nfilm,it passes by\n")

    return once("short", write)


@pytest.fixture(scope="module")
def short_lossless(short: Path, build_once: Callable[..., Path]) -> Path:
    """All 90 of a short clip, without loss."""
    return build_once("build-perturbed", "--captions", short / "captions.csv", "--lossless", *FAST)


@pytest.fixture(scope="module")
def lossless(msrvtt: Path, build_once: Callable[..., Path]) -> Path:
    """All at severity 4 of one clip, without loss; read only."""
    arguments = ("--severity", 4, "--limit", 1, "--lossless", *FAST)
    return build_once("build-perturbed", "--msrvtt", msrvtt, *arguments)


class TestDataset:
    def test_one_config_for_each_and_clean(self, suite: Path) -> None:
        counts = info(suite)["counts"]
        assert list(counts) == ["clean", *NAMES]
        assert {name: sum(splits.values()) for name, splits in counts.items()} == {
            "clean": 1,
            **dict.fromkeys(NAMES, 5),
        }

    @pytest.mark.parametrize("name", ["clean", "gaussian_noise", "mpeg1"])
    def test_load_dataset(self, suite: Path, name: str, tmp_path: Path) -> None:
        table = datasets.load_dataset(str(suite), name, split="test", cache_dir=str(tmp_path))
        assert isinstance(table.features["video"], datasets.Video)
        plain = table.cast_column("video", datasets.Video(decode=False))
        assert {row["severity"] for row in plain} == ({0} if name == "clean" else {1, 2, 3, 4, 5})
        assert all(row["captions"] for row in plain)

    @pytest.mark.parametrize("name", NAMES)
    def test_size_rate_and_length_stay(self, suite: Path, name: str) -> None:
        clean = {row["clip_id"]: row for row in rows(suite, "clean")}
        for row in rows(suite, name)[:5]:
            source = clean[row["clip_id"]]
            frames = decoded(row["video"]["bytes"])
            assert len(frames) == row["num_frames"] == source["num_frames"]
            assert row["fps"] == source["fps"]
            assert frames[0].shape == decoded(source["video"]["bytes"])[0].shape

    def test_verify(self, suite: Path) -> None:
        done = run("stressreel", "verify", suite)
        assert done.code == 0, done.out

    def test_verify_without_loss(self, short: Path, build_once: Callable[..., Path]) -> None:
        names = ("--perturbations", "jpeg,mpeg2,gaussian_noise,rotation", "--severity", 4)
        out = build_once("build-perturbed", "--captions", short / "captions.csv", *names, "--lossless")
        done = run("stressreel", "verify", out)
        assert done.code == 0, done.out

    def test_quantisers_are_recorded_as_written(self, suite: Path) -> None:
        shown = {(row["severity"], row["level"], row["written_quantiser"]) for row in rows(suite, "mpeg1")}
        assert shown == {(1, "20", 20), (2, "40", 31), (3, "60", 31), (4, "80", 31), (5, "100", 31)}
        assert {row["written_quantiser"] for row in rows(suite, "jpeg") + rows(suite, "clean")} == {None}

    @pytest.mark.parametrize("name", NAMES)
    def test_every_severity_has_pictures_of_its_own(self, suite: Path, name: str) -> None:
        least = 4 if name == "box_jumble" else 5  # so short a clip has few boxes to exchange
        assert len({row["sha256"] for row in rows(suite, name)}) >= least


class TestSameContent:
    def test_with_one_worker_elsewhere(self, msrvtt: Path, tmp_path: Path) -> None:
        arguments = ("--msrvtt", msrvtt, "--perturbations", "noise,rotation,jumble,mpeg2", "--severity", 3, *FAST)
        arguments = (*arguments, "--limit", 2)
        for workers in (1, 2):
            assert run("build-perturbed", *arguments, "--out", tmp_path / f"{workers}", "--workers", workers).code == 0
        assert (tmp_path / "1" / "build.json").read_bytes() == (tmp_path / "2" / "build.json").read_bytes()
        assert (tmp_path / "1" / "README.md").read_bytes() == (tmp_path / "2" / "README.md").read_bytes()

    @pytest.mark.parametrize("name", ["clean", *NAMES])
    def test_load_gives_what_a_lossless_render_encodes(self, short_lossless: Path, short: Path, name: str) -> None:
        clips = stressreel.load(short_lossless, name, videos=short)
        stored = rows(short_lossless, name)
        severities = [0] if name == "clean" else [1, 2, 3, 4, 5]
        assert [clip.row["severity"] for clip in clips] == [row["severity"] for row in stored] == severities
        for clip, row in zip(clips, stored, strict=True):
            assert np.array_equal(clip.frames, np.stack(decoded(row["video"]["bytes"]))), row["severity"]

    @pytest.mark.parametrize("severity", [3, 5])
    def test_a_severity_is_the_same_whatever_others_are_built(
        self, short_lossless: Path, short: Path, tmp_path: Path, severity: int
    ) -> None:
        arguments = ("--captions", short / "captions.csv", "--severity", severity, "--lossless", *FAST)
        assert run("build-perturbed", *arguments, "--out", tmp_path / "o").code == 0
        for name in NAMES:
            (alone,) = rows(tmp_path / "o", name)
            assert alone in rows(short_lossless, name), name

    def test_load_from_recipes_alone(self, lossless: Path, msrvtt: Path, tmp_path: Path) -> None:
        arguments = ("--no-render", "--limit", 1, "--severity", "1-5", "--perturbations", "speckle_noise,freeze")
        out = tmp_path / "o"
        assert run("build-perturbed", "--msrvtt", msrvtt, "--out", out, *arguments).code == 0
        assert run("stressreel", "verify", out).code == 0
        assert "video" not in rows(out, "freeze")[0]
        assert {row[column] for row in rows(out, "freeze") for column in PLACE} == {None}
        for name in ("speckle_noise", "freeze"):
            clips = stressreel.load(out, name, videos=msrvtt / "videos" / "all", severity=4)
            stored = rows(lossless, name)
            assert np.array_equal(clips[0].frames, np.stack(decoded(stored[0]["video"]["bytes"])))

    def test_corrupt_gives_the_same_pixels(self, lossless: Path, msrvtt: Path) -> None:
        clean = stressreel.load(lossless, "clean", videos=msrvtt / "videos" / "all")[0]
        for name in ("shot_noise", "motion_blur", "translation", "box_jumble"):
            noisy = stressreel.load(lossless, name, videos=msrvtt / "videos" / "all")[0]
            key = clean.row["source_id"]
            assert np.array_equal(noisy.frames, stressreel.corrupt(clean.frames, name, severity=4, key=key))


class TestClipsOfLongSources:
    def frames(self, out: Path, name: str, start_s: float) -> list[int]:
        (row,) = (row for row in rows(out, name) if row["start_s"] == start_s)
        return [round(float(frame.mean()) / 2) for frame in decoded(row["video"]["bytes"])]

    def test_whole_source_first(self, long_source: Path, tmp_path: Path) -> None:
        arguments = ("--captions", long_source / "captions.csv", "--perturbations", "sampling,jpeg", "--severity", 4)
        assert run("build-perturbed", *arguments, "--out", tmp_path / "o", *FAST).code == 0
        assert run("stressreel", "verify", tmp_path / "o").code == 0
        shown = self.frames(tmp_path / "o", "sampling", 0.4)
        expected = [position // 16 * 16 for position in range(10, 50)]
        assert max(abs(a - b) for a, b in zip(shown, expected, strict=True)) <= 2
        made = {tuple(row[c] for c in ("start_s", "num_frames", *PLACE)) for row in rows(tmp_path / "o", "jpeg")}
        assert made == {(0.4, 40, 100, 10), (1.6, 50, 100, 40)}

    def test_clip_first(self, long_source: Path, tmp_path: Path) -> None:
        arguments = ("--captions", long_source / "captions.csv", "--perturbations", "sampling", "--severity", 4)
        assert run("build-perturbed", *arguments, "--clip-first", "--out", tmp_path / "o", *FAST).code == 0
        assert {tuple(row[c] for c in PLACE) for row in rows(tmp_path / "o", "sampling")} == {(40, 0), (50, 0)}
        shown = self.frames(tmp_path / "o", "sampling", 1.6)
        expected = [40 + position // 16 * 16 for position in range(50)]
        assert max(abs(a - b) for a, b in zip(shown, expected, strict=True)) <= 2

    @pytest.mark.parametrize("first", [(), ("--clip-first",)])
    def test_load_of_a_part(self, long_source: Path, tmp_path: Path, first: tuple[str, ...]) -> None:
        names = "gaussian_noise,jumble,mpeg2,static_rotate"
        arguments = ("--captions", long_source / "captions.csv", "--perturbations", names, "--severity", 2, *first)
        assert run("build-perturbed", *arguments, "--lossless", "--out", tmp_path / "o", *FAST).code == 0
        for name in names.split(","):
            clips = stressreel.load(tmp_path / "o", name, videos=long_source)
            for clip, row in zip(clips, rows(tmp_path / "o", name), strict=True):
                assert np.array_equal(clip.frames, np.stack(decoded(row["video"]["bytes"])))

    def test_a_clip_past_the_end_is_a_skip(self, long_source: Path, tmp_path: Path) -> None:
        shutil.copy(long_source / "film.mp4", tmp_path)
        (tmp_path / "c.csv").write_text("video,caption,start,end\nfilm,nothing,9,12\n")
        arguments = ("--captions", tmp_path / "c.csv", "--perturbations", "jpeg", "--out", tmp_path / "o")
        refuses(run("build-perturbed", *arguments, *FAST), "too_short", "--max-skip")

    def test_a_clip_past_the_end_does_not_cost_its_neighbours(self, long_source: Path, tmp_path: Path) -> None:
        shutil.copy(long_source / "film.mp4", tmp_path)
        (tmp_path / "c.csv").write_text("video,caption,start,end\nfilm,nothing,9,12\nfilm,something,1,2\n")
        arguments = ("--captions", tmp_path / "c.csv", "--perturbations", "jpeg", "--severity", 1, *FAST)
        refuses(run("build-perturbed", *arguments, "--out", tmp_path / "o"), "too_short", "--max-skip")
        assert run("build-perturbed", *arguments, "--out", tmp_path / "o", "--max-skip", 0.6).code == 0
        assert [skip["unit_id"] for skip in info(tmp_path / "o")["skips"]["list"]] == ["film_9000_12000"]
        assert [row["start_s"] for row in rows(tmp_path / "o", "jpeg")] == [1.0]
        assert run("stressreel", "verify", tmp_path / "o").code == 0


@pytest.fixture(scope="module")
def film(bars, once: Once) -> Path:
    """Four seconds with keyframes and B-frames, and captions of the whole and of a part; read only."""

    def write(folder: Path) -> None:
        folder.mkdir()
        bars.write(folder / "film.mp4", frames=100, rate=Fraction(25), gop=20, b_frames=2)
        shutil.copy(folder / "film.mp4", folder / "other.mp4")
        (folder / "c.csv").write_text("video,caption,start,end\nfilm,a part,1.2,3.3\nother,the whole,,\n")

    return once("film", write)


@pytest.fixture(scope="module", params=[(), ("--clip-first",)], ids=["whole first", "clip first"])
def recipes(request: pytest.FixtureRequest, film: Path, build_once: Callable[..., Path]) -> Path:
    arguments = ("--captions", film / "c.csv", "--no-render", "--severity", "2,5", *request.param)
    return build_once("build-perturbed", *arguments)


CHOICES = (1, 5, 200, slice(3, None, 13), slice(None, None, -9), [0, 31, 7, 7, -1], range(20, 23), np.array([24], "u1"))


class TestSomeFrames:
    """Frames asked for alone are those of the whole clip."""

    @pytest.mark.parametrize("name", ["clean", *NAMES])
    def test_they_are_those_of_the_whole_clip(self, recipes: Path, film: Path, name: str) -> None:
        whole = list(stressreel.load(recipes, name, videos=film))
        assert {len(clip.frames) for clip in whole} == {53, 100}
        for choice in CHOICES:
            for clip, part in zip(whole, stressreel.load(recipes, name, videos=film, frames=choice), strict=True):
                assert part.row == clip.row
                assert np.array_equal(part.frames, clip.frames[part.positions])
                if not isinstance(choice, int):
                    assert np.array_equal(part.positions, np.arange(len(clip.frames))[choice])

    def test_a_number_of_frames_is_at_equal_distances(self, recipes: Path, film: Path) -> None:
        def positions(frames: int) -> list[list[int]]:
            return [clip.positions.tolist() for clip in stressreel.load(recipes, "clean", videos=film, frames=frames)]

        assert positions(1) == [[0], [0]]
        assert positions(4) == [[0, 17, 34, 52], [0, 33, 66, 99]]
        assert positions(100)[1] == list(range(100))
        assert [len(set(chosen)) for chosen in positions(300)] == [53, 100]

    @pytest.mark.parametrize(("name", "most"), [("jpeg", 5), ("reverse_sampling", 5), ("mpeg1", 43)])
    def test_only_what_is_needed_is_decoded(
        self, recipes: Path, film: Path, name: str, most: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stored: list[int] = []
        store = FrameStore.__init__

        def spy(self: FrameStore, index: FrameIndex, frames: Sequence[int], *given: Any) -> None:
            stored.append(len(frames))
            store(self, index, frames, *given)

        monkeypatch.setattr(FrameStore, "__init__", spy)
        assert len(stressreel.load(recipes, name, videos=film, frames=[3, 7, 11, 11, 12])[0].frames) == 5
        assert max(stored) <= most

    @pytest.mark.parametrize("frames", [0, -1, True, 2.0, "8", [], [1.5], [[1, 2]], [[1], [1, 2]], slice(0, 9, 0), {3}])
    def test_what_is_no_choice(self, recipes: Path, film: Path, frames: object) -> None:
        with pytest.raises(stressreel.errors.InputError, match="frames must be a number of frames"):
            stressreel.load(recipes, "jpeg", videos=film, frames=frames)  # type: ignore[arg-type]

    @pytest.mark.parametrize(("frames", "says"), [([53], "film_1200_3300 has no frame 53: it has 53"), ([-54], "-54")])
    def test_a_frame_that_is_not_there(self, recipes: Path, film: Path, frames: list[int], says: str) -> None:
        with pytest.raises(stressreel.errors.InputError, match=says):
            stressreel.load(recipes, "jpeg", videos=film, frames=frames)[0]

    def test_a_slice_without_frames(self, recipes: Path, film: Path) -> None:
        with pytest.raises(stressreel.errors.InputError, match="chooses none of the 53 frames"):
            stressreel.load(recipes, "jpeg", videos=film, frames=slice(60, 70))[0]

    def test_lengths_are_known_at_once_from_a_render(self, short_lossless: Path, short: Path) -> None:
        with pytest.raises(stressreel.errors.InputError, match="clip film has no frame 50: it has 50"):
            stressreel.load(short_lossless, "jpeg", videos=short, frames=[3, 50])


class TestUse:
    def test_dry_run(self, msrvtt: Path, tmp_path: Path) -> None:
        done = run("build-perturbed", "--msrvtt", msrvtt, "--dry-run")
        assert "450 perturbed clips" in done.out
        assert "5 of 5" in done.out

    @pytest.mark.parametrize("severity", ["0", "1-6", "5-2", "x", ""])
    def test_severities(self, severity: str) -> None:
        refuses(run("build-perturbed", "--msrvtt", "sample", "--severity", severity, "--dry-run"), "1 to 5", code=2)

    def test_one_source(self, tmp_path: Path) -> None:
        refuses(run("build-perturbed", "--out", tmp_path / "o"), "exactly one", code=2)
        both = ("--msrvtt", "sample", "--youcook2", tmp_path, "--out", tmp_path / "o")
        refuses(run("build-perturbed", *both), "exactly one", code=2)

    def test_unknown_perturbation(self, msrvtt: Path) -> None:
        done = run("build-perturbed", "--msrvtt", msrvtt, "--perturbations", "gausian_noise", "--dry-run")
        refuses(done, "Did you mean 'gaussian_noise'", code=2)

    def test_a_video_named_like_a_part_of_another(self, tmp_path: Path) -> None:
        (tmp_path / "c.csv").write_text("video,caption,start,end\na.mp4,x,1,2\na.jpeg.mp4,y,,\n")
        arguments = ("--captions", tmp_path / "c.csv", "--perturbations", "jpeg", "--dry-run")
        refuses(run("build-perturbed", *arguments), "'a.jpeg'", "Rename the video a.jpeg.")
        assert run("build-perturbed", *arguments, "--limit", 1).code == 0

    def test_missing_videos(self, msrvtt: Path, tmp_path: Path) -> None:
        arguments = ("--msrvtt", msrvtt, "--videos", tmp_path, "--out", tmp_path / "o", "--perturbations", "jpeg")
        refuses(run("build-perturbed", *arguments), "5 source videos missing", "--allow-missing")

    def test_load_says_what_is_wrong(self, suite: Path, tmp_path: Path) -> None:
        with pytest.raises(stressreel.errors.InputError, match="has no perturbation 'rain'"):
            stressreel.load(suite, "rain", videos=tmp_path)
        with pytest.raises(stressreel.errors.InputError, match="no folder"):
            stressreel.load(suite, "jpeg", videos=tmp_path / "none")
        with pytest.raises(stressreel.errors.InputError, match="no split 'train' of jpeg"):
            stressreel.load(suite, "jpeg", videos=tmp_path, split="train")
        with pytest.raises(stressreel.errors.InputError, match=r"1 of 1 source videos are not in .* video90001"):
            stressreel.load(suite, "jpeg", videos=tmp_path)
        with pytest.raises(stressreel.errors.InputError, match="1 of 1 source videos are not in"):
            stressreel.load(suite, "jpeg", videos=tmp_path, allow_missing=True)

        with pytest.raises(stressreel.errors.InputError, match="no clean of severity 3"):
            stressreel.load(suite, "clean", videos=tmp_path, severity=3)

    def test_load_without_a_video(self, msrvtt: Path, tmp_path: Path, build_once: Callable[..., Path]) -> None:
        suite = build_once(
            "build-perturbed", "--msrvtt", msrvtt, "--perturbations", "jpeg", "--limit", 2, "--no-render"
        )
        shutil.copy(msrvtt / "videos" / "all" / "video90002.mp4", tmp_path)
        with pytest.raises(stressreel.errors.InputError, match=r"1 of 2 source videos .* allow_missing=True"):
            stressreel.load(suite, "jpeg", videos=tmp_path)
        clips = stressreel.load(suite, "jpeg", videos=tmp_path, allow_missing=True)
        assert clips.missing == clips[1:].missing == ("video90001",)
        assert [row["clip_id"] for row in clips.rows] == ["video90002"] * 5


@pytest.mark.shared
def test_sizes_of_the_paper(shared: Path) -> None:
    done = run("build-perturbed", "--msrvtt", shared / "data" / "msrvtt", "--dry-run")
    assert "90,000 perturbed clips" in done.out
    done = run("build-perturbed", "--youcook2", shared / "data" / "youcook2", "--dry-run")
    assert "3,350 clips of 436 source videos" in done.out
    assert "301,500 perturbed clips" in done.out

from collections.abc import Callable
from pathlib import Path

import pytest
import tampering
from forger import Change, Forgery, forge
from stressreel.builders import benchmark_of
from stressreel.builders.runtime import video_checks
from stressreel.builders.runtime.video_checks import at_once, check_decoded, check_decord, check_shown
from stressreel.core.output import open_output
from stressreel.video.encode import EncodeSettings

SETTINGS = EncodeSettings(preset="ultrafast")
ARGUMENTS = {
    "clavi": ("--charades", "sample", "--limit", 1, "--preset", "ultrafast"),
    "perturbed": ("--msrvtt", "msrvtt", "--limit", 1, "--perturbations", "jumble", "--severity", 1),
    "lossless": ("--msrvtt", "msrvtt", "--limit", 1, "--perturbations", "jumble", "--severity", 1, "--lossless"),
    "decomp": ("--charades", "sample", "--limit", 1),
}


@pytest.fixture
def built(request: pytest.FixtureRequest, build_once: Callable[..., Path], msrvtt: Path) -> Path:
    """A small output of each kind; read only."""
    program = "perturbed" if request.param == "lossless" else request.param
    given = [msrvtt if each == "msrvtt" else each for each in ARGUMENTS[request.param]]
    return build_once(f"build-{program}", *given)


def found(out: Path) -> list[str]:
    """All problems of the videos of an output."""
    output = open_output(out)
    benchmark = benchmark_of(output)
    shown = benchmark.shown(output) or ()
    return [*check_decoded(output, benchmark.declared(output.info), 1), *check_shown(output, shown, 1)]


@pytest.mark.parametrize("built", ARGUMENTS, indirect=True)
def test_builds_pass_checks_of_videos(built: Path) -> None:
    assert found(built) == []
    assert [each for each in check_decord(open_output(built), 1) if isinstance(each, str)] == []


def of_videos(**values: object) -> Change:
    return lambda forged: [row.update(values) for row in videos(forged)]


def videos(forged: Forgery) -> list[dict]:
    return [row for splits in forged.tables.values() for rows in splits.values() for row in rows if "video" in row]


def repaint(number: int, work: Callable[[tampering.Pictures], tampering.Pictures], **given: object) -> Change:
    def change(forged: Forgery) -> None:
        row = videos(forged)[number]
        pictures, sound = tampering.pictures_of(row["video"]["bytes"]), tampering.sound_of(row["video"]["bytes"])
        row["video"]["bytes"] = tampering.written(work(pictures), sound, SETTINGS, **given)

    return change


def moved(forged: Forgery) -> None:
    """Move the recorded cuts by twelve frames."""
    for row in forged.rows("pairs"):
        row["in_a_frame"] += 12


SHAPE = {"num_frames": 7, "fps": 31.0, "width": 640, "height": 480, "duration_s": 3.25}
CASES: dict[str, tuple[str, Change]] = {
    "in_a_frame": ("clavi", moved),
    "no video": ("clavi", lambda forged: videos(forged)[0]["video"].update(bytes=b"nothing")),
    "a note": ("clavi", repaint(1, lambda pictures: pictures, tag="the answer is yes")),
    "V′ backwards": ("clavi", repaint(1, lambda pictures: pictures[::-1])),
    "V′ as V": ("clavi", lambda f: videos(f)[1]["video"].update(bytes=videos(f)[0]["video"]["bytes"])),
    "not jumbled": ("perturbed", lambda f: videos(f)[1]["video"].update(bytes=videos(f)[0]["video"]["bytes"])),
    "with loss": ("lossless", repaint(0, lambda pictures: pictures)),
}


@pytest.mark.parametrize(("built", "change"), CASES.values(), ids=CASES, indirect=["built"])
def test_changed_videos_are_reported(built: Path, tmp_path: Path, change: Change) -> None:
    assert found(forge(built, tmp_path / "forged", change))


def test_every_recorded_property_is_compared(build_once: Callable[..., Path], tmp_path: Path) -> None:
    out = build_once("build-decomp", *ARGUMENTS["decomp"])
    said = "\n".join(found(forge(out, tmp_path / "forged", of_videos(**SHAPE))))
    assert [name for name in SHAPE if f": {name} is {SHAPE[name]}, the video has" not in said] == []


def test_frames_larger_than_stated_are_not_decoded(
    build_once: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = forge(build_once("build-clavi", *ARGUMENTS["clavi"]), tmp_path / "forged", of_videos(width=16))
    monkeypatch.setattr(video_checks, "decode_video", lambda *given, **named: pytest.fail("decodes it"))
    output = open_output(forged)
    said = list(check_decoded(output, benchmark_of(output).declared(output.info), 1))
    assert said
    assert all("width is 16, the video has 320" in line for line in said)


@pytest.mark.parametrize("built", ["clavi", "perturbed"], indirect=True)
def test_large_videos_are_decoded_one_at_a_time(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if the rows do not state the size of the frames."""
    output = open_output(built)
    configs = benchmark_of(output).declared(output.info)
    assert at_once(output, configs, 7) == 7
    monkeypatch.setattr(video_checks, "LARGEST", 320 * 240 - 1)
    assert at_once(output, configs, 7) == 1

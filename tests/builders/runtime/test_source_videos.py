from pathlib import Path

from commands import run
from stressreel.builders.runtime.source_videos import describe_missing
from stressreel.core.plan import Skip

ABSENT = [Skip(f"u{n}", f"v{n:03d}", "missing_video", f"there is no file v{n:03d}.mp4") for n in range(900)]


def test_message_asks_to_replace_damaged_videos() -> None:
    damaged = Skip("u0", "v0", "unreadable_video", "v0.mp4: it has no video stream")
    text = describe_missing([damaged], "clip", [], None)
    assert text.endswith(
        "v0.mp4: it has no video stream\n1 clip of the plan needs it. Replace the damaged files, or build without it "
        "(--allow-missing; each is counted as skipped)."
    )
    text = describe_missing([damaged, *ABSENT[:2]], "clip", [], None)
    assert "3 clips of the plan need them. Set their folder with --videos and replace the damaged files, or" in text


def test_builds_and_dry_runs_name_missing_videos(tmp_path: Path) -> None:
    rows = ["video,caption", *(f"v{n:02d}.mp4,a dog runs" for n in range(12))]
    (tmp_path / "c.csv").write_text("\n".join(rows))
    (tmp_path / "empty").mkdir()
    arguments = ("--captions", tmp_path / "c.csv", "--videos", tmp_path / "empty", "--perturbations", "freeze")
    done = run("build-perturbed", *arguments, "--out", tmp_path / "o")
    assert done.code == 1
    assert f"searched: {tmp_path / 'empty'} (0 video files)" in done.err
    assert f"listed in {tmp_path / 'o.missing.tsv'}" in done.err
    assert not (tmp_path / "o").exists()
    dry = run("build-perturbed", *arguments, "--dry-run")
    assert dry.code == 0
    assert "source videos found: 0 of 12\n    missing: v00," in dry.out
    assert "v09 and 2 more\n    searched: " in dry.out

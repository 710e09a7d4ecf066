import json
from fractions import Fraction

from commands import run


def test_videos_without_times_are_named_in_the_output(tmp_path, bars):
    bars.write(tmp_path / "raw.h264", frames=12, rate=Fraction(25)).rename(tmp_path / "raw.mp4")
    bars.write(tmp_path / "timed.avi", frames=12, rate=Fraction(25))
    (tmp_path / "c.csv").write_text("video,caption\nraw,a dog runs\ntimed,a cat sits\n")
    given = ("--captions", tmp_path / "c.csv", "--videos", tmp_path, "--perturbations", "freeze", "--severity", 1)
    done = run("build-perturbed", *given, "--workers", 1, "--out", tmp_path / "o")
    assert done.code == 0, done.err
    assert "nominal rate: raw\n" in done.out
    info = json.loads((tmp_path / "o" / "build.json").read_text())
    assert info["notes"]["videos_without_times"] == ["raw"]
    assert "nominal rate:\nraw.\n" in (tmp_path / "o" / "README.md").read_text()
    checked = run("stressreel", "verify", tmp_path / "o", "--sources", tmp_path, "--no-decode").out
    assert "ok    record" in checked, checked
    assert "ok    card" in checked, checked

"""Missing source videos are told in a few lines, with the folders searched, and all of them in a file."""

from __future__ import annotations

from pathlib import Path

from commands import run
from stressreel.builders.runtime.missing import describe_missing, list_beside
from stressreel.core.plan import Skip
from stressreel.video.source_files import searched

ABSENT = [Skip(f"u{n}", f"v{n:03d}", "missing_video", f"there is no file v{n:03d}.mp4") for n in range(900)]


def test_ten_are_named_and_all_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "lists" / "o.missing.tsv"
    text = describe_missing(ABSENT, "pair", ["here (not there)"], file)
    assert len(text) < 600
    assert "900 source videos missing: v000, v001" in text
    assert "v009 and 890 more\n  searched: here (not there)\n" in text
    assert f"listed in {file}." in text
    lines = file.read_text("utf-8").splitlines()
    assert lines[0] == "source_id\treason\tdetail"
    assert [line.split("\t")[0] for line in lines[1:]] == [skip.source_id for skip in ABSENT]


def test_a_few_need_no_file(tmp_path: Path) -> None:
    file = tmp_path / "o.missing.tsv"
    text = describe_missing(ABSENT[:10], "pair", [], file)
    assert "v009\n" in text
    assert "more" not in text
    assert not file.exists()


def test_unreadable_ones_are_told_in_ten_lines_too(tmp_path: Path) -> None:
    broken = [Skip(f"u{n}", f"v{n}", "unreadable_video", f"v{n}.mp4: no\tvideo") for n in range(30)]
    text = describe_missing(broken, "pair", [], tmp_path / "o.missing.tsv")
    assert text.count(".mp4: no") == 10
    assert "and 20 more" in text
    assert {line.count("\t") for line in (tmp_path / "o.missing.tsv").read_text("utf-8").splitlines()} == {2}


def test_a_list_that_cannot_be_written_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "listed" not in describe_missing(ABSENT, "pair", [], tmp_path / "file" / "o.missing.tsv")


def test_the_list_lies_beside_the_output() -> None:
    assert list_beside(Path("out/clavi")) == Path("out/clavi.missing.tsv")
    assert list_beside(Path("s3://bucket/a/clavi")) == Path("clavi.missing.tsv")


def test_the_folders_searched_are_described(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.mp4").write_bytes(b"")
    assert searched([tmp_path], [".", "sub", "none"]) == [
        f"{tmp_path} (0 video files)",
        f"{tmp_path / 'sub'} (1 video files such as b.mp4)",
        f"{tmp_path / 'none'} (not there)",
    ]


def test_builds_and_dry_runs_name_them(tmp_path: Path) -> None:
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

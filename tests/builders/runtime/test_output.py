"""A folder that is a stranger's: nothing outside of it is removed, written or read."""

import json
import shutil
from pathlib import Path

import pytest
from commands import refuses, run, succeed
from number_units import Numbers, build_numbers, plan_of
from stressreel.annotations.samples import cached_sample
from stressreel.builders.runtime import build
from stressreel.builders.runtime.output import BuildJournal
from stressreel.core.errors import OutputError
from stressreel.core.output_files import END
from stressreel.core.plan import Skip

ARGUMENTS = ("--charades", cached_sample("charades"), "--no-render", "--limit", 1)
PLAN = {"builder": "clavi", "hash": "0" * 64, "identity": {}, "tables": ["questions"]}
DONE = {"builder": "clavi", "plan_sha256": "0", "fingerprints": {}, "fingerprint": "0", "counts": {"questions": {}}}


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({".build/plan.json": {**PLAN, "tables": ["../kept"]}}, 1),
        ({".build/plan.json": {**PLAN, "reports": ["../kept/file"]}}, 1),
        ({"build.json": {**DONE, "counts": {"../kept": {"test": 1}}}}, 1),
        ({"build.json": {**DONE, "reports": ["../kept/file"]}}, 1),
        ({".build/plan.json": {"builder": "x"}, ".build/objects/a": "", "thesis.txt": "mine"}, 1),
        ({".build/plan.json": "what another program left", "thesis.txt": "mine"}, 1),
        ({".build/thesis.txt": "mine"}, 1),
        ({".build/lock": ""}, 0),  # the trace of a build that was killed at its start
    ],
)
def test_fresh_removes_nothing_outside(tmp_path: Path, files: dict[str, object], code: int) -> None:
    for name, content in {**files, "../kept/file": "mine"}.items():
        (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / name).write_text(content if isinstance(content, str) else json.dumps(content))
    strangers = {name: content for name, content in listing(tmp_path).items() if content == b"mine"}
    assert run("build-clavi", *ARGUMENTS, "--out", tmp_path / "out", "--fresh").code == code
    assert strangers.items() <= listing(tmp_path).items()
    assert (tmp_path / "out" / "build.json").exists() == (code == 0 or "build.json" in files)


@pytest.mark.parametrize("place", [".build", "questions", ".build/staging"])
def test_links_in_output_are_refused(tmp_path: Path, place: str) -> None:
    away, out = tmp_path / "away", tmp_path / "out"
    away.mkdir()
    (away / "file").write_text("mine")
    succeed("build-clavi", *ARGUMENTS, "--out", out)
    if (out / place).is_dir():
        (out / place).rename(tmp_path / "moved")
    (out / place).symlink_to(away)
    for more in ((), ("--fresh",)):
        refuses(run("build-clavi", *ARGUMENTS, "--out", out, *more), "is a link")
    assert listing(away) == {str(away / "file"): b"mine"}


def test_cyclic_links_are_refused_in_every_command(four_pairs: Path, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for loop in (tmp_path / "loop", tmp_path / "loop" / "inner"):
        for given in (
            ("build-clavi", *ARGUMENTS, "--out", loop),
            ("build-clavi", "--charades", loop, "--out", tmp_path / "out"),
            ("build-clavi", *ARGUMENTS[:2], "--videos", loop, "--out", tmp_path / "out"),
            ("stressreel", "verify", loop),
            ("stressreel", "gallery", four_pairs, "--to", loop),
            ("stressreel", "score", four_pairs, "--predictions", loop),
            ("stressreel", "withhold", four_pairs, "--to", loop),
            ("stressreel", "export", "files", four_pairs, "--to", loop),
        ):
            done = run(*given)
            assert done.code in (1, 2)
            assert str(loop) in done.err


def test_fresh_keeps_other_files_in_build_folders(tmp_path: Path) -> None:
    out = tmp_path / "o"
    arguments = ("build-perturbed", "--msrvtt", "sample", "--no-render", "--perturbations", "jpeg", "--out", out)
    succeed(*arguments)
    (out / "README.md").write_text((out / "README.md").read_text().replace(END, f"![mine](figures/mine.png)\n{END}"))
    own = set(listing(out))
    mine = (
        "figures/mine.png",
        "clean/notes.txt",
        "clean/.hidden",
        "jpeg/test-old.parquet",
        "jpeg/mine/a.csv",
        "mine/b",
    )
    for name in (*mine, "jpeg/mine-00000-of-00001.parquet"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text("mine")
        own.add(str(out / name))
    succeed(*arguments, "--severity", 2, "--fresh")
    there = listing(out)
    assert sum(content == b"mine" for content in there.values()) == 7
    assert own <= set(there)
    assert "figures/mine.png" in (out / "README.md").read_text()


@pytest.mark.parametrize("lost", ["receipts", "shards"])
def test_unfinished_build_with_lost_files_is_refused(
    tmp_path: Path, lost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A build killed while packing whose files were partly removed must not become an output without its videos."""
    out = tmp_path / "o"

    def killed(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(build, "write_json", killed)
        with pytest.raises(KeyboardInterrupt):
            build_numbers(out, Numbers(), plan_of(4))
    if lost == "receipts":
        journal = out / ".build" / "journal.jsonl"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(line for line in lines if '"facts"' not in line))
    else:
        shutil.rmtree(out / "clips")
    with pytest.raises(OutputError, match="--fresh"):
        build_numbers(out, Numbers(), plan_of(4))
    assert build_numbers(out, Numbers(), plan_of(4), fresh=True)["counts"]["clips"] == {"train": 2, "test": 2}


@pytest.mark.parametrize(
    "entry",
    [
        "not JSON",
        '{"facts": 1}',
        '{"shard": "questions/test", "rows": 1e400, "parts": 1}',
        '{"shard": "questions/test", "rows": 1, "parts": 1e30}',
        '{"shard": "questions/test", "rows": 9, "parts": 99999999999}',
        '{"unit": "a", "facts": {"num_frames": NaN}}',
        '{"unit": "a", "skip": {"unit_id": "a", "source_id": [], "reason": "too_short", "detail": ""}}',
        pytest.param('{"unit": "a", "facts": ' + "[" * 100_000 + "]" * 100_000 + "}", id="nested"),
    ],
)
def test_impossible_journal_is_refused(tmp_path: Path, entry: str) -> None:
    (tmp_path / "journal.jsonl").write_text(entry + "\n")
    with pytest.raises(OutputError, match=r"journal\.jsonl is damaged"):
        BuildJournal.read(tmp_path / "journal.jsonl")


def test_receipts_are_read_back_without_truncated_line(tmp_path: Path) -> None:
    journal, (first, second) = BuildJournal(tmp_path / "journal.jsonl"), plan_of(2).units
    journal.add_result(first, {"files": {}, "n": 1}, "a")
    journal.add_result(first, {"files": {}, "n": 2}, "b")
    journal.add_result(second, Skip("u01", "v1", "undecodable", "x"), "c")
    journal.add_shard("numbers", "test", 12, 1)
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole + b'{"unit": "u01", "facts": {"fi')
    again = BuildJournal.read(journal.path)
    assert journal.path.read_bytes() == whole
    for each in (journal, again):
        assert (each.facts("u00"), each.facts("u01")) == ({"files": {}, "n": 2}, {})
        assert (each.rendered("u00"), each.rendered("u01")) == (True, False)
        assert each.stamps == {"u00": "b"}
        assert each.shards == {"numbers/test": (12, 1)}

"""Every check of `stressreel verify` fails on a good build that is broken in its way."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import run, succeed
from forger import configs_of
from stressreel.annotations.samples import cached_sample
from stressreel.builders import benchmark_of
from stressreel.builders.parts import card_of, checks_for
from stressreel.builders.rebuild import RebuildOptions
from stressreel.builders.runtime import verify
from stressreel.builders.runtime.table_checks import check_files
from stressreel.builders.runtime.verify import run_checks
from stressreel.core.errors import InputError
from stressreel.core.output import Check, Compared, NotChecked, NotRun, open_output, reading
from stressreel.core.version import __version__
from stressreel.data_cards.card import write_card

Change = Callable[[Path], object]


def shard(out: Path, config: str, split: str = "train") -> Path:
    return next((out / config).glob(f"{split}-*.parquet"))


def rows(table: str, change: Callable[[list[dict[str, Any]]], object]) -> Change:
    """Change the rows of a table's training split."""

    def write(out: Path) -> None:
        path = shard(out, table, "left_out" if table == "left_out" else "train")
        stored = pq.read_table(path)
        found = stored.to_pylist()
        change(found)
        pq.write_table(pa.Table.from_pylist(found, schema=stored.schema), path)

    return write


def first(table: str, **values: object) -> Change:
    """Put other values into the first row."""
    return rows(table, lambda found: found[0].update(values))


def text(name: str, old: str, new: str) -> Change:
    def write(out: Path) -> None:
        assert old in (out / name).read_text()
        (out / name).write_text((out / name).read_text().replace(old, new, 1))

    return write


def break_splits(out: Path) -> None:
    source = pq.read_table(shard(out, "pairs", "test")).to_pylist()[0]["source_id"]
    first("pairs", source_id=source)(out)


def without_column(out: Path) -> None:
    pq.write_table(pq.read_table(shard(out, "questions")).drop_columns(["template_id"]), shard(out, "questions"))


def show_v(found: list[dict[str, Any]]) -> None:
    found[1].update(video=found[0]["video"], sha256=found[0]["sha256"])


def cut_short(found: list[dict[str, Any]]) -> None:
    found[0]["video"]["bytes"] = found[0]["video"]["bytes"][:-4000]


break_card = text("README.md", "1.3.0", "1.3.1")
BREAKS: dict[str, tuple[str, Change]] = {
    "a shard that the glob of the card's head matches": (
        "files",
        lambda out: shutil.copy(shard(out, "questions"), out / "questions" / "train-more.parquet"),
    ),
    "a column lost": ("schema", without_column),
    "something left out without a name": ("left_out", rows("left_out", lambda found: found.pop())),
    "another writer": ("written", lambda out: pq.write_table(pq.read_table(shard(out, "pairs")), shard(out, "pairs"))),
    "a row lost": ("counts", rows("questions", lambda found: found.pop())),
    "a shard lost": ("counts", lambda out: shard(out, "pairs", "test").unlink()),
    "another text": ("hashes", first("pairs", subject="XXXX")),
    "an id twice": ("unique_ids", rows("questions", lambda r: r[1].update(question_id=r[0]["question_id"]))),
    "a source in two splits": ("splits", break_splits),
    "the command": ("settings", text("build.json", "--seed 0", "--seed 7")),
    "another answer": ("derived", rows("questions", lambda r: r[0].update(answer=1 - r[0]["answer"]))),
    "another moment": ("derived", rows("pairs", lambda r: r[0].update(in_a=r[0]["in_a"] + 0.002))),
    "another rate": ("decoded", first("videos", fps=99.0)),
    "V' as V": ("shown", rows("videos", show_v)),
    "a video cut short": ("decord", rows("videos", cut_short)),
    "the card": ("card", break_card),
    "a figure": ("figures", lambda out: next((out / "figures").iterdir()).write_bytes(b"another picture")),
    "croissant.json": ("croissant", text("croissant.json", '"sha256": "', '"sha256": "0')),
    "the card's head": ("load_dataset", text("README.md", "pairs/train-*", "pairs/training-*")),
}


@pytest.fixture
def copy(four_pairs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(four_pairs, tmp_path / "copy"))


def problems(out: Path) -> list[str]:
    """Everything that verify says of an output, without decoding."""
    output = open_output(out)
    checks = checks_for(output, None, RebuildOptions(decode=False))
    return [problem for outcome in run_checks(output, checks) for problem in outcome.problems]


def test_a_good_build_passes_every_check(four_pairs: Path) -> None:
    done = run("stressreel", "verify", four_pairs, "--json")
    report = json.loads(done.out)
    assert (done.code, report["passed"]) == (0, True)
    assert [check["name"] for check in report["checks"] if not check["passed"]] == []
    assert {check["name"] for check in report["checks"]} == {name for name, _ in BREAKS.values()}


@pytest.mark.parametrize(("name", "damage"), BREAKS.values(), ids=BREAKS)
def test_check_fails_on_what_it_is_for(copy: Path, name: str, damage: Change) -> None:
    damage(copy)
    output = open_output(copy)
    (outcome,) = run_checks(output, {name: checks_for(output, None, RebuildOptions())[name]})
    assert not outcome.passed
    assert "checked: " not in outcome.problems[0]


def test_report_and_exit_code(copy: Path) -> None:
    break_card(copy)
    done = run("stressreel", "verify", copy, "--no-decode")
    assert done.code == 1
    assert "FAIL  card" in done.out
    assert "1 of" in done.out
    assert [line.partition(":")[0] for line in done.out.splitlines()[-2:]] == [
        "Content that cannot be derived from other rows, such as clips and annotations, could still have been forged",
        "The maker is not verified",
    ]


def test_sources_are_named_by_the_build_options(four_pairs: Path) -> None:
    sample = cached_sample("charades")
    done = succeed("stressreel", "verify", four_pairs, "--no-decode", "--charades", sample, f"--videos={sample}")
    assert "built again" in done.out
    assert "--    videos\n        not run: the content of the videos is not checked, because of --no-decode" in done.out
    checks = sum(line.startswith("ok ") for line in done.out.splitlines())
    assert f"\nall {checks} checks passed; not run: videos" in done.out


def test_unverified_sources_fail_until_accepted(four_pairs: Path, tmp_path: Path) -> None:
    given = ("stressreel", "verify", four_pairs, "--no-decode", "--sources", tmp_path)
    done = run(*given)
    assert done.code == 1
    assert "??    sources" in done.out
    assert "--allow-unverified inputs accepts that" in done.out
    assert run(*given, "--allow-unverified", "inputs").code == 0


@pytest.mark.full
def test_some_of_it_is_rendered_again(four_pairs: Path) -> None:
    given = ("stressreel", "verify", four_pairs, "--sources", cached_sample("charades"), "--workers", 1, "--sample", 2)
    done = succeed(*given, "--seed", 7)
    assert "videos: 2 of 8 videos rendered again" in done.out
    assert "--sample 2 --seed 7" in done.out


def test_which_files_may_lie_in_an_output(copy: Path) -> None:
    good = ("LICENSE", ".gitattributes", ".git/HEAD", ".cache/huggingface/download/README.md.metadata", "figures/a.png")
    bad = ("notes.txt", "questions/a/b/test-0.parquet", ".huggingface.yaml", "figures/mine.png")
    for name in (*good, *bad):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(b"")
    text("README.md", "<!-- end of", "![mine](figures/a.png)\n\n<!-- end of")(copy)
    (outcome,) = run_checks(open_output(copy), {"files": check_files})
    assert {problem.partition(" ")[0] for problem in outcome.problems} == {*bad}


def test_a_published_fingerprint(four_pairs: Path) -> None:
    found, other = open_output(four_pairs).info["fingerprint"], "0" * 16
    done = succeed("stressreel", "verify", four_pairs, "--no-decode", "--fingerprint", found[:20].upper())
    assert "ok    fingerprint" in done.out
    assert "who made it" not in done.out
    done = run("stressreel", "verify", four_pairs, "--no-decode", "--fingerprint", other)
    assert done.code == 1
    assert f"FAIL  fingerprint\n        the fingerprint is {found}, not {other}" in done.out


def test_a_damaged_shard_is_named_once(copy: Path) -> None:
    path = shard(copy, "videos", "test")
    path.write_bytes(path.read_bytes()[:-20])
    said = problems(copy)
    (named,) = [line for line in said if path.name in line]
    assert named.startswith(f"videos/{path.name} cannot be read (Parquet magic bytes not found")
    assert not any("magic" in line for line in said if line != named)
    output = open_output(copy)
    with pytest.raises(InputError, match=r"cannot be read .*Download it again"):
        write_card(output, configs_of(output), card_of(benchmark_of(output)))


@pytest.mark.parametrize(
    "change",
    [
        *({"settings": 5}, {"counts": {"../pairs": {"test": 1}}}, {"counts": {"pairs": {"test": -1}}}),
        *({"skips": [[[]]]}, {"fingerprints": []}),
    ],
    ids=str,
)
def test_a_build_json_of_something_else(change: dict[str, object], copy: Path) -> None:
    file = copy / "build.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    said = "damaged"
    try:
        with reading(copy) as output:
            checks = checks_for(output, None, RebuildOptions(decode=False))
            outcomes = run_checks(output, {name: checks[name] for name in ("hashes", "card")})
            assert not all(outcome.passed for outcome in outcomes)
            write_card(output, configs_of(output), card_of(benchmark_of(output)))
    except InputError as error:
        said = str(error)
    assert "damaged" in said


def test_only_checks_that_could_run_count(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(verify.TRUSTED, "later", ("earlier",))
    given: dict[str, Check] = {
        "fine": lambda output: [Compared("3 rows")],
        "earlier": lambda output: ["wrong"],
        "later": lambda output: pytest.fail("trusts what has failed"),
        "optional": lambda output: [NotRun("a package is missing")],
        "partly": lambda output: [NotRun("a model is missing"), Compared("3 rows")],
        "impossible": lambda output: [NotChecked("it is of another version", "version")],
    }
    output = open_output(built)
    report = verify.Verification("out", "", tuple(run_checks(output, given)))
    assert [outcome.name for outcome in report if outcome.ran] == ["fine", "earlier", "partly", "impossible"]
    assert [outcome.name for outcome in report if not outcome.passed] == ["earlier", "impossible"]
    del given["earlier"], given["later"]
    assert verify.Verification("out", "", tuple(run_checks(output, given))).failed
    accepted = verify.Verification("out", "", tuple(run_checks(output, given, ["version"])))
    assert accepted.passed
    assert accepted.verdict().startswith("2 of 3 checks passed; incomplete: impossible; not run: optional, partly")


def test_other_versions_leave_it_unverified_without_sources_too(copy: Path) -> None:
    text("build.json", f'"stressreel": "{__version__}"', '"stressreel": "0.0.1"')(copy)
    done = run("stressreel", "verify", copy, "--no-decode")
    assert "??    derived" in done.out
    assert "--allow-unverified version accepts that" in done.out

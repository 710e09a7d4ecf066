"""Every check of `stressreel verify` fails on a good build that is broken in its way."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import refuses, run
from forger import configs_of
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders import benchmark_of
from stressreel.builders.parts import card_of, checks_for
from stressreel.builders.runtime import verify
from stressreel.builders.runtime.rebuild import Again
from stressreel.builders.runtime.verify import run_checks
from stressreel.core.errors import InputError
from stressreel.core.output import open_output, reading
from stressreel.data_cards.card import write_card

Row = dict[str, object]


def shard(out: Path, config: str, split: str = "train") -> Path:
    return next((out / config).glob(f"{split}-*.parquet"))


def rewrite(path: Path, change: Callable[[list[Row]], object]) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def break_schema(out: Path) -> None:
    path = shard(out, "questions")
    pq.write_table(pq.read_table(path).drop_columns(["template_id"]), path)


def break_features(out: Path) -> None:
    path = shard(out, "questions")
    pq.write_table(pq.read_table(path).replace_schema_metadata({}), path)


def break_counts(out: Path) -> None:
    rewrite(shard(out, "questions"), lambda rows: rows.pop())


def drop_a_shard(out: Path) -> None:
    shard(out, "pairs", "test").unlink()


def break_row_hash(out: Path) -> None:
    rewrite(shard(out, "pairs"), lambda rows: rows[0].update(subject="XXXX"))


def break_video_bytes(out: Path) -> None:
    def change(rows: list[Row]) -> None:
        rows[0]["video"]["bytes"] += b"\0"  # type: ignore[index]

    rewrite(shard(out, "videos"), change)


def break_ids(out: Path) -> None:
    rewrite(shard(out, "questions"), lambda rows: rows[1].update(question_id=rows[0]["question_id"]))


def break_splits(out: Path) -> None:
    source = pq.read_table(shard(out, "pairs", "test")).to_pylist()[0]["source_id"]
    rewrite(shard(out, "pairs"), lambda rows: rows[0].update(source_id=source))


def break_ratio(out: Path) -> None:
    rewrite(shard(out, "questions"), lambda rows: rows[0].update(answer=0))


def drop_a_videos_questions(out: Path) -> None:
    rewrite(shard(out, "questions"), lambda rows: rows.__delitem__(slice(0, 19)))


def break_counterpart(out: Path) -> None:
    rewrite(shard(out, "questions"), lambda rows: rows[3].update(counterpart_question_id=rows[5]["question_id"]))


def break_complement(out: Path) -> None:
    def change(rows: list[Row]) -> None:  # mutual, but between questions that are not opposites
        rows[3]["complement_question_id"], rows[5]["complement_question_id"] = (
            rows[5]["question_id"],
            rows[3]["question_id"],
        )

    rewrite(shard(out, "questions"), change)


def break_answers(out: Path) -> None:
    def change(rows: list[Row]) -> None:  # keeps 6 : 13
        be = [row for row in rows if row["type"] == "BE"][:2]
        be[0]["answer"], be[1]["answer"] = be[1]["answer"], be[0]["answer"]

    rewrite(shard(out, "questions"), change)


def break_wording(out: Path) -> None:
    rewrite(shard(out, "questions"), lambda rows: rows[0].update(question="Is this a question?"))


def break_controls(out: Path) -> None:
    rewrite(shard(out, "pairs"), lambda rows: rows[0].update(verb_c=rows[0]["verb_a"]))


def break_extension(out: Path) -> None:
    rewrite(shard(out, "pairs"), lambda rows: rows[0].update(in_a=rows[0]["in_a"] + 0.002))  # type: ignore[operator]


def break_length(out: Path) -> None:
    rewrite(shard(out, "videos"), lambda rows: rows[0].update(num_frames=rows[0]["num_frames"] - 1))  # type: ignore[operator]


def leave_unswapped(out: Path) -> None:
    def change(rows: list[Row]) -> None:
        rows[1]["video"], rows[1]["sha256"] = rows[0]["video"], rows[0]["sha256"]

    rewrite(shard(out, "videos"), change)


def record_another_order(out: Path) -> None:
    rewrite(shard(out, "pairs"), lambda rows: rows[0].update(in_a_frame=rows[0]["in_a_frame"] + 40))  # type: ignore[operator]


def cut_a_video_short(out: Path) -> None:
    def change(rows: list[Row]) -> None:
        rows[0]["video"]["bytes"] = rows[0]["video"]["bytes"][:-4000]  # type: ignore[index]

    rewrite(shard(out, "videos"), change)


def break_card(out: Path) -> None:
    readme = out / "README.md"
    readme.write_text(readme.read_text().replace("1.2.0", "1.2.1"))


def break_figure(out: Path) -> None:
    next((out / "figures").iterdir()).write_bytes(b"another picture")


def break_rate(out: Path) -> None:
    def change(rows: list[Row]) -> None:
        rows[0]["fps"] = 99.0

    rewrite(shard(out, "videos"), change)


def break_croissant(out: Path) -> None:
    file = out / "croissant.json"
    file.write_text(file.read_text().replace('"sha256": "', '"sha256": "0', 1))


def break_loading(out: Path) -> None:
    readme = out / "README.md"
    readme.write_text(readme.read_text().replace("pairs/train-*", "pairs/training-*"))


def break_column(out: Path) -> None:
    rewrite(shard(out, "questions"), lambda rows: rows[0].update(type_id=3))


def break_command(out: Path) -> None:
    file = out / "build.json"
    file.write_text(file.read_text().replace("--seed 0", "--seed 7"))


def leave_other_rows(out: Path) -> None:  # which the glob of the card's head matches
    path = shard(out, "questions")
    shutil.copy(path, path.with_name("train-more.parquet"))


BREAKS: list[tuple[str, Callable[[Path], None]]] = [
    ("files", leave_other_rows),
    ("schema", break_schema),
    ("schema", break_features),
    ("counts", break_counts),
    ("counts", drop_a_shard),
    ("hashes", break_row_hash),
    ("hashes", break_video_bytes),
    ("unique_ids", break_ids),
    ("splits", break_splits),
    ("command", break_command),
    ("derived", break_column),
    ("derived", break_ratio),
    ("derived", drop_a_videos_questions),
    ("derived", break_counterpart),
    ("derived", break_complement),
    ("derived", break_answers),
    ("derived", break_wording),
    ("derived", break_controls),
    ("derived", break_extension),
    ("derived", break_length),
    ("decoded", break_rate),
    ("shown", leave_unswapped),
    ("shown", record_another_order),
    ("decord", cut_a_video_short),
    ("card", break_card),
    ("figures", break_figure),
    ("croissant", break_croissant),
    ("load_dataset", break_loading),
]


@pytest.fixture
def copy(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "copy"))


def test_a_good_build_passes_every_check(built: Path) -> None:
    done = run("stressreel", "verify", built, "--json")
    report = json.loads(done.out)
    assert done.code == 0
    assert report["passed"]
    assert [check["name"] for check in report["checks"] if not check["passed"]] == []


def test_every_check_is_broken_here(built: Path) -> None:
    assert {name for name, _ in BREAKS} == set(checks_for(open_output(built), None, Again()))


@pytest.mark.parametrize(("name", "damage"), BREAKS, ids=[damage.__name__ for _, damage in BREAKS])
def test_check_fails_on_what_it_is_for(copy: Path, name: str, damage: Callable[[Path], None]) -> None:
    damage(copy)
    output = open_output(copy)
    checks = checks_for(output, None, Again())
    (outcome,) = run_checks(output, {name: checks[name]})
    assert not outcome.passed
    assert "could not be checked" not in outcome.problems[0]


def test_report_and_exit_code(copy: Path) -> None:
    break_card(copy)
    done = run("stressreel", "verify", copy, "--no-decode")
    assert done.code == 1
    assert "FAIL  card" in done.out
    assert "1 of" in done.out
    report = json.loads(run("stressreel", "verify", copy, "--no-decode", "--json").out)
    assert not report["passed"]
    assert [check["name"] for check in report["checks"] if not check["passed"]] == ["card"]


def test_what_was_not_checked_is_said(built: Path) -> None:
    done = run("stressreel", "verify", built, "--no-decode", "--sources", cached_sample("charades"))
    assert done.code == 0, done.out
    assert "--    videos\n        not checked: that the videos show what their sources show: --no-decode" in done.out
    assert "left something open: videos" in done.out


def test_what_was_built_from_is_named_as_the_build_names_it(built: Path) -> None:
    sample = cached_sample("charades")
    done = run("stressreel", "verify", built, "--no-decode", "--charades", sample, f"--videos={sample}")
    assert done.code == 0, done.out
    assert "418 rows" not in done.out
    assert "built again" in done.out
    refuses(run("stressreel", "verify", built, "--charade", sample), "--charade is an option of neither", code=2)
    refuses(run("stressreel", "verify", built, "--charades"), "--charades", code=2)
    refuses(run("stressreel", "verify", built, "more"), "'more' is neither an option nor the value of one", code=2)


def test_what_could_not_be_verified_fails_until_it_is_accepted(built: Path, tmp_path: Path) -> None:
    done = run("stressreel", "verify", built, "--no-decode", "--sources", tmp_path)
    assert done.code == 1
    assert "??    sources" in done.out
    assert "--allow-unverified inputs accepts that" in done.out
    accepted = ("--sources", tmp_path, "--allow-unverified", "inputs")
    assert run("stressreel", "verify", built, "--no-decode", *accepted).code == 0


def test_rows_that_the_viewer_cannot_show_are_noted(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "VIEWER_BYTES", 100_000)
    done = run("stressreel", "verify", copy, "--no-decode")
    assert done.code == 0
    assert "ok    load_dataset\n        note: videos/train: its first 100 rows have about" in done.out
    report = json.loads(run("stressreel", "verify", copy, "--no-decode", "--json").out)
    notes = {check["name"]: check["notes"] for check in report["checks"] if check["notes"]}
    assert report["passed"]
    assert list(notes) == ["load_dataset"]
    size = sum(len(row["video"]["bytes"]) for row in pq.read_table(shard(copy, "videos")).to_pylist()[:100])
    assert round(size / 1e6) == int(notes["load_dataset"][0].split()[7])


def test_only_the_first_hundred_rows_count_for_the_viewer(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = open_output(copy)
    count = output.info["counts"]["questions"]["train"]
    sizes = []
    for rows in (count, count // 2):
        monkeypatch.setattr(verify, "VIEWER_ROWS", rows)
        sizes.append(verify._size_of_first_rows(output, "questions", "train"))
    assert sizes[1] == pytest.approx(sizes[0] / 2, rel=0.02)
    monkeypatch.setattr(verify, "VIEWER_BYTES", 10**12)
    assert list(verify.viewer_notes(output, configs_of(output))) == []


def test_some_of_it_is_rendered_again(built: Path) -> None:
    given = ("stressreel", "verify", built, "--sources", cached_sample("charades"), "--workers", 1, "--sample", 2)
    done = run(*given, "--seed", 7)
    assert done.code == 0, done.out
    assert "videos: 2 of 22 videos rendered again" in done.out
    assert "--sample 2 --seed 7" in done.out


@pytest.mark.parametrize("name", ["notes.txt", "questions/a/b/test-0.parquet", ".huggingface.yaml", "figures/mine.png"])
def test_files_that_no_build_left_are_named(name: str, copy: Path) -> None:
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).write_bytes(b"")
    outcomes = run_checks(open_output(copy), {"files": verify.check_files})
    assert [outcome.problems for outcome in outcomes] == [
        (f"{name} is no file of this output, and may be loaded with it. Remove it, or keep it elsewhere",)
    ]


def test_what_may_lie_in_an_output(copy: Path) -> None:
    for name in ("LICENSE", ".gitattributes", ".git/HEAD", ".cache/huggingface/download/README.md.metadata"):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes(b"")
    (copy / "figures" / "mine.png").write_bytes(b"")
    card = (copy / "README.md").read_text()
    (copy / "README.md").write_text(card.replace("<!-- end of", "![mine](figures/mine.png)\n\n<!-- end of"))
    done = run("stressreel", "verify", copy, "--no-decode")
    assert done.code == 0, done.out


def test_a_published_fingerprint(built: Path, copy: Path) -> None:
    found = open_output(built).info["fingerprint"]
    for given in (found, found[:16], found[:20].upper()):
        done = run("stressreel", "verify", built, "--no-decode", "--fingerprint", given)
        assert done.code == 0
        assert "ok    fingerprint" in done.out
        assert "who made it" not in done.out
    other = "0" * 16
    done = run("stressreel", "verify", built, "--no-decode", "--fingerprint", other)
    assert done.code == 1
    assert f"FAIL  fingerprint\n        the fingerprint is {found}, not {other}" in done.out
    refuses(run("stressreel", "verify", built, "--fingerprint", found[:15]), "16 to 64 hexadecimal digits", code=2)
    (copy / "build.json").write_text((copy / "build.json").read_text().replace(found, other * 4))
    done = run("stressreel", "verify", copy, "--no-decode", "--fingerprint", other)
    assert "FAIL  hashes" in done.out


def test_what_a_forger_could_have_changed_is_said(built: Path) -> None:
    said = run("stressreel", "verify", built, "--no-decode").out.splitlines()[-2:]
    assert [line.partition(":")[0] for line in said] == [
        "A forger could still have changed what follows from nothing else here, such as clips and annotations",
        "Nothing here says who made it",
    ]
    done = run("stressreel", "verify", built, "--no-decode", "--sources", cached_sample("charades"))
    assert done.out.splitlines()[-1] == said[-1]


def test_sources_that_are_not_there(built: Path, tmp_path: Path) -> None:
    refused = run("stressreel", "verify", built, "--sources", tmp_path / "nowhere")
    assert refused.code == 2
    assert "Give the folder of the source videos, or the word `sample`" in " ".join(refused.err.split())


def test_card_command_mends_the_card(copy: Path) -> None:
    break_card(copy)
    assert run("stressreel", "card", copy).code == 0
    assert run("stressreel", "verify", copy, "--no-decode").code == 0


def problems(out: Path) -> list[str]:
    """Everything that verify says of an output, without decoding."""
    output = open_output(out)
    checks = checks_for(output, None, Again(decode=False))
    return [problem for outcome in run_checks(output, checks) for problem in outcome.problems]


def no_card(out: Path, words: str) -> None:
    output = open_output(out)
    with pytest.raises(InputError, match=words):
        write_card(output, configs_of(output), card_of(benchmark_of(output)))


def test_a_damaged_shard_is_named_once(copy: Path) -> None:
    path = shard(copy, "videos", "test")
    path.write_bytes(path.read_bytes()[:-20])
    said = problems(copy)
    (named,) = [line for line in said if path.name in line]
    assert named.startswith(f"videos/{path.name} cannot be read (Parquet magic bytes not found")
    assert not any("magic" in line for line in said if line != named)
    no_card(copy, "cannot be read .*Fetch it again")


def test_damage_inside_a_shard_is_named_once(copy: Path) -> None:
    path = shard(copy, "questions", "test")
    content = bytearray(path.read_bytes())
    content[100:400] = bytes(300)
    path.write_bytes(content)
    assert sum(f"questions/{path.name} cannot be read" in line for line in problems(copy)) == 1
    no_card(copy, f"questions/{path.name} cannot be read")


def test_a_missing_shard_is_named(copy: Path) -> None:
    drop_a_shard(copy)
    said = problems(copy)
    assert any(line.startswith("pairs/test has 0 rows, build.json says ") for line in said)
    assert not any("Error" in line for line in said)
    no_card(copy, "table pairs, split test: 0 rows are there, .* were built")


def test_shards_that_claim_too_much(copy: Path) -> None:
    path = shard(copy, "pairs", "test")
    nulls = pa.table({field.name: pa.nulls(20_000_000) for field in pq.read_schema(path)})
    pq.write_table(nulls, path, row_group_size=20_000_000)
    assert sum("row group 0 has 20,000,000 rows" in line for line in problems(copy)) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"settings": 5},
        {"counts": {"../pairs": {"test": 1}}},
        {"counts": {"pairs": {"*": 1}}},
        {"counts": {"pairs": {"test": -1}}},
        {"counts": {"pairs": {"test": "many"}}},
        {"skips": [[[]]]},
        {"fingerprints": []},
        {"notes": None, "tools": 0},
    ],
    ids=str,
)
def test_a_build_json_of_something_else(change: dict[str, object], copy: Path) -> None:
    file = copy / "build.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    said = "damaged"
    try:
        with reading(copy) as output:
            checks = checks_for(output, None, Again(decode=False))
            outcomes = run_checks(output, {name: checks[name] for name in ("hashes", "card")})
            assert not all(outcome.passed for outcome in outcomes)
            write_card(output, configs_of(output), card_of(benchmark_of(output)))
    except InputError as error:
        said = str(error)
    assert "damaged" in said


@pytest.mark.parametrize("command", ["verify", "card"])
def test_no_finished_build(command: str, built: Path, tmp_path: Path) -> None:
    done = run("stressreel", command, tmp_path / "nothing")
    assert done.code == 2
    assert "is not the output of a build" in done.err
    (tmp_path / "started" / ".build").mkdir(parents=True)
    assert "run the same build command again" in run("stressreel", command, tmp_path / "started").err
    (tmp_path / "started" / "build.json").write_text("{")
    assert "damaged" in run("stressreel", command, tmp_path / "started").err

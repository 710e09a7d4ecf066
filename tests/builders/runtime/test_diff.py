"""What differs between two outputs is found, whatever it is, and nothing else."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stressreel as api
from commands import info, refuses, rows, run
from forger import Forgery, forge
from stressreel.builders.runtime.diff import Difference, TableDiff
from stressreel.core.errors import InputError, UsageError

Build = Callable[..., Path]
GIVEN = ("--charades", "sample", "--limit", 4, "--preset", "ultrafast", "--workers", 1)


@pytest.fixture
def built(build_once: Build) -> Path:
    return build_once("build-clavi", *GIVEN)


def table(found: Difference, name: str) -> TableDiff:
    return next(each for each in found.tables if each.name == name)


def differing(found: Difference) -> list[str]:
    return [each.name for each in found.tables if not each.same]


@pytest.fixture
def forged(built: Path, tmp_path: Path) -> Callable[[Callable[[Forgery], object]], Path]:
    """Makes a copy with a change."""
    names = itertools.count()
    return lambda change: forge(built, tmp_path / f"forged-{next(names)}", change)


# Settings, and what follows from them


def test_the_same_content_is_told_by_the_fingerprint_alone(built: Path, tmp_path: Path) -> None:
    for name in ("build.json", "units.parquet"):
        shutil.copy(built / name, tmp_path / name)  # no table is there to be read
    found = api.diff(built, tmp_path)
    assert found.same
    assert (found.build, found.tables) == ((), ())
    done = run("stressreel", "diff", built, tmp_path)
    assert (done.code, done.out) == (0, f"The same content: fingerprint {info(built)['fingerprint'][:16]} in both.\n")


def test_another_quality_is_other_bytes_and_the_same_pictures(built: Path, build_once: Build) -> None:
    other = build_once("build-clavi", *GIVEN, "--crf", 35)
    done = run("stressreel", "diff", built, other)
    assert done.code == 1
    said = r"8 videos re-encoded, pictures alike, worst (\d\d\.\d) dB; questions and pairs the same\.\n"
    worst = float(re.match(said, done.out)[1])  # type: ignore[index]
    assert 30 < worst < 45
    assert "settings.crf: 23 → 35" in done.out
    found = api.diff(built, other)
    assert differing(found) == ["videos"]
    videos = table(found, "videos")
    assert [(column.what, column.count) for column in videos.columns] == [("sha256", 8)]
    assert videos.videos is not None
    assert (videos.videos.changed, dict(videos.videos.kinds)) == (8, {"alike": 8})
    assert {change.what for change in found.build} == {"command", "settings.crf"}


@pytest.mark.full
def test_another_seed_is_other_rows(built: Path, build_once: Build) -> None:
    other = build_once("build-clavi", *GIVEN, "--seed", 9)
    found = api.diff(built, other)
    assert differing(found) == ["questions", "videos", "pairs"]
    for each in found.tables:
        key = next(iter(rows(built, each.name)[0]))  # the first column
        here, there = ({row[key]: row for row in rows(out, each.name)} for out in (built, other))
        both = [name for name in here if name in there]
        assert (each.new.count, each.gone.count) == (len(there) - len(both), len(here) - len(both))
        differ = {
            name: {column for column in here[name] if column != "video" and here[name][column] != there[name][column]}
            for name in both
        }
        assert each.changed.count == sum(map(bool, differ.values()))
        counts = Counter(itertools.chain.from_iterable(differ.values()))
        assert {column.what: column.count for column in each.columns} == counts
    changes = {change.what: (change.a, change.b) for change in found.build}
    assert changes["settings.seed"] == (0, 9)


def test_fewer_pairs_are_gone_and_without_videos_a_table_is(built: Path, build_once: Build) -> None:
    fewer = build_once("build-clavi", *GIVEN[:3], 2, *GIVEN[4:], "--no-render")
    found = api.diff(built, fewer)
    assert table(found, "videos").rows == (8, None)
    assert table(found, "questions").gone.count + table(found, "questions").new.count >= 76
    assert "videos only in A" in run("stressreel", "diff", built, fewer).out
    back = api.diff(fewer, built)
    assert table(back, "videos").rows == (None, 8)
    assert table(back, "pairs").new == table(found, "pairs").gone


# Rows


def test_a_changed_question_is_found_with_its_values(built: Path, forged: Callable[..., Path]) -> None:
    def change(content: Forgery) -> None:
        content.rows("questions")[7] |= {"question": "Changed?", "answer": 1 - content.rows("questions")[7]["answer"]}

    copy = forged(change)
    found = api.diff(built, copy)
    assert differing(found) == ["questions"]
    questions = table(found, "questions")
    assert questions.changed.count == 1
    columns = {column.what: column for column in questions.columns}
    assert set(columns) == {"question", "answer"}
    assert columns["question"].b == "Changed?"
    assert {columns["answer"].a, columns["answer"].b} == {"no", "yes"}
    assert columns["question"].key == questions.changed.examples[0]
    done = run("stressreel", "diff", built, copy)
    assert done.code == 1
    assert done.out.startswith("questions: 1 changed (question and answer); videos and pairs the same.")


def test_a_pair_in_the_other_split_has_moved(built: Path, forged: Callable[..., Path]) -> None:
    def change(content: Forgery) -> None:
        train, test = (content.tables["pairs"][split] for split in ("train", "test"))
        test.append(train.pop())

    found = api.diff(built, forged(change))
    pairs = table(found, "pairs")
    (move,) = pairs.moved
    assert (move.before, move.after, move.rows.count) == ("train", "test", 1)
    assert (pairs.new.count, pairs.gone.count, pairs.changed.count) == (0, 0, 0)
    assert differing(found) == ["pairs"]
    assert "pairs: 1 moved from train to test" in run("stressreel", "diff", built, forged(change)).out


def test_rows_in_another_order_are_said_to_be_so(built: Path, forged: Callable[..., Path]) -> None:
    copy = forged(lambda content: content.tables["questions"]["train"].reverse())
    found = api.diff(built, copy)
    assert table(found, "questions").reordered
    assert "questions: the same rows in another order" in run("stressreel", "diff", built, copy).out


def test_a_column_that_is_new_or_of_another_type(built: Path, forged: Callable[..., Path]) -> None:
    def change(content: Forgery) -> None:
        content.rows("questions")[0]["question"] = "Changed?"

    copy = forged(change)
    for path in (copy / "questions").glob("*.parquet"):
        stored = pq.read_table(path)
        stored = stored.append_column("note", pa.array(["x"] * stored.num_rows))
        stored = stored.drop_columns(["subset"])
        position = stored.schema.get_field_index("type_id")
        stored = stored.set_column(position, "type_id", stored.column("type_id").cast(pa.int64()))
        pq.write_table(stored, path)
    questions = table(api.diff(built, copy), "questions")
    assert {(each.what, each.a, each.b) for each in questions.schema} == {
        ("note", None, "string"),
        ("subset", "string", None),
        ("type_id", "int32", "int64"),
    }
    assert questions.changed.count == 1
    out = run("stressreel", "diff", built, copy).out
    assert "column subset: string → not there" in out
    for path in (copy / "questions").glob("*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["question_id"]), path)
    assert "no question_id" in table(api.diff(built, copy), "questions").unmatched
    assert "questions not compared" in run("stressreel", "diff", built, copy).out


# Videos


def replaced(content: Forgery, number: int, video: bytes) -> None:
    content.rows("videos")[number]["video"]["bytes"] = video


def test_other_frames_other_sizes_and_no_video_are_told_apart(
    built: Path, build_once: Build, forged: Callable[..., Path]
) -> None:
    seeds = rows(build_once("build-clavi", *GIVEN, "--seed", 9), "videos")
    stored = rows(built, "videos")

    def change(content: Forgery) -> None:
        order = {row["video_id"]: number for number, row in enumerate(content.rows("videos"))}
        first, second, third = (stored[index]["video_id"] for index in range(3))
        other = next(row for row in seeds if row["video_id"] == first)
        replaced(content, order[first], other["video"]["bytes"])
        replaced(content, order[second], b"no video")
        replaced(content, order[third], stored[4]["video"]["bytes"])

    videos = table(api.diff(built, forged(change)), "videos").videos
    assert videos is not None
    assert videos.changed == 3
    assert videos.kinds.get("undecodable") == 1
    assert videos.kinds.get("frames", 0) >= 1
    assert videos.compared == 3
    assert videos.kinds.get("alike", 0) == 0
    assert any("→" in what and "frames" in what for _, what in videos.examples)


def test_fewer_videos_are_decoded_or_none(built: Path, build_once: Build) -> None:
    other = build_once("build-clavi", *GIVEN, "--crf", 35)
    done = run("stressreel", "diff", built, other, "--limit-videos", 3)
    assert done.out.startswith("8 videos re-encoded (3 decoded), pictures alike, worst")
    done = run("stressreel", "diff", built, other, "--no-decode")
    assert done.code == 1
    assert done.out.startswith("8 videos with other bytes, not decoded; questions and pairs the same.")


# The report, refusals, places


def test_refusals(built: Path, build_once: Build, forged: Callable[..., Path], tmp_path: Path) -> None:
    other = build_once("build-decomp", "--charades", "sample", "--limit", 1)
    refuses(run("stressreel", "diff", built, other), "is of clavi and", "of decomp", "two outputs of one", code=2)
    with pytest.raises(UsageError, match="nothing in common"):
        api.diff(other, built)
    refuses(run("stressreel", "diff", built, tmp_path / "none"), "is not the output of a build", code=2)
    twice = forged(lambda content: content.rows("questions")[1].update(dict(content.rows("questions")[0])))
    refuses(run("stressreel", "diff", built, twice), "two rows have the same question_id")
    changed = forged(lambda content: content.rows("questions")[0].update(question="x"))
    next((changed / "questions").glob("train*")).write_bytes(b"damaged")
    refuses(run("stressreel", "diff", built, changed), "cannot be read")
    lost = forged(lambda content: content.rows("questions")[0].update(question="x"))
    path = next((lost / "questions").glob(f"{next(iter(info(lost)['counts']['questions']))}-*"))
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(InputError, match="are there"):
        api.diff(built, lost)


def test_what_fills_pages_is_cut(built: Path, forged: Callable[[Callable[[Forgery], object]], Path]) -> None:
    def change(it: Forgery) -> None:
        pair = it.rows("pairs")[0]
        pair["pair_id"] = pair["label_a"] = "w" * 1_000_000
        it.info["settings"] |= {"w" * 1_000_000 + str(number): "w" * 100_000 for number in range(3)}
        it.info["settings"] |= {f"more{number}": number for number in range(1000)}

    other = forged(change)
    done = run("stressreel", "diff", built, other)
    assert done.code == 1
    assert len(done.out) < 100_000
    assert "  803 more, which --json lists\n" in done.out
    done = run("stressreel", "diff", built, other, "--json")
    assert len(done.out) < 500_000
    assert len(json.loads(done.out)["build"]) == 1003

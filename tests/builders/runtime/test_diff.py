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
from stressreel.annotations.samples.cache import cached_sample
from stressreel.builders.runtime.diff import Difference, TableDiff
from stressreel.core.errors import InputError, UsageError
from stressreel.core.files import write_json

Build = Callable[..., Path]
Forge = Callable[[Callable[[Forgery], object]], Path]
GIVEN = ("--charades", cached_sample("charades"), "--limit", 4, "--preset", "ultrafast")


@pytest.fixture
def built(four_pairs: Path) -> Path:
    return four_pairs


@pytest.fixture
def worse(build_once: Build) -> Path:
    return build_once("build-clavi", *GIVEN, "--crf", 35)


@pytest.fixture
def forged(built: Path, tmp_path: Path) -> Forge:
    """Makes a copy with a change."""
    names = itertools.count()
    return lambda change: forge(built, tmp_path / f"forged-{next(names)}", change)


def table(found: Difference, name: str) -> TableDiff:
    return next(each for each in found.tables if each.name == name)


def differing(found: Difference) -> list[str]:
    return [each.name for each in found.tables if not each.same]


def reworded(content: Forgery) -> None:
    content.rows("questions")[7] |= {"question": "Changed?", "answer": 1 - content.rows("questions")[7]["answer"]}


def test_the_same_content_is_told_by_the_fingerprint_alone(built: Path, tmp_path: Path) -> None:
    content = info(built)
    write_json(tmp_path / "build.json", {**content, "tools": {**content["tools"], "av": "0.1"}})  # and no table
    found = api.diff(built, tmp_path)
    assert found.same
    assert [(change.what, change.b) for change in found.build] == [("tools.av", "0.1")]
    done = run("stressreel", "diff", built, tmp_path)
    assert done.code == 0
    assert done.out.startswith(f"The same content: fingerprint {content['fingerprint'][:16]} in both.\n")


@pytest.mark.full
def test_another_quality_is_other_bytes_and_the_same_pictures(built: Path, worse: Path, tmp_path: Path) -> None:
    copy = forge(worse, tmp_path / "copy", lambda content: content.tables["videos"]["train"].reverse())
    done = run("stressreel", "diff", built, copy)  # in another order, each is compared with that of its id
    assert done.code == 1
    said = r"8 videos re-encoded, pictures alike, worst (\d\d\.\d) dB; questions and pairs the same\.\n"
    worst = float(re.match(said, done.out)[1])  # type: ignore[index]
    assert 30 < worst < 45
    assert "settings.crf: 23 → 35" in done.out
    report = json.loads(run("stressreel", "diff", built, worse, "--json").out)
    assert {change["what"] for change in report["build"]} == {"command", "settings.crf"}
    (videos,) = (each for each in report["tables"] if not each["same"])
    assert [(column["what"], column["count"]) for column in videos["columns"]] == [("sha256", 8)]
    assert videos["videos"].pop("worst_db") == pytest.approx(worst, abs=0.06)
    assert videos["videos"] == {"changed": 8, "decoded": 8, "kinds": {"alike": 8}, "other_sound": 0, "examples": []}
    done = run("stressreel", "diff", built, worse, "--limit-videos", 3)
    assert done.out.startswith("8 videos re-encoded (3 decoded), pictures alike, worst")
    done = run("stressreel", "diff", built, worse, "--no-decode")
    assert done.out.startswith("8 videos with other bytes, not decoded; questions and pairs the same.")


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


def test_rows_that_are_new_gone_or_changed(built: Path, forged: Forge) -> None:
    def change(content: Forgery) -> None:
        reworded(content)
        content.tables["questions"]["train"].pop()
        content.tables.pop("videos")

    copy = forged(change)
    found = api.diff(built, copy)
    assert differing(found) == ["questions", "videos"]
    assert table(found, "videos").rows == (8, None)
    questions = table(found, "questions")
    assert (questions.gone.count, questions.new.count, questions.changed.count) == (1, 0, 1)
    columns = {column.what: column for column in questions.columns}
    assert set(columns) == {"question", "answer"}
    assert columns["question"].b == "Changed?"
    assert {columns["answer"].a, columns["answer"].b} == {"no", "yes"}
    assert columns["question"].key == questions.changed.examples[0]
    assert table(api.diff(copy, built), "questions").new == questions.gone
    done = run("stressreel", "diff", built, copy)
    assert done.code == 1
    assert done.out.startswith("questions: 1 gone, 1 changed (question and answer); videos only in A; pairs the same.")
    (copy / "units.parquet").unlink()  # then all rows are read
    assert table(api.diff(built, copy), "questions") == questions


def test_a_pair_in_the_other_split_has_moved(built: Path, forged: Forge) -> None:
    def change(content: Forgery) -> None:
        train, test = (content.tables["pairs"][split] for split in ("train", "test"))
        test.append(train.pop())
        content.tables["questions"]["train"].reverse()

    copy = forged(change)
    found = api.diff(built, copy)
    pairs = table(found, "pairs")
    (move,) = pairs.moved
    assert (move.before, move.after, move.rows.count) == ("train", "test", 1)
    assert (pairs.new.count, pairs.gone.count, pairs.changed.count) == (0, 0, 0)
    assert table(found, "questions").reordered
    done = run("stressreel", "diff", built, copy)
    assert done.out.startswith(
        "questions: the same rows in another order; pairs: 1 moved from train to test; videos the same."
    )


def test_a_column_that_is_new_or_of_another_type(built: Path, forged: Forge) -> None:
    copy = forged(reworded)
    for path in (copy / "questions").glob("*.parquet"):
        stored = pq.read_table(path)
        stored = stored.append_column("note", pa.array(["x"] * stored.num_rows)).drop_columns(["subset"])
        position = stored.schema.get_field_index("type_id")
        stored = stored.set_column(position, "type_id", stored.column("type_id").cast(pa.int64()))
        metadata = stored.schema.metadata[b"huggingface"].replace(b'["no", "yes"]', b'["yes", "no"]')
        pq.write_table(stored.replace_schema_metadata({b"huggingface": metadata}), path)
    questions = table(api.diff(built, copy), "questions")
    assert {(each.what, each.a, each.b) for each in questions.schema} == {
        ("note", None, "string"),
        ("subset", "string", None),
        ("type_id", "int32", "int64"),
        ("answer", "int64: no, yes", "int64: yes, no"),
    }
    assert questions.changed.count == 1
    assert "column subset: string → absent" in run("stressreel", "diff", built, copy).out
    for path in (copy / "questions").glob("*.parquet"):
        pq.write_table(pq.read_table(path).drop_columns(["question_id"]), path)
    assert "no question_id" in table(api.diff(built, copy), "questions").unmatched
    assert "questions not compared" in run("stressreel", "diff", built, copy).out


def test_other_frames_and_no_video_are_told_apart(built: Path, forged: Forge) -> None:
    stored = rows(built, "videos")

    def change(content: Forgery) -> None:
        by_id = {row["video_id"]: row for row in content.rows("videos")}
        by_id[stored[0]["video_id"]]["video"]["bytes"] = b"no video"
        by_id[stored[2]["video_id"]]["video"]["bytes"] = stored[4]["video"]["bytes"]

    videos = table(api.diff(built, forged(change)), "videos").videos
    assert videos is not None
    assert (videos.changed, videos.compared, videos.kinds.get("alike", 0)) == (2, 2, 0)
    assert videos.kinds.get("undecodable") == 1
    assert any("→" in what for _, what in videos.examples)


def test_refusals(built: Path, forged: Forge, tmp_path: Path) -> None:
    write_json(tmp_path / "build.json", {**info(built), "builder": "decomp"})
    refuses(
        run("stressreel", "diff", built, tmp_path),
        "belongs to clavi and",
        "to decomp, so",
        "two outputs of the same",
        code=2,
    )
    with pytest.raises(UsageError, match=r"none does not exist\. Pass the --out folder"):
        api.diff(built, tmp_path / "none")
    twice = forged(lambda content: content.rows("questions")[1].update(dict(content.rows("questions")[0])))
    with pytest.raises(InputError, match="two rows have the same question_id"):
        api.diff(built, twice)
    changed = forged(reworded)
    lost = shutil.copytree(changed, tmp_path / "lost")
    next((changed / "questions").glob("train*")).write_bytes(b"damaged")
    refuses(run("stressreel", "diff", built, changed), "cannot be read")
    path = next((lost / "questions").glob(f"{next(iter(info(lost)['counts']['questions']))}-*"))
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(InputError, match="rows, but"):
        api.diff(built, lost)


def test_what_fills_pages_is_cut(built: Path, forged: Forge) -> None:
    def change(it: Forgery) -> None:
        pair = it.rows("pairs")[0]
        pair["pair_id"] = pair["label_a"] = "w" * 1_000_000
        it.info["settings"] |= {"w" * 1_000_000 + str(number): "w" * 100_000 for number in range(3)}
        it.info["settings"] |= {f"more{number}": number for number in range(1000)}

    found = api.diff(built, forged(change))
    assert len(str(found)) < 100_000
    assert "  803 more, which --json lists\n" in str(found)
    assert len(json.dumps(found.as_json())) < 500_000
    assert len(found.as_json()["build"]) == 1003

import itertools
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stressreel as api
from commands import info, refuses, rows, run
from forger import Forgery, forge
from stressreel.annotations.samples import cached_sample
from stressreel.builders.runtime.diff import Difference, TableDiff
from stressreel.core.errors import InputError
from stressreel.core.files import write_json

Forge = Callable[[Callable[[Forgery], object]], Path]


@pytest.fixture
def built(four_pairs: Path) -> Path:
    return four_pairs


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


def test_same_fingerprint_means_same_content(built: Path, tmp_path: Path) -> None:
    content = info(built)
    write_json(tmp_path / "build.json", {**content, "tools": {**content["tools"], "av": "0.1"}})  # and no table
    found = api.diff(built, tmp_path)
    assert found.same
    assert [(change.what, change.b) for change in found.build] == [("tools.av", "0.1")]
    done = run("stressreel", "diff", built, tmp_path)
    assert done.code == 0
    assert done.out.startswith(f"The same content: fingerprint {content['fingerprint'][:16]} in both.\n")


@pytest.mark.full
def test_other_crf_gives_reencoded_videos_with_like_pictures(built: Path, build_once: Callable[..., Path]) -> None:
    given = ("--charades", cached_sample("charades"), "--limit", 4, "--preset", "ultrafast")
    done = run("stressreel", "diff", built, build_once("build-clavi", *given, "--crf", 35))
    said = r"8 videos re-encoded, pictures alike, worst (\d\d\.\d) dB; questions, pairs and left_out the same\.\n"
    assert 30 < float(re.match(said, done.out)[1]) < 45  # type: ignore[index]
    assert "settings.crf: 23 → 35" in done.out


def test_new_gone_and_changed_rows_are_counted(built: Path, forged: Forge) -> None:
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
    assert ("questions", *questions.rows, 0, 1, 1) in found.as_tables()[0].rows
    columns = {column.what: column for column in questions.columns}
    assert set(columns) == {"question", "answer"}
    assert columns["question"].b == "Changed?"
    assert {columns["answer"].a, columns["answer"].b} == {"no", "yes"}
    assert columns["question"].key == questions.changed.examples[0]
    assert table(api.diff(copy, built), "questions").new == questions.gone
    done = run("stressreel", "diff", built, copy)
    assert done.code == 1
    assert done.out.startswith(
        "questions: 1 gone, 1 changed (question and answer); videos only in A; pairs and left_out the same."
    )
    (copy / "units.parquet").unlink()  # then all rows are read
    assert table(api.diff(built, copy), "questions") == questions


def test_pair_in_another_split_counts_as_moved(built: Path, forged: Forge) -> None:
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
        "questions: the same rows in another order; pairs: 1 moved from train to test; videos and left_out the same."
    )


def test_new_and_retyped_columns_are_listed(built: Path, forged: Forge) -> None:
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


def test_column_of_another_kind_is_shown(built: Path, forged: Forge) -> None:
    copy = forged(reworded)
    for path in (copy / "questions").glob("*.parquet"):
        stored = pq.read_table(path)
        values = {
            "question": stored.column("question").cast(pa.binary()),
            "type_id": pa.array([float("nan")] * stored.num_rows),
            "answer": stored.column("answer").cast(pa.float64()),
        }
        for name, column in values.items():
            stored = stored.set_column(stored.schema.get_field_index(name), name, column)
        pq.write_table(stored, path)
    done = run("stressreel", "diff", built, copy, "--json")
    assert done.code == 1
    questions = next(each for each in json.loads(done.out)["tables"] if each["name"] == "questions")
    columns = {each["what"]: each for each in questions["columns"]}
    assert columns["question"]["b"].startswith("b'")
    assert columns["type_id"]["b"] == "nan"
    assert columns["answer"]["count"] == 1  # 0 and 0.0 are the same


def test_table_without_splits_has_lost_all_rows(built: Path, forged: Forge) -> None:
    copy = forged(reworded)
    write_json(copy / "build.json", {**info(copy), "counts": {**info(copy)["counts"], "pairs": {}}})
    pairs = table(api.diff(built, copy), "pairs")
    assert pairs.rows == (pairs.gone.count, 0)
    assert table(api.diff(copy, built), "pairs").new == pairs.gone


def test_other_frames_and_undecodable_videos_are_counted(built: Path, forged: Forge) -> None:
    stored = rows(built, "videos")

    def change(content: Forgery) -> None:
        by_id = {row["video_id"]: row for row in content.rows("videos")}
        by_id[stored[0]["video_id"]]["video"]["bytes"] = b"no video"
        by_id[stored[2]["video_id"]]["video"]["bytes"] = stored[4]["video"]["bytes"]

    videos = table(api.diff(built, forged(change)), "videos").videos
    assert videos is not None
    assert (videos.changed, videos.decoded, videos.kinds.get("alike", 0)) == (2, 2, 0)
    assert videos.kinds.get("undecodable") == 1
    assert any("→" in each["what"] for each in videos.examples)


def test_diff_refuses_outputs_it_cannot_match(built: Path, forged: Forge, tmp_path: Path) -> None:
    write_json(tmp_path / "build.json", {**info(built), "builder": "decomp"})
    refuses(run("stressreel", "diff", built, tmp_path), "belongs to clavi and", "two outputs of the same", code=2)
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

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stressreel as api
from commands import info, refuses, rows, run
from forger import Forgery, forge
from stressreel.builders.runtime.diff import Difference, TableDiff
from stressreel.core.errors import InputError
from stressreel.core.files import write_json


def table(found: Difference, name: str) -> TableDiff:
    return next(each for each in found.tables if each.name == name)


def reworded(content: Forgery) -> None:
    content.rows("questions")[7] |= {"question": "Changed?", "answer": 1 - content.rows("questions")[7]["answer"]}


@pytest.fixture
def changed(four_pairs: Path, tmp_path: Path) -> Path:
    """A copy with another question, to be changed further."""
    return forge(four_pairs, tmp_path / "changed", reworded)


def test_same_fingerprint_means_same_content(four_pairs: Path, tmp_path: Path) -> None:
    content = info(four_pairs)
    write_json(tmp_path / "build.json", {**content, "tools": {**content["tools"], "av": "0.1"}})  # and no table
    found = api.diff(four_pairs, tmp_path)
    assert found.same
    assert [(change.what, change.b) for change in found.build] == [("tools.av", "0.1")]
    done = run("stressreel", "diff", four_pairs, tmp_path)
    assert done.code == 0
    assert content["fingerprint"][:16] in done.out


def test_rows_are_new_gone_changed_moved_or_reordered(four_pairs: Path, tmp_path: Path) -> None:
    def change(content: Forgery) -> None:
        reworded(content)
        content.tables["questions"]["train"].pop()
        content.tables["pairs"]["test"].append(content.tables["pairs"]["train"].pop())
        content.tables["left_out"]["left_out"].reverse()
        content.tables.pop("videos")

    copy = forge(four_pairs, tmp_path / "copy", change)
    found = api.diff(four_pairs, copy)
    assert table(found, "videos").rows == (8, None)
    assert table(found, "left_out").reordered
    pairs = table(found, "pairs")
    (move,) = pairs.moved
    assert (move.before, move.after, move.rows.count) == ("train", "test", 1)
    assert (pairs.new.count, pairs.gone.count, pairs.changed.count) == (0, 0, 0)
    questions = table(found, "questions")
    assert (questions.gone.count, questions.new.count, questions.changed.count) == (1, 0, 1)
    assert ("questions", *questions.rows, 0, 1, 1) in found.as_tables()[0].rows
    columns = {column.what: column for column in questions.columns}
    assert set(columns) == {"question", "answer"}
    assert columns["question"].b == "Changed?"
    assert {columns["answer"].a, columns["answer"].b} == {"no", "yes"}
    assert columns["question"].key == questions.changed.examples[0]
    assert table(api.diff(copy, four_pairs), "questions").new == questions.gone
    done = run("stressreel", "diff", four_pairs, copy)
    assert done.code == 1
    assert "questions: 1 gone, 1 changed (question and answer)" in done.out
    assert "pairs: 1 moved from train to test" in done.out
    (copy / "units.parquet").unlink()  # then all rows are read
    assert table(api.diff(four_pairs, copy), "questions") == questions


def test_other_columns_frames_and_undecodable_videos(four_pairs: Path, tmp_path: Path) -> None:
    stored = rows(four_pairs, "videos")

    def change(content: Forgery) -> None:
        reworded(content)
        by_id = {row["video_id"]: row for row in content.rows("videos")}
        by_id[stored[0]["video_id"]]["video"]["bytes"] = b"no video"
        by_id[stored[2]["video_id"]]["video"]["bytes"] = stored[4]["video"]["bytes"]

    copy = forge(four_pairs, tmp_path / "copy", change)
    write_json(copy / "build.json", {**info(copy), "counts": {**info(copy)["counts"], "pairs": {}}})
    for path in (copy / "questions").glob("*.parquet"):
        other = pq.read_table(path).drop_columns(["type_id", "subset"])
        pq.write_table(other.append_column("type_id", pa.array([float("nan")] * other.num_rows)), path)
    found = api.diff(four_pairs, copy)
    schema = {(each.what, each.a, each.b) for each in table(found, "questions").schema}
    assert schema == {("subset", "string", None), ("type_id", "int32", "double")}
    videos, pairs = table(found, "videos").videos, table(found, "pairs")
    assert videos is not None
    assert (videos.changed, videos.decoded, videos.kinds.get("alike", 0)) == (2, 2, 0)
    assert videos.kinds.get("undecodable") == 1
    assert any("→" in each["what"] for each in videos.examples)
    assert pairs.rows == (pairs.gone.count, 0)  # a table without splits has lost all rows


def test_diff_refuses_outputs_it_cannot_match(four_pairs: Path, changed: Path, tmp_path: Path) -> None:
    write_json(tmp_path / "build.json", {**info(four_pairs), "builder": "decomp"})
    refuses(run("stressreel", "diff", four_pairs, tmp_path), "clavi", "decomp", code=2)

    def repeated(content: Forgery) -> None:
        content.rows("questions")[1].update(dict(content.rows("questions")[0]))

    with pytest.raises(InputError, match="two rows have the same question_id"):
        api.diff(four_pairs, forge(four_pairs, tmp_path / "twice", repeated))
    lost = shutil.copytree(changed, tmp_path / "lost")
    next((changed / "questions").glob("train*")).write_bytes(b"damaged")
    refuses(run("stressreel", "diff", four_pairs, changed), "cannot be read")
    path = next((lost / "questions").glob(f"{next(iter(info(lost)['counts']['questions']))}-*"))
    pq.write_table(pq.read_table(path).slice(1), path)
    with pytest.raises(InputError, match="rows, but"):
        api.diff(four_pairs, lost)

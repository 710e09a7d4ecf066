import json

import pytest
import stressreel.annotations.agqa as agqa
from agqa_files import row
from stressreel.annotations.agqa import find_question_files, index_rows, read_rows
from stressreel.core.errors import InputError, UsageError

FOUR = {identity: row(identity) for identity in ("A-1", "A-2", "B-1", "A-3")}


def write(path, rows, **layout):
    path.write_text(json.dumps(rows, **layout), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("chunk", "layout"), [(1, {}), (7, {"indent": 2}), (1 << 20, {"indent": "\t", "separators": (" ,", " :  ")})]
)
def test_rows_are_read_in_any_layout(tmp_path, layout, chunk, monkeypatch):
    monkeypatch.setattr(agqa, "CHUNK", chunk)
    question = "Was it “ein Möbel” — 椅子?"
    rows = {**FOUR, "C-1": row("C-1", question=question, program="Exists(p, é)")}
    path = write(tmp_path / "test_balanced.txt", rows, ensure_ascii=False, **layout)
    parsed = []
    index = index_rows(path, parsed.append)
    assert [question.id for question in parsed] == [*rows]
    assert parsed[-1].question == question
    assert index.counts == {"A": 3, "B": 1, "C": 1}
    assert {video: len(index.of(video)) for video in index.spans} == {"A": 2, "B": 1, "C": 1}
    again = [question for video in "ABC" for question in read_rows(path, index.of(video), index.stamp)]
    assert again == sorted(parsed, key=lambda question: question.video_id)


def test_duplicate_id_or_changed_file_is_refused(tmp_path):
    member, path = f'"A-1": {json.dumps(row("A-1"))}', tmp_path / "a.txt"
    for between in ("", f'"B-1": {json.dumps(row("B-1"))}, '):
        path.write_text(f"{{{member}, {between}{member}}}")
        with pytest.raises(InputError, match=r"A-1.*more than once|a unique id"):
            read_rows(path, index_rows(path).of("A"))
    index = index_rows(write(path, FOUR))
    write(path, {"A-1": row("A-1")})
    with pytest.raises(InputError, match="changed"):
        read_rows(path, index.of("A"), index.stamp)
    with pytest.raises(InputError, match="truncated"):
        read_rows(path, index.of("B"))
    with pytest.raises(InputError, match="invalid JSON"):
        read_rows(path, [(0, 9)])
    path.unlink()
    with pytest.raises(UsageError, match="cannot read"):
        read_rows(path, [(0, 1)])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("question", value) for value in ("", 5, "\ud800")),
        *(("answer", None), ("program", "x" * 30_000), ("video_id", "../etc"), ("global", "exists")),
        *(("steps", -1), ("steps", True), ("novel_comp", 2), ("i_obj", 1.0), ("direct_equiv", 3), ("semantic", ["x"])),
    ],
)
def test_damaged_field_is_named(tmp_path, field, value):
    path = write(tmp_path / "a.txt", {"A-1": row("A-1"), "A-2": row("A-2", **{field: value})})
    with pytest.raises(InputError, match=rf"a.txt, byte \d\d\d.*'A-2', field {field}: expected"):
        index_rows(path, str)


def test_question_files_are_found(tmp_path):
    test = write(tmp_path / "test_balanced.txt", {})
    assert find_question_files(tmp_path) == {"test": test} == find_question_files(test)
    train = write(tmp_path / "train_balanced.txt", {})
    assert find_question_files(tmp_path) == {"train": train, "test": test}
    with pytest.raises(UsageError, match="AGQA_balanced"):
        find_question_files(tmp_path / "nothing")

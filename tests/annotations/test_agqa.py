import json
from pathlib import Path
from typing import Any

import pytest
import stressreel.annotations.agqa as agqa
from agqa_files import row
from stressreel.annotations.agqa import find_question_files, index_rows, iterate_rows, read_rows
from stressreel.core.errors import InputError, UsageError


def write(path: Path, rows: object, **how: Any) -> Path:
    path.write_text(json.dumps(rows, **how), encoding="utf-8")
    return path


def rows_of(*identities: str) -> dict[str, dict[str, Any]]:
    return {identity: row(identity) for identity in identities}


FOUR = rows_of("A-1", "A-2", "B-1", "A-3")


@pytest.mark.parametrize("how", [{}, {"indent": 2}, {"indent": "\t", "separators": (" ,", " :  ")}])
@pytest.mark.parametrize("chunk", [1, 7, 1000, 1 << 20])
def test_rows_are_read_whatever_the_layout(
    tmp_path: Path, how: dict[str, Any], chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agqa, "CHUNK", chunk)
    rows = {**FOUR, "C-1": row("C-1", question="Was it “ein Möbel” — 椅子?", program="Exists(p, é)")}
    path = write(tmp_path / "test_balanced.txt", rows, ensure_ascii=False, **how)
    found = list(iterate_rows(path))
    assert [one.id for one in found] == [*rows]
    assert found[-1].question == "Was it “ein Möbel” — 椅子?"
    index = index_rows(path)
    assert index.counts == {"A": 3, "B": 1, "C": 1}
    assert {video: len(index.of(video)) for video in index.spans} == {"A": 2, "B": 1, "C": 1}
    again = {video: read_rows(path, index.of(video), index.stamp) for video in index.spans}
    assert [one for video in ("A", "B", "C") for one in again[video]] == sorted(found, key=lambda one: one.video_id)


def test_an_id_that_comes_twice_is_refused(tmp_path: Path) -> None:
    one, path = json.dumps(row("A-1")), tmp_path / "a.txt"
    for between in ("", f'"B-1": {json.dumps(row("B-1"))}, '):
        path.write_text(f'{{"A-1": {one}, {between}"A-1": {one}}}')
        index = index_rows(path)
        with pytest.raises(InputError, match=r"A-1.*more than once|a unique id"):
            read_rows(path, index.of("A"))


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", FOUR)
    index = index_rows(path)
    write(path, rows_of("A-1"))
    with pytest.raises(InputError, match="changed"):
        read_rows(path, index.of("A"), index.stamp)
    with pytest.raises(InputError, match="is truncated"):
        read_rows(path, index.of("B"))
    with pytest.raises(InputError, match="invalid JSON"):
        read_rows(path, [(0, 9)])
    path.unlink()
    for read in (lambda: read_rows(path, [(0, 1)]), lambda: index_rows(path), lambda: list(iterate_rows(path))):
        with pytest.raises(UsageError, match="cannot read"):
            read()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("question", value) for value in ("", 5, "\ud800")),
        *(("answer", None), ("program", "x" * 30_000), ("video_id", "../etc"), ("global", "exists")),
        *(("steps", value) for value in (-1, True)),
        *(("novel_comp", 2), ("i_obj", "1"), ("i_obj", 1.0), ("direct_equiv", 3), ("semantic", ["x"])),
    ],
)
def test_a_damaged_field_is_named(tmp_path: Path, field: str, value: object) -> None:
    path = write(tmp_path / "a.txt", {"A-1": row("A-1"), "A-2": row("A-2", **{field: value})})
    with pytest.raises(InputError, match=rf"a.txt, byte \d\d\d.*'A-2', field {field}: expected"):
        list(iterate_rows(path))


def test_files_are_found(tmp_path: Path) -> None:
    test = write(tmp_path / "test_balanced.txt", {})
    assert find_question_files(tmp_path) == {"test": test} == find_question_files(test)
    train = write(tmp_path / "train_balanced.txt", {})
    assert find_question_files(tmp_path) == {"train": train, "test": test}
    with pytest.raises(UsageError, match="AGQA_balanced"):
        find_question_files(tmp_path / "nothing")

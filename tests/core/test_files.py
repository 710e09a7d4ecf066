from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.documents import read_text
from stressreel.core.errors import InputError, OutputError
from stressreel.core.files import (
    atomic,
    canonical_json,
    output_error,
    regular,
    sha256_file,
    sha256_text,
    write_atomic,
    write_json,
)
from stressreel.core.shards import read_footer
from stressreel.evaluation.metrics.predictions import read_predictions
from stressreel.video.pyav import open_input

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# JSON and hashes


@settings(derandomize=True, deadline=None, max_examples=100)
@given(JSON)
def test_canonical_json_is_one_line_of_ascii_that_reads_back(value: object) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert "\n" not in text
    assert canonical_json(json.loads(text)) == text


def test_equal_mappings_have_one_canonical_json() -> None:
    assert canonical_json({"b": [1, 0.1], "a": {"é": None}}) == '{"a":{"\\u00e9":null},"b":[1,0.1]}'
    assert canonical_json({"b": 1, "a": 2}) == canonical_json({"a": 2, "b": 1})
    assert canonical_json([1, 2]) != canonical_json([2, 1])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"a": float("-inf")}])
def test_there_is_no_canonical_json_of_what_json_has_not(value: object) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)


def test_hashes(tmp_path: Path) -> None:
    assert sha256_text("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()
    content = os.urandom(1_000_000)
    (tmp_path / "a").write_bytes(content)
    assert sha256_file(tmp_path / "a") == hashlib.sha256(content).hexdigest()


# Files that appear whole or not at all


@pytest.mark.parametrize(("content", "expected"), [("é\n", b"\xc3\xa9\n"), (b"\r\n\x00", b"\r\n\x00"), ("", b"")])
def test_a_file_is_written_whole(tmp_path: Path, content: str | bytes, expected: bytes) -> None:
    path = tmp_path / "new" / "folder" / "a.json"
    write_atomic(path, content)
    assert path.read_bytes() == expected
    assert names(path.parent) == ["a.json"]
    write_atomic(path, "again")
    assert path.read_bytes() == b"again"
    assert names(path.parent) == ["a.json"]


def test_json_for_people_is_indented_in_the_given_order(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"b": "é", "a": [1]})
    assert (tmp_path / "a.json").read_text(encoding="utf-8") == '{\n  "b": "é",\n  "a": [\n    1\n  ]\n}\n'


def test_until_the_end_the_file_is_what_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("old")
    with atomic(path) as temporary:
        assert temporary.parent == path.parent
        assert temporary.suffix == path.suffix
        assert temporary.name.startswith(".")
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.parquet"]


@pytest.mark.parametrize("error", [ValueError("bad row"), KeyboardInterrupt(), OutputError("said already")])
@pytest.mark.parametrize("begun", [True, False])
def test_on_any_exception_the_old_file_stays_and_nothing_else(
    tmp_path: Path, error: BaseException, begun: bool
) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def failing() -> None:
        with atomic(path) as temporary:
            if begun:
                temporary.write_text("half of the n")
            raise error

    with pytest.raises(type(error)) as caught:
        failing()
    assert caught.value is error
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_content_is_synced_before_the_rename_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        inode = os.fstat(descriptor).st_ino
        done.append("folder" if inode == tmp_path.stat().st_ino else "file")
        fsync(descriptor)

    def renamed(source: Path, target: Path) -> None:
        done.append("rename")
        assert source.read_text() == "new"
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    write_atomic(path, "new")
    assert done == ["file", "rename", "folder"]


NO_SPACE = "no space left while writing {path}. What was finished is kept: free some space and run the same command"
REFUSED = "cannot write {path}: {words}. Give an --out folder that you may write to."


def refuse(code: int) -> Callable[..., None]:
    def refusing(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    return refusing


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.ENOSPC, NO_SPACE),
        (errno.EDQUOT, NO_SPACE),
        (errno.EACCES, REFUSED),
        (errno.EROFS, REFUSED),
        (errno.EIO, REFUSED),
    ],
)
def test_what_the_system_refuses_becomes_one_paragraph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, code: int, message: str
) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(os, function, refuse(code))
    with pytest.raises(OutputError) as caught:
        write_atomic(path, "new")
    assert str(caught.value).startswith(message.format(path=path, words=os.strerror(code)))
    assert isinstance(caught.value.__cause__, OSError)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


@needs_full
def test_a_full_disk_is_told_and_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def fill() -> None:
        with atomic(path) as temporary:
            temporary.symlink_to(FULL)
            temporary.write_text("new")

    with pytest.raises(OutputError, match=f"^{re.escape(NO_SPACE.format(path=path))}"):
        fill()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_a_file_where_a_folder_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "questions").write_text("mine")
    path = tmp_path / "questions" / "train.parquet"
    try:
        with pytest.raises(OutputError, match=r"^cannot write .*train\.parquet: (File exists|Not a directory)"):
            write_atomic(path, "new")
    finally:
        assert (tmp_path / "questions").read_text() == "mine"


def test_an_error_without_a_number_is_passed_on(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"^in words$") as caught, atomic(tmp_path / "a"):
        raise OSError("in words")
    assert not isinstance(caught.value, OutputError)


def test_an_output_error_without_words_says_the_error_itself() -> None:
    assert "cannot write a: in words. Give" in str(output_error(OSError("in words"), Path("a")))


@pytest.mark.parametrize("read", [read_text, sha256_file, read_predictions, read_footer, open_input])
def test_what_is_no_regular_file_is_not_waited_for(read: Callable[[Path], Any], tmp_path: Path) -> None:
    fifo = tmp_path / "answers.jsonl"
    os.mkfifo(fifo)
    link = tmp_path / "link.jsonl"
    link.symlink_to(fifo)
    zero = tmp_path / "zero.jsonl"
    zero.symlink_to("/dev/zero")
    for path, kind in ((fifo, "FIFO"), (link, "FIFO"), (zero, "device")):
        with pytest.raises(InputError, match=f"is a {kind}; give a regular file"):
            read(path)
    assert regular(tmp_path) == tmp_path  # folders and what is not there say so when they are opened
    assert regular(tmp_path / "absent") == tmp_path / "absent"

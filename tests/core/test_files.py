"""Files appear whole or not at all, and what the system refuses is said in a paragraph."""

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.documents import read_text
from stressreel.core.errors import InputError, OutputError
from stressreel.core.files import atomic, canonical_json, regular, sha256_file, write_atomic
from stressreel.core.shards import read_footer
from stressreel.evaluation.metrics.predictions import read_predictions
from stressreel.video.pyav import open_input

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(JSON)
def test_canonical_json_round_trip(value):
    text = canonical_json(value)
    assert json.loads(text) == value
    assert text.isascii()
    assert "\n" not in text
    assert canonical_json(json.loads(text)) == text


def test_equal_mappings_have_one_canonical_json():
    assert canonical_json({"b": [1, 0.1], "a": {"é": None}}) == '{"a":{"\\u00e9":null},"b":[1,0.1]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


def test_file_is_written_whole_and_synced(tmp_path, monkeypatch):
    done = []
    path, replace = tmp_path / "new" / "a.json", os.replace

    def synced(descriptor):
        done.append("folder" if os.fstat(descriptor).st_ino == path.parent.stat().st_ino else "file")

    def renamed(source, target):
        done.append(Path(source).read_bytes().decode())
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    for content in ("é\n", "\r\n\x00"):
        write_atomic(path, content)
        assert path.read_bytes() == content.encode()
        assert list(path.parent.iterdir()) == [path]
    assert done == ["file", "é\n", "folder", "file", "\r\n\x00", "folder"]


@pytest.mark.parametrize("error", [ValueError("bad row"), KeyboardInterrupt(), OutputError("said already")])
def test_exception_keeps_old_file(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")

    def failing():
        with atomic(path) as temporary:
            temporary.write_text("half of the n")
            raise error

    with pytest.raises(type(error)) as caught:
        failing()
    assert caught.value is error
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize(("code", "words"), [(errno.ENOSPC, "no space left"), (errno.EACCES, "--out")])
def test_system_error_becomes_output_error(tmp_path, monkeypatch, function, code, words):
    def refusing(*arguments):
        raise OSError(code, os.strerror(code))

    path = tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(os, function, refusing)
    with pytest.raises(OutputError, match=words) as caught:
        write_atomic(path, "new")
    assert str(path) in str(caught.value)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("read", [read_text, sha256_file, read_predictions, read_footer, open_input])
def test_fifo_and_device_are_refused(read, tmp_path):
    fifo, link, zero = (tmp_path / f"{name}.jsonl" for name in ("fifo", "link", "zero"))
    os.mkfifo(fifo)
    link.symlink_to(fifo)
    zero.symlink_to("/dev/zero")
    for path, kind in ((fifo, "FIFO"), (link, "FIFO"), (zero, "device")):
        with pytest.raises(InputError, match=rf"is a {kind}\. Provide a regular file"):
            read(path)
    assert regular(tmp_path) == tmp_path  # folders and what is not there say so when they are opened
    assert regular(tmp_path / "absent") == tmp_path / "absent"

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
from stressreel.core.files import atomic, canonical_json, sha256_file, write_atomic
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
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json([value, float("nan")])


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


@pytest.mark.parametrize(
    ("place", "error", "raised", "words"),
    [
        ("block", ValueError("bad row"), ValueError, "bad row"),
        ("block", KeyboardInterrupt("stop"), KeyboardInterrupt, "stop"),
        ("block", OutputError("said already"), OutputError, "^said already$"),
        ("fsync", OSError(errno.ENOSPC, "full"), OutputError, "no space left while writing .*/a"),
        ("replace", OSError(errno.ENOSPC, "full"), OutputError, "no space left while writing .*/a"),
        ("replace", OSError(errno.EACCES, "no"), OutputError, "cannot write .*/a.* --out"),
    ],
)
def test_failure_keeps_old_file(tmp_path, monkeypatch, place, error, raised, words):
    def fail(*arguments):
        raise error

    def write():
        with atomic(tmp_path / "a") as temporary:
            temporary.write_text("half of the n")
            if place == "block":
                fail()

    (tmp_path / "a").write_text("old")
    if place != "block":
        monkeypatch.setattr(os, place, fail)
    with pytest.raises(raised, match=words):
        write()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a", "old")]


@pytest.mark.parametrize("read", [read_text, sha256_file, read_predictions, read_footer, open_input])
def test_fifo_and_device_are_refused(read, tmp_path):
    fifo, link, zero = (tmp_path / f"{name}.jsonl" for name in ("fifo", "link", "zero"))
    os.mkfifo(fifo)
    link.symlink_to(fifo)
    zero.symlink_to("/dev/zero")
    for path, kind in ((fifo, "FIFO"), (link, "FIFO"), (zero, "device")):
        with pytest.raises(InputError, match=rf"is a {kind}\. Provide a regular file"):
            read(path)

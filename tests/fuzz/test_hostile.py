"""A short run of the campaign on outputs of strangers, what its changes are, and what its watches see."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from outputs import PORT, Bait, damage, leaves
from run import in_child
from watch import TEXT, Leak, changes, guard, listing, telling

CAMPAIGN = Path(__file__).with_name("campaign.py")
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the harness limits memory as Linux does")


@LINUX
@pytest.mark.full
@pytest.mark.timeout(1800)
def test_outputs_of_strangers_are_used_or_refused(tmp_path: Path) -> None:
    arguments = ("--seed", 7, "--keep", tmp_path / "findings", "--mutations", 60)
    done = subprocess.run(list(map(str, (sys.executable, CAMPAIGN, *arguments))), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 findings in 60 cases" in done.stdout


def test_the_boxes_of_a_video_are_found() -> None:
    inner = (8 + 4).to_bytes(4, "big") + b"tkhdabcd"
    content = (8 + len(inner)).to_bytes(4, "big") + b"moov" + inner + (12).to_bytes(4, "big") + b"free1234"
    assert [(name, content[start:end]) for name, start, end in leaves(content)] == [(b"tkhd", b"abcd")]


def test_a_changed_json_file_says_something_else(tmp_path: Path) -> None:
    bait = Bait(tmp_path / "secret.txt", tmp_path / "secrets", tmp_path / "plain")
    good = {"counts": {"a": {"test": 3}}, "builder": "clavi", "settings": {"x": ["y", None]}}
    for seed in range(30):
        (tmp_path / "build.json").write_text(json.dumps(good))
        damage(tmp_path, "json", bait, np.random.default_rng(seed))
        try:
            found = json.loads((tmp_path / "build.json").read_bytes().decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        assert json.dumps(found, sort_keys=True) != json.dumps(good, sort_keys=True)


def test_changes_of_files_are_seen(tmp_path: Path) -> None:
    for name in ("changed", "gone", "same", "touched"):
        (tmp_path / name).write_text("1")
    before = listing(tmp_path)
    (tmp_path / "changed").write_text("2")
    (tmp_path / "gone").unlink()
    (tmp_path / "new").symlink_to("nowhere")
    os.utime(tmp_path / "touched", ns=(1, 1))
    assert changes(before, listing(tmp_path)) == ["changed changed", "gone is gone", "new is new", "touched changed"]


def test_a_secret_that_got_out_is_seen(tmp_path: Path) -> None:
    import base64

    (tmp_path / "plain").write_bytes(b"x" + TEXT)
    for shift in range(3):
        (tmp_path / f"base64-{shift}").write_bytes(base64.b64encode(b"x" * shift + TEXT))
    (tmp_path / "nothing").write_text("x")
    assert telling(tmp_path) == ["base64-0", "base64-1", "base64-2", "plain"]


@LINUX
def test_connections_are_refused() -> None:
    def work(say):  # type: ignore[no-untyped-def]
        guard()
        for name, address in (("connect", ("127.0.0.1", PORT)), ("bind", ("127.0.0.1", 0))):
            try:
                with socket.socket() as one:
                    getattr(one, name)(address)
                say("let through")
            except Leak:
                say("refused")

    assert list(in_child(work)) == ["refused", "refused"]

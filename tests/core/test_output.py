"""What an output brings along stays in it."""

import json
import os
import resource

import pytest
from stressreel.builders.runtime.output import BuildJournal, read_state
from stressreel.core import shards
from stressreel.core.errors import InputError, StressreelError, UsageError
from stressreel.core.objects import Objects
from stressreel.core.output import FinishedOutput, RemoteOutput, inside, open_output, refuse_foreign_entries
from stressreel.core.output_files import notes_of
from stressreel.core.schema import Column, Config
from stressreel.core.shards import shard_path
from stressreel.data_cards.card_checks import differing_text
from stressreel.evaluation.metrics.items import read_columns
from stressreel.evaluation.metrics.scores import _earlier_figures
from written import write_shard

NUMBERS = Config("numbers", "numbers", (Column("number", "int32", "a number"), Column("name", "string", "its name")))
COUNTS = {"numbers": {"train": 25, "test": 2}, "others": {"test": 1}}
INFO = {"builder": "clavi", "counts": COUNTS, "fingerprint": "f"}


def finish(folder):
    """An output with twelve shards of train and one of test."""
    for split, cut in (("test", [range(100, 102)]), ("train", [range(2 * i, 2 * i + 2 + i // 11) for i in range(12)])):
        for index, numbers in enumerate(cut):
            rows = [({"number": number, "name": f"{number}!"}, 1) for number in numbers]
            write_shard(folder / shard_path("numbers", split, index, len(cut)), NUMBERS, rows)
    (folder / "build.json").write_text(json.dumps(INFO))
    return folder


def test_rows_follow_splits_and_shards(tmp_path):
    output = open_output(finish(tmp_path))
    assert (output.path, output.info) == (tmp_path, INFO)
    assert (output.splits("numbers"), output.splits("absent")) == (["train", "test"], [])
    assert [row["number"] for row in output.rows("numbers")] == [*range(25), 100, 101]
    assert list(output.rows("numbers", ["name"], "test")) == [{"name": "100!"}, {"name": "101!"}]
    (tmp_path / shard_path("numbers", "train", 11, 12)).unlink()
    with pytest.raises(InputError, match="split train: found 22 rows, but 25"):
        list(output.whole("numbers"))


def test_unfinished_build_is_distinguished(tmp_path):
    with pytest.raises(UsageError, match="absent does not exist"):
        open_output(tmp_path / "absent")
    with pytest.raises(InputError, match="is not the output of a build"):
        open_output(tmp_path)
    (tmp_path / ".build").mkdir()
    with pytest.raises(InputError, match="has an unfinished build"):
        open_output(tmp_path)


FOLDERS = ("../x", "/etc", "a\\b", "x" * 300, 3)


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", '{"builder": "clavi", "counts": 5}', "\udcff"),
        '{"builder": "clavi", "fingerprint": "", "counts": {}, "seed": 1e999}',
        '{"builder": "clavi", "fingerprint": "", "counts": {}, "builder": "decomp"}',
        *(json.dumps({**INFO, "video_folders": [".", folder]}) for folder in FOLDERS),
        *(json.dumps({**INFO, "source": {"video_folders": [folder]}}) for folder in FOLDERS),
    ],
)
def test_a_damaged_build_json_is_told(tmp_path, content):
    (tmp_path / "build.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=r"build\.json is damaged"):
        open_output(tmp_path)


class Store(Objects):
    """Object storage that lists keys of a stranger's choice."""

    def list(self, prefix=""):
        yield {"path": "videos/../../../stolen", "size": 1, "e_tag": "e"}

    def fetch(self, key, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_object_key_cannot_leave_cache_folder(tmp_path):
    output = RemoteOutput(tmp_path / "cache" / "output", {"counts": {}}, Store(""))
    with pytest.raises(InputError, match="not a valid file name"):
        output.complete()
    assert list(tmp_path.rglob("stolen")) == []


@pytest.mark.parametrize(
    "file", ["build.json", "README.md", "croissant.json", "scores.json", ".build/plan.json", ".build/journal.jsonl"]
)
def test_huge_file_is_refused_unread(tmp_path, file):
    output = open_output(finish(tmp_path))
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb") as handle:
        handle.truncate(60_000_000_000)
    read = {
        "build.json": lambda: open_output(tmp_path),
        "README.md": lambda: notes_of(path),
        "croissant.json": lambda: list(differing_text(output, file, str)),
        "scores.json": lambda: _earlier_figures(tmp_path, {}, beside=True, force=False),
        ".build/plan.json": lambda: read_state(path, ()),
        ".build/journal.jsonl": lambda: BuildJournal.read(path),
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(StressreelError, match=r"60,000,000,000 bytes|contains files other|50,000,000 bytes or longer"):
        read[file]()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000
    assert path.stat().st_size == 60_000_000_000


def test_many_small_shards_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "LEAST_PACKED", 10_000)
    monkeypatch.setattr(shards, "PACKING", 1)
    for index in range(40):
        path = tmp_path / shards.shard_path("numbers", "test", index, 40)
        write_shard(path, NUMBERS, [({"number": 1, "name": "x" * 9000}, 1)])
        assert len(list(shards.read_rows(path))) == 1
    output = FinishedOutput(tmp_path, {**INFO, "counts": {"numbers": {"test": 40}}})
    with pytest.raises(InputError, match=r"table numbers, split test: it states 40 rows"):
        list(output.whole("numbers"))
    with pytest.raises(InputError, match="which is implausible"):
        read_columns(output, "numbers", ["name"], "all")


@pytest.mark.parametrize("name", ["", "..", "../a", "a/../../b", "/etc/passwd", "a\\b", "a\0", "a\nb", "link/a", None])
def test_names_that_lead_out(tmp_path, name):
    (tmp_path / "link").symlink_to(tmp_path.parent)
    with pytest.raises(InputError, match=r"not a valid file name|is a link that leads outside"):
        inside(tmp_path, name)
    (tmp_path / "self").symlink_to("self")
    with pytest.raises(InputError, match="form a cycle"):
        inside(tmp_path, "self/file")
    for good in ("a", "a/b.mp4", "..a", "a b", "é"):
        assert inside(tmp_path, good) == tmp_path / good


def test_output_with_link_or_pipe_is_refused(tmp_path):
    for number, place in enumerate(("build.json", "videos/test-00000-of-00001.parquet", "videos", ".build", "")):
        entry = tmp_path / str(number) / (place or "build.json")
        entry.parent.mkdir(parents=True)
        entry.symlink_to(tmp_path) if place else os.mkfifo(entry)
        with pytest.raises(InputError, match="is a link" if place else "is a pipe"):
            open_output(tmp_path / str(number))


def test_links_in_hub_snapshot_are_allowed(tmp_path):
    snapshot, blob = tmp_path / "snapshots" / "abc", tmp_path / "blobs" / "1f"
    for folder in (snapshot, blob.parent):
        folder.mkdir(parents=True)
    blob.write_text("{}")
    (snapshot / "build.json").symlink_to("../../blobs/1f")
    refuse_foreign_entries(snapshot)
    (snapshot / "other").symlink_to("../../secret")
    for _ in range(2):  # a link to nothing, and to a file
        with pytest.raises(InputError, match="other is a link"):
            refuse_foreign_entries(snapshot)
        (tmp_path / "secret").touch()

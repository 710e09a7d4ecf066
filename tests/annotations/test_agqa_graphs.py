import os
import pickle
from pathlib import Path

import pytest
from agqa_files import two_videos, write_graphs
from stressreel.annotations.agqa_graphs import id_names, open_graphs, read_graphs
from stressreel.core.errors import InputError

NAMES = id_names(Path("nowhere"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Return the folder of cached graphs, in the test's own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "stressreel" / "agqa-graphs"


def read(path):
    return {graph.video_id: graph for graph in read_graphs(path, NAMES)}


@pytest.mark.parametrize("protocol", [0, 5])
def test_graphs_are_read(tmp_path, protocol):
    graphs = read(write_graphs(tmp_path / "AGQA_test_stsgs.pkl", protocol=protocol))
    assert [*graphs] == ["YSKX3", "LSKA2"]
    graph = graphs["YSKX3"]
    assert (graph.provenance, graph.times) == ("agqa", (3.5, 4.5, 5.5, 6.4))
    assert graph.relations == {
        "looking at": {"pillow": 0b1},
        "not looking at": {"blanket": 0b100},
        "behind": {"pillow": 0b1},
        "holding": {"pillow": 0b11},
        "touching": {"blanket": 0b110, "pillow": 0b10},
        "not contacting": {"blanket": 0b1000},
    }
    assert graph.contacts == {"pillow": 0b11, "blanket": 0b110}
    assert [(span.phrase, span.start, span.end, span.frames) for span in graph.actions] == [
        ("holding a pillow", 3.1, 5.0, 0b11),
        ("laughing at something", 6, 7, 0b1000),  # it covers no frame: the one at its time
    ]


def test_cache_is_written_once(tmp_path, cache):
    path = write_graphs(tmp_path / "graphs" / "AGQA_test_stsgs.pkl")
    graphs = open_graphs(path)
    assert {video: graphs.read(video) for video in graphs.spans} == read(path)
    assert graphs.read("other") is None
    (folder,) = cache.iterdir()
    stamp = (folder / "graphs.jsonl").stat().st_mtime_ns
    assert open_graphs(path) == graphs
    assert (folder / "graphs.jsonl").stat().st_mtime_ns == stamp
    (folder / "index.json").write_text("{")
    assert open_graphs(path) == graphs
    (folder / "graphs.jsonl").write_text("x" * 50)
    with pytest.raises(InputError, match="damaged"):
        graphs.read("LSKA2")
    assert open_graphs(path).read("LSKA2")
    (tmp_path / "ENG.txt").write_text('{"r22": "fondling", "o4": "towel"}')  # released names take precedence
    graph = open_graphs(path).read("YSKX3")
    assert graph is not None
    assert graph.relations["fondling"] == {"blanket": 0b110, "pillow": 0b10}
    (tmp_path / "ENG.txt").write_text("[1]")
    with pytest.raises(InputError, match=r"ENG\.txt"):
        open_graphs(path)


class Call:
    """Is pickled as a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call[0], self.call[1:]


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Call(os.system, "touch was_here"), "system"),
        (Call(eval, "open('was_here', 'w')"), "eval"),
        ({"A": {"000001": Path("x")}}, "Path"),
        ({"A": {"000001": NAMES.keys}}, "getattr"),
    ],
)
def test_pickled_code_never_runs(tmp_path, monkeypatch, value, named):
    monkeypatch.chdir(tmp_path)
    for protocol, refuse in ((0, read), (4, read), (4, open_graphs)):
        path = write_graphs(tmp_path / "a.pkl", value, protocol)
        with pytest.raises(InputError, match=rf"a.pkl refers to .*{named}.*was not read"):
            refuse(path)
    assert not Path("was_here").exists()


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(pickle.dumps(two_videos())[:-400], id="truncated"),
        b"\x80\x04]}b.",
        pytest.param(b"\x80\x04Nr\xff\xff\xff\xff.", id="a memo of 34 GB"),
        pytest.param(b"\x80\x04" + b"]" * 3_000_000 + b"a" * 2_999_999 + b".", id="lists in lists"),
        pytest.param(b"\x80\x04})" + b"\x85" * 3_000_000 + b"Ns.", id="tuples in tuples, as a key"),
    ],
)
def test_damaged_pickle_is_refused(tmp_path, content):
    (tmp_path / "a.pkl").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.pkl") as caught:
        open_graphs(tmp_path / "a.pkl")
    assert len(str(caught.value)) < 600
    assert "Traceback" not in str(caught.value)


def change(key, **fields):
    videos = two_videos()
    videos["YSKX3"].setdefault(key, {}).update(fields)
    return videos


@pytest.mark.parametrize(
    ("videos", "message"),
    [
        ([1], "list"),
        ({"A": []}, "video A.*got a list"),
        ({"A": {"x1": {}}}, "vertex 'x1'"),
        (change("r22/000134", **{"class": "r99"}), "field class: .*'r99'"),
        (change("r22/000999", **{"class": "r22", "objects": []}), "a frame of the video"),
        (change("c076/1", all_f=[7]), "field all_f"),
    ],
)
def test_malformed_vertex_is_named(tmp_path, videos, message):
    with pytest.raises(InputError, match=f"a.pkl.*{message}"):
        read(write_graphs(tmp_path / "a.pkl", videos))

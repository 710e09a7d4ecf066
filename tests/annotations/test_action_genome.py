import os
import pickle
from pathlib import Path

import pytest
from stressreel.annotations.action_genome import read_action_genome, with_action_genome
from stressreel.annotations.scene_graphs import ActionSpan, graph_of
from stressreel.core.errors import InputError


def thing(name, attention, spatial, contacting):
    families = {"attention": attention, "spatial": spatial, "contacting": contacting}
    relations = {f"{family}_relationship": names.split() for family, names in families.items()}
    return {**relations, "class": name, "bbox": (1.0, 2.0, 3.0, 4.0), "visible": True}


HIDDEN = {**dict.fromkeys(thing("sofa/couch", "", "", "")), "class": "sofa/couch", "visible": False}
TABLE = {
    "V.mp4/000031.png": [
        thing("cup/glass/bottle", "looking_at", "in_front_of", "holding touching"),
        thing("floor", "", "beneath", "standing_on"),
        HIDDEN,
    ],
    "V.mp4/000001.png": [
        thing("table", "unsure", "beneath behind", "not_contacting"),
        thing("dish", "not_looking_at", "in", "other_relationship"),
    ],
    "W.mp4/000001.png": [],
}


def folder(tmp_path, table=TABLE, listed=""):
    (tmp_path / "object_bbox_and_relationship.pkl").write_bytes(pickle.dumps(table))
    if listed:
        (tmp_path / "frame_list.txt").write_text(listed)
    return tmp_path


def test_relations_are_merged_and_inverted(tmp_path):
    videos = read_action_genome(folder(tmp_path, listed="V.mp4/000001.png\nV.mp4/000031.png\n"))
    assert [frame.number for frame in videos["V"]] == [1, 31]
    assert videos["W"][0].objects == ()
    spans = [ActionSpan("opening a door", 0.0, 0.2, 1), ActionSpan("holding a phone", 0.9, 1.4, 0b110)]
    base = graph_of("V", (0.0, 0.5, 1.0), spans, "charades")
    graph = with_action_genome(base, videos["V"], fps=30.0)
    assert (graph.provenance, graph.times) == ("action_genome", (0.0, 1.0))
    assert [span.frames for span in graph.actions] == [0b01, 0b10]
    assert graph.relations == {
        "above": {"table": 0b01},
        "behind": {"dish": 0b10},
        "holding": {"dish": 0b10, "phone": 0b10},
        "in": {"dish": 0b01},
        "in front of": {"table": 0b01},
        "looking at": {"dish": 0b10},
        "not looking at": {"dish": 0b01},
        "opening": {"door": 0b01},
        "standing on": {"floor": 0b10},
        "touching": {"dish": 0b10},
    }
    assert graph.contacts == {"dish": 0b10, "door": 0b01, "floor": 0b10, "phone": 0b10}
    assert graph.seen == {"dish", "door", "floor", "phone", "table"}


class Evil:
    def __reduce__(self):
        return os.mkdir, ("never",)


@pytest.mark.parametrize(
    ("table", "listed", "message"),
    [
        ({"V.mp4/000001.png": Evil()}, "", "mkdir"),
        ([], "", "not a dictionary"),
        ({"V.mp4/000001.png": [{"name": "cup"}]}, "", "each with its class"),
        ({"V.mp4/000001.png": [{"class": "cup", "spatial_relationship": [1]}]}, "", "not a list of names"),
        (TABLE, "V.mp4/000001.png\nV.mp4/000099.png\n", r"1 frames .* first V\.mp4/000099\.png"),
    ],
)
def test_malformed_table_is_refused(tmp_path, monkeypatch, table, listed, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        read_action_genome(folder(tmp_path, table, listed))
    assert not Path("never").exists()

"""AGQA's files, made by hand: rows, and scene graphs in the layout of the released pickles."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

Vertex = dict[str, Any]
FAMILIES = ("attention", "contact", "spatial", "verb")


def row(identity: str, **fields: Any) -> dict[str, Any]:
    return {
        "question": "Were they interacting with a blanket?",
        "answer": "yes",
        "video_id": identity.split("-")[0],
        "global": ["exists"],
        "local": "yes-no-o4-all-",
        "ans_type": "binary",
        "steps": 1,
        "semantic": "object",
        "structural": "verify",
        "novel_comp": 0,
        "more_steps": 0,
        "program": "Exists(blanket, Iterate(video, Filter(frame, [objects])))",
        "sg_grounding": {"4-13": ["o4/000209"], "57-57": ["000105", "000134"]},
        **dict.fromkeys(
            ("nc_seq", "nc_sup", "nc_dur", "nc_objrel", "indirect", "i_obj", "i_rel", "i_act", "i_temp"), 0
        ),
        "direct_equiv": identity,
        **fields,
    }


def _listed(vertices: list[Vertex]) -> dict[str, Any]:
    return {"names": [vertex["id"] for vertex in vertices], "vertices": vertices}


def video_graph(
    secs: Mapping[str, float],
    relations: Mapping[str, Mapping[str, tuple[str, ...]]],
    actions: Mapping[str, tuple[str, float, float, tuple[str, ...]]],
) -> dict[str, Vertex]:
    """Make a video's graph as the pickles have it: vertices hold each other. Ids: frame 000105, object o4, relation
    r22.
    """
    graph: dict[str, Vertex] = {}
    frames = {
        frame: {"id": frame, "secs": time, "type": "frame", "metadata": "test", "next": None, "prev": None}
        for frame, time in secs.items()
    }
    ordered = [frames[frame] for frame in sorted(frames)]
    for before, after in pairwise(ordered):
        before["next"], after["prev"] = after, before
    latest: dict[str, Vertex] = {}

    def vertex(identity: str, **fields: Any) -> Vertex:
        name, _, frame = identity.partition("/")
        made = {
            **{"id": identity, "class": name, "metadata": "test", "frame_num": frame, "frame": frames[frame]},
            **{"secs": secs[frame], "next": None, "prev": latest.get(name), **fields},
        }
        if name in latest:
            latest[name]["next"] = made
        latest[name] = graph[identity] = made
        return made

    for frame in sorted(frames):
        objects: dict[str, Vertex] = {}
        found: dict[str, list[Vertex]] = {family: [] for family in FAMILIES}
        for relation, things in relations.get(frame, {}).items():
            number = int(relation[1:])
            index = 3 if relation[0] == "v" else 0 if number < 4 else 2 if number < 10 else 1
            family = FAMILIES[index]
            for thing in things:
                if thing not in objects:
                    lists: dict[str, Any] = {name: [] for name in FAMILIES}
                    objects[thing] = vertex(
                        f"{thing}/{frame}", type="object", visible=True, bbox=[1.5, 2, 30, 40], **lists
                    )
            made = vertex(f"{relation}/{frame}", type=family, objects=[objects[thing] for thing in things])
            found[family].append(made)
            for thing in things:
                objects[thing][family].append(made)
        frames[frame].update({name: _listed(vertices) for name, vertices in found.items()})
        frames[frame].update(objects=_listed([*objects.values()]), actions=_listed([]))
        graph[frame] = frames[frame]
    for identity, (phrase, start, end, covered) in actions.items():
        graph[identity] = {
            **{"id": identity, "charades": identity.split("/")[0], "phrase": phrase, "type": "act", "start": start},
            **{"end": end, "length": end - start, "all_f": list(covered), "object_id": "o26", "verb_id": "v008"},
            **{name: [] for name in ("objects", *FAMILIES, "while")},
            **dict.fromkeys(("next_discrete", "prev_discrete", "next_instance", "prev_instance")),
            "metadata": "test",
        }
        for frame in covered:
            listed = frames[frame]["actions"]
            listed["names"].append(identity)
            listed["vertices"].append(graph[identity])
    return graph


def two_videos() -> dict[str, dict[str, Vertex]]:
    """Two videos: someone holds a pillow, then touches a blanket; someone opens a door and sits down."""
    first = video_graph(
        {"000105": 3.5, "000134": 4.5, "000163": 5.5, "000192": 6.4},
        {
            "000105": {"r1": ("o26",), "r7": ("o26",), "r15": ("o26",), "v008": ("o26",)},
            "000134": {"r15": ("o26",), "r22": ("o4", "o26"), "v008": ("o26",)},
            "000163": {"r2": ("o4",), "r22": ("o4",)},
            "000192": {"r18": ("o4",)},
        },
        {"c076/1": ("holding a pillow", 3.1, 5.0, ("000105", "000134")), "c149/1": ("laughing at something", 6, 7, ())},
    )
    second = video_graph(
        {"000010": 0.4, "000020": 0.8},
        {"000010": {"v012": ("o13",), "r22": ("o13",)}, "000020": {"r20": ("o8",)}},
        {"c008/1": ("opening a door", 0.1, 0.5, ("000010",)), "c059/1": ("sitting in a chair", 0.7, 9.9, ("000020",))},
    )
    return {"YSKX3": first, "LSKA2": second}


def write_graphs(path: Path, videos: object = None, protocol: int = 4) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as handle:
        pickle.dump(two_videos() if videos is None else videos, handle, protocol)
    return path

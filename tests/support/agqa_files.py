"""AGQA's files, made by hand: rows, and scene graphs in the layout of the released pickles."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
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


def video_graph(
    secs: Mapping[str, float],
    relations: Mapping[str, Mapping[str, tuple[str, ...]]],
    actions: Mapping[str, tuple[str, float, float, tuple[str, ...]]],
) -> dict[str, Vertex]:
    """Make a video's graph as the pickles have it: vertices hold each other. Ids: frame 000105, object o4, relation
    r22.
    """
    graph: dict[str, Vertex] = {}
    latest: dict[str, Vertex] = {}

    def vertex(identity: str, name: str, **fields: Any) -> Vertex:
        graph[identity] = {"id": identity, "class": name, "metadata": "test", "next": None, **fields}
        graph[identity]["prev"] = latest.get(name)
        if name in latest:
            latest[name]["next"] = graph[identity]
        latest[name] = graph[identity]
        return graph[identity]

    for frame, time in sorted(secs.items()):
        whole = vertex(frame, "frame", type="frame", secs=time, objects={"names": [], "vertices": []}, actions=[])
        for relation, things in relations.get(frame, {}).items():
            number = int(relation[1:])
            index = 3 if relation[0] == "v" else 0 if number < 4 else 2 if number < 10 else 1
            for thing in things:
                if f"{thing}/{frame}" not in graph:
                    more = {"type": "object", "bbox": [1.5, 2, 30, 40], "attention": [], "frame": whole}
                    whole["objects"]["vertices"].append(vertex(f"{thing}/{frame}", thing, secs=time, **more))
            objects = [graph[f"{thing}/{frame}"] for thing in things]
            made = vertex(
                f"{relation}/{frame}", relation, type=FAMILIES[index], secs=time, objects=objects, frame=whole
            )
            for each in objects:
                each.setdefault(FAMILIES[index], []).append(made)
    for identity, (phrase, start, end, covered) in actions.items():
        fields = {"type": "act", "phrase": phrase, "start": start, "end": end, "all_f": list(covered), "objects": []}
        made = vertex(identity, identity.partition("/")[0], charades=identity.partition("/")[0], **fields)
        for frame in covered:
            graph[frame]["actions"].append(made)
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

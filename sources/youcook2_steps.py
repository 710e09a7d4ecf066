"""YouCook2's steps as segments: "spread margarine on bread" becomes "spreading margarine on bread"."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ..language.gerund_wording import Gerund
from ..language.gerunds import gerund
from ..records.files import sha256_file
from .actions import Action, AnnotatedVideo, Segment
from .captions import read_json
from .charades import Annotations
from .tables import Problems
from .youcook2 import SUBSETS


def read_steps(path: Path) -> Annotations:
    """Read the steps of recipes; what cannot be turned is left out and counted."""
    content = read_json(path, Problems())
    counts = Counter[str]()
    videos = []
    for name, info in content["database"].items():
        segments = []
        for entry in info["annotations"]:
            found = gerund("person " + entry["sentence"].strip().lower())
            if not isinstance(found, Gerund):
                counts[f"steps_left_out_{found}"] += 1
                continue
            action = Action(found.phrase, entry["sentence"], found.phrase, found.verb, found.objects, True, found.words)
            segments.append(Segment(action, float(entry["segment"][0]), float(entry["segment"][1])))
        verbs = frozenset(s.action.verb for s in segments)
        objects = frozenset(word for s in segments for word in s.action.words) - verbs
        length = float(info["duration"])
        columns = {"recipe_type": info["recipe_type"]}
        videos.append(
            AnnotatedVideo(name, SUBSETS[info["subset"]], "", length, tuple(segments), verbs, objects, columns)
        )
    return Annotations(tuple(videos), {path.name: sha256_file(path)}, dict(sorted(counts.items())))

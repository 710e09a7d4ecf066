"""Anybody's segments: a CSV with video, start, end and phrase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from ..language.gerund_wording import Gerund
from ..language.gerunds import gerund
from ..records.files import sha256_file
from ..seeds import rng_for
from .actions import Action, AnnotatedVideo, Segment
from .captions import entries
from .charades import Annotations
from .tables import Problems

ADVICE = "One row is one segment: video, start, end and phrase, and if wanted class and split."


def read_segments(
    path: Path,
    *,
    as_is: bool = False,
    rate: Fraction | None = None,
    length_of: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Annotations:
    """Read segments; what cannot be turned is left out and counted."""
    problems, counts = Problems(), Counter[str]()
    found: dict[str, list[Segment]] = {}
    splits: dict[str, str] = {}
    for entry in entries(path, ("video", "start", "end", "phrase"), ADVICE, problems):
        name, phrase = entry.name("video"), entry.text("phrase")
        times = entry.times(entry.values.get("start"), entry.values.get("end"))
        if not name or not phrase or not times:
            continue
        turned = gerund(phrase)
        if not isinstance(turned, Gerund):
            counts[f"segments_left_out_{turned}"] += 1
            continue
        words = phrase if as_is else turned.phrase
        action = Action(words, phrase, words, turned.verb, turned.objects, True, turned.words)
        start, end = (float(time / rate) if rate else time for time in times)
        found.setdefault(name, []).append(Segment(action, start, end))
        drawn = "train" if rng_for(seed, "segments", "split", name).random() < 0.7 else "test"
        splits[name] = str(entry.values.get("split") or drawn)
    problems.raise_if_any(ADVICE)
    videos = []
    for name, segments in found.items():
        verbs = frozenset(s.action.verb for s in segments)
        objects = frozenset(word for s in segments for word in s.action.words) - verbs
        length = max(s.end_s for s in segments)
        videos.append(AnnotatedVideo(name, splits[name], "", length, tuple(segments), verbs, objects, {}))
    return Annotations(tuple(videos), {path.name: sha256_file(path)}, dict(sorted(counts.items())))

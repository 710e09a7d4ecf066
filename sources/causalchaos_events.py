"""CausalChaos' questions as events: "Why did Tom dip his fingers in the ink?" tells of an event."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from ..language.inflection import inflect, readings, verb_lemma
from ..seeds import rng_for
from .actions import Action, AnnotatedVideo, Segment
from .causalchaos import read_causalchaos
from .charades import Annotations

USUAL_RATE = Fraction(25)
ASKED = re.compile(r"Why (did|was|were) ((?:[tT]he )?[A-Z]?\w+) (\w+)(.*?)[?.]*$")


def read_events(
    path: Path, *, seed: int = 0, rate_of: Mapping[str, Fraction] = {}, length_of: Mapping[str, float] = {}
) -> Annotations:
    """Read the events that questions tell of, with the times of their frames."""
    rows = read_causalchaos(path)
    counts = Counter[str](rows.counts)
    found: dict[str, list[Segment]] = {}
    for row in rows.rows:
        action = event(row.question)
        if action is None:
            counts["events_left_out_wording"] += 1
            continue
        rate = rate_of.get(row.episode, USUAL_RATE)
        times = float(row.start_frame / rate), float(row.end_frame / rate)
        found.setdefault(row.episode, []).append(Segment(action, *times))
    videos = []
    for name, segments in found.items():
        share = float(rng_for(seed, "segments", "split", name).random())
        split = "train" if share < 0.7 else "validation" if share < 0.85 else "test"
        length = length_of.get(name, max(segment.end_s for segment in segments))
        verbs = frozenset(s.action.verb for s in segments)
        objects = frozenset(word for s in segments for word in s.action.words) - verbs
        videos.append(AnnotatedVideo(name, split, "", length, tuple(segments), verbs, objects, {}))
    return Annotations(tuple(videos), rows.hashes, dict(sorted(counts.items())))


def event(question: str) -> Action | None:
    """Turn a question into an event; None if it has another form."""
    match = ASKED.fullmatch(" ".join(question.split()))
    if not match:
        return None
    aid, subject, verb, rest = match.groups()
    subject = subject[0].lower() + subject[1:] if subject.lower().startswith("the ") else subject
    if aid == "did":
        phrase = f"{subject} {inflect(verb, 'VBD')}{rest}"
    elif verb.endswith("ing"):
        phrase = f"{subject} {aid} {verb}{rest}"
    else:
        return None
    lemma = verb_lemma(verb)
    names = [word for word in re.findall(r"[A-Za-z]+", rest) if len(word) > 3 and "NOUN" in readings(word)]
    objects = frozenset(readings(word)["NOUN"][0].lower() for word in names)
    return Action(
        phrase, question, phrase, lemma, objects, True, objects | {lemma}, f"{aid.title()} {subject} {verb}{rest}"
    )

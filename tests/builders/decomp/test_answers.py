"""Answers that graphs give, and what follows from answers: `builders/decomp/answers.py`, `graph_answers.py`."""

from __future__ import annotations

from collections.abc import Mapping

from stressreel.sources.scene_graphs import ActionSpan, Frames, SceneGraph
from stressreel.templates.agqa import load_agqa


def frames(text: str) -> Frames:
    """Read a set of frames: "..xx" are frames 2 and 3."""
    return sum(1 << number for number, mark in enumerate(text) if mark == "x")


def graph(
    relations: Mapping[str, Mapping[str, str]] | None = None,
    actions: Mapping[str, str | list[str]] | None = None,
    provenance: str = "drawn",
    seconds: float = 1,
) -> SceneGraph:
    """Make a graph of ten frames, a second apart, from pictures of when things hold; relations of actions are added."""
    held: dict[str, dict[str, Frames]] = {}
    contacts: dict[str, Frames] = {}
    spans = []

    def note(relation: str, thing: str, when: Frames) -> None:
        held.setdefault(relation, {})
        held[relation][thing] = held[relation].get(thing, 0) | when
        if load_agqa().relation(relation).family in ("contact", "verb") and relation != "not contacting":
            contacts[thing] = contacts.get(thing, 0) | when

    for relation, objects in (relations or {}).items():
        for thing, picture in objects.items():
            note(relation, thing, frames(picture))
    for phrase, pictures in (actions or {}).items():
        words = load_agqa().actions.get(phrase)
        for picture in [pictures] if isinstance(pictures, str) else pictures:
            when = frames(picture)
            first, end = (when & -when).bit_length() - 1, when.bit_length()
            spans.append(ActionSpan(phrase, first * seconds, end * seconds, when))
            if words and words.verb and words.object:
                note(words.verb, words.object, when)
    times = tuple(number * seconds for number in range(10))
    return SceneGraph("ABC12", times, held, contacts, tuple(sorted(spans, key=lambda one: one.start)), provenance)  # type: ignore[arg-type]


SIT, RUN, LAUGH = "sitting in a chair", "running somewhere", "laughing at something"

"""Word generated questions in natural past-tense English, choosing among several wordings for each template.

The wordings are data (`templates/agqa_frames.yaml`). The key for sampling them does not depend on the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ...core.seeds import Key, rng_for
from ...templates.agqa import load_agqa
from ...templates.agqa_making import load_frames
from .programs import questions as ask
from .programs.questions import VIDEO, Action, Object, Question, Window, objects_in, template_of, window_of

FRONTED = 0.3
"""Probability that the part of the video comes first: "Before opening a door, were they …"."""


def word_root(question: Question, *key: Key, seed: int = 0) -> str:
    """Word a question that has one of AGQA's templates. Raise KeyError if it has none."""
    return _Writer(rng_for(seed, "decomp", "wording", *key)).root(question)


class _Writer:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.words, self.frames = rng, load_agqa(), load_frames()

    def sample(self, wordings: Sequence[str]) -> str:
        return wordings[int(self.rng.integers(len(wordings)))]

    def root(self, question: Question) -> str:
        frame = self.sample(self.frames.frames[template_of(question)])
        window = window_of(question)
        when = self.window(window)
        slots = self.slots(question)
        # "… the object they were sitting on after tidying up a closet" is ambiguous.
        front = bool(when) and (
            self.rng.random() < FRONTED or not all(isinstance(thing, str) for thing in objects_in(question))
        )
        text = frame.format(**slots, t="" if front or not when else f" {when}")
        if front:
            text = f"{when[0].upper()}{when[1:]}, {text[0].lower()}{text[1:]}"
        return text

    def slots(self, question: Question) -> dict[str, str]:
        match question:
            case ask.RelationExists(relation):
                return self.anything(relation)
            case ask.Interaction(relation, thing):
                said = self.a(thing)
                return {"o": said} | self.related("r_o", relation, said)
            case ask.Both(_, one, other):
                first = self.related("r_o", one.relation, self.a(one.object))
                return first | self.related("s_p", other.relation, self.a(other.object))
            case ask.ObjectsOf() | ask.EdgeObject():
                return self.what(question)
            case ask.ObjectChoose(one_thing, other_thing, asked):
                return {"o": self.a(one_thing), "p": self.a(other_thing)} | self.what(asked)
            case ask.ObjectEquals(thing, asked):
                return {"o": self.a(thing)} | self.what(asked)
            case ask.LengthChoose(_, one_action, other_action) | ask.ActionEquals(
                _, ask.LengthChoose(_, one_action, other_action)
            ):
                return {"a": self.action(one_action), "b": self.action(other_action)}
            case ask.ActionHappens(action):
                said = self.action(action)
                return {"b": said, "b_base": self.frames.tense(said, past=False)}
            case ask.OrderChoose(ordered, action):
                return self.slots(ordered) | {"a": self.action(action)}
        return {}

    def related(self, slot: str, relation: str, thing: str) -> dict[str, str]:
        pattern = self.words.relation(relation).pattern
        base = self.frames.relation(pattern, relation, past=False)
        return {slot: _fill(pattern, thing), f"{slot}_base": _fill(base, thing)}

    def anything(self, relation: str) -> dict[str, str]:
        said = self.words.relation(relation).anything
        base = self.frames.relation(said, relation, past=False)
        return {"r_any": said, "r_any_base": _fill(base, "something")}

    def what(self, asked: ask.Reference) -> dict[str, str]:
        pattern = self.words.relation(asked.relation).pattern
        tenses = {
            f"r_{name}": self.frames.relation(pattern, asked.relation, past)
            for name, past in (("base", False), ("past", True))
        }
        return {name: _fill(text, "") for name, text in ({"r": pattern} | tenses).items()}

    def window(self, window: Window) -> str:
        if window == VIDEO:
            return ""
        said = [self.action(action) for action in window.actions]
        slots = dict(zip("ab", said, strict=False)) | {"a_past": self.frames.tense(said[0], past=True)}
        return self.sample(self.frames.windows[window.word]).format(**slots)

    def action(self, action: Action) -> str:
        match action:
            case str():
                return action
            case ask.ExtremeAction(extreme):
                return self.sample(self.frames.references[extreme])
        # Nothing may follow a reference: "throwing the object they were taking somewhere" is ambiguous.
        return _fill(self.words.relation(action.verb).pattern, self.a(action.object))

    def a(self, thing: Object) -> str:
        if isinstance(thing, str):
            return f"{self.words.thing(thing).article} {thing}"
        name = f"{thing.edge}_object" if isinstance(thing, ask.EdgeObject) else "object"
        return self.sample(self.frames.references[name]).format(**self.what(thing))


def _fill(pattern: str, thing: str) -> str:
    return re.sub(r" +", " ", pattern.replace("{o}", thing)).strip()

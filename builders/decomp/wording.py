"""Word sub-questions in the present tense, and generated roots in natural past-tense English.

The wording of a sub-question is unique to its meaning. Wordings are those of Gandhi et al. 2022, Table 1. Those not
shown there are ours (`templates/agqa.yaml`) or, where the authors' notebooks show them, those of their engine. Roots
have several wordings per template (`templates/agqa_frames.yaml`); the key for sampling them does not depend on the
answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Literal

import numpy as np

from ...core.numerics import Key, rng_for
from ...templates.agqa import Vocabulary, load_agqa
from ...templates.agqa_making import load_frames
from . import questions as ask
from .questions import VIDEO, Action, Object, Question, Window, notation, objects_in, template_of, window_of

Wording = Literal["ours", "engine"]


@lru_cache(maxsize=1 << 16)
def word(question: Question, wording: Wording = "ours") -> str:
    """Return the text of a question."""
    return _Writer(load_agqa(), wording == "engine").question(question)


class _Writer:
    def __init__(self, vocabulary: Vocabulary, engine: bool) -> None:
        self.words, self.engine, self.gerunds = vocabulary, engine, load_frames().gerunds

    def fill(self, name: str, **slots: str) -> str:
        if self.engine and name in self.words.engine_wordings:
            return self.words.engine_wordings[name][0].format(**slots)
        return self.words.wordings[name].format(**slots)

    def question(self, question: Question) -> str:
        match question:
            case ask.ObjectExists(thing, window):
                when = self.window(window) if thing == "person" else self.clause(window)
                return self.fill("object_exists", Does="Do" if self.plural(thing) else "Does", o=self.a(thing), t=when)
            case ask.RelationExists(relation, window):
                return self.fill("relation_exists", r_anything=self.anything(relation), t=self.window(window))
            case ask.Interaction(relation, thing, window):
                return self.fill("interaction", r_o=self.related(relation, self.a(thing)), t=self.window(window))
            case ask.ActionHappens(action, window):
                return self.fill("action_happens", a=self.action(action), t=self.window(window))
            case ask.Both():
                return self.both(question)
            case ask.ObjectsOf() | ask.EdgeObject():
                return self.fill(_name(question), r=self.what(question), t=self.window(question.window))
            case ask.ActionsIn(window):
                return self.fill("action", t=self.window(window))
            case ask.EdgeAction(edge, window):
                return self.fill(f"{edge}_action", t=self.window(window))
            case ask.ExtremeAction(extreme):
                return self.fill(extreme)
            case ask.ObjectEquals(thing, reference):
                return self.fill(
                    "object_equals", Is=self.verb(thing), the_o=self.the(thing), answer=self.answer(reference)
                )
            case ask.ObjectChoose(first, second, reference):
                options = {"the_o": self.the(first), "the_p": self.the(second)}
                return self.fill("object_choose", Is=self.verb(first), **options, answer=self.answer(reference))
            case ask.LengthChoose(comparison, first_action, second_action):
                return self.fill(comparison, a=self.action(first_action), b=self.action(second_action))
            case ask.ActionEquals(action, compared):
                rival = compared.second if action == compared.first else compared.first
                return self.fill(f"{compared.word}_equals", a=self.action(action), b=self.action(rival))
            case ask.OrderChoose():
                return self.order(question)

    def both(self, question: ask.Both) -> str:
        first, second = question.first, question.second
        first_name, second_name, when = self.the(first.object), self.the(second.object), self.window(first.window)
        relations = {
            "r_the_o": self.related(first.relation, first_name),
            "s_the_p": self.related(second.relation, second_name),
        }
        if first.window != second.window:
            whole = self.words.windows["video"]
            later = self.window(second.window) or whole
            return self.fill(f"{question.word}_apart", **relations, t=when or whole, u=later)
        if first.relation == second.relation:
            join = "and" if question.word == "and" else "but not"
            name = {"and": "r_both", "xor": "r_not"}[question.word]
            joined = {name: self.related(first.relation, f"{first_name} {join} {second_name}")}
            return self.fill(f"{question.word}_same", **joined, t=when)
        return self.fill(question.word, **relations, t=when)

    def order(self, question: ask.OrderChoose) -> str:
        action = self.action(question.action)
        match question.asked:
            case ask.Interaction(relation, thing):
                return self.fill("object_order", r_o=self.related(relation, self.a(thing)), a=action)
            case ask.RelationExists(relation):
                return self.fill("relation_order", r_anything=self.anything(relation), a=action)
            case ask.ActionHappens(event):
                return self.fill("action_order", a=self.action(event), b=action)

    def window(self, window: Window) -> str:
        if window == VIDEO:
            return ""
        names = dict(zip("ab", map(self.action, window.actions), strict=False))
        choices = self.words.engine_wordings.get(window.word) if self.engine else None
        if not choices:
            return self.words.windows[window.word].format(**names)
        digest = sha256(notation(window).encode()).digest()[0]
        return choices[digest % len(choices)].format(**names)

    def clause(self, window: Window) -> str:
        """Word a window for a question that is not about the person, as in "after the person undresses"."""
        actions = [self.action(action).removesuffix(" themselves") for action in window.actions]
        if self.engine or window == VIDEO or not all(action.split()[0] in self.gerunds for action in actions):
            return self.window(window)
        doing = dict(zip("ab", actions, strict=False))
        does = {f"{name}_does": self.present(action) for name, action in doing.items()}
        return self.words.clauses[window.word].format(**doing, **does)

    def present(self, phrase: str) -> str:
        """Put a gerund phrase into the present tense, so that "reaching for it" becomes "reaches for it"."""
        words = phrase.split()
        verbs = [n for n, word in enumerate(words) if word in self.gerunds and (n == 0 or words[n - 1] == "and")]
        for index in verbs:
            base = self.gerunds[words[index]][0]
            base = f"{base[:-1]}ie" if base.endswith("y") and base[-2] not in "aeiou" else base
            words[index] = f"{base}es" if base.endswith(("s", "sh", "ch", "x", "o", "z")) else f"{base}s"
        return " ".join(words)

    def action(self, action: Action) -> str:
        match action:
            case str():
                return action
            case ask.ExtremeAction(extreme):
                return self.words.references[extreme]
            case ask.ToAction(verb, thing):
                if self.engine:
                    return f"{verb} {self.a(thing)}"
                return self.related(self.words.relation_of(verb), self.a(thing))

    def a(self, thing: Object) -> str:
        if isinstance(thing, str):
            return f"{self.words.thing(thing).article} {thing}"
        return self.words.references[_name(thing)].format(r=self.what(thing))

    def the(self, thing: Object) -> str:
        return f"the {thing}" if isinstance(thing, str) else self.a(thing)

    def answer(self, reference: ask.Reference) -> str:
        return self.words.answers[_name(reference)].format(r=self.what(reference), t=self.window(reference.window))

    def what(self, reference: ask.Reference) -> str:
        return self.related(reference.relation, "")

    def related(self, relation: str, thing: str) -> str:
        if self.engine:
            return f"{relation} {thing}".rstrip()
        return self.words.relation(relation).of(thing)

    def anything(self, relation: str) -> str:
        known = self.words.relation(relation)
        return known.bare if self.engine else known.anything

    def plural(self, thing: Object) -> bool:
        return isinstance(thing, str) and self.words.thing(thing).plural

    def verb(self, thing: Object) -> str:
        return "Are" if self.plural(thing) else "Is"


def _name(reference: ask.Reference) -> str:
    return f"{reference.edge}_object" if isinstance(reference, ask.EdgeObject) else "object"


FRONTED = 0.3
"""Probability that the part of the video comes first: "Before opening a door, were they …"."""


def word_root(question: Question, *key: Key, seed: int = 0) -> str:
    """Word a question that has one of AGQA's templates. Raise KeyError if it has none."""
    return _RootWriter(rng_for(seed, "decomp", "wording", *key)).root(question)


class _RootWriter:
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
                text = self.a(thing)
                return {"o": text} | self.related("r_o", relation, text)
            case ask.Both(_, one_part, second):
                first = self.related("r_o", one_part.relation, self.a(one_part.object))
                return first | self.related("s_p", second.relation, self.a(second.object))
            case ask.ObjectsOf() | ask.EdgeObject():
                return self.what(question)
            case ask.ObjectChoose(one_thing, other_thing, reference):
                return {"o": self.a(one_thing), "p": self.a(other_thing)} | self.what(reference)
            case ask.ObjectEquals(thing, reference):
                return {"o": self.a(thing)} | self.what(reference)
            case ask.LengthChoose(_, one_action, other_action) | ask.ActionEquals(
                _, ask.LengthChoose(_, one_action, other_action)
            ):
                return {"a": self.action(one_action), "b": self.action(other_action)}
            case ask.ActionHappens(action):
                text = self.action(action)
                return {"b": text, "b_base": self.frames.tense(text, past=False)}
            case ask.OrderChoose(ordered, action):
                return self.slots(ordered) | {"a": self.action(action)}
        return {}

    def related(self, slot: str, relation: str, thing: str) -> dict[str, str]:
        pattern = self.words.relation(relation).pattern
        base = self.frames.relation(pattern, relation, past=False)
        return {slot: _fill(pattern, thing), f"{slot}_base": _fill(base, thing)}

    def anything(self, relation: str) -> dict[str, str]:
        pattern = self.words.relation(relation).anything
        base = self.frames.relation(pattern, relation, past=False)
        return {"r_any": pattern, "r_any_base": _fill(base, "something")}

    def what(self, reference: ask.Reference) -> dict[str, str]:
        pattern = self.words.relation(reference.relation).pattern
        tenses = {
            f"r_{name}": self.frames.relation(pattern, reference.relation, past)
            for name, past in (("base", False), ("past", True))
        }
        return {name: _fill(text, "") for name, text in ({"r": pattern} | tenses).items()}

    def window(self, window: Window) -> str:
        if window == VIDEO:
            return ""
        actions = [self.action(action) for action in window.actions]
        slots = dict(zip("ab", actions, strict=False)) | {"a_past": self.frames.tense(actions[0], past=True)}
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
        return self.sample(self.frames.references[_name(thing)]).format(**self.what(thing))


def _fill(pattern: str, thing: str) -> str:
    return re.sub(r" +", " ", pattern.replace("{o}", thing)).strip()

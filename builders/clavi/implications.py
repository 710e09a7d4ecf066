"""Decide whether one action implies another, as `builders.decomp` does when it doubts a missing annotation."""

from __future__ import annotations

from functools import cache

from ...annotations.actions import Action
from ...templates.agqa import load_agqa
from ...templates.agqa_making import ANY, load_rules


def imply(one: Action, other: Action) -> bool:
    """Return whether one of two actions implies or resembles the other, such as opening a door and grasping a doorknob.

    Their verbs are in `doubtful` of `agqa_making.yaml`, and they have the same object or objects that look alike.
    """
    return _implied(one, other) or _implied(other, one)


def _implied(action: Action, by: Action) -> bool:
    rules, verbs = load_rules(), _relations(by.verb)
    words = load_agqa().by_class.get(action.key)
    if words and verbs & rules.doubtful_actions.get(words.phrase, frozenset()):
        return True
    implying = frozenset[str]().union(*(rules.doubtful.get(name, ()) for name in _relations(action.verb)))
    things = _things(action)
    alike = things.union(*(rules.alike.get(name, ()) for name in things))
    return bool((ANY in implying or verbs & implying) and alike & _things(by))


def _things(action: Action) -> frozenset[str]:
    """Return AGQA's names of an action's objects."""
    return frozenset(_names().get(name, name) for name in action.objects)


@cache
def _names() -> dict[str, str]:
    named = load_agqa().of_charades.items()
    return {part: name for charades, name in named for part in (charades, *charades.split("/"))}


@cache
def _relations(verb: str) -> frozenset[str]:
    """Return AGQA's relations with this verb: "putting down" for "put". No lemmatizer, which is an extra, is needed."""
    stems = (verb, verb.removesuffix("e"), verb + verb[-1:], verb.removesuffix("ie") + "y")
    forms = {verb, f"{verb}ed", *(f"{stem}ing" for stem in stems)}
    return frozenset(name for name in load_agqa().relations if name.split()[0] in forms)

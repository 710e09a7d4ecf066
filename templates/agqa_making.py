"""Wordings and rules for generated compositional questions, from `agqa_frames.yaml` and `agqa_making.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Formatter

from ..core.errors import InputError
from . import read_table, validating
from .agqa import load_agqa

FRAMES, RULES = "agqa_frames", "agqa_making"
SLOTS = frozenset(("o", "p", "t", "r", "r_base", "r_past", "r_o", "r_o_base", "s_p", "s_p_base", "r_any", "r_any_base"))
ACTION_SLOTS = frozenset(("a", "a_past", "b", "b_base"))
ANY = "any"


@dataclass(frozen=True)
class RootWordings:
    """Wordings of questions in the past tense.

    Attributes:
        gerunds: Base form and past of every gerund.
        places: Base form and past of relations without a gerund, with `{o}` for the object.
        windows: Wordings of parts of the video, by their word.
        references: Wordings of references to an answer.
        frames: Wordings of each template.
    """

    gerunds: Mapping[str, tuple[str, str]]
    places: Mapping[str, tuple[str, str]]
    windows: Mapping[str, Sequence[str]]
    references: Mapping[str, Sequence[str]]
    frames: Mapping[str, Sequence[str]]

    def tense(self, phrase: str, past: bool) -> str:
        """Put a gerund phrase into the base form or the past: "reach for and grab it", "reached for and grabbed it".

        Raises:
            InputError: The table does not have the gerund that it begins with.
        """
        first, *words = phrase.split(" ")
        if first not in self.gerunds:
            raise InputError(f"templates/{FRAMES}.yaml has no tenses of {first!r}, which {phrase!r} begins with")
        said = [self.gerunds[first][past]]
        for before, word in zip([first, *words], words, strict=False):
            said.append(self.gerunds[word][past] if before == "and" and word in self.gerunds else word)
        return " ".join(said)

    def relation(self, pattern: str, name: str, past: bool) -> str:
        """Put a relation's pattern into the base form or the past."""
        return self.places[name][past] if name in self.places else self.tense(pattern, past)


@dataclass(frozen=True)
class GenerationRules:
    """Rules about which questions are not generated.

    Attributes:
        unasked_objects: Objects that no question is about.
        unasked_relations: Relations that no question is about.
        obvious: Pairs of relation and object that are always true.
        alike: Look-alikes of each object.
        transitions: Relations whose actions are not compared in length.
        referred: Relations of actions whose object may be replaced by a reference.
        never_in_time: Actions that never delimit a part of the video.
        doubtful: For each relation those that make a "no" doubtful; `ANY` for any contact.
        doubtful_actions: For each action without an object the relations that make a "no" doubtful.
        steps: Steps of reasoning of each template, in the order of the templates.
    """

    unasked_objects: frozenset[str]
    unasked_relations: frozenset[str]
    obvious: frozenset[tuple[str, str]]
    alike: Mapping[str, frozenset[str]]
    transitions: frozenset[str]
    referred: frozenset[str]
    never_in_time: frozenset[str]
    doubtful: Mapping[str, frozenset[str]]
    doubtful_actions: Mapping[str, frozenset[str]]
    steps: Mapping[str, int]


@cache
def load_frames() -> RootWordings:
    """Load and validate `agqa_frames.yaml`.

    Raises:
        InputError: The table is damaged: a frame has an unknown slot, or an action or relation has no tenses.
    """
    with validating(FRAMES):
        table = read_table(FRAMES)
        both = {part: {name: tuple(two) for name, two in table[part].items()} for part in ("gerunds", "places")}
        several = {part: {k: tuple(v) for k, v in table[part].items()} for part in ("windows", "references", "frames")}
        found = RootWordings(both["gerunds"], both["places"], **several)
    texts = [text for part in (found.windows, found.frames) for wordings in part.values() for text in wordings]
    if unknown := {name for text in texts for _, name, _, _ in Formatter().parse(text) if name} - SLOTS - ACTION_SLOTS:
        raise InputError(f"templates/{FRAMES}.yaml: a frame has unknown slots: {', '.join(sorted(unknown))}")
    words, unasked = load_agqa(), load_rules().unasked_relations
    for phrase in words.actions:
        found.tense(phrase, past=True)
    for relation in words.relations.values():
        if relation.family != "attention" and relation.name not in unasked:
            found.relation(relation.pattern, relation.name, past=True)
    return found


@cache
def load_rules() -> GenerationRules:
    """Load and validate `agqa_making.yaml`.

    Raises:
        InputError: The table is damaged: it names an unknown object, relation or action.
    """
    words = load_agqa()
    with validating(RULES):
        table = read_table(RULES)
        groups = [frozenset(group) for group in table["look_alike"]]
        rules = GenerationRules(
            frozenset(table["unasked_objects"]),
            frozenset(table["unasked_relations"]),
            frozenset((relation, thing) for relation, thing in table["obvious"]),
            {name: frozenset().union(*(group for group in groups if name in group)) - {name} for name in words.objects},
            frozenset(table["transitions"]),
            frozenset(table["referred"]),
            frozenset(table["never_in_time"]),
            {name: frozenset([others] if others == ANY else others) for name, others in table["doubtful"].items()},
            {name: frozenset(others) for name, others in table["doubtful_actions"].items()},
            dict(table["steps"]),
        )
    named = {thing for group in groups for thing in group} | rules.unasked_objects | {o for _, o in rules.obvious}
    relations = (
        rules.unasked_relations | rules.transitions | rules.referred | {r for r, _ in rules.obvious} | {*rules.doubtful}
    )
    relations = relations.union(*rules.doubtful.values(), *rules.doubtful_actions.values()) - {ANY}
    unknown = (named - {*words.objects}) | (relations - {*words.relations})
    unknown |= (rules.never_in_time | {*rules.doubtful_actions}) - {*words.actions}
    if unknown:
        raise InputError(f"templates/{RULES}.yaml: unknown words: {', '.join(sorted(unknown))}")
    return rules

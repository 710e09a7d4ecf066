"""Load the wordings and rules for generating compositional questions from `agqa_frames.yaml` and `agqa_making.yaml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from ..core.errors import InputError
from . import read_table
from .agqa import load_agqa

FRAMES, RULES = "agqa_frames", "agqa_making"
ANY = "any"


@dataclass(frozen=True)
class RootWordings:
    """Wordings of questions in the past tense.

    Attributes:
        gerunds: Base form and past tense of every gerund.
        places: Base form and past tense of relations without a gerund, with `{o}` for the object.
        windows: Wordings of parts of the video, by temporal word.
        references: Wordings of references to an answer.
        frames: Wordings of each template.
    """

    gerunds: Mapping[str, tuple[str, str]]
    places: Mapping[str, tuple[str, str]]
    windows: Mapping[str, Sequence[str]]
    references: Mapping[str, Sequence[str]]
    frames: Mapping[str, Sequence[str]]

    def tense(self, phrase: str, past: bool) -> str:
        """Put a gerund phrase into the base form ("reach for and grab it") or the past ("reached for and grabbed it").

        Raises:
            InputError: The table lacks the gerund at the start of the phrase.
        """
        first, *words = phrase.split(" ")
        if first not in self.gerunds:
            raise InputError(f"templates/{FRAMES}.yaml has no tenses for {first!r}, the first word of {phrase!r}")
        words_in_tense = [self.gerunds[first][past]]
        for before, word in zip([first, *words], words, strict=False):
            words_in_tense.append(self.gerunds[word][past] if before == "and" and word in self.gerunds else word)
        return " ".join(words_in_tense)

    def relation(self, pattern: str, name: str, past: bool) -> str:
        """Put the pattern of a relation into the base form or the past tense."""
        return self.places[name][past] if name in self.places else self.tense(pattern, past)


@dataclass(frozen=True)
class Implying:
    """Actions that imply, begin or end a relation, by their verb or, if they have no object, their phrase."""

    during: frozenset[str]
    begins: frozenset[str]
    ends: frozenset[str]


@dataclass(frozen=True)
class GenerationRules:
    """Rules that exclude questions from generation.

    Attributes:
        unasked_objects: Objects excluded from questions.
        unasked_relations: Relations excluded from questions.
        obvious: Pairs of relation and object that are always true.
        alike: For each object, the objects that look similar.
        transitions: Relations whose actions are not compared in length.
        referred: Relations of actions whose object may be replaced by a reference.
        never_in_time: Actions that never delimit a part of the video.
        doubtful: For each relation, the relations and actions without an object that make a "no" doubtful; `ANY` stands
            for any contact.
        doubtful_actions: For each action without an object, the relations that make a "no" doubtful.
        implied: For each relation that other actions imply, these actions.
        steps: Reasoning steps of each template, in the order of the templates.
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
    implied: Mapping[str, Implying]
    steps: Mapping[str, int]


@cache
def load_frames() -> RootWordings:
    """Load `agqa_frames.yaml`."""
    table = read_table(FRAMES)
    tenses = ({name: tuple(both) for name, both in table[part].items()} for part in ("gerunds", "places"))
    return RootWordings(*tenses, **{part: table[part] for part in ("windows", "references", "frames")})


@cache
def load_rules() -> GenerationRules:
    """Load `agqa_making.yaml`."""
    table = read_table(RULES)
    groups = [frozenset(group) for group in table["look_alike"]]
    objects = {**load_agqa().objects, **load_agqa().unnamed_objects}
    alike = {name: frozenset().union(*(g for g in groups if name in g)) - {name} for name in objects}
    doubtful = {name: frozenset([others] if others == ANY else others) for name, others in table["doubtful"].items()}
    names = ("unasked_objects", "unasked_relations", "transitions", "referred", "never_in_time")
    return GenerationRules(
        **{name: frozenset(table[name]) for name in names},
        obvious=frozenset((relation, thing) for relation, thing in table["obvious"]),
        alike=alike,
        doubtful=doubtful,
        doubtful_actions={name: frozenset(others) for name, others in table["doubtful_actions"].items()},
        implied={
            name: Implying(**{part: frozenset(actions) for part, actions in row.items()})
            for name, row in table["implied"].items()
        },
        steps=table["steps"],
    )

"""Load the vocabulary and the composition rules of compositional questions from `agqa.yaml`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from . import read_table

ANYTHING = "something"
PERSON = "person"


@dataclass(frozen=True)
class Thing:
    """An object that questions can mention.

    Attributes:
        name: AGQA's name.
        article: "a", "some" or "the".
        plural: Whether the name takes a plural verb.
        charades: Charades objects that AGQA merges into this one.
    """

    name: str
    article: str = "a"
    plural: bool = False
    charades: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """A relation between the person and an object.

    Attributes:
        name: AGQA's name.
        family: "attention", "spatial", "contact" or "verb".
        pattern: Wording after "is", with `{o}` for the object.
        anything: Wording with an unnamed object.
        bare: AGQA's wording with an unnamed object.
    """

    name: str
    family: str
    pattern: str
    anything: str
    bare: str = ""

    def of(self, thing: str) -> str:
        """Return the wording of the relation with an object, or without one if `thing` is empty."""
        return " ".join(self.pattern.replace("{o}", thing).split())


@dataclass(frozen=True)
class ActionWords:
    """An action.

    Attributes:
        charades: Charades class, such as "c059".
        phrase: AGQA's gerund phrase or, if AGQA replaces the class by another, ours.
        verb: The relation that the action implies; None if it has no object.
        object: The object, or None.
        loose: Whether the verb acts on another object: something is put on the table.
        besides: Another object that is present.
        into: The relation in which the action ends, to an object that it does not name.
        taken_for: The phrase with which AGQA replaces this action although it is false on screen. Questions name
            neither. "" if questions can mention the action.
    """

    charades: str
    phrase: str
    verb: str | None
    object: str | None
    loose: bool = False
    besides: str | None = None
    into: str | None = None
    taken_for: str = ""


@dataclass(frozen=True)
class ReplacedClass:
    """A Charades class that AGQA replaces by another action.

    Attributes:
        by: The other action.
        itself: What the class counts as where the words of the other action are false on screen, if they ever are.
        given: Charades classes one of which makes the words of the other action true.
    """

    by: ActionWords
    itself: ActionWords | None = None
    given: frozenset[str] = frozenset()


@dataclass(frozen=True)
class QuestionKind:
    """A category of questions at the most specific level.

    Attributes:
        answer: "yes/no", "choice", "object" or "action".
        banned: Whether scores exclude the category.
    """

    name: str
    group: str
    answer: str
    banned: bool = False


@dataclass(frozen=True)
class Rule:
    """A rule that composes a parent question from its children.

    Attributes:
        name: Name in the released hierarchies.
        parents: Groups to which a parent may belong.
        children: Groups allowed for each child, in order. If `any_number`, a single entry applies to all children.
        any_number: Whether there can be any number of children.
    """

    name: str
    parents: tuple[str, ...]
    children: tuple[tuple[str, ...], ...]
    any_number: bool


@dataclass(frozen=True)
class Vocabulary:
    """All tables in `agqa.yaml`.

    Attributes:
        objects: Objects by AGQA's name.
        relations: Relations by AGQA's name.
        actions: Actions that questions can mention, by AGQA's phrase.
        unnamed_objects: Objects that questions cannot mention, by name.
        replaced: How each Charades class that AGQA does not have counts.
        kinds: Question categories by name.
        rules: Composition rules by name.
        wordings: Wordings of sub-questions.
        engine_wordings: Wordings of the paper's engine where they differ; if there are several, any may be used.
        references: Wordings of references to an answer.
        answers: Wordings of an answer in a comparison.
        windows: Wordings of parts of the video.
        clauses: The same with the person as subject, for questions that do not mention the person.
    """

    objects: Mapping[str, Thing]
    relations: Mapping[str, Relation]
    actions: Mapping[str, ActionWords]
    unnamed_objects: Mapping[str, Thing]
    replaced: Mapping[str, ReplacedClass]
    kinds: Mapping[str, QuestionKind]
    rules: Mapping[str, Rule]
    wordings: Mapping[str, str]
    engine_wordings: Mapping[str, Sequence[str]]
    references: Mapping[str, str]
    answers: Mapping[str, str]
    windows: Mapping[str, str]
    clauses: Mapping[str, str]

    def thing(self, name: str) -> Thing:
        """Return an object. Unknown objects are singular and have the article "a"."""
        return self.objects.get(name) or Thing(name)

    def relation_of(self, verb: str) -> str:
        """Return the relation for the verb in a program's ToAction: "putting down" for "putting"."""
        if verb in self.relations:
            return verb
        longer = [name for name in self.relations if name.startswith(f"{verb} ")]
        return longer[0] if len(longer) == 1 else verb

    def relation(self, name: str) -> Relation:
        """Return a relation. If it is unknown, its name is also its wording."""
        return self.relations.get(name) or _relation(name, {"family": "verb"})

    @cached_property
    def by_class(self) -> Mapping[str, ActionWords]:
        """Return the actions by Charades class."""
        return {action.charades: action for action in self.actions.values()}

    def event(self, charades: str, classes: Collection[str]) -> ActionWords | None:
        """Return what a Charades class counts as in a video with these classes, or None if there is no such class."""
        replaced = self.replaced.get(charades)
        if replaced is None:
            return self.by_class.get(charades)
        return replaced.by if replaced.itself is None or replaced.given.intersection(classes) else replaced.itself

    @cached_property
    def events(self) -> Mapping[str, ActionWords]:
        """Return all actions by phrase, including those that questions cannot mention."""
        unnamed = (replaced.itself for replaced in self.replaced.values() if replaced.itself)
        return {**self.actions, **{words.phrase: words for words in unnamed}}

    @cached_property
    def of_charades(self) -> Mapping[str, str]:
        """Return the name of each Charades object: AGQA's, or ours if questions cannot mention it."""
        things = (*self.objects.values(), *self.unnamed_objects.values())
        return {name: thing.name for thing in things for name in thing.charades}


@cache
def load_agqa() -> Vocabulary:
    """Load `agqa.yaml`."""
    table = read_table("agqa")
    objects = {
        name: Thing(name, row.get("article", "a"), row.get("plural", False), tuple(row["charades"]))
        for name, row in table["objects"].items()
    }
    rules = {
        name: Rule(
            name,
            tuple(row["parents"]),
            tuple(tuple(groups) for groups in row.get("children", [row.get("any")])),
            "any" in row,
        )
        for name, row in table["rules"].items()
    }
    actions = {row["phrase"]: ActionWords(charades=charades, **row) for charades, row in table["actions"].items()}
    by_class = {words.charades: words for words in actions.values()}
    return Vocabulary(
        objects=objects,
        relations={name: _relation(name, row) for name, row in table["relations"].items()},
        actions=actions,
        unnamed_objects={
            name: Thing(name, charades=tuple(row["charades"])) for name, row in table["unnamed_objects"].items()
        },
        replaced={charades: _replaced(charades, by_class, **row) for charades, row in table["replaced"].items()},
        kinds={name: QuestionKind(name, **row) for name, row in table["kinds"].items()},
        rules=rules,
        **{
            part: table[part] for part in ("wordings", "engine_wordings", "references", "answers", "windows", "clauses")
        },
    )


def _replaced(charades: str, actions: Mapping[str, ActionWords], **row: Any) -> ReplacedClass:
    by = actions[row["as"]]
    if "phrase" not in row:
        return ReplacedClass(by)
    itself = replace(by, charades=charades, phrase=row["phrase"], object=row["object"], taken_for=by.phrase)
    return ReplacedClass(by, itself, frozenset(row.get("if", ())))


def _relation(name: str, row: Mapping[str, Any]) -> Relation:
    wording = row.get("as", name)
    pattern = wording if "{o}" in wording else f"{wording} {{o}}"
    anything = row.get("anything") or pattern.replace("{o}", ANYTHING)
    return Relation(name, row["family"], pattern, anything, f"{name} {ANYTHING}" if "as" in row else anything)

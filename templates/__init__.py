"""Question templates and word tables in YAML, and functions that load them. `tests/templates` checks their content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InputError

FOLDER = Path(__file__).parent
_TOGETHER = "sit|stand|walk|talk|sing|danc|play|laugh|eat|cook|perform|swim|rid|sleep|ly|liv|practic|work|fight"
_MUTUAL = re.compile(rf"\b(?:each ?other|one another)\b|^(?:{_TOGETHER})\w?ing together\b")


@dataclass(frozen=True)
class ActionClass:
    """A Charades action class, with the phrase that questions use for it."""

    id: str
    label: str
    verb: str
    object: str
    phrase: str


@dataclass(frozen=True)
class ClassTable:
    """The 157 Charades classes and their verbs and objects."""

    classes: dict[str, ActionClass]
    verbs: dict[str, str]
    objects: dict[str, str]


@dataclass(frozen=True)
class QuestionTemplate:
    """One of the 19 questions about a video, with its wording, its slots, and its answers in V and in V′.

    Attributes:
        id: Name within a video, such as "be-a-end", which is part of the question id.
        template_id: Key of the wording in the table.
        text: Wording with `{x}` and, for BA, `{y}`; `{asked_x}` is the yes/no question of a phrase with a subject.
        type: E, E-NC, BE, BA or BA-NC.
        subset: "control" or "complement".
        x: The action in `{x}`: A, B or C (negative control).
        y: The action in `{y}`, or None.
        type_ids: Released type id in (V, V′).
        answers: "yes" or "no" in (V, V′).
        complement: Id of Q′, or None.
        several: Wording for phrases about several people, such as "talking to each other".
    """

    id: str
    template_id: str
    text: str
    type: str
    subset: str
    x: str
    y: str | None
    type_ids: tuple[int, int]
    answers: tuple[str, str]
    complement: str | None
    several: str

    def worded(self, phrases: Mapping[str, str], asked: Mapping[str, str]) -> str:
        """Fill the slots of the template and return the question."""
        x, y = phrases[self.x], phrases.get(self.y or "")
        text = self.several if _MUTUAL.search(x) else self.text
        return text.format(x=x, y=y, asked_x=asked.get(self.x))


@dataclass(frozen=True)
class NaturalWording:
    """The sentence frames and phrases in `clavi_natural.yaml`.

    Attributes:
        frames: Frames by `template_id`.
        phrases: Gerund ("x"), base form ("x_base") and past ("x_past") of each Charades class, by class id.
        objects: Second mention of each object: "the door" for "a door".
        several: Replacements for phrases about several people.
        repaired: Patterns in phrases from sentences, and their replacements.
        refused: Pattern of phrases from sentences that have no natural wording.
    """

    frames: dict[str, tuple[str, ...]]
    phrases: dict[str, dict[str, str]]
    objects: dict[str, str]
    several: dict[str, str]
    repaired: tuple[tuple[re.Pattern[str], str], ...]
    refused: re.Pattern[str]

    def worded(self, frame: str, x: Mapping[str, str], y: Mapping[str, str]) -> str:
        """Fill a frame with the forms of its actions. An object of both actions is definite in the second."""
        if _MUTUAL.search(x["x"]):
            for singular, plural in self.several.items():
                frame = frame.replace(singular, plural)
        y = {name.replace("x", "y", 1): form for name, form in y.items()}
        if y and frame.find("{x") < frame.find("{y"):
            y = self.repeated(y, x["x"])
        elif y:
            x = self.repeated(x, y["y"])
        return frame.format(**x, **y)

    def repeated(self, forms: Mapping[str, str], first: str) -> dict[str, str]:
        """Return forms in which the objects that occur in the phrase `first` are definite."""
        definite_forms = dict(forms)
        for indefinite, definite in self.objects.items():
            mention = re.compile(rf"\b{indefinite}\b")
            if mention.search(first):
                definite_forms = {name: mention.sub(definite, form) for name, form in definite_forms.items()}
        return definite_forms


def read_table(name: str) -> dict[str, Any]:
    """Load a YAML table from this folder."""
    try:
        table = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"templates/{name}.yaml is damaged: it is not YAML ({error})") from error
    if not isinstance(table, dict) or "version" not in table:
        raise InputError(f"templates/{name}.yaml is damaged: expected a mapping with a version")
    return table


def table_hashes(*names: str) -> dict[str, str]:
    """Return the SHA-256 hashes of the named tables by file name, to identify a build. By default, include all."""
    paths = [FOLDER / f"{name}.yaml" for name in sorted(names)] or sorted(FOLDER.glob("*.yaml"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@cache
def load_classes() -> ClassTable:
    """Load `charades_classes.yaml`."""
    table = read_table("charades_classes")
    verbs, objects = table["verbs"], table["objects"]
    classes = {
        name: ActionClass(name, row["label"], verbs[row["verb"]], objects[row["object"]], row["phrase"])
        for name, row in table["classes"].items()
    }
    return ClassTable(classes, verbs, objects)


@cache
def load_questions(name: str = "clavi") -> tuple[QuestionTemplate, ...]:
    """Load the 19 questions about a video, in order.

    The table "clavi" is for gerund phrases, and "clavi_events" for phrases with a subject. The latter contains only
    wordings and refers to the table with the questions.
    """
    table = read_table(name)
    wordings = table["templates"]
    events = isinstance(table["questions"], str)
    if events:
        table = read_table(table["questions"])
    return tuple(
        QuestionTemplate(
            id=row["id"],
            template_id=row["template"],
            text=wordings[row["template"]],
            type=row["type"],
            subset=table["subsets"][row["type"]],
            x=row["x"],
            y=row["y"],
            type_ids=(row["type_id"][0], row["type_id"][1]),
            answers=(row["answer"][0], row["answer"][1]),
            complement=row["complement"],
            several=wordings[row["template"]]
            if events
            else table["several"].get(row["template"], wordings[row["template"]]),
        )
        for row in table["questions"]
    )


@cache
def load_natural() -> NaturalWording:
    """Load `clavi_natural.yaml`."""
    table = read_table("clavi_natural")
    verbs: dict[str, list[str]] = table["verbs"]
    forms = {
        "x": {base: gerund for base, (gerund, _) in verbs.items()},
        "x_base": {base: base for base in verbs},
        "x_past": {base: past for base, (_, past) in verbs.items()},
    }
    phrases = {
        key: {name: text.format(**words) for name, words in forms.items()} for key, text in table["phrases"].items()
    }
    frames = {name: tuple(texts) for name, texts in table["frames"].items()}
    repaired = tuple((re.compile(pattern), text) for pattern, text in table["repaired"])
    refused = re.compile("|".join(f"(?:{pattern})" for pattern in table["refused"]))
    return NaturalWording(frames, phrases, table["objects"], table["several"], repaired, refused)

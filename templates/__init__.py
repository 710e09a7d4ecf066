"""Question templates and word tables as YAML, with validating loaders."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import yaml

from ..core.errors import InputError

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ActionClass:
    """One Charades action class: its label, verb, object, and the phrase used in questions."""

    id: str
    label: str
    verb: str
    object: str
    phrase: str


@dataclass(frozen=True)
class ClassTable:
    """The 157 Charades classes, with their verbs and objects."""

    classes: dict[str, ActionClass]
    verbs: dict[str, str]
    objects: dict[str, str]


@dataclass(frozen=True)
class QuestionTemplate:
    """One of the 19 questions about a video: wording, slots, and answers in V and in V′.

    Attributes:
        id: Name within a video, such as "be-a-end"; part of the question id.
        template_id: Key of the wording in its table.
        text: Wording with `{x}` and, for BA, `{y}`; `{asked_x}` is the yes/no question of a phrase with a subject.
        type: E, E-NC, BE, BA or BA-NC.
        subset: "control" or "complement".
        x: The action in `{x}`: A, B or C (negative control).
        y: The action in `{y}`, or None.
        type_ids: Released type id in (V, V′).
        answers: "yes" or "no" in (V, V′).
        complement: Id of Q′, or None.
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

    def worded(self, phrases: Mapping[str, str], asked: Mapping[str, str]) -> str:
        """Word the question.

        Args:
            phrases: The phrases of A, B and C.
            asked: Their yes/no questions, for phrases with a subject.
        """
        y = phrases.get(self.y or "")
        return self.text.format(x=phrases[self.x], y=y, asked_x=asked.get(self.x))


def read_table(name: str) -> dict[str, Any]:
    """Read one YAML table of this folder."""
    try:
        table = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise InputError(f"templates/{name}.yaml is not YAML; it is damaged ({error})") from error
    if not isinstance(table, dict) or "version" not in table:
        raise InputError(f"templates/{name}.yaml must be a mapping with a version; it is damaged")
    return table


@contextmanager
def validating(name: str) -> Iterator[None]:
    """Report missing or malformed values as damage to the table."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"templates/{name}.yaml is damaged: {type(error).__name__}: {error}") from error


def table_hashes(*names: str) -> dict[str, str]:
    """Return the SHA-256 of the named tables, by default of all, by file name; part of a build's identity."""
    paths = [FOLDER / f"{name}.yaml" for name in sorted(names)] or sorted(FOLDER.glob("*.yaml"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@cache
def load_classes() -> ClassTable:
    """Load and validate `charades_classes.yaml`.

    Raises:
        InputError: A class names an unknown verb or object, or two classes share a phrase.
    """
    with validating("charades_classes"):
        return _classes(read_table("charades_classes"))


def _classes(table: dict[str, Any]) -> ClassTable:
    verbs: dict[str, str] = table["verbs"]
    objects: dict[str, str] = table["objects"]
    classes = {}
    for name, row in table["classes"].items():
        if row["verb"] not in verbs or row["object"] not in objects:
            raise InputError(f"templates/charades_classes.yaml: {name} names an unknown verb or object")
        classes[name] = ActionClass(name, row["label"], verbs[row["verb"]], objects[row["object"]], row["phrase"])
    phrases = [entry.phrase for entry in classes.values()]
    if len(set(phrases)) != len(phrases) or not all(phrases):
        raise InputError("templates/charades_classes.yaml: two classes share a phrase, or one has none")
    return ClassTable(classes, verbs, objects)


@cache
def load_questions(name: str = "clavi") -> tuple[QuestionTemplate, ...]:
    """Load and validate the 19 questions of a video, in their order.

    Args:
        name: The table: "clavi" for gerund phrases, "clavi_events" for phrases with a subject. A table without
            questions names the table whose questions it words.

    Raises:
        InputError: An id occurs twice, a slot of the wording is not filled, or a Q′ link is not mutual.
    """
    with validating(name):
        table = read_table(name)
        if isinstance(table["questions"], str):
            return _questions({**read_table(table["questions"]), "templates": table["templates"]}, name, asked=True)
        return _questions(table, name)


def _questions(table: dict[str, Any], name: str, *, asked: bool = False) -> tuple[QuestionTemplate, ...]:
    questions, path = [], f"templates/{name}.yaml"
    for row in table["questions"]:
        text = table["templates"][row["template"]]
        slots = {"x" if asked and field == "asked_x" else field for _, field, _, _ in Formatter().parse(text) if field}
        if slots != ({"x"} if row["y"] is None else {"x", "y"}):
            raise InputError(f"{path}: {row['id']} does not fill the slots of {text!r}")
        questions.append(
            QuestionTemplate(
                id=row["id"],
                template_id=row["template"],
                text=text,
                type=row["type"],
                subset=table["subsets"][row["type"]],
                x=row["x"],
                y=row["y"],
                type_ids=(row["type_id"][0], row["type_id"][1]),
                answers=(row["answer"][0], row["answer"][1]),
                complement=row["complement"],
            )
        )
    by_id = {question.id: question for question in questions}
    if len(by_id) != len(questions):
        raise InputError(f"{path}: a question id is used twice")
    for question in questions:
        other = by_id.get(question.complement or "")
        if question.complement and (other is None or other is question or other.complement != question.id):
            raise InputError(f"{path}: {question.id} and its complement do not link back")
        if {question.x, question.y or "A"} - set("ABC") or set(question.answers) - {"yes", "no"}:
            raise InputError(f"{path}: {question.id} has an unknown slot or answer")
    for variant in range(2):
        if [question.answers[variant] for question in questions].count("yes") != 6 or len(questions) != 19:
            raise InputError(f"{path}: there must be 19 questions, 6 of them with the answer yes")
    return tuple(questions)

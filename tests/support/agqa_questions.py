"""AGQA's questions about two hand-made videos: all templates, all parts of the video, all kinds of references."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agqa_files import row, write_graphs
from stressreel.builders.decomp.parsing import program_of
from stressreel.builders.decomp.questions import (
    INTERACTING,
    VIDEO,
    Action,
    ActionEquals,
    ActionHappens,
    ActionsIn,
    Both,
    EdgeAction,
    EdgeObject,
    ExtremeAction,
    Interaction,
    LengthChoose,
    Object,
    ObjectChoose,
    ObjectEquals,
    ObjectsOf,
    OrderChoose,
    Question,
    RelationExists,
    ToAction,
    Window,
    kind_of,
    notation,
    template_of,
)
from stressreel.templates.agqa import load_agqa

VIDEOS = ("YSKX3", "LSKA2")
OPENING, SITTING = "opening a door", "sitting in a chair"
HELD = ObjectsOf("holding")
ACTIONS: tuple[Action, ...] = (
    *(OPENING, ExtremeAction("longest"), ToAction("taking", EdgeObject("first", "holding"))),
    ToAction("opening", HELD),
)
OBJECTS: tuple[Object, ...] = ("phone", HELD, EdgeObject("last", "touching"))


def windows() -> Iterator[Window]:
    """All of the video, and every part of it by every kind of action."""
    yield VIDEO
    for action in ACTIONS:
        yield from (Window(word, (action,)) for word in ("before", "after", "while"))
        yield Window("between", (action, SITTING))


def questions() -> Iterator[Question]:
    """Every template with everything that it may hold."""
    for window in windows():
        for thing in OBJECTS:
            yield Interaction(INTERACTING, thing, window)
            yield Interaction("holding", thing, window)
            one, other = Interaction("holding", thing, window), Interaction("holding", "dish", window)
            yield from (Both(word, one, other) for word in ("and", "xor"))
            for asked in (ObjectsOf("touching", window), EdgeObject("first", "holding", window)):
                yield ObjectChoose(thing, "dish", asked)
            for edge in ("first", "last"):
                yield ObjectEquals(thing, EdgeObject(edge, "holding", window))
        yield RelationExists("touching", window)
        yield from (ObjectsOf(relation, window) for relation in (INTERACTING, "holding"))
        yield from (EdgeObject(edge, "touching", window) for edge in ("first", "last"))
        yield ObjectChoose("box", "dish", EdgeObject("last", "holding", window))
        if window.word in ("before", "after"):
            yield ActionsIn(window)
    yield from (EdgeAction(edge) for edge in ("first", "last"))
    yield from (ExtremeAction(word) for word in ("longest", "shortest"))
    for action in ACTIONS:
        if not isinstance(action, ExtremeAction):
            for word in ("longer", "shorter"):
                yield LengthChoose(word, action, SITTING)
                yield ActionEquals(action, LengthChoose(word, action, SITTING))
        yield from (OrderChoose(asked, action) for asked in (RelationExists("holding"), ActionHappens(SITTING)))
        yield from (OrderChoose(Interaction(INTERACTING, thing), action) for thing in OBJECTS)


def answer_of(question: Question, number: int) -> str:
    """An answer that the template may have; yes and no, before and after in turns."""
    match question:
        case OrderChoose():
            return ("before", "after")[number % 2]
        case ObjectChoose():
            return str(question.second)
        case LengthChoose():
            return SITTING
    answer = load_agqa().kinds[kind_of(question)].answer
    return {"yes/no": ("no", "yes")[number % 2], "object": "phone", "action": OPENING}[answer]


def agqa_rows(*, every: int = 1) -> dict[str, dict[str, Any]]:
    """Rows of both videos in turns, by id; what they say is not always so."""
    first = {template_of(question): question for question in reversed([*questions()])}
    kept = [
        question
        for question in questions()
        if zlib.crc32(notation(question).encode()) % every == 0 or question == first[template_of(question)]
    ]
    rows = {}
    for number, question in enumerate(kept):
        video = VIDEOS[number % 2]
        text = f"Was it so, they asked the {number}th time?"
        more = {"question": text, "answer": answer_of(question, number // 2), "program": program_of(question)}
        rows[f"{video}-{number}"] = row(f"{video}-{number}", **more, novel_comp=number % 3 == 0, steps=1)
    return rows


def write_agqa(folder: Path, rows: dict[str, dict[str, Any]] | None = None, *, graphs: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_balanced.txt").write_text(json.dumps(agqa_rows() if rows is None else rows), encoding="utf-8")
    if graphs:
        write_graphs(folder / "AGQA_test_stsgs.pkl")
    return folder

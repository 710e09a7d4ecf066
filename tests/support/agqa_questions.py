"""AGQA's questions about two hand-made videos: all templates, all parts of the video, all kinds of references."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agqa_files import row, write_graphs
from stressreel.builders.decomp import questions as q
from stressreel.builders.decomp.parsing import program_of
from stressreel.templates.agqa import load_agqa

VIDEOS = ("YSKX3", "LSKA2")
OPENING, SITTING = "opening a door", "sitting in a chair"
HELD = q.ObjectsOf("holding")
ACTIONS: tuple[q.Action, ...] = (
    *(OPENING, q.ExtremeAction("longest"), q.ToAction("taking", q.EdgeObject("first", "holding"))),
    q.ToAction("opening", HELD),
)
OBJECTS: tuple[q.Object, ...] = ("phone", HELD, q.EdgeObject("last", "touching"))


def windows() -> Iterator[q.Window]:
    """All of the video, and every part of it by every kind of action."""
    yield q.VIDEO
    for action in ACTIONS:
        yield from (q.Window(word, (action,)) for word in ("before", "after", "while"))
        yield q.Window("between", (action, SITTING))


def questions() -> Iterator[q.Question]:
    """Every template with everything that it may hold."""
    for window in windows():
        for thing in OBJECTS:
            yield q.Interaction(q.INTERACTING, thing, window)
            yield q.Interaction("holding", thing, window)
            one, other = q.Interaction("holding", thing, window), q.Interaction("holding", "dish", window)
            yield from (q.Both(word, one, other) for word in ("and", "xor"))
            for asked in (q.ObjectsOf("touching", window), q.EdgeObject("first", "holding", window)):
                yield q.ObjectChoose(thing, "dish", asked)
            for edge in ("first", "last"):
                yield q.ObjectEquals(thing, q.EdgeObject(edge, "holding", window))
        yield q.RelationExists("touching", window)
        yield from (q.ObjectsOf(relation, window) for relation in (q.INTERACTING, "holding"))
        yield from (q.EdgeObject(edge, "touching", window) for edge in ("first", "last"))
        yield q.ObjectChoose("box", "dish", q.EdgeObject("last", "holding", window))
        if window.word in ("before", "after"):
            yield q.ActionsIn(window)
    yield from (q.EdgeAction(edge) for edge in ("first", "last"))
    yield from (q.ExtremeAction(word) for word in ("longest", "shortest"))
    for action in ACTIONS:
        if not isinstance(action, q.ExtremeAction):
            for word in ("longer", "shorter"):
                yield q.LengthChoose(word, action, SITTING)
                yield q.ActionEquals(action, q.LengthChoose(word, action, SITTING))
        yield from (q.OrderChoose(asked, action) for asked in (q.RelationExists("holding"), q.ActionHappens(SITTING)))
        yield from (q.OrderChoose(q.Interaction(q.INTERACTING, thing), action) for thing in OBJECTS)


def answer_of(question: q.Question, number: int) -> str:
    """An answer that the template may have; yes and no, before and after in turns."""
    match question:
        case q.OrderChoose():
            return ("before", "after")[number % 2]
        case q.ObjectChoose():
            return str(question.second)
        case q.LengthChoose():
            return SITTING
    answer = load_agqa().kinds[q.kind_of(question)].answer
    return {"yes/no": ("no", "yes")[number % 2], "object": "phone", "action": OPENING}[answer]


def agqa_rows(*, every: int = 1) -> dict[str, dict[str, Any]]:
    """Rows of both videos in turns, by id; what they say is not always so."""
    first = {q.template_of(question): question for question in reversed([*questions()])}
    kept = [
        question
        for question in questions()
        if zlib.crc32(q.notation(question).encode()) % every == 0 or question == first[q.template_of(question)]
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

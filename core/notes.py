"""The user's own text in a card: what stands between two marks outlives whatever writes the card again."""

from __future__ import annotations

import re
from pathlib import Path

from .documents import read_own
from .files import write_atomic

CARD = "README.md"
BEGIN = "<!-- notes: your own text goes below this line; it stays when this card is written again -->"
END = "<!-- end of notes -->"
BEGINS = re.compile(rf"^{re.escape(BEGIN)}", re.MULTILINE)  # elsewhere it is a text of somebody who knows the mark


def notes_of(card: Path) -> str:
    """Read the text between the marks of a card; empty if there is no card, or if it lacks a mark.

    What a card says of an output holds no mark at the beginning of a line (see `data_cards.card`), so the first such
    one is that of the notes, in which both marks may come again.
    """
    if not card.is_file():
        return ""
    text = read_own(card, errors="replace")
    begin = BEGINS.search(text)
    notes, end, _ = text[begin.end() :].rpartition(END) if begin else ("", "", "")
    return notes.strip("\n") if end else ""


def marked(notes: str) -> str:
    """Return notes between their marks, as a card has them."""
    return "\n\n".join([BEGIN, notes, END] if notes else [BEGIN, END])


def holds_notes_alone(card: Path) -> bool:
    """Return whether a file is what `keep_notes_alone` leaves."""
    return card.is_file() and read_own(card, errors="replace") == marked(notes_of(card)) + "\n"


def keep_notes_alone(card: Path) -> None:
    """Remove a card but for the notes in it; all of it if it has none.

    Raises:
        OutputError: It cannot be written.
    """
    notes = notes_of(card)
    if notes:
        write_atomic(card, marked(notes) + "\n")
    else:
        card.unlink(missing_ok=True)

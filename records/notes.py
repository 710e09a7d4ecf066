"""The user's own text in a card: what stands between two marks outlives whatever writes the card again."""

from __future__ import annotations

from pathlib import Path

from .files import write_atomic

CARD = "README.md"
BEGIN = "<!-- notes: your own text goes below this line; it stays when this card is written again -->"
END = "<!-- end of notes -->"


def notes_of(card: Path) -> str:
    """Read the text between the marks of a card; empty if there is no card, or if it lacks a mark."""
    if not card.is_file():
        return ""
    text = card.read_text(encoding="utf-8", errors="replace")
    _, begin, rest = text.partition(BEGIN)
    notes, end, _ = rest.rpartition(END)
    return notes.strip("\n") if begin and end else ""


def marked(notes: str) -> str:
    """Return notes between their marks, as a card has them."""
    return "\n\n".join([BEGIN, notes, END] if notes else [BEGIN, END])


def holds_notes_alone(card: Path) -> bool:
    """Return whether a file is what `keep_notes_alone` leaves."""
    return card.is_file() and card.read_text(encoding="utf-8", errors="replace") == marked(notes_of(card)) + "\n"


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

"""What reading and planning count, in words, and the options that change what is left out: `notes.yaml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ...core.documents import parse_yaml, read_own


@cache
def load_notes() -> dict[str, dict[str, str]]:
    """Return the words for every count, in the order of the card, and where something is left out the option."""
    notes: dict[str, dict[str, str]] = parse_yaml(read_own(Path(__file__).parent / "notes.yaml"))
    return notes


def options_for_counts() -> dict[str, str]:
    """Return the counts of what rules leave out, each with the option that changes it, if one does."""
    return {name: each["option"] for name, each in load_notes().items() if "option" in each}

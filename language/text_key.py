"""Reduce texts to a key that is the same for equivalent texts."""

from __future__ import annotations

import re

APOSTROPHES = re.compile("['’‘`´]")
MARKS = re.compile(r"[^\w\s]|_")


def text_key(text: str) -> str:
    """Normalize case, punctuation, apostrophes and spaces, and remove "because" from the start."""
    words = MARKS.sub(" ", APOSTROPHES.sub("", text.casefold())).split()
    return " ".join(words[1:] if words[:1] == ["because"] and len(words) > 1 else words)

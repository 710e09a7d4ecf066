"""When two texts are the same text."""

from __future__ import annotations

import re

APOSTROPHES = re.compile("['’‘`´]")
MARKS = re.compile(r"[^\w\s]|_")


def text_key(text: str) -> str:
    """Fold what does not tell two texts apart: capitals, stops, apostrophes, spaces, a "because" in front."""
    words = MARKS.sub(" ", APOSTROPHES.sub("", text.casefold())).split()
    return " ".join(words[1:] if words[:1] == ["because"] and len(words) > 1 else words)

"""Change gender exactly as the released code does, with its word tables and its errors."""

from __future__ import annotations

import re
from typing import Literal

from ...language.words import Caption
from .result import Unchanged
from .tables import read_table


def released_gender(caption: Caption, target: Literal["female", "male", "neutral"]) -> str | Unchanged:
    """Apply the released table to words separated by spaces, whatever their part of speech."""
    table = read_table("bias")["released"]["rows"]
    words = caption.text.split()
    new = []
    for word in words:
        row = table.get(word.lower())
        if row is None or row["of"] == target:
            new.append(word)
        else:
            new.append(row["neutral"] if target == "neutral" else row["flip"])
    return " ".join(new) if new != words else Unchanged("no word of the released table to change")


def released_swap(caption: Caption) -> str | Unchanged:
    """Apply the gender_bender list to every sequence of letters, and adapt "him" and "hers" before a noun."""
    rows: dict[str, str] = read_table("bias")["released_swap"]["rows"]

    def swapped(found: re.Match[str]) -> str:
        word = found[0]
        new = rows.get(word.lower())
        if new is None:
            return word
        if new in ("him", "hers") and _is_genitive(caption, found.end()):
            new = "his" if new == "him" else "her"
        if word[0].isupper():
            new = new[0].upper() + new[1:]
        return new.upper() if word.isupper() else new

    text = re.sub(r"(?<![A-Za-z'])[A-Za-z]+(?=(?:'(?:s|ll|re|ve|d|m)?)?(?![A-Za-z']))", swapped, caption.text).strip()
    return text if text != caption.text.strip() else Unchanged("no word of the released list")


def _is_genitive(caption: Caption, place: int) -> bool:
    """Return whether a noun or determiner follows before any conjunction or preposition. The original uses spaCy."""
    for token in caption.tokens:
        if token.start < place:
            continue
        if token.text in (".", "<", ">") or token.tag in ("CC", "IN", "RP"):
            return False
        if token.tag in ("NN", "NNS", "DT", "PDT", "WDT", "PRP$"):
            return True
    return False

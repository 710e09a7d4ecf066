"""What an answer means: the rules by which a text, letter or number is read as one of the options.

Nothing of the package is imported: `stressreel export` gives this file, as it is, to evaluation harnesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

YES_NO = ("no", "yes")
TRUTHS = {"yes": 1, "y": 1, "true": 1, "no": 0, "n": 0, "false": 0}
LEAD = re.compile(r"^(?:the )?(?:correct |final |best )?(?:answer|option|choice)(?: is)?\s*[:=]?\s*", re.IGNORECASE)
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
LETTER = re.compile(r"^\W*([A-Za-z])(?:\s*[).:\]]+\s*(.*)|\W*)$", re.DOTALL)
NUMBER = re.compile(r"^[(\[]?\s*(\d+)\s*[)\].:]?$")


def plain(text: str) -> str:
    """Normalise a text for comparison: case, spaces, quotes and the marks around it do not count."""
    return " ".join(text.casefold().replace("’", "'").split()).strip(" \"'`*.,;:!?")


def read_answer(value: Any, options: Sequence[str], *, first: int = 0) -> int | None:
    """Find which option an answer means.

    Understood are the option's text, its number, a letter ("b", "(B)", "B. because …") and, if the options are no and
    yes, "Yes.", "y", "true". A lead such as "Answer:" is passed over. Where two readings differ, or none fits, the
    answer is not readable.

    Args:
        value: The answer as it stands in the file.
        options: The options; `YES_NO` for questions of yes and no, which have numbers but no letters.
        first: Number of the first option: 0 or 1.

    Returns:
        The number of the option from 0, or None.
    """
    binary = tuple(options) == YES_NO
    if isinstance(value, bool | np.bool_):
        return int(value) if binary else None
    if isinstance(value, int | float | np.number):
        exact = float(value)
        return _within(int(exact) if exact.is_integer() else -1, options, 0 if binary else first)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if (named := _named(text, options)) is not None:
        return named
    text = LEAD.sub("", text.strip(" \"'`*"))
    if numeral := NUMBER.match(text):
        return _within(int(numeral[1]), options, 0 if binary else first)
    if binary:
        said = {TRUTHS[word] for word in WORD.findall(text.casefold()) if word in TRUTHS}
        opening = WORD.match(text.casefold().lstrip("\"'`*([ "))
        return said.pop() if len(said) == 1 and opening and opening[0] in TRUTHS else None
    if (named := _named(text, options)) is not None:
        return named
    if letter := LETTER.match(text):
        pick = _within(ord(letter[1].upper()) - ord("A"), options, 0)
        rest = plain(letter[2] or "")
        meant = {number for number, option in enumerate(options) if rest and plain(option) == rest}
        return pick if not meant or pick in meant else None
    return None


def _named(text: str, options: Sequence[str]) -> int | None:
    """Find the one option that a text repeats."""
    found = [number for number, option in enumerate(options) if plain(option) == plain(text)]
    return found[0] if len(found) == 1 else None


def _within(number: int, options: Sequence[str], first: int) -> int | None:
    return number - first if 0 <= number - first < len(options) else None

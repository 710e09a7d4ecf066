"""What an answer means: the rules by which a text, letter or number is read as one of the options.

Nothing of the package is imported: `stressreel export` gives this file, as it is, to evaluation harnesses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

YES_NO = ("no", "yes")
TRUTHS = {"yes": 1, "true": 1, "no": 0, "false": 0}
SHORT = {"y": 1, "n": 0}  # only alone: "n/a" is no answer
FRAME = re.compile(r"</?\w+>|<\|\w+\|>|\\boxed\{|\}\s*\$?$|^\$")  # <answer>B</answer>, B</s>, \boxed{B}
LEAD = re.compile(
    r"^(?:(?:assistant|i (?:think|believe|would say)(?: that)?|based on the video)[,:]?\s+)?"
    r"(?:(?:the )?(?:correct |final |best )?(?:answer|option|choice)(?: is)?\s*[:=]?\s*){0,2}",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# What may follow "no" without a mark between them: "no it was before" is an answer, "no idea" is none.
CLAUSE = re.compile(r"\s+(?:it|he|she|they|i|we|you|the|this|that|these|there|because|since|as|but|not)\b")
MARKED = re.compile(r"^\W*([A-Za-z])(?:\s*(?:[).:\]]*[)\]:]|\.(?=\s|\*|$))|\s*\n|\W*$)(.*)", re.DOTALL)
SEPARATED = re.compile(r"^\W*([A-Za-z])(?:\s*[-–—,(]\s*|\.)([^)]+)\)?\W*$", re.DOTALL)  # then only the option's text
BEHIND = re.compile(r"^(.+?)\s*[\[(]\s*([A-Za-z])\s*[\])]\W*$", re.DOTALL)
LETTERS = re.compile(r"(?<![^\W_])([A-Z])(?![^\W_'])|(?<![^\W_])([a-z])\s*[)\]]")
ARTICLE = re.compile(r"(?:^|[.!?:\n])\s*(A|I)(?=\s+[a-z])")  # "A dog …": a sentence begins, no option is named
OTHER = re.compile(r"(\b(?:or|and)\W+|/)?\b(yes|no|true|false)\b")
NUMBER = re.compile(r"^[(\[]?\s*(\d{1,9})(?:\.0+)?\s*[)\].:]?$")


def plain(text: str) -> str:
    """Normalise a text for comparison: case, spaces, quotes and the marks around it do not count."""
    return " ".join(text.casefold().replace("’", "'").split()).strip(" \"'`*.,;:!?")


def read_answer(value: Any, options: Sequence[str], *, first: int = 0) -> int | None:
    """Find which option an answer means.

    Understood are the option's text, its number, a letter ("b", "(B)", "B. because …") and, if the options are no and
    yes, "Yes.", "y", "true", "No, it …". A lead such as "Answer:" is passed over. Where two readings differ, such as
    two letters or a number that is also an option's text, or none fits, the answer is not readable.

    Args:
        value: The answer as it stands in the file.
        options: The options; `YES_NO` for questions of yes and no, which have numbers but no letters.
        first: Number of the first option: 0 or 1.

    Returns:
        The number of the option from 0, or None.
    """
    binary = tuple(options) == YES_NO
    start = 0 if binary else first
    if isinstance(value, bool | np.bool_):
        return int(value) if binary else None
    if isinstance(value, int | float | np.number | Decimal):
        try:
            exact = int(value)
        except (OverflowError, ValueError):  # infinity and NaN
            return None
        return _numbered(exact, options, start) if exact == value else None
    if not isinstance(value, str):
        return None
    text = FRAME.sub(" ", value).strip()
    if numeral := NUMBER.match(LEAD.sub("", text.strip(" \"'`*"))):
        return _numbered(int(numeral[1]), options, start)
    if (named := _named(text, options)) is not None:
        return named
    text = LEAD.sub("", text.strip(" \"'`*"))
    if binary:
        return _truth(text.casefold().replace("’", "'"))
    if (named := _named(text, options)) is not None:
        return named
    return _lettered(text, options)


def _truth(text: str) -> int | None:
    """Read an answer that begins with yes or no, and does not say the other as well."""
    if plain(text) in SHORT:
        return SHORT[plain(text)]
    text = text.lstrip("\"'`*([ ")
    opening = WORD.match(text)
    if not opening or opening[0] not in TRUTHS:
        return None
    rest = text[opening.end() :]
    if opening[0] == "no" and re.match(r"\s+\w", rest) and not CLAUSE.match(rest):
        return None
    pick = TRUTHS[opening[0]]
    return None if any(TRUTHS[other[2]] != pick for other in OTHER.finditer(rest) if _stands(other)) else pick


def _stands(word: re.Match[str]) -> bool:
    """Tell whether a yes or no after the first is an answer as well: "yes or no", "yes. No." but not "no doubt"."""
    return bool(word[1]) or not re.match(r"\s+\w", word.string[word.end() :])


def _lettered(text: str, options: Sequence[str]) -> int | None:
    """Read a letter, with or without the option's text or reasons, unless another option is named as well."""
    if behind := BEHIND.match(text):
        pick = _letter(behind[2], options)
        return pick if pick is not None and _named(behind[1], options) == pick else None
    if marked := MARKED.match(text):
        pick, rest = _letter(marked[1], options), marked[2]
        if pick is None or plain(options[pick]) == plain(rest):
            return pick
        articles = {found.start(1) for found in ARTICLE.finditer(rest)}
        others = {
            _letter(found[1] or found[2], options) for found in LETTERS.finditer(rest) if found.start() not in articles
        }
        own, said = plain(options[pick]), plain(rest)
        texts = {plain(option) for option in options if plain(option) and plain(option) not in own}
        return None if others - {pick, None} or any(other in said for other in texts) else pick
    if separated := SEPARATED.match(text):
        pick = _letter(separated[1], options)
        return pick if pick is not None and _named(separated[2], options) == pick else None
    return None


def _named(text: str, options: Sequence[str]) -> int | None:
    """Find the one option that a text repeats."""
    found = [number for number, option in enumerate(options) if plain(option) == plain(text)]
    return found[0] if len(found) == 1 else None


def _letter(letter: str, options: Sequence[str]) -> int | None:
    number = ord(letter.upper()) - ord("A")
    return number if number < len(options) else None


def _numbered(number: int, options: Sequence[str], first: int) -> int | None:
    """Take a number for an option's, unless it is the text of another one."""
    pick = number - first if 0 <= number - first < len(options) else None
    named = _named(str(number), options)
    if any(NUMBER.match(option.strip()) for option in options):
        return pick if pick == named else None
    return pick

"""Write all options of a question in the same style, so that annotators' habits do not reveal the correct one."""

from __future__ import annotations

import re

from ..language.words import name_pattern, with_capital

BECAUSE = re.compile(r"^\W*because\s+(?!of\b)", re.IGNORECASE)
ENDINGS = re.compile(r"[\s.!,;:…]+$")
SPACES = re.compile(r"\s+")
MARK = re.compile(r"\s+([,.;:!?])")


def plain_style(text: str, names: tuple[str, ...] = ()) -> str:
    """Capitalize only the first letter and the names in a text; remove "because" from its start and a final period.

    Returns:
        The text, unchanged if the result would be empty.
    """
    found = ENDINGS.sub("", BECAUSE.sub("", SPACES.sub(" ", text.replace("’", "'")).strip()))
    found = in_lower_case(MARK.sub(r"\1", found))
    return with_capital(as_in_cast(found, names)) if found else text


def in_lower_case(text: str) -> str:
    """Write a text of several words in lower case if it is all in capitals."""
    return text.lower() if text.isupper() and " " in text else text


def as_in_cast(text: str, names: tuple[str, ...]) -> str:
    """Write the names in a text as they are written in the cast."""
    pattern = name_pattern(names)
    if pattern is None:
        return text
    written = {name.lower(): name for name in names}
    return pattern.sub(lambda match: written.get(" ".join(match[0].lower().split()), match[0]), text)

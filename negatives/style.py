"""Write all options of a question in the same style, so that annotators' habits do not reveal the correct one."""

from __future__ import annotations

import re

from ..language.words import name_pattern, with_capital

BECAUSE = re.compile(r"^\W*because\s+(?!of\b)", re.IGNORECASE)
ENDINGS = re.compile(r"[\s.!,;:…]+$")
SPACES = re.compile(r"\s+")
MARK = re.compile(r"\s+([,.;:!?])")


def plain_style(text: str, names: tuple[str, ...] = ()) -> str:
    """Capitalize the first letter and the names in a text, and remove "because" from its start and a final period.

    Returns:
        The text, unchanged if the result would be empty.
    """
    found = ENDINGS.sub("", BECAUSE.sub("", SPACES.sub(" ", text.replace("’", "'")).strip()))
    found = MARK.sub(r"\1", found)
    pattern = name_pattern(names)
    if pattern is not None:
        written = {name.lower(): name for name in names}
        found = pattern.sub(lambda match: written.get(match[0].lower(), match[0]), found)
    return with_capital(found) if found else text

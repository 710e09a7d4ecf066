"""Texts that others wrote, in Markdown: shown as they are, whatever they hold."""

from __future__ import annotations

import re
from typing import Any

from .errors import printable


class Written(str):
    """Markdown that is shown as it is."""


TAG = re.compile(r"<(?=[A-Za-z!/?])")  # what HTML begins with
BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
LEADING = re.compile(r"^(?:(?=[#>+=-])|([0-9]+)(?=[.)](?:\s|$)))")
ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def without_tags(value: Any) -> Any:
    """Take the meaning of HTML from what a template puts in, as annotations could hold some; also that of the marks."""
    return TAG.sub("&lt;", value) if isinstance(value, str) and not isinstance(value, Written) else value


def as_text(text: object) -> Written:
    """Write a text of an output so that Markdown shows it as it is, in one line, a cell of a table or a list.

    Neither HTML nor marks, links, pictures or addresses in it come to life.
    """
    plain = printable(BLANK.sub(" ", str(text))).strip()
    plain = re.sub(r"&(?=[#A-Za-z])", "&amp;", plain)
    plain = LEADING.sub(lambda match: f"{match[1] or ''}\\", SPECIAL.sub(r"\\\g<0>", plain))
    return Written(ADDRESS.sub(lambda match: f"&#{ord(match[0])};", TAG.sub("&lt;", plain)))


def as_code(text: object) -> Written:
    """Write a text of an output as code in a line, where nothing of Markdown or HTML is read."""
    return Written("`" + printable(BLANK.sub(" ", str(text))).replace("`", "'").replace("|", "\\|") + "`")


def as_block(text: object) -> Written:
    """Write a text of an output as it stands in a block of code, which it does not end; marks lose their meaning."""
    return Written(str(text).replace("`" * 3, "'" * 3).replace("<!--", "&lt;!--"))

"""Escape untrusted text for use in Markdown."""

from __future__ import annotations

import re
from typing import Any

from .errors import printable


class EscapedMarkdown(str):
    """Markdown that has already been escaped."""


TAG = re.compile(r"<(?=[A-Za-z!/?])")  # start of an HTML tag or comment
BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
SPECIAL = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
LEADING = re.compile(r"^(?:(?=[#>+=-])|([0-9]+)(?=[.)](?:\s|$)))")
LINK = re.compile(r"https?://[^\s<>]+")
ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)


def without_tags(value: Any) -> Any:
    """Escape HTML tags and comments in a value that a template inserts."""
    return TAG.sub("&lt;", value) if isinstance(value, str) and not isinstance(value, EscapedMarkdown) else value


def as_text(text: object) -> EscapedMarkdown:
    """Escape text so that Markdown renders it literally on one line, without links, images or HTML."""
    plain = printable(BLANK.sub(" ", str(text))).strip()
    plain = re.sub(r"&(?=[#A-Za-z])", "&amp;", plain)
    plain = LEADING.sub(lambda match: f"{match[1] or ''}\\", SPECIAL.sub(r"\\\g<0>", plain))
    return EscapedMarkdown(ADDRESS.sub(lambda match: f"&#{ord(match[0])};", TAG.sub("&lt;", plain)))


def as_address(text: str) -> EscapedMarkdown:
    """Format a web address as a link, and any other text literally."""
    return EscapedMarkdown(f"<{text}>") if LINK.fullmatch(text) and printable(text) == text else as_text(text)


def as_code(text: object) -> EscapedMarkdown:
    """Format a text as inline code on one line."""
    return EscapedMarkdown("`" + printable(BLANK.sub(" ", str(text))).replace("`", "'").replace("|", "\\|") + "`")


def as_block(text: object) -> EscapedMarkdown:
    """Escape a text for a fenced code block, so that it cannot end the block or start a comment."""
    return EscapedMarkdown(printable(str(text)).replace("`" * 3, "'" * 3).replace("<!--", "&lt;!--"))

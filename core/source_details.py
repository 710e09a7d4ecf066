"""Options with which users describe their own data: title, licence, homepage, citation and description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

from .documents import read_text
from .errors import InputError, UsageError, printable
from .files import sha256_file
from .licences import card_fields, read_licence, read_link, text_of
from .settings import NOT_CONTENT, InputFile, Settings, parsed
from .source import Source

LONGEST_TITLE, LONGEST_DESCRIPTION = 200, 2000  # characters
LARGEST_BIBTEX = 20_000  # bytes
ENTRY = re.compile(r"^\s*@\s*[A-Za-z]+\s*[{(]", re.MULTILINE)


def read_line(given: Any, longest: int) -> str:
    """Return a text with single spaces, or raise ValueError if it is empty, too long or has control characters."""
    line = " ".join(text_of(given).split())
    if not line:
        raise ValueError("is empty")
    if len(line) > longest:
        raise ValueError(f"has {len(line):,} characters; at most {longest:,} are allowed")
    if printable(line) != line:
        raise ValueError("contains control characters or direction marks")
    return line


def read_title(given: Any) -> str:
    """Return a title of one line, or raise ValueError; see `read_line`."""
    return read_line(given, LONGEST_TITLE)


def read_description(given: Any) -> str:
    """Return a description of one line, or raise ValueError; see `read_line`."""
    return read_line(given, LONGEST_DESCRIPTION)


@dataclass(frozen=True, kw_only=True)
class SourceDetails(Settings):
    """What users say about their own data, which the `source` entry of `build.json` tells, too.

    Attributes:
        title: Title of your dataset, for its card and Croissant file.
        licence: Licence of your data: an identifier of the Hugging Face Hub such as cc-by-4.0, or name and link of
            another, such as "other:my-terms-1.0 https://example.org/terms". `stressreel push` then asks for no
            confirmation.
        homepage: Web page of your data.
        cite: BibTeX file with the publications to cite for your data.
        description: Description of your data, of at most 2,000 characters.
    """

    title: Annotated[str | None, parsed(read_title), NOT_CONTENT] = None
    licence: Annotated[str | None, parsed(read_licence), NOT_CONTENT] = None
    homepage: Annotated[str | None, parsed(read_link), NOT_CONTENT] = None
    cite: InputFile = None
    description: Annotated[str | None, parsed(read_description), NOT_CONTENT] = None

    def detail_hashes(self) -> dict[str, str]:
        """Return the SHA-256 of the BibTeX file, by its name."""
        return {Path(self.cite).name: sha256_file(Path(self.cite))} if self.cite else {}


DETAILS = tuple(each.name for each in fields(SourceDetails) if each.init)


def described(source: Source, details: SourceDetails) -> Source:
    """Return the source of a user's own data with what the user says about it.

    Raises:
        UsageError: The source is a known dataset, for which nothing may be said.
        InputError: The BibTeX file cannot be read.
    """
    given = [f"--{name}" for name in DETAILS if getattr(details, name) is not None]
    if not given:
        return source
    if not source.own:
        raise UsageError(
            f"{', '.join(given)} cannot be used for {source.name}, whose licence and citation are known. Leave out "
            f"{'it' if len(given) == 1 else 'them'}."
        )
    bibtex = read_bibtex(Path(details.cite)) if details.cite else ""
    return replace(source, **_stated(details, source.name), bibtex=bibtex)


def _stated(details: SourceDetails, name: str) -> dict[str, Any]:
    return {
        "name": details.title or name,
        "title": details.title or "",
        "license": card_fields(details.licence) if details.licence else {"license": "unknown"},
        "redistributable": True if details.licence else None,
        "link": details.homepage or "",
        "description": details.description or "",
    }


def differing_details(source: Source, details: SourceDetails) -> Iterator[str]:
    """Yield a line for each field of the source in `build.json` that contradicts the settings."""
    if not source.own and not any(getattr(details, name) for name in DETAILS):
        return
    for name, value in _stated(details, source.name).items():
        if getattr(source, name) != value:
            yield f"build.json: source.{name} is {getattr(source, name)!r}, but {value!r} in the settings"
    if bool(source.bibtex) != bool(details.cite):
        yield f"build.json: source.bibtex is {'given' if source.bibtex else 'empty'}, unlike --cite in the settings"


def read_bibtex(path: Path) -> str:
    """Return the text of a BibTeX file, without characters that could imitate other output.

    Raises:
        InputError: The file is too large, is not UTF-8, or contains no entry.
    """
    text = read_text(path, largest=LARGEST_BIBTEX)
    lines = [printable(line).rstrip() for line in re.split(r"\r\n|\r|\n", text)]
    if not ENTRY.search(text):
        raise InputError(f"{path.name}: expected at least one BibTeX entry, such as @misc{{key, title = {{…}}}}.")
    return "\n".join(lines).strip("\n")

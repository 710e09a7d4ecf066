"""The files of a gallery but its videos: the page, its styles and scripts, and the data, which script tags load.

Data are scripts that call a function with JSON, because `fetch` does not work on `file://`. All of it is the same for
the same output and options.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ...core.source import Source
from .exhibits import Asked, Exhibit, Facet, Gallery

HERE = Path(__file__).parent
PAGE = "index.html"
INDEX = "data/index.js"
IN_A_FILE = 20
"""Exhibits in one file of data: what a page loads with its own."""


@dataclass(frozen=True)
class About:
    """What a gallery says of itself.

    Attributes:
        title: What is shown.
        summary: What that is, in one line.
        version: The output's.
        fingerprint: The output's.
        source: Where the videos come from.
        embed: "none", "thumbnails" or "videos".
        total: Number of exhibits of the output.
        scores: What a model scored, as `score_page` returns it; None if none are shown.
        answered: Whether answers of a model are shown.
    """

    title: str
    summary: str
    version: str
    fingerprint: str
    source: Source
    embed: str
    total: int
    scores: Mapping[str, Any] | None = None
    answered: bool = False


def licence_notice(source: Source, *, pictures: bool) -> str:
    """Describe what a source's licence says of passing a gallery on; empty if it allows it.

    Args:
        source: The source.
        pictures: Whether the gallery holds videos or pictures of them.
    """
    what = "The videos and pictures on these pages" if pictures else "The texts on these pages"
    if source.redistributable is False:
        return f"{what} come from {source.name} and may not be passed on. Its terms: {source.terms.rstrip('.')}."
    if source.redistributable is None:
        return f"{what} come from {source.name}. stressreel does not know whether they may be passed on."
    return ""


def static_files() -> dict[str, bytes]:
    """Return the styles and scripts of every gallery."""
    files = sorted(path for path in HERE.iterdir() if path.suffix in (".css", ".js", ".svg"))
    return {f"gallery/{path.name}": path.read_bytes() for path in files}


def page(about: About) -> bytes:
    """Return the page, which the scripts fill."""
    heading, _, line = about.summary.partition(": ")
    link = about.source.license.get("license_link", "")
    text: str = (
        _environment()
        .get_template("index.html.j2")
        .render(
            about=about,
            heading=heading,
            line=line[:1].upper() + line[1:],
            licence=about.source.license.get("license_name") or about.source.license.get("license", "unknown"),
            licence_link=link if link.startswith(("https://", "http://")) else "",
            notice=licence_notice(about.source, pictures=about.embed != "none"),
        )
    )
    return text.encode()


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(HERE, encoding="utf-8"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def data_names(count: int) -> list[str]:
    """Name the files of data of so many exhibits."""
    return [INDEX, *(_part(number) for number in range(-(-count // IN_A_FILE)))]


def _part(number: int) -> str:
    return f"data/items-{number:05d}.js"


def data_files(
    about: About, gallery: Gallery, exhibits: Sequence[Exhibit], films: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, bytes]]:
    """Write the data.

    Args:
        about: What the gallery says of itself.
        gallery: What it was made from.
        exhibits: Those that are shown.
        films: What is known of each video, by SHA-256: see `data_cards.gallery.writer`.

    Yields:
        Path and content of each file of `data_names`.
    """
    yield INDEX, _script("galleryIndex", _index(about, gallery, exhibits, films))
    for number in range(-(-len(exhibits) // IN_A_FILE)):
        part = exhibits[number * IN_A_FILE : (number + 1) * IN_A_FILE]
        shown = {film.sha256: films[film.sha256] for exhibit in part for film in exhibit.films if film.sha256 in films}
        items = [{"id": exhibit.id, "view": exhibit.view, "content": exhibit.content} for exhibit in part]
        yield _part(number), _script("galleryItems", {"part": number, "items": items, "films": shown})


def _script(function: str, value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{function}({text.replace('<', chr(92) + 'u003c')});\n".encode("utf-8", "replace")


def _index(
    about: About, gallery: Gallery, exhibits: Sequence[Exhibit], films: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what the index page shows, searches and filters.

    An exhibit is `[id, title, picture, values of each facet, questions by kind, words]`: values by their number in the
    facet's list, and of the questions the numbers of their kinds. A kind is `[value of each facet of questions, or -1,
    verdict]`.
    """
    values = {facet.name: _Numbered() for facet in gallery.facets}
    asked = {facet.name: _Numbered() for facet in gallery.asked_facets}
    kinds = _Numbered()
    entries = []
    for exhibit in exhibits:
        of = [[values[facet.name].number(value) for value in exhibit.facets[facet.name]] for facet in gallery.facets]
        mine = [
            kinds.number((*(_number(asked[facet.name], each, facet) for facet in gallery.asked_facets), each.verdict))
            for each in exhibit.asked
        ]
        pictures = (film.sha256 for film in exhibit.films if films.get(film.sha256, {}).get("poster"))
        words = search_words([exhibit.id, exhibit.title, exhibit.words, *(each.text for each in exhibit.asked)])
        entries.append([exhibit.id, exhibit.title, next(pictures, None), of, sorted(set(mine)), words])
    return {
        "title": about.title,
        "noun": gallery.noun,
        "total": about.total,
        "embed": about.embed,
        "answered": about.answered,
        "perFile": IN_A_FILE,
        "facets": [_facet(facet, values[facet.name].values) for facet in gallery.facets],
        "askedFacets": [_facet(facet, asked[facet.name].values) for facet in gallery.asked_facets],
        "kinds": kinds.values,
        "entries": entries,
        "scores": about.scores,
    }


class _Numbered:
    """Numbers values in the order in which they come."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    @property
    def values(self) -> list[Any]:
        return list(self._numbers)


def _number(values: _Numbered, asked: Asked, facet: Facet) -> int:
    return values.number(asked.facets[facet.name]) if facet.name in asked.facets else -1


def _facet(facet: Facet, values: Sequence[str]) -> dict[str, Any]:
    headings = [facet.name, *facet.headings]
    return {"name": facet.name, "label": facet.label, "headings": headings, "values": list(values)}


def search_words(texts: Iterable[str]) -> str:
    """Return the different words of texts, in lower case and without accents, as `search.js` looks for them."""
    plain = unicodedata.normalize("NFKD", " ".join(texts).lower())
    words = "".join(letter for letter in plain if not unicodedata.category(letter).startswith("M")).split()
    return " ".join(dict.fromkeys(filter(None, (word.strip('.,;:!?"“”()[]') for word in words))))


def score_page(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a gallery shows of a `scores.json`.

    Args:
        about: Its content.

    Raises:
        LookupError, TypeError, ValueError, AttributeError: It is damaged.
    """
    tables = [("headline", [{"score": name, "value": value} for name, value in about["headline"].items()])]
    tables += list(about["tables"].items())
    return {
        "predictions": str(about["predictions"]["file"]),
        "config": str(about["config"]),
        "split": str(about["split"]),
        "notes": [str(note) for note in about.get("notes", [])],
        "tables": [
            {
                "name": str(name).replace("_", " "),
                "headings": list(rows[0]) if rows else [],
                "rows": [[_cell(row[heading]) for heading in rows[0]] for row in rows],
            }
            for name, rows in tables
        ],
    }


def _cell(value: Any) -> Any:
    """Return a cell as the page shows it: a text, a number, null, or [value, low, high]."""
    if isinstance(value, dict):
        return [None if each is None else float(each) for each in (value["value"], value["low"], value["high"])]
    return value if value is None or isinstance(value, int | float) else str(value)

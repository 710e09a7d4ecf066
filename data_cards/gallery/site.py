"""Generate the page, styles, scripts and data files of a gallery.

Data files are scripts that call a function with JSON, because `fetch` does not work on `file://`. The same output and
options yield the same files.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.source import Source
from .exhibits import Exhibit, Facet, Gallery

HERE = Path(__file__).parent
PAGE = "index.html"
INDEX = "data/index.js"
IN_A_FILE = 20
"""Number of exhibits in one data file, which are loaded together."""


@dataclass(frozen=True)
class About:
    """Description of a gallery and of the output that it shows.

    Attributes:
        summary: One-line description of the output.
        embed: "none", "thumbnails" or "videos".
        total: Total number of exhibits in the output.
        scores: Scores of a model, from `score_page`, or None.
        answered: Whether the gallery shows answers of a model.
        canary: Canary of the output, or "".
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
    canary: str = ""


def licence_notice(source: Source, *, pictures: bool) -> str:
    """Describe the restrictions on sharing videos (`pictures`) or texts of a source. Return "" if there are none."""
    what = "The videos and pictures on these pages" if pictures else "The texts on these pages"
    if source.redistributable is False:
        return f"{what} are from {source.name} and may not be shared. Its terms: {source.terms.rstrip('.')}."
    if source.redistributable is None:
        return f"{what} are from {source.name}. stressreel does not know whether they may be shared."
    return ""


def static_files() -> dict[str, bytes]:
    """Return the styles, scripts and icons, which are the same in every gallery."""
    files = sorted(path for path in HERE.iterdir() if path.suffix in (".css", ".js", ".svg"))
    return {f"gallery/{path.name}": path.read_bytes() for path in files}


def page(about: About) -> bytes:
    """Return the HTML page, whose content is filled in by scripts."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(HERE, encoding="utf-8"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    heading, _, line = about.summary.partition(": ")
    licence = about.source.license
    link = licence.get("license_link", "")
    text = environment.get_template("index.html.j2").render(
        about=about,
        heading=heading,
        line=line[:1].upper() + line[1:],
        licence=licence.get("license_name") or licence.get("license", "unknown"),
        licence_link=link if link.startswith(("https://", "http://")) else "",
        notice=licence_notice(about.source, pictures=about.embed != "none"),
    )
    return text.encode()


def data_names(count: int) -> list[str]:
    """Return the names of the data files for this number of exhibits."""
    return [INDEX, *(_part(number) for number in range(-(-count // IN_A_FILE)))]


def _part(number: int) -> str:
    return f"data/items-{number:05d}.js"


def data_files(
    about: About, gallery: Gallery, exhibits: Sequence[Exhibit], films: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file in `data_names`. `films` describes the videos by SHA-256."""
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
    """Return the data with which exhibits are listed, searched and filtered.

    An exhibit is `[id, title, picture, values of each facet, kinds of questions, words]`. A kind is `[value of each
    facet of questions, or -1, verdict]`. Values and kinds are indices.
    """
    values: dict[str, dict[Any, int]] = {facet.name: {} for facet in gallery.facets}
    asked: dict[str, dict[Any, int]] = {facet.name: {} for facet in gallery.asked_facets}
    kinds: dict[Any, int] = {}
    entries = []
    for exhibit in exhibits:
        of = [[_number(numbers, value) for value in exhibit.facets[name]] for name, numbers in values.items()]
        mine = []
        for each in exhibit.asked:
            kind = [
                _number(numbers, each.facets[name]) if name in each.facets else -1 for name, numbers in asked.items()
            ]
            mine.append(_number(kinds, (*kind, each.verdict)))
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
        "facets": [_facet(facet, values[facet.name]) for facet in gallery.facets],
        "askedFacets": [_facet(facet, asked[facet.name]) for facet in gallery.asked_facets],
        "kinds": list(kinds),
        "entries": entries,
        "scores": about.scores,
    }


def _number(numbers: dict[Any, int], value: Any) -> int:
    return numbers.setdefault(value, len(numbers))


def _facet(facet: Facet, numbers: Mapping[str, int]) -> dict[str, Any]:
    headings = [facet.name, *facet.headings]
    return {"name": facet.name, "label": facet.label, "headings": headings, "values": list(numbers)}


def search_words(texts: Iterable[str]) -> str:
    """Return the distinct words of texts, in lower case and without accents, as `search.js` expects."""
    plain = unicodedata.normalize("NFKD", " ".join(texts).lower())
    words = "".join(letter for letter in plain if not unicodedata.category(letter).startswith("M")).split()
    return " ".join(dict.fromkeys(filter(None, (word.strip('.,;:!?"“”()[]') for word in words))))


def score_page(about: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the content of `scores.json` to the form that a gallery shows. Raise KeyError if a row lacks a cell."""
    tables = [("headline", [{"score": name, "value": value} for name, value in about["headline"].items()])]
    tables += list(about["tables"].items())
    return {
        "predictions": about["predictions"]["file"],
        "config": about["config"],
        "split": about["split"],
        "notes": about["notes"],
        "tables": [
            {
                "name": name.replace("_", " "),
                "headings": list(rows[0]) if rows else [],
                "rows": [[_cell(row[heading]) for heading in rows[0]] for row in rows],
            }
            for name, rows in tables
        ],
    }


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return [None if each is None else float(each) for each in (value["value"], value["low"], value["high"])]
    return value if value is None or isinstance(value, int | float) else str(value)

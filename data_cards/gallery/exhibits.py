"""Exhibits of a gallery, which benchmarks create from their rows.

A benchmark provides the content of a page (`Exhibit.content`) and one of `VIEWS` to display it, for each of which the
scripts next to this module have a function. A benchmark without a `gallery` of its own uses pages of its items
(`generic.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import InputError

VIEWS = ("complement", "grid", "options", "graph", "question")
"""The views, each of which `views_<name>.js` draws; the module's head says what content it takes."""
RIGHT, WRONG, CONTRADICTORY = "right", "wrong", "contradictory"


@dataclass(frozen=True)
class Film:
    """A video of an exhibit: the table, and the SHA-256 by which views refer to the video."""

    table: str
    sha256: str


@dataclass(frozen=True)
class ExhibitQuestion:
    """A question of an exhibit, its filter value by facet, and "right", "wrong" or "contradictory" if answered."""

    text: str
    facets: Mapping[str, str] = field(default_factory=dict)
    verdict: str = ""


@dataclass(frozen=True)
class Exhibit:
    """A page of a gallery.

    Attributes:
        id: Id that is unique in the output, used in links.
        facets: Filter values by facet.
        view: One of `VIEWS`.
        content: The content of the view, as JSON values.
        films: The videos, the representative one first.
        words: Search terms besides id, title and questions.
    """

    id: str
    title: str
    facets: Mapping[str, Sequence[str]]
    view: str
    content: Mapping[str, Any]
    films: Sequence[Film] = ()
    asked: Sequence[ExhibitQuestion] = ()
    words: str = ""


@dataclass(frozen=True)
class Facet:
    """A filter of exhibits or of their questions.

    Attributes:
        name: Key in `facets`; a column of this name in a table of scores links to the exhibits.
        headings: Alternative names in tables of scores.
    """

    name: str
    label: str
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gallery:
    """The content of a gallery.

    Attributes:
        count: Total number of exhibits.
        exhibits: Function that yields the exhibits at some positions from 0 to `count` - 1, in order.
        noun: Noun for an exhibit, such as "pair".
        facets, asked_facets: The filters of exhibits, and of their questions.
    """

    count: int
    exhibits: Callable[[Collection[int]], Iterator[Exhibit]]
    noun: str
    facets: Sequence[Facet] = ()
    asked_facets: Sequence[Facet] = ()


def spread(count: int, limit: int | None) -> range | list[int]:
    """Return positions at equal distances: floor(k count / limit), or all if there are at most `limit`."""
    if limit is None or limit >= count:
        return range(count)
    return [number * count // limit for number in range(limit)]


def distinct(exhibits: Iterator[Exhibit]) -> Iterator[Exhibit]:
    """Yield exhibits; raise an error for a duplicate id."""
    seen = set[str]()
    for exhibit in exhibits:
        if exhibit.id in seen:
            raise InputError(f"two exhibits have the id {exhibit.id!r}. Run `stressreel verify` for details.")
        seen.add(exhibit.id)
        yield exhibit

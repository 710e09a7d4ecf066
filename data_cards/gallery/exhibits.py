"""Define the exhibits of a gallery, which benchmarks create from their rows.

A benchmark provides the content of each page (`Exhibit.content`) and selects one of the `VIEWS`, which scripts in this
folder implement. Benchmarks without a `gallery` of their own use `generic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.errors import InputError

VIEWS = ("complement", "grid", "options", "graph", "question")
"""Names of the views. `views_<name>.js` draws the view, and its head describes the content that it expects."""
RIGHT, WRONG, CONTRADICTORY = "right", "wrong", "contradictory"


@dataclass(frozen=True)
class Film:
    """A video of an exhibit, identified by its table and SHA-256."""

    table: str
    sha256: str


@dataclass(frozen=True)
class ExhibitQuestion:
    """A question of an exhibit, with its value for each facet and the verdict on its answer (or "")."""

    text: str
    facets: Mapping[str, str] = field(default_factory=dict)
    verdict: str = ""


@dataclass(frozen=True)
class Exhibit:
    """A page of a gallery.

    Attributes:
        content: The content of the view, as JSON values.
        films: The videos; the first one represents the exhibit.
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
        name: Key in `facets`. Columns of this name in score tables link to the exhibits.
        headings: Alternative names in score tables.
    """

    name: str
    label: str
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gallery:
    """The content of a gallery.

    Attributes:
        exhibits: Function that yields the exhibits at the given positions, in order.
        noun: Noun for an exhibit, such as "pair".
        facets: Filters of exhibits.
        asked_facets: Filters of the questions of exhibits.
    """

    count: int
    exhibits: Callable[[Collection[int]], Iterator[Exhibit]]
    noun: str
    facets: Sequence[Facet] = ()
    asked_facets: Sequence[Facet] = ()


def spread(count: int, limit: int | None) -> range | list[int]:
    """Return at most `limit` evenly spaced positions, at floor(k * count / limit)."""
    if limit is None or limit >= count:
        return range(count)
    return [number * count // limit for number in range(limit)]


def distinct(exhibits: Iterator[Exhibit]) -> Iterator[Exhibit]:
    """Yield exhibits, or raise InputError if two have the same id."""
    seen = set[str]()
    for exhibit in exhibits:
        if exhibit.id in seen:
            raise InputError(f"two exhibits have the id {exhibit.id!r}. Run `stressreel verify` for details.")
        seen.add(exhibit.id)
        yield exhibit

"""What a gallery shows: exhibits, which benchmarks make of their rows.

A benchmark says what is on a page (`Exhibit.content`) and names the view that draws it, one of `VIEWS`; the scripts
beside this module have one function for each. So a new benchmark needs no script, and without a `gallery` of its own
it gets a page from its items (`generic.py`).
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
    """A video that is shown; views name it by its SHA-256.

    Attributes:
        table: The table that holds it.
        sha256: Of the file.
    """

    table: str
    sha256: str


@dataclass(frozen=True)
class Asked:
    """A question of an exhibit, as the index filters and searches it.

    Attributes:
        text: What is asked.
        facets: What it can be filtered by, such as its type.
        verdict: "right", "wrong" or "contradictory" where answers are given; else empty.
    """

    text: str
    facets: Mapping[str, str] = field(default_factory=dict)
    verdict: str = ""


@dataclass(frozen=True)
class Exhibit:
    """One page of a gallery.

    Attributes:
        id: Its id in the output, by which it is linked; no two have the same.
        title: What it is called in the index.
        facets: What it can be filtered by, each with its values.
        view: One of `VIEWS`.
        content: What the view draws, as JSON values.
        films: The videos that it shows, the one that stands for it first.
        asked: The questions that it holds.
        words: What it is found by besides its id, its title and its questions.
    """

    id: str
    title: str
    facets: Mapping[str, Sequence[str]]
    view: str
    content: Mapping[str, Any]
    films: Sequence[Film] = ()
    asked: Sequence[Asked] = ()
    words: str = ""


@dataclass(frozen=True)
class Facet:
    """What exhibits, or their questions, are filtered by.

    Attributes:
        name: Its key in `facets`; a column of this name in a table of scores links to the exhibits.
        label: What readers see.
        headings: Other names that tables of scores have for it.
    """

    name: str
    label: str
    headings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gallery:
    """What an output shows.

    Attributes:
        count: Number of all exhibits.
        exhibits: Makes those at some of the places 0 to `count` - 1, in order.
        noun: What one is called, such as "pair".
        facets: The filters of exhibits, in order.
        asked_facets: The filters of their questions.
    """

    count: int
    exhibits: Callable[[Collection[int]], Iterator[Exhibit]]
    noun: str
    facets: Sequence[Facet] = ()
    asked_facets: Sequence[Facet] = ()


def spread(count: int, limit: int | None) -> range | list[int]:
    """Choose places at equal distances: floor(k count / limit), all if there are no more than `limit`."""
    if limit is None or limit >= count:
        return range(count)
    return [number * count // limit for number in range(limit)]


def distinct(exhibits: Iterator[Exhibit]) -> Iterator[Exhibit]:
    """Yield exhibits, and refuse one whose id another has.

    Raises:
        InputError: Two have the same.
    """
    seen = set[str]()
    for exhibit in exhibits:
        if exhibit.id in seen:
            raise InputError(f"two exhibits are called {exhibit.id!r}. `stressreel verify` says more.")
        seen.add(exhibit.id)
        yield exhibit

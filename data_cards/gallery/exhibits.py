"""Define the exhibits of a gallery, which benchmarks create from their rows.

A benchmark provides the content of each page (`Exhibit.content`) and selects one of the `VIEWS`, which scripts in this
folder implement. Benchmarks without a `gallery` of their own use `generic.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from ...core.errors import InputError
from ...core.output import FinishedOutput
from ...core.schema import Config
from ...evaluation.metrics.items import Items, read_columns
from .answers import Answers, answer_json, judged

VIEWS = ("complement", "grid", "options", "graph", "question")
"""Names of the views. `views_<name>.js` draws the view, and its head describes the content that it expects."""


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


ReadItems = Callable[[FinishedOutput, str, str], Items]


def item_gallery(
    output: FinishedOutput, read_items: ReadItems, tables: Sequence[str], configs: Sequence[Config], answers: Answers
) -> Gallery:
    """Return a gallery of the questions in all tables, with videos from the first table that has any."""
    parts = [(table, split, read_items(output, table, split)) for table in tables for split in output.splits(table)]
    starts = [0, *accumulate(len(items.ids) for _, _, items in parts)]
    several = len(tables) > 1
    films = films_of(output, configs)

    def exhibits(positions: Collection[int]) -> Iterator[Exhibit]:
        chosen = set(positions)
        for (table, split, items), start in zip(parts, starts, strict=False):
            numbers = [number for number in range(len(items.ids)) if start + number in chosen]
            judgements = judged(items, answers.on(table, tables), first=answers.first) if numbers else {}
            for number in numbers:
                name, answer = items.ids[number], answer_json(judgements, items.ids[number])
                film = films.get(items.videos[number])
                yield Exhibit(
                    f"{table}/{name}" if several else name,
                    items.texts[number] or name,
                    {"split": [split], "source": [items.sources[number]], **({"table": [table]} if several else {})},
                    "question",
                    {
                        "film": film.sha256 if film else None,
                        "blocks": [
                            {
                                "label": "Answer",
                                "right": int(items.truth[number]),
                                "options": [{"text": text} for text in items.options[number]],
                                "guesses": list(answers.guesses_on(table, name)),
                                **answer,
                            }
                        ],
                        "text": items.texts[number],
                        "facts": [["Id", name], ["Source", items.sources[number]], ["Split", split]],
                    },
                    [film] if film else [],
                    [ExhibitQuestion(items.texts[number], verdict=answer["verdict"])],
                )

    facets = [Facet("split", "Split"), Facet("source", "Source")] + [Facet("table", "Table")] * several
    return Gallery(starts[-1], exhibits, "question", facets)


def films_of(output: FinishedOutput, configs: Sequence[Config]) -> dict[str, Film]:
    """Return the videos of the first of `configs` that has any, by its first column."""
    for config in configs:
        names = {column.name for column in config.columns}
        if any(column.kind == "video" for column in config.columns) and "sha256" in names:
            key = config.columns[0].name
            if config.name not in output.info["counts"]:
                continue
            rows, _ = read_columns(output, config.name, (key, "sha256"), "all")
            return {
                str(name): Film(config.name, sha256)
                for name, sha256 in zip(rows[key], rows["sha256"], strict=True)
                if sha256
            }
    return {}

"""Build the default gallery, which has one page per question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate

from ...core.output import FinishedOutput
from ...core.schema import Config
from ...evaluation.metrics.items import Items, read_columns
from .answers import Answers, judged, said_of
from .exhibits import Exhibit, ExhibitQuestion, Facet, Film, Gallery

ReadItems = Callable[[FinishedOutput, str, str], Items]


def item_gallery(
    output: FinishedOutput, read_items: ReadItems, tables: Sequence[str], configs: Sequence[Config], answers: Answers
) -> Gallery:
    """Return a gallery of the questions in all tables, with videos from the first table that has any."""
    parts = [(table, split, read_items(output, table, split)) for table in tables for split in output.splits(table)]
    starts = [0, *accumulate(len(items.ids) for _, _, items in parts)]
    several = len(tables) > 1
    films = _films(output, configs)

    def exhibits(places: Collection[int]) -> Iterator[Exhibit]:
        chosen = set(places)
        for (table, split, items), start in zip(parts, starts, strict=False):
            mine = [number for number in range(len(items.ids)) if start + number in chosen]
            said = judged(items, answers.on(table, tables), first=answers.first) if mine else {}
            for number in mine:
                name, answer = items.ids[number], said_of(said, items.ids[number])
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


def _films(output: FinishedOutput, configs: Sequence[Config]) -> dict[str, Film]:
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

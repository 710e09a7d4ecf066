"""Derive the tasks of a benchmark from its questions, if it does not define tasks itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..core.errors import InputError
from ..core.output import FinishedOutput
from ..core.schema import Config
from .metrics.items import Items
from .tasks import Task, one_split


def item_tasks(
    output: FinishedOutput,
    read_items: Callable[[FinishedOutput, str, str], Items],
    tables: Sequence[str],
    configs: Sequence[Config],
    split: str | None,
) -> list[Task]:
    """Return a task for each table with questions, whose documents are the items.

    Videos are taken from the first of `configs` that has any, by its first column. The default split is test, if it
    exists.

    Raises:
        InputError: There are no videos, the split does not exist, or items have no options.
    """
    shown = next((config for config in configs if any(column.kind == "video" for column in config.columns)), None)
    if shown is None:
        raise InputError(f"{output.path} contains no videos, which evaluation harnesses need. Build it with videos.")
    found = []
    for table in tables:
        chosen = one_split(output, table, split)
        items = read_items(output, table, chosen)
        if (items.truth < 0).any() and not output.withheld:
            raise InputError(f"{output.path}, table {table}: some questions have no correct option.")
        docs = [
            {
                "id": name,
                "config": table,
                "table": shown.name,
                "key": shown.columns[0].name,
                "video": video,
                "question": text,
                "options": list(options),
                "answer_index": int(right),
            }
            for name, video, text, options, right in zip(
                items.ids, items.videos, items.texts, items.options, items.truth, strict=True
            )
        ]
        found.append(Task(table, table, chosen, "item", docs=docs))
    return found

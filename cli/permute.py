"""`stressreel permute`: feature-permutation sets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from .completion import complete_splits, complete_tables

PERMUTED = ("video", "text")
ENDINGS = (".parquet", ".csv", ".jsonl")


@click.command("permute")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "target",
    type=click.Path(path_type=Path),
    help="Parquet, CSV or JSON-lines file to write. [default: <OUT>-permuted.parquet beside OUT]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the first set.")
@click.option(
    "--sets", type=click.IntRange(min=1), default=5, show_default=True, help="Sets of each kind, by seeds in a row."
)
@click.option(
    "--config",
    shell_complete=complete_tables,
    help="Table to permute, where an output has several with questions. [default: the first]",
)
@click.option(
    "--split",
    shell_complete=complete_splits,
    help="Split to permute, or all. [default: test where there is one, else all]",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path, target: Path | None, seed: int, sets: int, config: str | None, split: str | None, debug: bool
) -> None:
    """Pair each item of OUT with the video, or the text, of one about another source video (Park et al. 2025, Table 3).

    OUT is an output, or a file of your own questions with id, video_id, source_id and question. Each row says which
    video to show with which text; answers are judged by the row's id, as ever.
    """
    from ..api import items_of_output
    from ..errors import InputError
    from ..metrics.items import TEXTS, VIDEOS, read_items
    from ..metrics.modality_importance import permuted
    from ..seeds import rng_for

    named = out if out.name not in ("", "..") else Path(os.path.abspath(out))
    place = target or named.with_name(f"{named.stem if named.is_file() else named.name}-permuted.parquet")
    check_place(place, out, option="--to")
    items = read_items(out, items_of_output, config, split, judged=False)
    for kind, given, names in (("video", items.videos, VIDEOS), ("text", items.texts, TEXTS)):
        if "" in given:
            raise InputError(
                f"{out}: {given.count(''):,} of {len(given):,} items have no {kind} to permute; the first is "
                f"{items.ids[given.index('')]!r}. It is looked for in the columns {', '.join(names)}."
            )
    columns: dict[str, list[object]] = {
        name: [] for name in ("permuted", "seed", "id", "video_id", "text", "video_of", "text_of")
    }
    for number in range(seed, seed + sets):
        for kind in PERMUTED:
            drawn = permuted(items.sources, rng_for(number, "permute", kind))
            for item, other in enumerate(drawn):
                video, text = (other, item) if kind == "video" else (item, other)
                row = (kind, number, items.ids[item], items.videos[video], items.texts[text])
                for name, value in zip(columns, (*row, items.ids[video], items.ids[text]), strict=True):
                    columns[name].append(value)
    wrote = write(place, columns)
    click.echo(f"{wrote}: {len(items.ids):,} items, {sets} sets with videos permuted, {sets} with texts permuted.")


def check_place(
    place: Path, out: Path, read: Sequence[Path] = (), *, option: str, endings: Sequence[str] = ENDINGS
) -> None:
    """Refuse a place where nothing should be written, before anything is computed.

    Args:
        place: The place.
        out: The output, which holds nothing but what was built, or the file of questions.
        read: Other files that are read.
        option: The option that names another place.
        endings: How its name may end.

    Raises:
        UsageError: The place lies in `out` or is a file that is read, or its name has another ending.
    """
    from ..errors import UsageError

    if place.suffix.lower() not in endings:
        allowed = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UsageError(f"{place} must end in {allowed}. Give another with {option}.")
    for taken in (out, *read):
        if place.resolve().is_relative_to(taken.resolve()):
            what = "lies in the output itself" if taken.is_dir() else "is a file that is read, and would be lost"
            raise UsageError(f"{place} {what}. Give another place with {option}.")


def write(path: Path, columns: dict[str, list[object]]) -> str:
    """Write a table by the ending of its name, one of `ENDINGS`; an earlier file is replaced.

    Returns:
        "Wrote <path>", or "Wrote over <path>".

    Raises:
        OutputError: It cannot be written.
    """
    import csv
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    from ..records.files import atomic

    done = f"Wrote {'over ' * path.exists()}{path}"
    with atomic(path) as temporary:
        if path.suffix.lower() == ".parquet":
            pq.write_table(pa.table(columns), temporary, compression="zstd")
            return done
        with open(temporary, "w", encoding="utf-8", newline="") as handle:
            rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
            if path.suffix.lower() == ".jsonl":
                handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            else:
                writer = csv.DictWriter(handle, list(columns))
                writer.writeheader()
                writer.writerows(rows)
    return done

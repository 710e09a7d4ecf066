"""`stressreel permute`: feature-permutation sets."""

from __future__ import annotations

from pathlib import Path

import click

PERMUTED = ("video", "text")


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
@click.option("--split", help="Split to permute, or all. [default: test where there is one, else all]")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(out: Path, target: Path | None, seed: int, sets: int, split: str | None, debug: bool) -> None:
    """Give each item of OUT the video, or the text, of an item about another source video (Park et al. 2025, Table 3).

    OUT is an output, or a file of your own questions with id, video_id, source_id and question. Each row says which
    video to show with which text; answers are judged by the row's id, as ever.
    """
    from ..errors import InputError
    from ..metrics.items import read_items
    from ..metrics.modality_importance import permuted
    from ..seeds import rng_for

    items = read_items(out, split)
    place = target or out.with_name(f"{out.stem if out.is_file() else out.name}-permuted.parquet")
    if out.is_dir() and place.resolve().is_relative_to(out.resolve()):
        raise InputError(f"{place} lies in the output itself. Give another place with --to.")
    columns: dict[str, list[object]] = {
        name: [] for name in ("permuted", "seed", "id", "video_id", "text", "video_of", "text_of")
    }
    for number in range(seed, seed + sets):
        for kind in PERMUTED:
            given = permuted(items.sources, rng_for(number, "permute", kind))
            for item, other in enumerate(given):
                video, text = (other, item) if kind == "video" else (item, other)
                row = (kind, number, items.ids[item], items.videos[video], items.texts[text])
                for name, value in zip(columns, (*row, items.ids[video], items.ids[text]), strict=True):
                    columns[name].append(value)
    write(place, columns)
    click.echo(
        f"Wrote {place}: {len(items.ids):,} items, {sets} sets with videos permuted, {sets} with texts permuted."
    )


def write(path: Path, columns: dict[str, list[object]]) -> None:
    """Write a table by the ending of its name.

    Raises:
        InputError: Another ending.
    """
    import csv
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    from ..errors import InputError
    from ..records.files import atomic

    kind = path.suffix.lower()
    if kind not in (".parquet", ".csv", ".jsonl"):
        raise InputError(f"{path.name} must end in .parquet, .csv or .jsonl.")
    with atomic(path) as temporary:
        if kind == ".parquet":
            pq.write_table(pa.table(columns), temporary, compression="zstd")
            return
        with open(temporary, "w", encoding="utf-8", newline="") as handle:
            rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
            if kind == ".jsonl":
                handle.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            else:
                writer = csv.DictWriter(handle, list(columns))
                writer.writeheader()
                writer.writerows(rows)

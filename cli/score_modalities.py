"""`stressreel score modalities`: which modality each question needs."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("modalities")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("given", nargs=-1, required=True, metavar="MODALITIES=FILE...")
@click.option("--split", help="Split to score, or all. [default: test where there is one, else all]")
@click.option(
    "--items", "items_file", type=click.Path(path_type=Path), help="Write each item's scores and category to this CSV."
)
@click.option(
    "--first-index", type=click.Choice(["0", "1"]), default="0", show_default=True, help="What number 1st options have."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Bootstrap's seed.")
@click.option(
    "--resamples",
    type=click.IntRange(min=100),
    default=1000,
    show_default=True,
    help="Resamples of the bootstrap over source videos.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path,
    given: tuple[str, ...],
    split: str | None,
    items_file: Path | None,
    first_index: str,
    seed: int,
    resamples: int,
    as_json: bool,
    debug: bool,
) -> None:
    r"""Give the modality importance of OUT's questions, from predictions under every subset of modalities.

    OUT is an output, or a file of your own questions with id, answer and options. For instance:

    \b
      stressreel score modalities out/clavi video=v.jsonl text=t.jsonl video+text=both.jsonl
    """
    import numpy as np

    from ..errors import InputError
    from ..metrics import modality_importance as mis
    from ..metrics.bootstrap import estimates, tally
    from ..metrics.items import correctness, read_items
    from ..metrics.scores import Table, cell_json, dump, interval_line, text_table

    files: dict[frozenset[str], Path] = {}
    order: dict[str, None] = {}
    for text in given:
        names, equals, file = text.partition("=")
        parts = [part.strip() for part in names.split("+")]
        if not equals or not file or not all(parts) or len(set(parts)) < len(parts):
            raise click.UsageError(f"{text!r} is not MODALITIES=FILE, such as video+text=both.jsonl.")
        if frozenset(parts) in files:
            raise click.UsageError(f"{names} is given twice.")
        files[frozenset(parts)] = Path(file)
        order |= dict.fromkeys(parts)
    modalities = list(order)
    items = read_items(out, split)
    if (items.truth < 0).any():
        raise InputError(f"{out} has no right answers to judge by.")
    if len(modalities) < 2 or any(subset not in files for subset in mis.subsets(modalities)):
        mis.importance({subset: np.zeros(0, bool) for subset in files}, modalities)  # says what is missing
    right = {subset: correctness(items, file, first=int(first_index)) for subset, file in files.items()}
    scores, found = mis.importance(right, modalities), mis.categories(right, modalities)
    sources = sorted(set(items.sources))
    place = {name: number for number, name in enumerate(sources)}
    where = np.array([place[name] for name in items.sources], np.intp)
    kinds = mis.category_names(modalities)
    values = {kind: np.array([name == kind for name in found], np.float64) for kind in kinds}
    cells = {f"category: {kind}": (where, values[kind]) for kind in kinds}
    cells |= {f"MIS {name}": (where, scores[name]) for name in modalities}
    cells |= {f"accuracy {'+'.join(m for m in modalities if m in s)}": (where, right[s].astype(float)) for s in files}
    shown = estimates(tally(sources, cells), lambda means: dict(means), seed=seed, resamples=resamples)
    counts = Table(
        "categories",
        f"Questions by modality importance, {items.split}",
        ("category", "questions", "share [95 % interval]"),
        (*((kind, int(values[kind].sum()), shown[f"category: {kind}"]) for kind in kinds), ("total", len(found), 1.0)),
    )
    rest = tuple((name, value) for name, value in shown.items() if not name.startswith("category: "))
    means = Table("means", "Means", ("score", "value [95 % interval]"), rest)
    if items_file:
        from .permute import write

        columns: dict[str, list[object]] = {"id": list(items.ids)}
        columns |= {f"mis_{name}": [float(x) for x in scores[name]] for name in modalities}
        write(items_file, columns | {"category": list(found)})
    interval = {"sources": len(sources), "resamples": resamples, "seed": seed}
    if as_json:
        tables = {
            table.name: [dict(zip(table.headings, map(cell_json, row), strict=True)) for row in table.rows]
            for table in (counts, means)
        }
        click.echo(dump({**tables, "interval": interval}), nl=False)
        return
    click.echo(text_table(counts) + "\n\n" + text_table(means) + "\n\n" + interval_line(interval))

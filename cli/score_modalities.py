"""`stressreel score modalities`: which modality each question needs."""

from __future__ import annotations

from pathlib import Path

import click

from .completion import complete_tables
from .score_options import bootstrap_options, first_index_option, split_option


@click.command("modalities")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("given", nargs=-1, required=True, metavar="MODALITIES=FILE...")
@click.option(
    "--config",
    shell_complete=complete_tables,
    help="Table to score, where an output has several with questions. [default: the first]",
)
@split_option
@click.option(
    "--items",
    "items_file",
    type=click.Path(path_type=Path),
    help="Write each item's scores and category to this Parquet, CSV or JSON-lines file.",
)
@click.option(
    "--by", metavar="COLUMN", help="Column of the questions, such as their annotated type: also count by its values."
)
@click.option("--figure", type=click.Path(path_type=Path), help="Draw the shares as bars to this PNG file.")
@first_index_option(": in predictions, and in `answer` of a file of your own questions")
@bootstrap_options
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path,
    given: tuple[str, ...],
    config: str | None,
    split: str | None,
    items_file: Path | None,
    by: str | None,
    figure: Path | None,
    first_index: str,
    seed: int,
    resamples: int,
    as_json: bool,
    debug: bool,
) -> None:
    """Return the modality importance of OUT's questions, from predictions under every subset of modalities.

    OUT is an output, or a file of your own questions with id, answer and options. For instance:

    \b
      stressreel score modalities out/clavi video=v.jsonl text=t.jsonl video+text=both.jsonl
    """  # noqa: D301
    import numpy as np

    from ..api import items_of_output
    from ..data_cards.score_figures import shares_png
    from ..metrics import modality_importance as mis
    from ..metrics.bootstrap import estimates, tally
    from ..metrics.items import annotations_of, judge, read_items
    from ..metrics.scores import Table, cell_json, counts_line, dump, interval_line, text_table
    from ..records.files import write_atomic
    from .permute import check_place, write

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
    label = {subset: "+".join(name for name in modalities if name in subset) for subset in files}
    if items_file:
        check_place(items_file, out, list(files.values()), option="--items")
    if figure:
        check_place(figure, out, list(files.values()), option="--figure", endings=(".png",))
    first = int(first_index)
    items = read_items(out, items_of_output, config, split, first=first)
    types = annotations_of(out, items, by) if by else []
    if len(modalities) < 2 or any(subset not in files for subset in mis.subsets(modalities)):
        mis.importance({subset: np.zeros(0, bool) for subset in files}, modalities)  # says what is missing
    joined = {subset: judge(items, file, first=first) for subset, file in files.items()}
    right = {subset: each.picks == items.truth for subset, each in joined.items()}
    scores, found = mis.importance(right, modalities), mis.categories(right, modalities)
    sources = sorted(set(items.sources))
    place = {name: number for number, name in enumerate(sources)}
    where = np.array([place[name] for name in items.sources], np.intp)
    kinds = mis.category_names(modalities)
    values = {kind: np.array([name == kind for name in found], np.float64) for kind in kinds}
    cells = {f"category: {kind}": (where, values[kind]) for kind in kinds}
    cells |= {f"MIS {name}": (where, scores[name]) for name in modalities}
    cells |= {f"accuracy {label[subset]}": (where, right[subset].astype(float)) for subset in files}
    shown = estimates(tally(sources, cells), lambda means: dict(means), seed=seed, resamples=resamples)
    counts = Table(
        "categories",
        f"Questions by modality importance, {', '.join(filter(None, (items.config, items.split)))}",
        ("category", "questions", "share [95 % interval]"),
        (*((kind, int(values[kind].sum()), shown[f"category: {kind}"]) for kind in kinds), ("total", len(found), 1.0)),
    )
    typed = mis.shares_by(types, found, kinds, by) if by else None
    rest = tuple((name, value) for name, value in shown.items() if not name.startswith("category: "))
    means = Table("means", "Means", ("score", "value [95 % interval]"), rest)
    interval = {"sources": len(sources), "resamples": resamples, "seed": seed}
    answers = {label[subset]: each.summary() for subset, each in joined.items()}
    shown_tables = [counts, *([typed] if typed else []), means]
    if as_json:
        tables = {
            table.name: [dict(zip(table.headings, map(cell_json, row), strict=True)) for row in table.rows]
            for table in shown_tables
        }
        click.echo(
            dump({"config": items.config, "split": items.split, "answers": answers, **tables, "interval": interval}),
            nl=False,
        )
    else:
        for name, summary in answers.items():
            click.echo(f"{name}: {counts_line(summary, 'answers')}")
            for row in summary["unreadable_first"][:5]:
                click.echo(f"  cannot read {row['id']}: {row['answer']!r}")
        for table in shown_tables:
            click.echo("\n" + text_table(table))
        click.echo("\n" + interval_line(interval))
    if figure:
        write_atomic(figure, shares_png(mis.shares_by(types or [items.config] * len(found), found, kinds, by or "")))
        click.echo(f"Wrote {figure}", err=as_json)
    if items_file:
        columns: dict[str, list[object]] = {"id": list(items.ids)}
        columns |= {f"mis_{name}": [float(x) for x in scores[name]] for name in modalities}
        click.echo(write(items_file, columns | {"category": list(found)}), err=as_json)

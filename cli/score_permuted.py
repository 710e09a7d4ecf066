"""`stressreel score permuted`: what a model loses when features are permuted."""

from __future__ import annotations

from pathlib import Path

import click

from .score_options import first_index_option, split_option


@click.command("permuted")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--original",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="Predictions for the questions as they are; several for several runs.",
)
@click.option(
    "--permuted",
    type=click.Path(path_type=Path),
    required=True,
    help="The rows that `stressreel permute` wrote, with answers: permuted, seed, id, answer.",
)
@click.option(
    "--categories",
    type=click.Path(path_type=Path),
    help="What `stressreel score modalities --items FILE` wrote. [default: all questions as one]",
)
@click.option("--config", help="Table to score, where an output has several with questions. [default: the first]")
@split_option
@first_index_option(": in predictions, and in `answer` of a file of your own questions")
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path,
    original: tuple[Path, ...],
    permuted: Path,
    categories: Path | None,
    config: str | None,
    split: str | None,
    first_index: str,
    as_json: bool,
    debug: bool,
) -> None:
    """Score answers to permuted sets of OUT's questions by modality importance (Park et al. 2025, Table 3).

    OUT is an output, or a file of your own questions with id, answer and options. The accuracy as asked, with the text
    and with the video of another item, and the differences; the mean ± the standard deviation over runs and sets.
    """
    from ..api import items_of_output
    from ..metrics.feature_permutation import categories_of, permutation_table, permuted_sets
    from ..metrics.items import judge, read_items
    from ..metrics.predictions import read_predictions
    from ..metrics.scores import cell_json, counts_line, dump, text_table

    first = int(first_index)
    items = read_items(out, items_of_output, config, split, first=first)
    kinds = categories_of(read_predictions(categories), items) if categories else []
    asked = {str(file): judge(items, file, first=first) for file in original}
    sets = permuted_sets(read_predictions(permuted), items, first=first)
    table = permutation_table(
        kinds,
        [joined.picks == items.truth for joined in asked.values()],
        {kind: {seed: joined.picks == items.truth for seed, joined in each.items()} for kind, each in sets.items()},
    )
    asked |= {f"{kind} permuted, seed {seed}": joined for kind, each in sets.items() for seed, joined in each.items()}
    answers = {name: joined.summary() for name, joined in asked.items()}
    if as_json:
        rows = [dict(zip(table.headings, map(cell_json, row), strict=True)) for row in table.rows]
        click.echo(dump({"config": items.config, "split": items.split, "answers": answers, table.name: rows}), nl=False)
        return
    for name, summary in answers.items():
        if summary["unreadable"]:
            click.echo(f"{name}: {counts_line(summary, 'answers')}")
    click.echo(text_table(table))

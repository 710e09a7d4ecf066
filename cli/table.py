"""`stressreel table`: several models in one table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click


@click.command("table")
@click.argument("given", nargs=-1, required=True, metavar="[MODEL=]SCORES...")
@click.option("--of", "name", default="headline", show_default=True, help="Table of the scores to show, by its key.")
@click.option("--only", multiple=True, help="Label or column to keep, such as R@5 or γr. May be given several times.")
@click.option("--transpose", is_flag=True, help="Models in rows, scores in columns.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the number of runs.")
@click.option("--figure", type=click.Path(path_type=Path), help="Draw the table as bars to this PNG file.")
@click.option("--against", metavar="SCORE", help="With --figure: draw the scores of each model against this one.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    given: tuple[str, ...],
    name: str,
    only: tuple[str, ...],
    transpose: bool,
    markdown: bool,
    as_json: bool,
    figure: Path | None,
    against: str | None,
    debug: bool,
) -> None:
    """Show the scores of several models in one table: the mean ± the standard deviation over each model's runs.

    SCORES are folders that `stressreel score` wrote, on one output. Folders with the same MODEL are its runs; a group
    of models is averaged in the same way. Without MODEL a folder is called by its name. For instance:

    \b
      stressreel table JustAsk=j1.scores JustAsk=j2.scores FrozenBiLM=f1.scores
      stressreel table a.scores b.scores --of families --only R@5 --only γr --only text --transpose
    """  # noqa: D301
    from ..data_cards.model_figures import against_png, models_png
    from ..errors import UsageError
    from ..metrics.folder import Scored, read_scores
    from ..metrics.model_table import model_table
    from ..metrics.scores import cell_json, dump, markdown_table, text_table
    from ..records.files import write_atomic

    if against is not None and figure is None:
        raise click.UsageError("--against draws a picture: give --figure FILE.png.")
    if markdown and as_json:
        raise click.UsageError("Give either --markdown or --json.")
    models: dict[str, list[Scored]] = {}
    seen: set[tuple[str, Path]] = set()
    for text in given:
        model, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            model, path = Path(text).resolve().name.removesuffix(".scores"), text
        if not model.strip() or not path:
            raise click.UsageError(f"{text!r} is not MODEL=SCORES, such as JustAsk=answers.scores.")
        if (model.strip(), Path(path).resolve()) in seen:
            raise click.UsageError(f"{path} is given twice as a run of {model.strip()}.")
        seen.add((model.strip(), Path(path).resolve()))
        models.setdefault(model.strip(), []).append(replace(read_scores(Path(path)), name=path))
    if figure is not None:
        if figure.suffix.lower() != ".png":
            raise UsageError(f"{figure} must end in .png. Give another with --figure.")
        if any(figure.resolve().is_relative_to(Path(text.rpartition("=")[2]).resolve()) for text in given):
            raise UsageError(f"{figure} would lie in a folder of scores. Give another place with --figure.")
    found = model_table(models, name, only)
    picture = None
    if figure is not None:
        picture = models_png(found) if against is None else against_png(found, against)
    table = found.laid_out(models_in_rows=transpose)
    if as_json:
        rows = [
            {"model": model, "score": score, **(cell_json(cell) or {"mean": None, "std": None, "runs": 0})}
            for (score, model), cell in found.cells.items()
        ]
        click.echo(
            dump({"title": found.title, "std": "settings" if found.over_settings else "runs", "rows": rows}), nl=False
        )
    else:
        click.echo(markdown_table(table) if markdown else text_table(table))
    if figure is not None and picture is not None:
        write_atomic(figure, picture)
        click.echo(f"Wrote {figure}", err=as_json)

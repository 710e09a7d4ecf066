"""`stressreel compare`: whether two models differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .completion import complete_tables
from .score_options import bootstrap_options, first_index_option, split_option

if TYPE_CHECKING:
    from ..metrics.folder import Scored
    from ..metrics.inputs import ScoreOptions


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option("--on", type=click.Path(path_type=Path), help="Output that A and B are predictions for.")
@click.option(
    "--config",
    shell_complete=complete_tables,
    help="With --on: table to score. [default: the first]",
)
@split_option
@first_index_option(", in predictions for --on")
@bootstrap_options
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    a: Path,
    b: Path,
    on: Path | None,
    config: str | None,
    split: str | None,
    first_index: str,
    seed: int,
    resamples: int,
    as_json: bool,
    debug: bool,
) -> None:
    """Compare two models: the differences B - A of all scores, with paired intervals.

    A and B are folders that `stressreel score` wrote, or predictions files (or folders of similarities) with --on OUT;
    open-ended scores are compared by their folders. The folders may be of two tables of one output that ask the same
    questions, such as hard negatives and causal confusion: they are paired by the questions' ids.
    """
    from ..api import measure_of
    from ..errors import InputError
    from ..metrics.bootstrap import differences, estimates
    from ..metrics.folder import pair_up
    from ..metrics.inputs import ScoreOptions
    from ..metrics.scores import Cell, Table, cell_json, dump, interval_line, text_table

    if on is None and (config or split):
        raise click.UsageError("--config and --split go with --on OUT; scores know theirs.")
    options = ScoreOptions(first=int(first_index), seed=seed, resamples=resamples, config=config)
    one, other = (read(path, on, split, options) for path in (a, b))
    first, second, notes = pair_up(one, other)
    try:
        measure = measure_of(one.about["benchmark"], first.cells)
        left = estimates(first, measure, seed=seed, resamples=resamples)
        right = estimates(second, measure, seed=seed, resamples=resamples)
        difference = differences(first, second, measure, seed=seed, resamples=resamples)
    except (LookupError, ValueError) as error:
        raise InputError(
            f"{a} and {b} cannot be compared ({type(error).__name__}: {error}): what they share is no score of "
            f"{one.about['benchmark']!r}. Score both again."
        ) from error
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, left[name].value, right[name].value, gap, verdict(gap.low, gap.high)) for name, gap in difference.items()
    )
    interval = {"sources": len(first.sources), "resamples": resamples, "seed": seed}
    if as_json:
        keys = ("score", "a", "b", "difference", "verdict")
        listed = [dict(zip(keys, map(cell_json, row), strict=True)) for row in rows]
        click.echo(dump({"a": str(a), "b": str(b), "interval": interval, "scores": listed, "notes": notes}), nl=False)
        return
    title = f"{one.about['benchmark']}, {one.about['split']}: A {one.name}, B {other.name}"
    click.echo(text_table(Table("compare", title, ("score", "A", "B", "B - A [95 % interval]", "verdict"), rows)))
    click.echo()
    for note in notes:
        click.echo(note)
    click.echo(interval_line(interval))
    click.echo("Each line is a test of its own at 5 %: of many, some differ by chance.")


def read(path: Path, on: Path | None, split: str | None, options: ScoreOptions) -> Scored:
    """Read scores, or score predictions on an output."""
    from ..api import score_output
    from ..metrics.folder import SCORES, Scored, read_scores
    from ..metrics.logs import sample_logs
    from ..metrics.predictions import read_predictions
    from ..records.output import reading

    if on is None or (path / SCORES).is_file():
        return replace(read_scores(path), name=str(path))
    with reading(on) as output:
        folder = path if path.is_dir() and not sample_logs(path) else None
        given = None if folder else read_predictions(path, expected=output.num_rows)
        scored = score_output(output, given, folder, split, options)
    scores = scored.scores
    about = {
        "benchmark": scores.benchmark,
        "config": scored.config,
        "split": scores.split,
        "output": {"fingerprint": output.info["fingerprint"]},
        "answers": scores.answers,
        "headline": list(scores.headline),
    }
    return Scored(str(path), about, scores.tally)


def verdict(low: float, high: float) -> str:
    """Describe what an interval of B - A shows; nothing where there is none."""
    if low > 0:
        return "B higher"
    if high < 0:
        return "A higher"
    if low == high == 0:
        return "equal"
    return "no difference shown" if low <= high else "–"

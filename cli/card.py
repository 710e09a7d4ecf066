"""`stressreel card`: write the dataset card of a finished output again."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("card")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(out: Path, debug: bool) -> None:
    """Write README.md, its figures and croissant.json again, from the shards and build.json in OUT.

    Nothing else in OUT changes, and what you wrote between the marks at the end of README.md stays.
    """
    from ..api import card_of
    from ..builders import benchmark_of
    from ..data_cards.card import write_card
    from ..records.output import reading, writable

    writable(out)
    with reading(out) as output:
        benchmark = benchmark_of(output)
        write_card(output, benchmark.configs(output.info), card_of(benchmark))
    click.echo(f"Wrote {out / 'README.md'}, its figures and croissant.json.")

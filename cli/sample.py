"""`stressreel sample`: write a built-in sample."""

from __future__ import annotations

from pathlib import Path

import click

from ..samples import SAMPLES


@click.command("sample")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(SAMPLES),
    default="charades",
    show_default=True,
    help="Which sample.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(folder: Path, kind: str, debug: bool) -> None:
    """Write a built-in sample into FOLDER: annotations in the real format and videos drawn by stressreel."""
    from ..samples.cache import write_sample

    write_sample(kind, folder)
    click.echo(f"wrote the {kind} sample to {folder}")

"""`stressreel list`: what perturbations there are."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

HEADINGS = ("name", "family", "scope", "severity 1", "2", "3", "4", "5", "unit")


@click.command("list")
@click.argument("kind", type=click.Choice(["visual", "text"]))
@click.option("--json", "as_json", is_flag=True, help="Print the declarations as JSON.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(kind: str, as_json: bool, debug: bool) -> None:
    """List the perturbations of KIND: families, levels, where they come from, what differs from the released code."""
    from ..corruptions.registry import SEVERITIES, list_corruptions

    corruptions = list_corruptions(kind)
    if as_json:
        click.echo(json.dumps([asdict(corruption) for corruption in corruptions], indent=2, ensure_ascii=False))
        return
    rows = [HEADINGS] + [(c.name, c.family, c.scope, *map(c.level, SEVERITIES), c.unit) for c in corruptions]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    click.echo("\nWhere the levels come from, and what differs from the released code:")
    for corruption in corruptions:
        click.echo(f"  {corruption.name}: {corruption.source}; {corruption.differs}")
        if corruption.grows:
            click.echo(f"    severity: {corruption.grows}")

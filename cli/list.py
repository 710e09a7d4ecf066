"""`stressreel list`: what perturbations, benchmarks and options there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from ..builders import benchmark_names, load_benchmark
from ..records.options import RunOptions, option_table

if TYPE_CHECKING:
    from ..corruptions.registry import TextCorruption, VisualCorruption


@click.command("list")
@click.argument("kind", type=click.Choice(["benchmarks", "options", "visual", "text"]))
@click.option("--json", "as_json", is_flag=True, help="Print the declarations as JSON.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(kind: str, as_json: bool, debug: bool) -> None:
    """List what there is of a KIND.

    visual and text are perturbations: families, what they do, levels, sources, what differs from the released code.
    options are those of every build command, in Markdown.
    """
    from ..corruptions.registry import list_corruptions

    if kind in ("benchmarks", "options"):
        found = [load_benchmark(name) for name in benchmark_names()]
        if as_json:
            listed = [{"name": one.name, "summary": one.summary, "sample": dict(one.sample)} for one in found]
            click.echo(json.dumps(listed, indent=2, ensure_ascii=False))
        elif kind == "benchmarks":
            _table([(one.name, one.summary) for one in found])
        else:
            click.echo(options_page())
        return
    if as_json:
        declared = [asdict(corruption) for corruption in list_corruptions(kind)]
        click.echo(json.dumps(declared, indent=2, ensure_ascii=False))
    elif kind == "visual":
        _show_visual(list_corruptions("visual"))
    else:
        _show_text(list_corruptions("text"))


def options_page() -> str:
    """Write the options of every benchmark, as `docs/options.md` has them."""
    parts = ["# Options of the build commands\n\nWritten by `stressreel list options`."]
    for name in benchmark_names():
        benchmark = load_benchmark(name)
        parts.append(f"## {name}\n\n{benchmark.summary}\n\n{option_table(benchmark.settings)}")
    parts.append(f"## Of every build\n\nNothing here changes the content.\n\n{option_table(RunOptions)}")
    return "\n\n".join(parts)


def _show_visual(corruptions: Sequence[VisualCorruption]) -> None:
    from ..corruptions.registry import SEVERITIES

    headings = ("name", "family", "scope", "severity 1", "2", "3", "4", "5", "unit")
    _table([headings, *((c.name, c.family, c.scope, *map(c.level, SEVERITIES), c.unit) for c in corruptions)])
    click.echo("\nWhere the levels come from, and what differs from the released code:")
    for corruption in corruptions:
        click.echo(f"  {corruption.name}: {corruption.source}; {corruption.differs}")
        if corruption.grows:
            click.echo(f"    severity: {corruption.grows}")


def _show_text(corruptions: Sequence[TextCorruption]) -> None:
    headings = ("name", "family", "kind", "needs", "what it does")
    _table([headings, *((c.name, c.family, c.kind, ", ".join(c.needs) or "-", c.does) for c in corruptions)])
    click.echo("\nWhere they come from, and what differs from the released code:")
    for corruption in corruptions:
        click.echo(f"  {corruption.name}: {corruption.source}; {corruption.differs}")


def _table(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

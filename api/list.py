"""List what perturbations, benchmarks and options there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ..builders import benchmark_names, load_benchmark
from ..core.functions import public
from ..core.options import RunOptions, option_table
from ..core.results import Result, Table, text_table

if TYPE_CHECKING:
    from ..corruptions.registry import TextCorruption, VisualCorruption


@dataclass(frozen=True)
class Listing(Result):
    """What there is of a kind.

    Attributes:
        table: The table.
        text: What the command prints.
        declared: All that is declared, as JSON values.
    """

    table: Table
    text: str
    declared: list[dict[str, Any]]

    def as_tables(self) -> tuple[Table, ...]:
        """Return the table."""
        return (self.table,)

    def as_json(self) -> list[dict[str, Any]]:
        """Return all that is declared."""
        return self.declared

    def __str__(self) -> str:
        return self.text


@public
def list_(kind: Literal["benchmarks", "options", "visual", "text"]) -> Listing:
    """List what there is of a `kind`.

    visual and text are perturbations: families, what they do, levels, sources, what differs from the released code.
    options are those of every build command, in Markdown.

    Args:
        kind: What is listed.

    Raises:
        UsageError: There is no such kind.
    """
    if kind == "benchmarks":
        return list_benchmarks()
    if kind == "options":
        return replace(list_benchmarks(), text=options_page())
    return _visual() if kind == "visual" else _text()


@public
def list_benchmarks() -> Listing:
    """List the benchmarks: ours and those of installed packages."""
    found = [load_benchmark(name) for name in benchmark_names()]
    width = max(len(one.name) for one in found)
    return Listing(
        Table("benchmarks", "", ("name", "summary"), tuple((one.name, one.summary) for one in found)),
        "\n".join(f"{one.name:{width}}  {one.summary}" for one in found),
        [{"name": one.name, "summary": one.summary, "sample": dict(one.sample)} for one in found],
    )


def options_page() -> str:
    """Write the options of every benchmark, as `docs/options.md` has them."""
    parts = ["# Options of the build commands\n\nWritten by `stressreel list options`."]
    for name in benchmark_names():
        benchmark = load_benchmark(name)
        parts.append(f"## {name}\n\n{benchmark.summary}\n\n{option_table(benchmark.settings)}")
    parts.append(f"## Of every build\n\nNothing here changes the content.\n\n{option_table(RunOptions)}")
    return "\n\n".join(parts)


def _visual() -> Listing:
    from ..corruptions.registry import SEVERITIES, list_corruptions

    listed = list_corruptions("visual")
    headings = ("name", "family", "scope", "severity 1", "2", "3", "4", "5", "unit")
    rows = tuple((c.name, c.family, c.scope, *map(c.level, SEVERITIES), c.unit) for c in listed)
    return _perturbations(Table("visual", "", headings, rows), "Where the levels come from", listed)


def _text() -> Listing:
    from ..corruptions.registry import list_corruptions

    listed = list_corruptions("text")
    headings = ("name", "family", "kind", "needs", "what it does")
    rows = tuple((c.name, c.family, c.kind, ", ".join(c.needs) or "-", c.does) for c in listed)
    return _perturbations(Table("text", "", headings, rows), "Where they come from", listed)


def _perturbations(table: Table, origin: str, listed: Sequence[VisualCorruption | TextCorruption]) -> Listing:
    """Put a table of perturbations together with where they come from."""
    declared = [asdict(each) for each in listed]
    lines = [text_table(table), "", f"{origin}, and what differs from the released code:"]
    for each in declared:
        lines.append(f"  {each['name']}: {each['source']}; {each['differs']}")
        if each.get("grows"):
            lines.append(f"    severity: {each['grows']}")
    return Listing(table, "\n".join(lines), declared)

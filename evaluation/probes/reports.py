"""What `quag` tells about a run: which layers were reached, and what each quadrant held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .quadrants import Quadrant, quadrant_name


@dataclass(frozen=True)
class QuadrantShare:
    """What a quadrant held, over all runs of a layer; rows of padding and of tokens labelled 0 are left out.

    Attributes:
        rows: Share of rows (a query in a head) that have the quadrant's label and see a key of its other label.
        before: Share of all attention that lay in the quadrant.
        after: The same after the operation; "average" does not change it.
    """

    rows: float
    before: float
    after: float


@dataclass(frozen=True)
class LayerReport:
    """What happened in one attention module.

    Attributes:
        name: The module's name in the model.
        runs: How often it ran.
        hits: How often its attention was reached.
        quadrants: What each quadrant held, by its name ("VT"); of every pair of labels, not only of those operated on.
        moved: Mean total variation distance between a row's weights before and after, 0 to 1. 0: the operation did
            nothing, as where its quadrants are empty (video queries of a causal decoder with the text behind).
        emptied: Rows that "knockout" left without anything.
        other: Softmaxes in the module whose axes match no labels, which were left alone, by shape.
    """

    name: str
    runs: int
    hits: int
    quadrants: Mapping[str, QuadrantShare]
    moved: float
    emptied: int
    other: tuple[tuple[int, ...], ...]


@dataclass
class LayerTally:
    """Sums of one layer while a model runs."""

    name: str
    runs: int = 0
    hits: int = 0
    emptied: int = 0
    rows: float = 0.0
    moved: float = 0.0
    cells: dict[Quadrant, list[float]] = field(default_factory=dict)
    other: set[tuple[int, ...]] = field(default_factory=set)

    def add(self, quadrant: Quadrant, rows: float, before: float, after: float) -> None:
        """Add what a quadrant held in one run."""
        sums = self.cells.setdefault(quadrant, [0.0, 0.0, 0.0])
        for place, value in enumerate((rows, before, after)):
            sums[place] += value

    def report(self) -> LayerReport:
        """Divide the sums by the rows."""
        rows = self.rows or 1.0
        shares = {
            quadrant_name(quadrant): QuadrantShare(*(value / rows for value in sums))
            for quadrant, sums in sorted(self.cells.items())
        }
        return LayerReport(
            self.name, self.runs, self.hits, shares, self.moved / rows, self.emptied, tuple(sorted(self.other))
        )


@dataclass
class Report:
    """What `quag` did, layer by layer; complete after the `with` block, and readable within.

    Attributes:
        operator: The operator.
        quadrants: Names of the quadrants that it was applied to.
        tallies: Sums by layer, in the order of the model's modules.
    """

    operator: str
    quadrants: tuple[str, ...]
    tallies: dict[str, LayerTally] = field(default_factory=dict)

    @property
    def layers(self) -> tuple[LayerReport, ...]:
        """The layers that were asked for."""
        return tuple(tally.report() for tally in self.tallies.values())

    @property
    def moved(self) -> float:
        """Mean of what was moved in a row over all layers; 0: nothing was changed anywhere."""
        rows = sum(tally.rows for tally in self.tallies.values())
        return sum(tally.moved for tally in self.tallies.values()) / rows if rows else 0.0

    def __str__(self) -> str:
        """Write a table, one line a layer."""
        lines = [f"{self.operator} of {', '.join(self.quadrants)}"]
        for layer in self.layers:
            shares = ", ".join(
                f"{name} {share.before:.1%} → {share.after:.1%} in {share.rows:.0%} of rows"
                for name, share in layer.quadrants.items()
            )
            emptied = f", {layer.emptied:,} rows emptied" if layer.emptied else ""
            lines.append(f"{layer.name}: {layer.hits} of {layer.runs}, moved {layer.moved:.4f}{emptied}; {shares}")
        return "\n".join(lines)

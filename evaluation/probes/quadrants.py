"""Define modalities, quadrants, short-circuits and operators, and report how much attention each quadrant has.

See Rawal et al. 2024, §2.2 and §2.3. A quadrant is a pair (label of the queries, label of the keys). For example, "VT"
contains the weights of video queries on text keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...core.errors import UsageError

NEITHER, VIDEO, TEXT = 0, 1, 2
"""Labels of tokens. The paper has two modalities, and higher integers stand for others."""

Quadrant = tuple[int, int]
Quadrants = frozenset[Quadrant]

LETTERS: Mapping[str, int] = {"V": VIDEO, "T": TEXT}
SHORT_CIRCUITS: Mapping[str, tuple[str, ...]] = {
    "unimodal": ("VV", "TT"),
    "crossmodal": ("VT", "TV"),
    "video": ("VV", "TV"),
    "text": ("TT", "VT"),
    "all": ("VV", "VT", "TV", "TT"),
}
"""The paper's four short-circuits, and all quadrants at once."""
OPERATORS = ("average", "knockout", "merge")


def quadrants_of(what: str | Iterable[str | Quadrant]) -> Quadrants:
    """Parse the name of a short-circuit, or one or more quadrants.

    Args:
        what: A name in `SHORT_CIRCUITS`, a quadrant such as "VT", or several quadrants, each given by letters or as a
            pair of labels (query, key). Pairs can include further modalities, which have no letters.

    Raises:
        UsageError: A name or quadrant is unknown, a label is below 1, or no quadrant is given.
    """
    if isinstance(what, str):
        quadrants = frozenset(map(_pair, SHORT_CIRCUITS.get(what, (what,))))
    else:
        quadrants = frozenset(map(_pair, what))
    if not quadrants:
        raise UsageError("no quadrants were given. Allowed: " + _allowed())
    return quadrants


def quadrant_name(quadrant: Quadrant) -> str:
    """Return the name of a quadrant, such as "VT", or "3-2" if a label has no letter."""
    letters = {label: letter for letter, label in LETTERS.items()}
    if all(label in letters for label in quadrant):
        return "".join(letters[label] for label in quadrant)
    return "-".join(map(str, quadrant))


def checked_operator(operator: str) -> str:
    """Return the operator unchanged, or raise UsageError if it is unknown."""
    if operator not in OPERATORS:
        raise UsageError(f"unknown operator {operator!r}. Allowed: {', '.join(OPERATORS)}.")
    return operator


def _pair(quadrant: str | Quadrant) -> Quadrant:
    if isinstance(quadrant, str):
        if len(quadrant) == 2 and set(quadrant) <= set(LETTERS):
            return LETTERS[quadrant[0]], LETTERS[quadrant[1]]
    elif len(quadrant) == 2 and all(int(label) == label and label > NEITHER for label in quadrant):
        return int(quadrant[0]), int(quadrant[1])
    raise UsageError(f"unknown quadrant {quadrant!r}. Allowed: {_allowed()}")


def _allowed() -> str:
    names = ", ".join((*SHORT_CIRCUITS, *SHORT_CIRCUITS["all"]))
    return f"{names}; or pairs of labels (query, key) of 1 or more."


@dataclass(frozen=True)
class QuadrantShare:
    """Attention in a quadrant over all runs of a layer, excluding rows of padding and of tokens labelled 0.

    Attributes:
        rows: Share of rows (a query in a head) with the quadrant's query label and a visible key of its key label.
        before: Share of all attention before the operation.
        after: Share of all attention after the operation. "average" does not change it.
    """

    rows: float
    before: float
    after: float


@dataclass(frozen=True)
class LayerReport:
    """Statistics of one attention module under `quag`.

    Attributes:
        name: Name of the module in the model.
        hits: Number of runs in which the attention was reached.
        quadrants: Shares by quadrant name ("VT"), for every pair of labels.
        moved: Mean total variation distance between a row's weights before and after, 0 to 1. It is 0 if nothing
            changed, for example because the quadrants are empty (video queries before the text in a causal decoder).
        emptied: Number of rows that "knockout" left without weights.
        other: Shapes of softmaxes in the module that match no labels and were not changed.
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
    """Sums over the runs of one layer."""

    name: str
    runs: int = 0
    hits: int = 0
    emptied: int = 0
    rows: float = 0.0
    moved: float = 0.0
    cells: dict[Quadrant, list[float]] = field(default_factory=dict)
    other: set[tuple[int, ...]] = field(default_factory=set)

    def add(self, quadrant: Quadrant, rows: float, before: float, after: float) -> None:
        """Add the attention in one quadrant during one run."""
        sums = self.cells.setdefault(quadrant, [0.0, 0.0, 0.0])
        for index, value in enumerate((rows, before, after)):
            sums[index] += value

    def report(self) -> LayerReport:
        """Return the report of the layer, with sums divided by the number of rows."""
        rows = self.rows or 1.0
        shares = {
            quadrant_name(quadrant): QuadrantShare(*(value / rows for value in sums))
            for quadrant, sums in sorted(self.cells.items())
        }
        return LayerReport(
            self.name, self.runs, self.hits, shares, self.moved / rows, self.emptied, tuple(sorted(self.other))
        )


@dataclass
class QuagReport:
    """Statistics of every layer that `quag` impairs. They are complete after the `with` block.

    Attributes:
        tallies: Sums by layer, in the order of the model's modules.
    """

    operator: str
    quadrants: tuple[str, ...]
    tallies: dict[str, LayerTally] = field(default_factory=dict)

    @property
    def layers(self) -> tuple[LayerReport, ...]:
        """The report of each selected layer."""
        return tuple(tally.report() for tally in self.tallies.values())

    @property
    def moved(self) -> float:
        """Mean of `moved` over all rows and layers."""
        rows = sum(tally.rows for tally in self.tallies.values())
        return sum(tally.moved for tally in self.tallies.values()) / rows if rows else 0.0

    def __str__(self) -> str:
        lines = [f"{self.operator} of {', '.join(self.quadrants)}"]
        for layer in self.layers:
            shares = ", ".join(
                f"{name} {share.before:.1%} → {share.after:.1%} in {share.rows:.0%} of rows"
                for name, share in layer.quadrants.items()
            )
            emptied = f", {layer.emptied:,} rows emptied" if layer.emptied else ""
            lines.append(f"{layer.name}: {layer.hits} of {layer.runs}, moved {layer.moved:.4f}{emptied}; {shares}")
        return "\n".join(lines)

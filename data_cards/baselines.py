"""The table of what blind baselines score, the same in every card; a card never runs what an extra would have to bring.

Baselines of cards need NumPy alone. Those that need scikit-learn or embeddings are the business of `stressreel audit`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.markdown import Written, as_text
from ..core.results import Estimate

Cell = Estimate | float | str | None
"""A share with its interval, a share alone, a text, or nothing."""


def baseline_table(rows: Mapping[str, Mapping[str, Cell]], first: str = "baseline") -> Written:
    """Write a table with a row for each baseline, or for each part of the questions, and a column for each score.

    Args:
        rows: The cells by the name of the row and of the column; all rows have the columns of the first.
        first: The heading of the names.
    """
    columns = list(next(iter(rows.values()), {}))
    lines = [[first, *columns], ["---", *["--:"] * len(columns)]]
    lines += [[name, *(_written(cells[column]) for column in columns)] for name, cells in rows.items()]
    rules = f"|{'|'.join(lines[1])}|"
    written = [f"| {' | '.join(map(as_text, line))} |" for line in lines]
    return Written("\n".join([written[0], rules, *written[2:]]))


def _written(cell: Cell) -> str:
    """Write a share in percent."""
    if isinstance(cell, Estimate):
        return f"{_percent(cell.value)} ({_percent(cell.low)} to {_percent(cell.high)})"
    return "–" if cell is None else cell if isinstance(cell, str) else _percent(cell)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"

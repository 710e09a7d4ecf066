"""Scores of multiple choice about causes, with explanations.

CausalChaos (Parmar et al. 2024), section 4, Tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...metrics.bootstrap import Floats, Means, Tally, tally
from ...metrics.predictions import MISSING
from ...metrics.scores import Cell, Table

RIGHT = "right answer"


def count(
    sources: Sequence[str],
    answer: tuple[NDArray[np.int64], NDArray[np.int64]],
    explanation: tuple[NDArray[np.int64], NDArray[np.int64]] | None,
    kinds: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> Tally:
    """Sum what is right, and which kind of option was chosen, by source video.

    Args:
        sources: The source video of each question.
        answer: Picks (-1 unreadable, -2 missing) and right options, for answers.
        explanation: The same for explanations; None if they are not asked.
        kinds: Under "A" and "E": for each question the kind of each option, such as "hard" or "negation"; the right
            option's is not looked at.

    Returns:
        Cells "A", "E" and "A+E" (both right; a question without one of the two picks is left out), and
        "A chose <kind>" over the questions that have an option of the kind.
    """
    names = sorted(set(sources))
    position = {name: number for number, name in enumerate(names)}
    where = np.array([position[name] for name in sources], np.intp)
    cells: dict[str, tuple[NDArray[np.intp], Floats]] = {}
    asked = {"A": answer} | ({"E": explanation} if explanation else {})
    for letter, (picks, truth) in asked.items():
        there = picks != MISSING
        cells[letter] = (where[there], (picks == truth)[there].astype(np.float64))
    if explanation:
        there = (answer[0] != MISSING) & (explanation[0] != MISSING)
        both = (answer[0] == answer[1]) & (explanation[0] == explanation[1])
        cells["A+E"] = (where[there], both[there].astype(np.float64))
    for letter, of_options in (kinds or {}).items():
        picks, truth = asked[letter]
        found = sorted(
            {kind for row, right in zip(of_options, truth, strict=True) for at, kind in enumerate(row) if at != right}
        )
        for kind in found:
            offered, chosen = [], []
            for number, row in enumerate(of_options):
                at = {place for place, name in enumerate(row) if name == kind and place != truth[number]}
                if at and picks[number] != MISSING:
                    offered.append(where[number])
                    chosen.append(float(int(picks[number]) in at))
            cells[f"{letter} chose {kind}"] = (np.array(offered, np.intp), np.array(chosen, np.float64))
    return tally(names, cells)


def measure(means: Means) -> dict[str, Floats]:
    """Give A (protocol 1), E, and A+E (protocol 2)."""
    return {name: means[name] for name in ("A", "E", "A+E") if name in means}


def tables(counted: Tally) -> tuple[Table, ...]:
    """Say how often each kind of wrong option was chosen, of the questions that offer one."""
    means = counted.means(np.ones((1, len(counted.sources))))
    totals = counted.totals()
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (*name.split(" chose ", 1), float(means[name][0]), totals[name]) for name in counted.cells if " chose " in name
    )
    if not rows:
        return ()
    return (
        Table("kinds", "Wrong options chosen, by kind", ("asked", "kind", "chosen", "questions that offer one"), rows),
    )

"""Read the options of an output that was built on another machine, where rounding may change which ones are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...core.output import FinishedOutput
from ...core.schema import Row
from ...negatives.options import ROOM, GivenOptions, Negative, shuffled
from .settings import CausalSettings
from .tables import CONFUSED, NAMES, RIGHT, Target


@dataclass(frozen=True)
class Given:
    """The rows of the tables with options, by table and question."""

    tables: Mapping[str, Mapping[str, Row]]
    settings: CausalSettings

    @classmethod
    def read(cls, output: FinishedOutput, settings: CausalSettings) -> Given:
        """Read the rows of an output."""
        names = [name for name in (*settings.schemes, CONFUSED) if name in output.info["counts"]]
        return cls({name: {row["qid"]: row for row in output.rows(name)} for name in names}, settings)

    def mined(self, table: str) -> GivenOptions:
        """Return the distractors of a table in the order in which they were chosen."""
        rows = self.tables.get(table, {})
        return GivenOptions(
            {target: {qid: self._negatives(row, target) for qid, row in rows.items()} for target in NAMES},
            frozenset(qid for qid, row in rows.items() if row["blind_guessable"]),
        )

    def _negatives(self, row: Row, target: Target) -> list[Negative]:
        options, index, sources = (row[name] for name in NAMES[target])
        order = shuffled(len(options), self.settings.seed, row["qid"], target, index)
        found = {
            number: Negative(source["qid"], text, 0.0, 0.0, 0.0, source["kind"])
            for number, text, source in zip(order, options, sources, strict=False)
            if source["kind"] != RIGHT
        }
        return [found[number] for number in sorted(found)]

    def options(self, target: Target) -> dict[str, Sequence[str]]:
        """Return the options with confusions, by question."""
        return {qid: row[NAMES[target][0]] for qid, row in self.tables.get(CONFUSED, {}).items()}

    def rounded(self, table: str, row: Row) -> Row:
        """Return a row with the cosines of the output, where they differ from its own only by rounding."""
        there = self.tables.get(table, {}).get(row["qid"], {})
        return {**row, **{name: self._rounded(row[name], there.get(name, ())) for _, _, name in NAMES.values()}}

    def _rounded(self, own: Sequence[Row], there: Sequence[Row]) -> list[Row]:
        if len(own) != len(there):
            return list(own)
        room = {"cos_question": ROOM, "cos_text": ROOM, "score": 3 * ROOM * self.settings.alpha}
        return [
            {**one, **{name: other[name] for name in room if _near(one[name], other[name], room[name])}}
            for one, other in zip(own, there, strict=True)
        ]


def _near(one: float | None, other: float | None, room: float) -> bool:
    return one is not None and other is not None and abs(one - other) <= room

"""Write a built-in sample, or draw a dataset of any number of videos."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args

from ..core.errors import UsageError
from ..core.functions import public
from ..core.results import Result, Table
from ..core.settings import Count, OptionalPath, Seed, Workers, parsed

Kind = Literal["charades", "msrvtt", "causal", "agqa"]
SHOWN = 8  # values of a factor


@dataclass(frozen=True)
class Sample(Result):
    """Result of `sample`, with the folder that was written.

    Attributes:
        folder: The folder, or None if only factors were listed.
        count: Number of drawn videos, or None for the built-in sample.
        factors: Values of each factor, by name, if they were listed.
    """

    kind: str
    folder: Path | None
    count: int | None = None
    factors: Mapping[str, tuple[str, Sequence[str]]] | None = None

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table of the factors, if they were listed."""
        if self.factors is None:
            return ()
        rows = []
        for name, (meaning, values) in self.factors.items():
            listed = [f"{number} {value}" for number, value in enumerate(values, 1)]
            shown = listed if len(listed) <= SHOWN else [*listed[:3], "…", listed[-1]]
            rows.append((name, len(values), meaning, "; ".join(shown)))
        return (Table("factors", "", ("factor", "values", "meaning", "list"), tuple(rows)),)

    def __str__(self) -> str:
        if self.folder is None:
            return super().__str__()
        what = f"the {self.kind} sample" if self.count is None else f"{self.count:,} drawn videos ({self.kind})"
        return f"wrote {what} to {self.folder}"


def read_factors(value: object) -> str:
    """Return the values of factors unchanged, or raise ValueError if they are not allowed."""
    from ..annotations.world.factors import read_fixed

    if not isinstance(value, str):
        raise ValueError("must be a text such as room=1,people=2")
    read_fixed(value)
    return value


@public
def sample(
    folder: OptionalPath = None,
    *,
    kind: Kind = "charades",
    count: Count | None = None,
    seed: Seed | None = None,
    workers: Workers = None,
    fix: Annotated[str | None, parsed(read_factors, metavar="FACTOR=VALUE,…")] = None,
    list_factors: bool = False,
) -> Sample:
    """Write the built-in sample, or draw any number of videos with annotations.

    With --count, videos of 12 to 24 seconds are drawn, whose rooms, people, actions, cameras, light and other factors
    vary independently. Beside the annotations in the format of the dataset, world.parquet tells for every frame which
    pixels each object has, and what the people do. The drawn videos may be redistributed under CC BY 4.0. The same
    options give the same bytes, whatever the number of workers. An interrupted run is continued.

    For example::

        stressreel sample charades
        stressreel sample world --kind charades --count 500 --seed 1
        stressreel sample --list-factors
        stressreel sample kitchens --count 100 --fix room=1,people=2

    Args:
        folder: Target folder.
        kind: Dataset whose format the annotations have; `agqa` adds Action Genome's to those of Charades.
        count: Number of videos to draw (default: the built-in sample, which has ten).
        seed: Seed of what is drawn (default: 0). Ids of videos contain it.
        workers: Number of processes that draw videos.
        fix: Restrict factors to one value or to a range, by number, such as room=1-6,people=2.
        list_factors: List the factors and their values instead.

    Raises:
        UsageError: An option has no effect, or the folder is missing.
        InputError: The folder is not empty, and was not drawn with the same options and version.
        OutputError: The folder cannot be written.
    """
    from ..annotations.samples import SAMPLES, write_sample
    from ..annotations.world.factors import factors, read_fixed
    from ..annotations.world.writer import KINDS, World, write_world

    drawing = {"--seed": seed, "--workers": workers, "--fix": fix}
    unused = [flag for flag, value in drawing.items() if value is not None and (count is None or list_factors)]
    if list_factors:
        unused += [flag for flag, value in {"FOLDER": folder, "--count": count}.items() if value is not None]
        if unused:
            raise UsageError(f"{', '.join(unused)} cannot be combined with --list-factors, which draws nothing.")
        return Sample(kind, None, None, {each.name: (each.meaning, each.values) for each in factors().values()})
    if folder is None:
        raise UsageError("name the folder to write, such as `stressreel sample world --count 500`.")
    if unused:
        raise UsageError(f"{', '.join(unused)} has no effect on the built-in sample. Add --count, such as --count 500.")
    if count is None:
        if kind not in SAMPLES:
            names = ", ".join(name for name in get_args(Kind) if name in SAMPLES)
            raise UsageError(f"there is no built-in sample of kind {kind}. Add --count, or choose from {names}.")
        write_sample(kind, Path(folder))
    else:
        fixed, used = read_fixed(fix or ""), KINDS[kind].used or factors()
        if unused := [name for name in fixed if name not in used]:
            raise UsageError(
                f"--fix {', '.join(unused)} has no effect on --kind {kind}. Choose from {', '.join(used)}."
            )
        world = World(kind, count, seed or 0, {**KINDS[kind].fixed, **fixed})
        write_world(Path(folder), world, workers or os.cpu_count() or 1)
    return Sample(kind, Path(folder), count)

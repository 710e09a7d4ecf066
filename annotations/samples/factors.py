"""Draw what varies between the videos of the drawn world, from `world.yaml`.

Videos come in pairs, 2n and 2n + 1, which show the same actions in the same places in the opposite order, so that none
comes first more often than second. Everything else is drawn for each video.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

from ...core.documents import package_table
from ...core.errors import UsageError
from ...core.numerics import rng_for

CALLS = ("none", "begins before the first action", "ends after the first action", "begins before the second action",
         "ends after the second action", "lasts throughout")  # fmt: skip
MOMENTS = ("during the first action", "in between", "during the second action")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


@cache
def world() -> Mapping[str, Any]:
    """Return the content of `world.yaml`."""
    table: Mapping[str, Any] = package_table(Path(__file__).with_name("world.yaml"))
    return table


@dataclass(frozen=True)
class Factor:
    """Something that varies between videos.

    Attributes:
        values: What it may be. Values are drawn evenly.
        meaning: What the factor determines.
        mirrored: Function that returns the value's index in the second video of a pair, given that in the first. None
            if the second is drawn independently.
    """

    name: str
    values: tuple[str, ...]
    meaning: str
    mirrored: Callable[[int], int] | None = None


def _triples(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(", ".join(triple) for triple in permutations(names, 3))


def _swapped(values: Sequence[str]) -> Callable[[int], int]:
    """Exchange the first two elements of a triple."""

    def swap(index: int) -> int:
        first, second, third = values[index].split(", ")
        return values.index(f"{second}, {first}, {third}")

    return swap


@cache
def factors() -> dict[str, Factor]:
    """Return all factors by name."""
    table = world()
    carried = table["under"]
    furniture = tuple(
        triple for triple in _triples(list(table["furniture"]))
        if not any(carried.get(name) in triple.split(", ") for name in triple.split(", "))
    )  # fmt: skip
    places = _triples(list(table["places"]))
    acts = tuple(f"{a}, {b}, {c}" for a in range(6) for b in range(6) for c in range(6))
    free, kept = tuple(table["distractors"]), ("none", "the first", "the second", "both")
    pairs = tuple(f"{a}, {b}" for a in free for b in free)
    listed = (
        Factor("room", tuple(table["rooms"]), "wall, floor and decoration"),
        Factor("people", ("one", "two"), "number of people; the second does one thing"),
        Factor("person", tuple(table["people"]), "looks of the annotated person"),
        Factor("other", tuple(map(str, range(1, len(table["people"])))), "looks of the other person, counted on"),
        Factor("light", tuple(table["lights"]), "light"),
        Factor("camera", tuple(table["cameras"]), "camera position and movement"),
        Factor("foreground", tuple(table["foregrounds"]), "what hides parts of the room"),
        Factor("rate", tuple(table["rates"]), "frames per second"),
        Factor("furniture", furniture, "furniture of the first, second and other action", _swapped(furniture)),
        Factor("places", places, "places of the first, second and other action", _swapped(places)),
        Factor("acts", acts, "which action at each piece of furniture, modulo their number", _swapped(acts)),
        Factor("call", CALLS, "talking on the phone at the same time", (0, 4, 3, 2, 1, 5).__getitem__),
        Factor("distractors", kept, "whether something is done before the first, after the second", (0, 2, 1, 3).__getitem__),
        Factor("done", pairs, "the distractors before the first, after the second", lambda i: pairs.index(", ".join(reversed(pairs[i].split(", "))))),
        Factor("moment", MOMENTS, "when the other person acts", (2, 1, 0).__getitem__),
    )  # fmt: skip
    return {factor.name: factor for factor in listed}


def drawn(seed: int, number: int, fixed: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Draw the index of each factor's value in the video with this number.

    `fixed` lists the indices that are allowed, by factor.
    """
    indices = {}
    for factor in factors().values():
        unit = number if factor.mirrored is None else number // 2
        allowed = fixed.get(factor.name, range(len(factor.values)))
        index = int(allowed[int(rng_for(seed, "world", factor.name, unit).integers(len(allowed)))])
        indices[factor.name] = factor.mirrored(index) if factor.mirrored and number % 2 else index
    return indices

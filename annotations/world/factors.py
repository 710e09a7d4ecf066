"""Draw what varies between the videos of the drawn world, from `world.yaml`.

Videos come in pairs, 2n and 2n + 1, which show the same actions in the same places in the opposite order, so that none
comes first more often than second. Everything else is drawn for each video.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

from ...core.documents import package_table
from ...core.numerics import rng_for

NOTHING = "nothing"
SPANS = (
    *("begins before the first action", "ends after the first action", "begins before the second action"),
    *("ends after the second action", "lasts throughout"),
)
DISTRACTORS = ("none", "first", "last", "both")
MOMENTS = ("during the first action", "in between", "during the second action")
_RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")


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


def _triples(groups: Mapping[str, Sequence[str]], under: Mapping[str, str]) -> tuple[str, ...]:
    """List all triples of members of different groups, of which none is on another."""
    return tuple(
        ", ".join(triple)
        for three in permutations(groups, 3)
        if not any(under.get(name) in three for name in three)
        for triple in product(*(groups[name] for name in three))
    )


def _same(index: int) -> int:
    """Keep a value in both videos of a pair."""
    return index


def _swapped(values: Sequence[str]) -> Callable[[int], int]:
    """Exchange the first two parts of a value."""
    positions = {value: index for index, value in enumerate(values)}

    def swap(index: int) -> int:
        first, second, *rest = values[index].split(", ")
        return positions[", ".join([second, first, *rest])]

    return swap


@cache
def factors() -> dict[str, Factor]:
    """Return all factors by name."""
    table = world()
    actions = _triples(table["furniture"], table["under"])
    places = _triples({name: [name] for name in table["places"]}, {})
    held = (*table["carried"], *(NOTHING,) * table["nothing"])
    done = tuple(", ".join(two) for two in product(table["distractors"], repeat=2))
    listed = (
        Factor("room", tuple(table["rooms"]), "wall, floor and decoration"),
        Factor("people", ("one", "two"), "number of people; the second does one thing"),
        Factor("person", tuple(table["people"]), "looks of the annotated person"),
        Factor("other", tuple(map(str, range(1, len(table["people"])))), "looks of the other person, counted on"),
        Factor("light", tuple(table["lights"]), "light"),
        Factor("camera", tuple(table["cameras"]), "position and movement of the camera"),
        Factor("foreground", tuple(table["foregrounds"]), "what hides parts of the room"),
        Factor("rate", tuple(table["rates"]), "frames per second"),
        Factor("actions", actions, "the first, the second and the other person's action", _swapped(actions)),
        Factor("places", places, "where they are done", _swapped(places)),
        Factor("held", held, "what is done with the other hand at the same time", _same),
        Factor("span", SPANS, "when it is done", (3, 2, 1, 0, 4).__getitem__),
        Factor("distractors", DISTRACTORS, "whether something else is done first or last", (0, 2, 1, 3).__getitem__),
        Factor("done", done, "the distractors", _swapped(done)),
        Factor("moment", MOMENTS, "when the other person acts", (2, 1, 0).__getitem__),
    )
    return {factor.name: factor for factor in listed}


def read_fixed(text: str) -> dict[str, tuple[int, ...]]:
    """Parse values of factors, such as `room=1-6,people=2`: numbers of the list of values, counted from 1.

    Raises:
        ValueError: A factor or a value does not exist, or the second video of a pair would have another value.
    """
    fixed: dict[str, tuple[int, ...]] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, values = map(str.strip, part.partition("="))
        factor = factors().get(name)
        if factor is None or name in fixed:
            raise ValueError(
                f"names {'twice ' if factor else 'an unknown factor, '}{name!r}. The factors are {', '.join(factors())}"
            )
        match = _RANGE.fullmatch(values)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= len(factor.values):
            raise ValueError(
                f"must give {name} a number from 1 to {len(factor.values)}, or a range such as "
                f"1-{len(factor.values)}, not {values!r}"
            )
        fixed[name] = tuple(range(first - 1, last))
        if factor.mirrored and {factor.mirrored(index) for index in fixed[name]} != set(fixed[name]):
            raise ValueError(
                f"cannot restrict {name} to {values}, as the second video of each pair has the opposite order, so that "
                "no action comes first more often. Allow the opposite values as well"
            )
    return fixed


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


def video_id(seed: int, letter: str, number: int) -> str:
    """Return the id of the video with this number. The letter tells the kinds of videos apart."""
    return f"D{seed}{letter}{number:05}"

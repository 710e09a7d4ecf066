"""What perturbations there are: declarations from the data tables, each with its function."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from ..errors import InputError

SEVERITIES = (1, 2, 3, 4, 5)
QUANTISER_LIMIT = 31


@dataclass(frozen=True)
class VisualCorruption:
    """One visual perturbation.

    Attributes:
        name: Name, also of its function and of its config in a dataset.
        family: "noise", "blur", "camera", "digital" or "temporal".
        scope: "frame", "clip", "index" or "file"; see `visual.yaml`.
        unit: What a level's values are.
        levels: The values of severity 1 to 5.
        source: Where the levels come from.
        differs: What differs from the released code.
        grows: Why strength does not simply grow with severity; empty if it does.
        codec: FFmpeg's encoder, if the scope is "file".
    """

    name: str
    family: str
    scope: str
    unit: str
    levels: tuple[tuple[float, ...], ...]
    source: str
    differs: str
    grows: str = ""
    codec: str = ""

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The pure function that does it, from `corruptions/visual/<family>.py`."""
        module = importlib.import_module(f".visual.{self.family}", __package__)
        function: Callable[..., Any] = getattr(module, self.name)
        return function

    @cached_property
    def random(self) -> bool:
        """Whether it draws: its function then takes `rng` last."""
        return "rng" in inspect.signature(self.function).parameters

    def level(self, severity: int) -> str:
        """Write the values of a severity for people: "10, 3"."""
        return ", ".join(f"{value:g}" for value in self.levels[severity - 1])

    def effective_level(self, severity: int) -> str:
        """Write the values that take effect: FFmpeg clamps the quantiser of mpeg1 and mpeg2 to 31."""
        if self.scope != "file":
            return self.level(severity)
        return f"{min(self.levels[severity - 1][0], QUANTISER_LIMIT):g}"


@cache
def visual_corruptions() -> dict[str, VisualCorruption]:
    """Read the declarations of the 18 visual perturbations, by name, in the paper's order."""
    text = (Path(__file__).parent / "visual.yaml").read_text(encoding="utf-8")
    return {
        name: VisualCorruption(name=name, **{**row, "levels": tuple(tuple(level) for level in row["levels"])})
        for name, row in yaml.safe_load(text)["perturbations"].items()
    }


def list_corruptions(kind: str = "visual") -> tuple[VisualCorruption, ...]:
    """List the perturbations of a kind.

    Args:
        kind: "visual".

    Raises:
        InputError: There is no such kind.
    """
    if kind != "visual":
        raise InputError(f"there is no kind of perturbation {kind!r}. Kinds: visual.")
    return tuple(visual_corruptions().values())


def select_corruptions(names: Sequence[str]) -> tuple[VisualCorruption, ...]:
    """Choose perturbations by name, by family or by the word "all"; each once, in the paper's order.

    Raises:
        InputError: A name is none of these; the message suggests the nearest.
    """
    known = visual_corruptions()
    wanted: set[str] = set()
    for name in names:
        members = [c.name for c in known.values() if name in (c.name, c.family, "all")]
        if not members:
            raise InputError(_unknown(name, [*known, *(c.family for c in known.values())]))
        wanted.update(members)
    return tuple(corruption for corruption in known.values() if corruption.name in wanted)


def check_name(name: str) -> VisualCorruption:
    """Return the perturbation of a name.

    Raises:
        InputError: There is none of that name.
    """
    if name not in visual_corruptions():
        raise InputError(_unknown(name, list(visual_corruptions())))
    return visual_corruptions()[name]


def check_severity(severity: int, name: str) -> int:
    """Return a severity that is one.

    Raises:
        InputError: It is not 1, 2, 3, 4 or 5.
    """
    if isinstance(severity, bool) or severity not in SEVERITIES:
        raise InputError(f"severity must be 1, 2, 3, 4 or 5; got {severity!r} (perturbation {name!r})")
    return int(severity)


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown perturbation {name!r}.{hint} `stressreel list visual` lists names and families."

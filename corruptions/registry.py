"""Look up perturbations by name, family or kind. They are declared in `declarations.yaml` files."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, overload

from ..core.documents import package_table
from ..core.errors import InputError, UsageError
from ..core.extras import import_extra

Mode = Literal["stressreel", "released"]
"""Whether a text perturbation applies our rules and tables, or those of the released code."""
SEVERITIES = (1, 2, 3, 4, 5)
QUANTISER_LIMIT = 31
EXTRA = "extra"
"""Family of visual perturbations that the paper does not have. "all" does not include it."""
USES = {
    "visual": "Use it with --perturbations; in Python use corrupt.",
    "text": "Use it with --text-perturbations and --modality text, multimodal or all; in Python use corrupt_text.",
}
"""The kinds of perturbations, and how each is used."""


@dataclass(frozen=True)
class Corruption:
    """A perturbation. Its function is in the module named after its family."""

    kind_of: ClassVar[str]  # "visual" or "text", which is also the name of the folder
    name: str
    family: str

    @cached_property
    def function(self) -> Callable[..., Any]:
        """Return the pure function that applies the perturbation."""
        module = import_extra(f".{self.kind_of}.{self.family}", __package__, what=self.name)
        function: Callable[..., Any] = getattr(module, self.name)
        return function


@dataclass(frozen=True)
class VisualCorruption(Corruption):
    """A visual perturbation.

    Attributes:
        scope: "frame", "clip", "index" or "file"; see `visual/declarations.yaml`.
        unit: Meaning and unit of the values of a level.
        levels: Parameter values of severities 1 to 5.
        source: Publication or code that defines the levels.
        differs: Differences from the released code.
        grows: Reason why strength does not strictly increase with severity, or "" if it does.
        codec: FFmpeg's encoder, if the scope is "file".
    """

    kind_of: ClassVar[str] = "visual"
    scope: str
    unit: str
    levels: tuple[tuple[float, ...], ...]
    source: str
    differs: str
    grows: str = ""
    codec: str = ""

    @cached_property
    def random(self) -> bool:
        """Return whether the function takes a random generator `rng` as its last argument."""
        return "rng" in inspect.signature(self.function).parameters

    def level(self, severity: int) -> str:
        """Format the parameter values of a severity as text, such as "10, 3"."""
        return ", ".join(f"{value:g}" for value in self.levels[severity - 1])

    def written_quantiser(self, severity: int) -> int | None:
        """Return the quantiser that FFmpeg records in the file, or None if the scope is not "file".

        FFmpeg records at most 31. A higher `-q:v` still changes the pictures, as it affects rate-distortion decisions.
        """
        return min(int(self.levels[severity - 1][0]), QUANTISER_LIMIT) if self.scope == "file" else None


@dataclass(frozen=True)
class TextCorruption(Corruption):
    """A text perturbation.

    Attributes:
        kind: Group in the paper: "natural", "machine" or "synthetic".
        does: One-line description of the effect.
        paper: Name in Table 6 of the paper.
        source: Publication or code that defines the perturbation.
        differs: Differences from the released code.
        needs: Required tools besides the tagger: "wordnet", "embeddings", "mlm", "translation".
    """

    kind_of: ClassVar[str] = "text"
    kind: str
    does: str
    paper: str
    source: str
    differs: str
    needs: tuple[str, ...] = ()

    @property
    def reads_english(self) -> bool:
        """Return whether the caption must be parsed as English, which changes of characters do not require."""
        return self.family not in ("change_char", "positional")

    @cached_property
    def takes(self) -> frozenset[str]:
        """Return the names of the arguments that the function takes besides the caption: "rng", "tools", "mode"."""
        return frozenset(inspect.signature(self.function).parameters) - {"caption"}


@dataclass(frozen=True)
class Unchanged:
    """The reason why a perturbation cannot change a caption, such as "no verb"."""

    reason: str


@dataclass(frozen=True)
class TextResult:
    """A perturbed caption, with the reason why it did not change if it is the same as the original."""

    text: str
    changed: bool
    reason: str = ""


@cache
def visual_corruptions() -> dict[str, VisualCorruption]:
    """Return the 18 visual perturbations by name, in the paper's order, and then the family extra."""
    return {
        name: VisualCorruption(name, **{**row, "levels": tuple(map(tuple, row["levels"]))})
        for name, row in _declarations("visual").items()
    }


@cache
def text_corruptions() -> dict[str, TextCorruption]:
    """Return the 35 text perturbations by name, grouped by family."""
    return {
        name: TextCorruption(name, **{**row, "needs": tuple(row.get("needs", ()))})
        for name, row in _declarations("text").items()
    }


def _declarations(kind: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = package_table(Path(__file__).parent / kind / "declarations.yaml")["perturbations"]
    return rows


def _by_name(kind: str) -> Mapping[str, Any]:
    return text_corruptions() if kind == "text" else visual_corruptions()


@overload
def list_corruptions(kind: Literal["visual"] = "visual") -> tuple[VisualCorruption, ...]: ...
@overload
def list_corruptions(kind: Literal["text"]) -> tuple[TextCorruption, ...]: ...
@overload
def list_corruptions(kind: str) -> tuple[Any, ...]: ...
def list_corruptions(kind: str = "visual") -> tuple[Any, ...]:
    """List the perturbations of a kind, "visual" or "text". Raise UsageError for any other kind."""
    if kind not in USES:
        raise UsageError(f"unknown kind of perturbation {kind!r}. Choose from {', '.join(USES)}.")
    return tuple(_by_name(kind).values())


def select_corruptions(names: Sequence[str]) -> tuple[VisualCorruption, ...]:
    """Select visual perturbations by name, by family or with "all", which excludes the family extra.

    Each is returned once, in the paper's order.

    Raises:
        UsageError: A name is unknown. The message suggests a similar one.
    """
    return _select(names, "visual")


def select_text_corruptions(names: Sequence[str]) -> tuple[TextCorruption, ...]:
    """Select text perturbations by name, by family or with "all"; see `select_corruptions`."""
    return _select(names, "text")


def _select(names: Sequence[str], kind: str) -> tuple[Any, ...]:
    corruptions = _by_name(kind).values()
    known = {"all", *(c.name for c in corruptions), *(c.family for c in corruptions)}
    for name in names:
        if name not in known:
            raise _unknown(name, kind, families=True)
    return tuple(c for c in corruptions if {c.name, c.family} & {*names} or ("all" in names and c.family != EXTRA))


def check_name(name: str) -> VisualCorruption:
    """Return the visual perturbation with this name. Raise UsageError if there is none."""
    if not isinstance(name, str) or name not in visual_corruptions():
        raise _unknown(str(name), "visual")
    return visual_corruptions()[name]


def check_text_name(name: str) -> TextCorruption:
    """Return the text perturbation with this name. Raise UsageError if there is none."""
    if not isinstance(name, str) or name not in text_corruptions():
        raise _unknown(str(name), "text")
    return text_corruptions()[name]


def check_severity(severity: int, name: str) -> int:
    """Return the severity if it is an integer from 1 to 5. Otherwise raise InputError."""
    if isinstance(severity, bool) or severity not in SEVERITIES:
        raise InputError(f"severity must be 1, 2, 3, 4 or 5; got {severity!r} (perturbation {name!r})")
    return int(severity)


def _unknown(name: str, kind: str, families: bool = False) -> UsageError:
    """Return the error for an unknown name, which suggests a similar name or, on request, family."""
    known, other_kind = _by_name(kind), "visual" if kind == "text" else "text"
    others = _by_name(other_kind)
    if name in others or name in {corruption.family for corruption in others.values()}:
        return UsageError(f"{name!r} is a {other_kind} perturbation, not a {kind} one. {USES[other_kind]}")
    candidates = [*known, *((corruption.family for corruption in known.values()) if families else ())]
    hint = ""
    if near := difflib.get_close_matches(name, candidates, 1):
        hint = f" Did you mean {near[0]!r}?"
    elif near := difflib.get_close_matches(name, others, 1):
        hint = f" Did you mean {near[0]!r}, a {other_kind} perturbation? {USES[other_kind]}"
    return UsageError(f"unknown perturbation {name!r}.{hint} `stressreel list {kind}` lists names and families.")

"""Registry of perturbations, built from the declaration files."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, overload

import yaml

from ..core.errors import InputError, UsageError
from ..core.extras import import_extra

SEVERITIES = (1, 2, 3, 4, 5)
QUANTISER_LIMIT = 31


@dataclass(frozen=True)
class Corruption:
    """A perturbation; its family is also the name of the module that contains its function."""

    kind_of: ClassVar[str]  # "visual" or "text", which is also the module's folder
    name: str
    family: str

    @cached_property
    def function(self) -> Callable[..., Any]:
        """Pure function that applies the perturbation."""
        module = import_extra(f".{self.kind_of}.{self.family}", __package__, what=self.name)
        function: Callable[..., Any] = getattr(module, self.name)
        return function


@dataclass(frozen=True)
class VisualCorruption(Corruption):
    """A visual perturbation.

    Attributes:
        scope: "frame", "clip", "index" or "file"; see `visual/declarations.yaml`.
        unit: Meaning and unit of a level's values.
        levels: Parameter values of severities 1 to 5.
        source: Source of the levels.
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
        """Whether the function's last argument is a random generator `rng`."""
        return "rng" in inspect.signature(self.function).parameters

    def level(self, severity: int) -> str:
        """Format the parameter values of a severity, such as "10, 3"."""
        return ", ".join(f"{value:g}" for value in self.levels[severity - 1])

    def written_quantiser(self, severity: int) -> int | None:
        """Return the quantiser that FFmpeg writes into the file, or None unless the scope is "file".

        FFmpeg writes at most 31. A higher `-q:v` still changes the pictures, as it affects rate-distortion decisions.
        """
        return min(int(self.levels[severity - 1][0]), QUANTISER_LIMIT) if self.scope == "file" else None


@dataclass(frozen=True)
class TextCorruption(Corruption):
    """A text perturbation.

    Attributes:
        kind: Group in the paper: "natural", "machine" or "synthetic".
        does: One-line description of the effect.
        paper: Name in Table 6 of the paper.
        source: Source of the definition.
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
        """Whether the caption is parsed as English, which changes of characters or word order do not require."""
        return self.family not in ("change_char", "positional")

    @cached_property
    def takes(self) -> frozenset[str]:
        """Names of the function's arguments other than the caption: "rng", "tools", "mode"."""
        return frozenset(inspect.signature(self.function).parameters) - {"caption"}


C = TypeVar("C", bound=Corruption)


@cache
def visual_corruptions() -> dict[str, VisualCorruption]:
    """Return the 18 visual perturbations by name, in the paper's order."""
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
    text = (Path(__file__).parent / kind / "declarations.yaml").read_text(encoding="utf-8")
    rows: dict[str, dict[str, Any]] = yaml.safe_load(text)["perturbations"]
    return rows


@overload
def list_corruptions(kind: Literal["visual"] = "visual") -> tuple[VisualCorruption, ...]: ...
@overload
def list_corruptions(kind: Literal["text"]) -> tuple[TextCorruption, ...]: ...
@overload
def list_corruptions(kind: str) -> tuple[Any, ...]: ...
def list_corruptions(kind: str = "visual") -> tuple[Any, ...]:
    """List the perturbations of a kind, "visual" or "text"; raise UsageError for other kinds."""
    if kind not in _KINDS:
        raise UsageError(f"unknown kind of perturbation {kind!r}. Kinds: {', '.join(_KINDS)}.")
    return tuple(_KINDS[kind]().values())


def select_corruptions(names: Sequence[str]) -> tuple[VisualCorruption, ...]:
    """Select visual perturbations by name, family or "all"; return each once, in the paper's order.

    Raises:
        UsageError: A name is unknown; the message suggests a similar one.
    """
    return _select(names, visual_corruptions(), "visual")


def select_text_corruptions(names: Sequence[str]) -> tuple[TextCorruption, ...]:
    """Select text perturbations by name, family or "all"; see `select_corruptions`."""
    return _select(names, text_corruptions(), "text")


def _select(names: Sequence[str], known: Mapping[str, C], kind: str) -> tuple[C, ...]:
    wanted: set[str] = set()
    for name in names:
        members = [c.name for c in known.values() if name in (c.name, c.family, "all")]
        if not members:
            raise UsageError(_unknown(name, [*known, *(c.family for c in known.values())], kind))
        wanted.update(members)
    return tuple(corruption for corruption in known.values() if corruption.name in wanted)


def check_name(name: str) -> VisualCorruption:
    """Return a visual perturbation by name; raise UsageError if it is unknown."""
    return _named(name, visual_corruptions(), "visual")


def check_text_name(name: str) -> TextCorruption:
    """Return a text perturbation by name; raise UsageError if it is unknown."""
    return _named(name, text_corruptions(), "text")


def _named(name: str, known: Mapping[str, C], kind: str) -> C:
    if not isinstance(name, str) or name not in known:
        raise UsageError(_unknown(str(name), list(known), kind))
    return known[name]


def check_severity(severity: int, name: str) -> int:
    """Return a valid severity unchanged; raise InputError if it is not an integer from 1 to 5."""
    if isinstance(severity, bool) or severity not in SEVERITIES:
        raise InputError(f"severity must be 1, 2, 3, 4 or 5; got {severity!r} (perturbation {name!r})")
    return int(severity)


def _unknown(name: str, known: Sequence[str], kind: str) -> str:
    other = "visual" if kind == "text" else "text"
    if name in _KINDS[other]() or name in {each.family for each in _KINDS[other]().values()}:
        return f"{name!r} is a {other} perturbation, not a {kind} one. {_PLACES[other]}"
    near = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if not near and (near := difflib.get_close_matches(name, _KINDS[other](), 1)):
        hint = f" Did you mean {near[0]!r}, a {other} perturbation? {_PLACES[other]}"
    return f"unknown perturbation {name!r}.{hint} `stressreel list {kind}` lists names and families."


_PLACES = {
    "text": "Use it with --text-perturbations and --modality text, multimodal or all; in Python use corrupt_text.",
    "visual": "Use it with --perturbations; in Python use corrupt.",
}
_KINDS: dict[str, Callable[[], Mapping[str, Any]]] = {"visual": visual_corruptions, "text": text_corruptions}

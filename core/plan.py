"""Units of work, skipped units, and the plan of a build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from .files import canonical_json, sha256_text
from .schema import Config, Row

Facts = dict[str, Any]


class Unseen:
    """Placeholder in a unit's facts for values that require its files, such as hashes, under any key."""

    def __getitem__(self, key: object) -> Unseen:
        return self


UNSEEN = Unseen()


@dataclass(frozen=True)
class Unit:
    """The smallest piece of work. Units are pure: rows and pixels do not depend on when and where they are made.

    Attributes:
        id: Id that is unique in the plan and usable as a folder name.
        source_id: Id of the source video; empty if none is needed.
        payload: All inputs that determine the result, as JSON values.
        cost: Estimated amount of work in an arbitrary measure; the most expensive units start first.
        tables: The configs for which the unit has rows; empty if it may have rows for any.
        pieces: Number of videos or texts produced, for progress.
    """

    id: str
    split: str
    source_id: str
    payload: dict[str, Any]
    cost: float = 0.0
    tables: tuple[str, ...] = ()
    pieces: int = 1


@dataclass(frozen=True)
class Skip:
    """A planned unit that was skipped.

    Attributes:
        reason: Code such as missing_video, unreadable_video, undecodable or too_short.
        detail: One sentence, including the decoder's message if any.
    """

    unit_id: str
    source_id: str
    reason: str
    detail: str

    @property
    def allowed(self) -> bool:
        """Whether --allow-missing covers the skip, which excludes it from --max-skip."""
        return self.reason in ("missing_video", "unreadable_video")


@dataclass(frozen=True)
class Plan:
    """The complete work of a build, determined before any video is opened.

    Attributes:
        identity: All inputs that determine the content, as nested JSON: settings, seed, versions, input hashes.
        units: The units, sorted by id.
        configs: The tables of the output.
        noun: Noun for a unit in messages.
        piece: Noun for the items that progress counts (`pieces` per unit); by default `noun`.
        advice: Advice for the case that there are no units.
        reports: Files that other commands write to the output, and that are removed with it.
        notes: Counts from loading and selection (clamped ends, unusable sentences, …).
        remedies: For each count of omitted items in `notes`, the option that includes them, or "".
    """

    builder: str
    identity: dict[str, Any]
    units: tuple[Unit, ...]
    configs: tuple[Config, ...]
    noun: str = "unit"
    piece: str = ""
    advice: str = "Check the inputs and --split."
    reports: tuple[str, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)
    remedies: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        """Return the SHA-256 of the identity and all units."""
        units = [[unit.id, unit.split, unit.source_id, unit.payload] for unit in self.units]
        return sha256_text(canonical_json([self.builder, self.identity, units]))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have units: train, validation, test, then others by name."""
        order = ("train", "validation", "test")
        found = sorted({unit.split for unit in self.units})
        return tuple(sorted(found, key=lambda split: order.index(split) if split in order else len(order)))


def noted(plan: Plan) -> list[str]:
    """Format the counts in a plan's notes, each with its option from `remedies`."""
    return [
        f"{name.replace('_', ' ')}: {count:,}" + (f" ({plan.remedies[name]})" if plan.remedies.get(name) else "")
        for name, count in plan.notes.items()
        if isinstance(count, int) and count
    ]


def nothing_qualifies(plan: Plan) -> str:
    """Explain why a plan has no units: the items that each rule excluded, and the option that changes the rule."""
    left_out = [line for line in noted(plan) if line.partition(":")[0].replace(" ", "_") in plan.remedies]
    read = [line for line in noted(plan) if line not in left_out]
    parts = [f"nothing in the annotations qualifies, so there is nothing to build. {plan.advice}"]
    parts += ["Read:", *(f"  {line}" for line in read)] if read else []
    parts += ["Left out:", *(f"  {line}" for line in left_out)] if left_out else []
    return "\n".join(parts)


class Builder(Protocol):
    """Interface between the runtime and a benchmark. Instances are pickled for the workers."""

    def renders(self, unit: Unit) -> bool:
        """Return whether a unit needs `render`; if not, its facts are empty and no video is opened."""

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Render a unit's files into an empty folder.

        Returns:
            The facts: JSON values that `rows` needs. "files" has the size in bytes of every file in `folder`; "skips"
            lists skipped parts of the unit, as dictionaries of `Skip`.

        Raises:
            VideoError: The source is unusable; the unit becomes a Skip.
        """

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Yield the unit's rows as (config name, row); a video column contains the file name in the unit's folder."""

    def look(self, unit: Unit) -> Facts:
        """Return the facts of `render` without writing files; their sizes and hashes are `UNSEEN`.

        Raises:
            VideoError: As for `render`, if detectable without decoding the video.
        """

    def part(self, unit: Unit, file: str) -> tuple[Builder, Unit]:
        """Return a builder and a unit that reproduce one file of a unit byte for byte, with few other files."""

    def missing(self, unit: Unit) -> Skip | None:
        """Return a Skip if the unit's source is missing or cannot be opened; do not decode it."""

    def stamp(self, unit: Unit) -> str:
        """Return a stamp of the unit's source file, which lets a resumed build detect that the file was replaced."""


def changed(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return the entries in which two identities differ, as "name: old → new"."""
    lines = []
    for name in sorted({*before, *after}):
        old, new = (list(value) if isinstance(value, tuple) else value for value in (before.get(name), after.get(name)))
        if isinstance(old, dict) and isinstance(new, dict):
            lines += changed(old, new, f"{prefix}{name}.")
        elif old != new:
            lines.append(f"{prefix}{name}: {_short(old)} → {_short(new)}")
    return lines


def _short(value: Any) -> str:
    text = "absent" if value is None else str(value)
    return text[:16] + "…" if len(text) > 60 else text

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
    """Placeholder in the facts of a unit for hashes and other values that need its files, under any key."""

    def __getitem__(self, key: object) -> Unseen:
        return self


UNSEEN = Unseen()


@dataclass(frozen=True)
class Unit:
    """The smallest piece of work: pure, so its rows and pixels do not depend on when and where it runs.

    Attributes:
        id: Unique in the plan, and safe as a folder name.
        split: Split of its rows.
        source_id: Its source video; empty if it needs none.
        payload: Everything that determines the result, as JSON values.
        cost: Estimated amount of work, in any unit; the largest units start first.
        tables: The configs that it has rows for; empty if it may have rows for any.
        pieces: Number of videos or texts that it makes, for progress.
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
    """A planned unit that was left out.

    Attributes:
        unit_id: The unit.
        source_id: Its source video.
        reason: Code such as missing_video, unreadable_video, undecodable, too_short.
        detail: One sentence, with the decoder's own message if there is one.
    """

    unit_id: str
    source_id: str
    reason: str
    detail: str

    @property
    def allowed(self) -> bool:
        """Whether --allow-missing covers it, so that --max-skip does not count it."""
        return self.reason in ("missing_video", "unreadable_video")


@dataclass(frozen=True)
class Plan:
    """All the work of a build, fixed before any video is opened.

    Attributes:
        builder: Name of the builder.
        identity: Everything that determines the content, as nested JSON: settings, seed, versions, input hashes.
        units: The units, sorted by id.
        configs: The tables of the output.
        noun: Name of a unit in messages.
        piece: Name of what progress counts, of which a unit has `pieces`; by default `noun`.
        advice: What to check if there are no units.
        reports: Files that other commands leave in the output, and that are removed with it.
        notes: Counts from reading and selecting (clamped ends, unusable sentences, …).
        remedies: For each count in `notes` of omitted items: the option that includes them; empty if there is none.
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
        """SHA-256 of the identity and all units."""
        units = [[unit.id, unit.split, unit.source_id, unit.payload] for unit in self.units]
        return sha256_text(canonical_json([self.builder, self.identity, units]))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have units: train, validation, test, then others by name."""
        order = ("train", "validation", "test")
        found = sorted({unit.split for unit in self.units})
        return tuple(sorted(found, key=lambda split: order.index(split) if split in order else len(order)))


def noted(plan: Plan) -> list[str]:
    """Format the counts in a plan's notes, each with its option in `remedies`."""
    return [
        f"{name.replace('_', ' ')}: {count:,}" + (f" ({plan.remedies[name]})" if plan.remedies.get(name) else "")
        for name, count in plan.notes.items()
        if isinstance(count, int) and count
    ]


def nothing_qualifies(plan: Plan) -> str:
    """Explain why a plan has no units: what each rule left out, and which option changes that."""
    left_out = [line for line in noted(plan) if line.partition(":")[0].replace(" ", "_") in plan.remedies]
    read = [line for line in noted(plan) if line not in left_out]
    parts = [f"nothing in the annotations qualifies, so there is nothing to build. {plan.advice}"]
    parts += ["Read:", *(f"  {line}" for line in read)] if read else []
    parts += ["Left out:", *(f"  {line}" for line in left_out)] if left_out else []
    return "\n".join(parts)


class Builder(Protocol):
    """The interface between the runtime and a benchmark. Instances are pickled to the workers."""

    def renders(self, unit: Unit) -> bool:
        """Whether a unit needs `render`; if not, its facts are empty and no video is opened."""

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Render a unit's files into an empty folder.

        Returns:
            The facts: JSON values that `rows` needs. "files" has the size in bytes of every file in `folder`; "skips"
            lists parts of the unit that had to be left out, as dictionaries of `Skip`.

        Raises:
            VideoError: The source is unusable; the unit becomes a Skip.
        """

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Yield the unit's rows as (config name, row); a video column has the file's name in the unit's folder."""

    def look(self, unit: Unit) -> Facts:
        """Return the facts of `render` without writing files; their sizes and hashes are `UNSEEN`.

        Raises:
            VideoError: As `render`, if that shows without decoding the video.
        """

    def part(self, unit: Unit, file: str) -> tuple[Builder, Unit]:
        """Return a builder and a unit that render one file of a unit to the same bytes, with few others."""

    def missing(self, unit: Unit) -> Skip | None:
        """Return a Skip if the unit's source is missing or cannot be opened, without decoding it."""

    def stamp(self, unit: Unit) -> str:
        """Return a stamp of the unit's source file, by which a resume notices that it was replaced."""


def changed(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> list[str]:
    """List the entries in which two identities differ, as "name: old → new"."""
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

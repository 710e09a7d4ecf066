"""What a build is made of: units of work, what they leave out, and the plan that fixes both."""

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
    """Stands in the facts of a unit for hashes, and for what else is known of files alone, by any key."""

    def __getitem__(self, key: object) -> Unseen:
        """Return the same again."""
        return self


UNSEEN = Unseen()


@dataclass(frozen=True)
class Unit:
    """The smallest piece of work: pure, so it gives the same rows and pixels wherever and whenever it runs.

    Attributes:
        id: Unique in the plan; safe as a folder name.
        split: The split that its rows go to.
        source_id: The source video; empty if none is needed.
        payload: Everything that decides the result, as JSON values.
        cost: About how much work it is, in any measure; the longest are begun first.
        tables: The configs that it has rows for; empty if it may have some for each.
        pieces: How many videos or texts it makes, as progress counts them.
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
    """A unit that was planned and not written.

    Attributes:
        unit_id: The unit.
        source_id: Its source video.
        reason: A code: missing_video, unreadable_video, undecodable, too_short, …
        detail: One sentence, with the decoder's words where there are any.
    """

    unit_id: str
    source_id: str
    reason: str
    detail: str

    @property
    def allowed(self) -> bool:
        """Whether the user let it pass with --allow-missing, so that --max-skip does not count it."""
        return self.reason in ("missing_video", "unreadable_video")


@dataclass(frozen=True)
class Plan:
    """All the work of a build, fixed before any video is touched.

    Attributes:
        builder: Name of the builder.
        identity: Everything that decides the content, as nested JSON: settings, seed, versions, input hashes.
        units: The work, sorted by id.
        configs: The tables that the rows fill.
        noun: What a unit is called in messages.
        piece: What progress counts, of which a unit has `pieces`; units by default.
        advice: What to look at if there is no unit at all.
        reports: Files that other commands leave in the output and that go with it.
        notes: What reading and selecting met, as counts for people (clamped ends, unusable sentences, …).
        remedies: Of the counts in `notes` that say what was left out, the option that changes it; empty if none does.
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
        """SHA-256 over the identity and every unit."""
        units = [[unit.id, unit.split, unit.source_id, unit.payload] for unit in self.units]
        return sha256_text(canonical_json([self.builder, self.identity, units]))

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have units: train, validation, test, then what a benchmark calls otherwise."""
        order = ("train", "validation", "test")
        found = sorted({unit.split for unit in self.units})
        return tuple(sorted(found, key=lambda split: order.index(split) if split in order else len(order)))


def noted(plan: Plan) -> list[str]:
    """Write the counts in a plan's notes, each with the option that changes it, if one does."""
    return [
        f"{name.replace('_', ' ')}: {count:,}" + (f" ({plan.remedies[name]})" if plan.remedies.get(name) else "")
        for name, count in plan.notes.items()
        if isinstance(count, int) and count
    ]


def nothing_qualifies(plan: Plan) -> str:
    """Describe why a plan has no units: what every rule left out, and which option changes it."""
    left_out = [line for line in noted(plan) if line.partition(":")[0].replace(" ", "_") in plan.remedies]
    read = [line for line in noted(plan) if line not in left_out]
    parts = [f"nothing in the annotations qualifies, so there is nothing to build. {plan.advice}"]
    parts += ["Read:", *(f"  {line}" for line in read)] if read else []
    parts += ["Left out:", *(f"  {line}" for line in left_out)] if left_out else []
    return "\n".join(parts)


class Builder(Protocol):
    """What the runtime asks of a benchmark. Instances are pickled to the workers."""

    def renders(self, unit: Unit) -> bool:
        """Whether a unit has an expensive part, `render`; if not, its facts are empty and no video is opened."""

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Do the expensive part of a unit.

        Args:
            unit: The unit.
            folder: An existing empty folder for its files.

        Returns:
            JSON values that `rows` needs; under "files" the size in bytes of every file left in `folder`; and under
            "skips", if there are any, the parts of the unit that had to be left out, as dictionaries of `Skip`.

        Raises:
            VideoError: The source cannot be used; the unit becomes a Skip.
        """

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Return the unit's rows as (config name, row). A video column holds the file's name in the unit's folder."""

    def look(self, unit: Unit) -> Facts:
        """Find the facts of `render` without writing files: of these, sizes and hashes are `UNSEEN`.

        Raises:
            VideoError: As `render`, where it shows without decoding the video.
        """

    def part(self, unit: Unit, file: str) -> tuple[Builder, Unit]:
        """Return a builder and a unit that render one file of a unit to the same bytes, and little else."""

    def missing(self, unit: Unit) -> Skip | None:
        """Look whether the unit's source is there and opens, without decoding it."""

    def stamp(self, unit: Unit) -> str:
        """Return what the unit's source file looks like, so that a resume notices another one."""


def changed(before: Mapping[str, Any], after: Mapping[str, Any], prefix: str = "") -> list[str]:
    """List the leaves in which two identities differ, as "name: old → new"."""
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

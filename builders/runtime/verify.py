"""Verify a finished output with the checks that apply to every benchmark, and report the results of all checks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from ...core.errors import legible, one_line
from ...core.output import DAMAGED, Check, Compared, FinishedOutput, NotChecked, Note, NotRun
from ...core.progress import Working
from ...core.results import Result, Table
from ...core.schema import Config
from ...core.shards import ShardError
from .table_checks import (
    check_counts,
    check_files,
    check_hashes,
    check_left_out,
    check_links,
    check_load_dataset,
    check_schema,
    check_splits,
    check_unique_ids,
    check_written,
)

SHOWN = 10
UNSOURCED = (
    "Content that cannot be derived from other rows, such as clips and annotations, could still have been forged: "
    "--sources DIR builds it again."
)
UNSIGNED = "The maker is not verified: use --signed-by KEY for a signature, or --fingerprint HEX for a published value."
TRUSTED = {
    "shown": ("decoded",),
    "decord": ("decoded", "rows", "videos"),
    "figures": ("decoded", "rows", "videos"),
}
"""Checks that are not run after others have failed, since they decode videos without limits of their own."""
UNREADABLE = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError),
    pa.ArrowException,
)


@dataclass(frozen=True)
class Outcome:
    """The result of one check.

    Attributes:
        problems: The first problems, one line each.
        count: Number of problems.
        not_checked: Properties that could not be checked, and what is needed to check them.
        not_run: Parts that require an optional package or were excluded by an option. They do not count.
        notes: Remarks that are not problems.
        unverified: Names for `--allow-unverified` of requested checks that were impossible.
        compared: Number and kind of the checked items.
    """

    name: str
    problems: tuple[str, ...]
    count: int
    not_checked: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unverified: tuple[str, ...] = ()
    compared: str = ""
    not_run: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Return whether all requested checks could be run and found no problem."""
        return self.count == 0 and not self.unverified

    @property
    def ran(self) -> bool:
        """Return whether at least a part of the check was run."""
        return bool(self.count or self.compared or not self.not_run)

    def __str__(self) -> str:
        left_open = [f"not checked: {reason}" for reason in self.not_checked]
        left_open += [f"not run: {reason}" for reason in self.not_run]
        notes = [f"note: {text}" for text in self.notes]
        more = self.count - len(self.problems)
        problems = [*self.problems, *([f"… and {more} more"] if more else [])]
        mark = "FAIL" if self.count else "??  " if self.unverified else "--  " if left_open else "ok  "
        below = [f"        {one_line(text)}" for text in (*problems, *left_open, *notes)]
        return "\n".join([f"{mark}  {self.name}" + (f": {self.compared}" if self.compared else ""), *below])


@dataclass(frozen=True)
class Verification(Result):
    """The results of all checks of an output. Iterating over it yields them.

    Attributes:
        by_sources: Whether the output was built again from the sources.
        by_maker: Whether the output was compared with a key, identity or fingerprint published by its maker.
    """

    output: str
    fingerprint: str
    outcomes: tuple[Outcome, ...]
    by_sources: bool = False
    by_maker: bool = False

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def passed(self) -> bool:
        """Return whether every check passed."""
        return not self.failed

    @property
    def failed(self) -> bool:  # type: ignore[override]
        """Return whether any check failed."""
        return not all(outcome.passed for outcome in self.outcomes)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.outcomes), self.closing()])

    def closing(self) -> str:
        """Return the verdict, and a list of what could still be forged."""
        left_open = [UNSOURCED] * (not self.by_sources) + [UNSIGNED] * (not self.by_maker)
        return "\n".join([self.verdict(), *left_open])

    def verdict(self) -> str:
        """Summarize the checks in one sentence."""
        failed = [outcome.name for outcome in self.outcomes if outcome.count]
        unverified = [outcome.name for outcome in self.outcomes if outcome.unverified]
        left_open = [outcome.name for outcome in self.outcomes if outcome.not_checked and not outcome.unverified]
        not_run = [outcome.name for outcome in self.outcomes if outcome.not_run]
        ran = sum(outcome.ran for outcome in self.outcomes)
        verdict = f"all {ran} checks passed"
        if left_open:
            verdict = f"{ran - len(left_open)} of {ran} checks passed"
        if failed or unverified:
            verdict = f"{len(failed)} of {ran} checks failed" + (f": {', '.join(failed)}" if failed else "")
        if unverified:
            names = " ".join(f"--allow-unverified {name}" for outcome in self.outcomes for name in outcome.unverified)
            verdict += f"; not verified: {', '.join(unverified)} ({names} accepts that)"
        verdict += f"; incomplete: {', '.join(left_open)}" if left_open else ""
        return verdict + (f"; not run: {', '.join(not_run)}" if not_run else "")

    def as_tables(self) -> tuple[Table, ...]:
        """Return the report as a table with one row per check."""
        rows = tuple(
            (
                o.name,
                "failed" if not o.passed else "passed" if o.ran else "not run",
                o.count,
                "; ".join((*o.problems, *o.not_checked, *o.not_run, *o.notes)),
            )
            for o in self.outcomes
        )
        return (Table("checks", self.verdict(), ("check", "result", "problems", "details"), rows),)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        lists = ("problems", "not_checked", "not_run", "notes", "unverified")
        checks = [
            {
                **{"name": outcome.name, "passed": outcome.passed, "problem_count": outcome.count},
                **{name: list(getattr(outcome, name)) for name in lists},
                "compared": outcome.compared,
            }
            for outcome in self.outcomes
        ]
        return {"output": self.output, "passed": self.passed, "fingerprint": self.fingerprint, "checks": checks}


def run_checks(output: FinishedOutput, checks: Mapping[str, Check], allowed: Collection[str] = ()) -> Iterator[Outcome]:
    """Run checks in order. A check that cannot read its files fails, and each damaged file is reported once.

    A check that trusts what a failed one checks is not run; see `TRUSTED`. `allowed` contains the names of checks that
    may remain unverified; see `NotChecked`.
    """
    reported: set[str] = set()
    failed: set[str] = set()
    output.complete()
    for name, check in checks.items():
        if untrusted := [earlier for earlier in TRUSTED.get(name, ()) if earlier in failed]:
            yield Outcome(name, (), 0, not_run=(f"it requires that this check passes: {', '.join(untrusted)}",))
            continue
        with Working(f"checking {name.replace('_', ' ')}"):
            outcome = _outcome(name, check, output, allowed, reported)
        reported.update(outcome.problems)
        failed.update([name] if outcome.count else [])
        yield outcome


def _outcome(
    name: str, check: Check, output: FinishedOutput, allowed: Collection[str], reported: Collection[str]
) -> Outcome:
    problems: list[str] = []
    findings: dict[type, list[Any]] = defaultdict(list)
    count = 0
    try:
        for finding in check(output):
            if isinstance(finding, str):
                count += 1
                problems += [legible(finding)] if count <= SHOWN else []
            else:
                findings[type(finding)].append(finding)
    except UNREADABLE as error:
        count += 1
        problems.append(legible(_unreadable(output, error, reported)))
    return Outcome(
        name,
        tuple(problems),
        count,
        not_checked=tuple(legible(finding.reason) for finding in findings[NotChecked]),
        notes=tuple(legible(finding.text) for finding in findings[Note]),
        unverified=tuple(
            dict.fromkeys(finding.name for finding in findings[NotChecked] if finding.name not in ("", *allowed))
        ),
        compared="".join(finding.text for finding in findings[Compared][-1:]),
        not_run=tuple(legible(finding.reason) for finding in findings[NotRun]),
    )


def _unreadable(output: FinishedOutput, error: Exception, reported: Iterable[str]) -> str:
    """Return why a check ended early. Missing files, and damaged files reported before, are not repeated."""
    if isinstance(error, ShardError):
        return DAMAGED if any(line.startswith(error.what) for line in reported) else str(error)
    if next(output.gaps(), ""):
        return DAMAGED
    return f"it could not be checked: {type(error).__name__}: {error}"


def common_checks(configs: Sequence[Config]) -> dict[str, Check]:
    """Return the checks that apply to every output."""
    return {
        "files": check_files,
        "schema": partial(check_schema, configs=configs),
        "counts": partial(check_counts, configs=configs),
        "written": partial(check_written, configs=configs),
        "hashes": partial(check_hashes, configs=configs),
        "load_dataset": partial(check_load_dataset, configs=configs),
    }


def row_checks(configs: Sequence[Config]) -> dict[str, Check]:
    """Return the checks that only read rows, for outputs that cannot be built again."""
    checks: dict[str, Check] = {
        "unique_ids": partial(check_unique_ids, configs=configs),
        "splits": partial(check_splits, configs=configs),
    }
    if any(config.links for config in configs):
        checks["links"] = partial(check_links, configs=configs)
    return {**checks, "left_out": check_left_out}

"""Declare the settings that all builds have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar, Literal

from cyclopts import Parameter

from .settings import NOT_CONTENT, Limit, OptionalPath, Seed, Settings, Workers, parsed, within
from .share import WorkShare, read_share

ExecutorKind = Literal["auto", "inline", "processes", "ray"]
SEMANTIC_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def semantic_version(text: str) -> str:
    """Return the text unchanged, or raise ValueError if it is not a semantic version."""
    if not SEMANTIC_VERSION.fullmatch(str(text)):
        raise ValueError("is not a semantic version such as 1.0.0 or 1.2.0-rc.1")
    return str(text)


@dataclass(frozen=True, kw_only=True)
class RunOptions(Settings):
    """How a build runs, which does not affect its content and is not recorded.

    Attributes:
        out: Output folder: new, empty, or with an earlier run of the same build.
        workers: Number of worker processes; it does not affect the result.
        executor: Where to render units: in this process, in worker processes on this machine, or on a Ray cluster; auto
            uses processes if there is more than one worker.
        ray_address: Address of the Ray cluster's head node, host:port.
        shard: Render part I of N. All N processes share --out, and the last one to finish writes the tables.
        withhold: After the build, also write two copies to OUT.withheld, one without and one with the answers of this
            split; see `stressreel withhold`.
        resume: Continue an earlier run, or discard it and start again.
        dry_run: Print the plan with estimated sizes and times, and write nothing. A few frames are encoded for the
            estimate.
        check_space: Check for enough free disk space before starting.
        progress: Show progress.
    """

    out: OptionalPath = None
    workers: Workers = None
    executor: ExecutorKind = "auto"
    ray_address: Annotated[
        str | None,
        Parameter(show_default="the cluster running on this machine, else a new local one"),
    ] = None
    shard: Annotated[WorkShare | str | None, parsed(read_share, metavar="I/N")] = None
    withhold: str | None = None
    resume: Annotated[bool, Parameter(negative="--fresh")] = True
    dry_run: bool = False
    check_space: bool = True
    progress: bool = True


@dataclass(frozen=True, kw_only=True)
class BuildSettings(RunOptions):
    """Settings that all builds have in common.

    Attributes:
        seed: Random seed.
        split: Splits to build.
        limit: Build only the first N units by id, as a trial run.
        allow_missing: Continue without videos that are missing or cannot be opened. They do not count towards
            --max-skip.
        max_skip: Maximum share of units that may be skipped because of faulty videos; above it, the build fails.
        version: Semantic version of the dataset.
    """

    unrecorded: ClassVar[frozenset[str]] = frozenset({*(each.name for each in fields(RunOptions)), "videos"})

    seed: Seed = 0
    split: Annotated[str, NOT_CONTENT] = "all"
    limit: Annotated[Limit, NOT_CONTENT] = None
    allow_missing: Annotated[bool, NOT_CONTENT] = False
    max_skip: Annotated[float, within(0, 1), NOT_CONTENT] = 0.01
    version: Annotated[str, parsed(semantic_version), NOT_CONTENT] = "1.3.0"

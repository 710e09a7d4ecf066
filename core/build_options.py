"""Declare the options that all builds have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .options import LARGEST_COUNT, LARGEST_SEED, MOST_WORKERS, GivenSettings, option
from .share import WorkShare, read_share

ExecutorKind = Literal["auto", "inline", "processes", "ray"]
SEMANTIC_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


@dataclass(frozen=True, kw_only=True)
class BuildSettings(GivenSettings):
    """Settings that all builds have in common."""

    seed: int = option(0, "Random seed.", minimum=0, maximum=LARGEST_SEED)
    split: str = option("all", "Splits to build.", content=False)
    limit: int | None = option(
        None,
        "Build only the first N units by id, as a trial run.",
        minimum=1,
        maximum=LARGEST_COUNT,
        content=False,
    )
    allow_missing: bool = option(
        False,
        "Continue without videos that are missing or cannot be opened. They do not count towards --max-skip.",
        content=False,
    )
    max_skip: float = option(
        0.01,
        "Maximum share of units that may be skipped because of faulty videos; above it, the build fails.",
        minimum=0,
        maximum=1,
        record="changed",
        content=False,
    )
    version: str = option(
        "1.3.0", "Semantic version of the dataset.", read=lambda text: semantic_version(text), content=False
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options that control how a build runs, but do not affect its content."""

    out: Path | None = option(None, "Output folder: new, empty, or with an earlier run of the same build.")
    workers: int | None = option(
        None,
        "Number of worker processes; it does not affect the result.",
        minimum=1,
        maximum=MOST_WORKERS,
        shown="one per core",
    )
    executor: ExecutorKind = option(
        "auto",
        "Where to render units: in this process, in worker processes on this machine, or on a Ray cluster; auto uses "
        "processes if there is more than one worker.",
    )
    ray_address: str | None = option(
        None,
        "Address of the Ray cluster's head node, host:port.",
        metavar="HOST:PORT",
        shown="the cluster running on this machine, else a new local one",
    )
    share: WorkShare | None = option(
        None,
        "Render part I of N. All N processes share --out, and the last one to finish writes the tables.",
        name="shard",
        metavar="I/N",
        read=lambda text: read_share(text),
    )
    withhold: str | None = option(
        None,
        "After the build, also write two copies to OUT.withheld, one without and one with the answers of this split; "
        "see `stressreel withhold`.",
        metavar="SPLIT",
    )
    resume: bool = option(True, "Continue an earlier run, or discard it and start again.", off="fresh")
    dry_run: bool = option(
        False,
        "Print the plan with estimated sizes and times, and write nothing. A few frames are encoded for the estimate.",
    )
    check_space: bool = option(True, "Check for enough free disk space before starting.")
    progress: bool = option(True, "Show progress.")


def semantic_version(text: str) -> str:
    """Return the text unchanged, or raise ValueError if it is not a semantic version."""
    if not SEMANTIC_VERSION.fullmatch(text):
        raise ValueError("is not a semantic version such as 1.0.0 or 1.2.0-rc.1")
    return text

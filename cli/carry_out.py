"""What every build command does once its plan is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ..records.plan import Builder, Plan
    from ..runtime.space import Needs

FEW = 4


def carry_out(
    plan: Plan,
    builder: Builder,
    out: Path,
    *,
    command: str,
    workers: int,
    resume: bool,
    progress: bool,
    max_skip: float,
    allow_missing: bool,
    dataset_version: str,
    needs: Needs | None,
) -> None:
    """Build in `out`, write the card and say how to open the result.

    Args:
        plan: The plan.
        builder: Renders and describes its units.
        out: The output folder.
        command: The command that builds the same content, for `build.json` and the card.
        workers: Processes.
        resume: Whether to take up an earlier run; if not, it is thrown away.
        progress: Whether to show progress.
        max_skip: Largest share of units that may be skipped.
        allow_missing: Go on without missing videos.
        dataset_version: Semantic version of the dataset.
        needs: Space that the build takes, to be compared with what is free; None to build whatever is free.
    """
    from ..data_cards.card import write_card
    from ..runtime.build import Options, run
    from ..runtime.output import claim

    info = {
        "builder": plan.builder,
        "dataset_version": dataset_version,
        "command": command,
        **{key: value for key, value in plan.identity.items() if key != "dataset_version"},
    }
    options = Options(workers, max_skip, allow_missing, progress, needs)
    with claim(out) as output:
        done = run(
            plan,
            builder,
            output,
            options,
            fresh=not resume,
            info=info,
            write_card=write_card,
            say=lambda text: click.echo(text, err=True),
        )
    click.echo(report(out, done))


def report(out: Path, done: Mapping[str, Any]) -> str:
    """Say what was built and how to open it."""
    rows = {name: sum(splits.values()) for name, splits in done["counts"].items()}
    skips = done["skips"]["count"]
    counted = [f"{count:,} {name}" for name, count in rows.items()]
    if len(counted) > FEW:
        counted = [f"{len(rows)} configs", f"{sum(rows.values()):,} rows"]
    first, *others = rows
    folder = json.dumps(str(out), ensure_ascii=False)
    example = next((name for name in others if name in ("videos", "gaussian_noise")), others[0] if others else None)
    lines = [
        f"Built {out}: " + ", ".join(counted),
        f"version {done['dataset_version']}, fingerprint {done['fingerprint'][:16]}"
        + (f", {skips} skipped (listed in build.json)" if skips else ""),
        "",
        "from datasets import load_dataset",
        f"{first} = load_dataset({folder})",
    ]
    if example:
        split = list(done["counts"][example])[-1]
        lines.append(f'{example} = load_dataset({folder}, "{example}", split="{split}")')
    return "\n".join(lines)

"""`stressreel verify`: check a finished output."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..records.output import FinishedOutput
    from ..runtime.verify import Outcome


@click.command("verify")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--decode/--no-decode", default=True, show_default=True, help="Decode the videos and compare frames.")
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    show_default="one a core",
    help="Processes for decoding.",
)
@click.option(
    "--sources",
    help="Folder of the source videos (and annotations) that it was built from, or the word `sample`: a part is made "
    "again from them and compared.",
)
@click.option(
    "--annotations",
    type=click.Path(exists=True, path_type=Path),
    help="Annotations that it was built from, file or folder, if they are not in --sources.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many units to make again from --sources.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path,
    as_json: bool,
    decode: bool,
    workers: int,
    sources: str | None,
    annotations: Path | None,
    sample: int,
    debug: bool,
) -> int:
    """Check the output of a build in OUT; exit with 1 if any check fails."""
    from ..api import checks_for
    from ..records.checks import VerifyOptions
    from ..records.output import reading
    from ..runtime.verify import run_checks

    with reading(out) as output:
        options = VerifyOptions(decode, workers, source_folder(output, sources), sample, annotations)
        checks = checks_for(output, options)
    outcomes = []
    for outcome in run_checks(output, checks):
        outcomes.append(outcome)
        if not as_json:
            click.echo(line(outcome))
    failed = [outcome.name for outcome in outcomes if not outcome.passed]
    left_open = [outcome.name for outcome in outcomes if outcome.not_checked]
    if as_json:
        report = {
            "output": str(out),
            "passed": not failed,
            "fingerprint": output.info["fingerprint"],
            "checks": [
                {
                    "name": o.name,
                    "passed": o.passed,
                    "problem_count": o.count,
                    "problems": list(o.problems),
                    "not_checked": list(o.not_checked),
                    "notes": list(o.notes),
                }
                for o in outcomes
            ],
        }
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
    else:
        verdict = (
            f"{len(failed)} of {len(outcomes)} checks failed: {', '.join(failed)}"
            if failed
            else f"all {len(outcomes)} checks passed"
        )
        click.echo(verdict + (f"; left something open: {', '.join(left_open)}" if left_open else ""))
    return 1 if failed else 0


def source_folder(output: FinishedOutput, given: str | None) -> Path | None:
    """Return the folder of `--sources`; `sample` is the built-in sample that fits the output.

    Raises:
        click.BadParameter: There is no such folder.
    """
    from ..builders import benchmark_of
    from ..samples.cache import cached_sample

    if given is None:
        return None
    drawn = benchmark_of(output).drawn_sample
    if given == "sample" and drawn:
        return cached_sample(drawn)
    if not Path(given).is_dir():
        raise click.BadParameter(
            f"there is no folder {given}. Give the folder of the source videos, or the word `sample`.",
            param_hint="--sources",
        )
    return Path(given)


def line(outcome: Outcome) -> str:
    """Write one check's line, with its first problems below."""
    left_open = [f"        not checked: {reason}" for reason in outcome.not_checked]
    notes = [f"        note: {text}" for text in outcome.notes]
    if outcome.passed:
        mark = "--  " if left_open else "ok  "
        return "\n".join([f"{mark}  {outcome.name}", *left_open, *notes])
    more = outcome.count - len(outcome.problems)
    listed = [*outcome.problems, *([f"… and {more} more"] if more else [])]
    return "\n".join([f"FAIL  {outcome.name}", *(f"        {problem}" for problem in listed), *left_open, *notes])

"""`stressreel verify`: check a finished output."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
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
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(out: Path, as_json: bool, decode: bool, workers: int, debug: bool) -> int:
    """Check the output of a build in OUT; exit with 1 if any check fails."""
    from ..api import checks_for
    from ..records.checks import VerifyOptions
    from ..records.output import open_output
    from ..runtime.verify import run_checks

    output = open_output(out)
    outcomes = []
    for outcome in run_checks(output, checks_for(output, VerifyOptions(decode, workers))):
        outcomes.append(outcome)
        if not as_json:
            click.echo(line(outcome))
    failed = [outcome.name for outcome in outcomes if not outcome.passed]
    if as_json:
        report = {
            "output": str(out),
            "passed": not failed,
            "fingerprint": output.info["fingerprint"],
            "checks": [
                {"name": o.name, "passed": o.passed, "problem_count": o.count, "problems": list(o.problems)}
                for o in outcomes
            ],
        }
        click.echo(json.dumps(report, indent=2, ensure_ascii=False))
    elif failed:
        click.echo(f"{len(failed)} of {len(outcomes)} checks failed: {', '.join(failed)}")
    else:
        click.echo(f"all {len(outcomes)} checks passed")
    return 1 if failed else 0


def line(outcome: Outcome) -> str:
    """Write one check's line, with its first problems below."""
    if outcome.passed:
        return f"ok    {outcome.name}"
    more = outcome.count - len(outcome.problems)
    listed = [*outcome.problems, *([f"… and {more} more"] if more else [])]
    return "\n".join([f"FAIL  {outcome.name}", *(f"        {problem}" for problem in listed)])

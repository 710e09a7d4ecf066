"""`stressreel verify`: check a finished output."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..records.checks import Check, VerifyOptions
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
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(out: Path, as_json: bool, decode: bool, workers: int, debug: bool) -> int:
    """Check the output of a build in OUT; exit with 1 if any check fails."""
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


def checks_for(output: FinishedOutput, options: VerifyOptions) -> dict[str, Check]:
    """Give all checks that fit an output, cheap ones first.

    Raises:
        InputError: The output is of a builder that this version does not know.
    """
    from ..builders.causal.checks import causal_checks
    from ..builders.causal.settings import settings_of
    from ..builders.causal.tables import causal_configs
    from ..builders.clavi.checks import clavi_checks
    from ..builders.clavi.tables import PAIRS, QUESTIONS, VIDEOS
    from ..builders.perturbed.checks import perturbed_checks
    from ..builders.perturbed.settings import PerturbedSettings
    from ..builders.perturbed.tables import suite_configs
    from ..errors import InputError
    from ..runtime.verify import common_checks

    info = output.info
    if info["builder"] == "clavi":
        configs = [config for config in (QUESTIONS, VIDEOS, PAIRS) if config.name in info["counts"]]
        own = clavi_checks(info, options)
    elif info["builder"] == "perturbed":
        configs = list(suite_configs(PerturbedSettings(**info["settings"])))
        own = perturbed_checks(info, options)
    elif info["builder"] == "causal":
        configs = list(causal_configs(settings_of(info)))
        own = causal_checks(info, options)
    else:
        raise InputError(f"{output.path} was built by {info['builder']!r}, which this version does not know.")
    checks = common_checks(configs)
    last = checks.pop("load_dataset")
    return {**checks, **own, "card": check_card, "load_dataset": last}


def check_card(output: FinishedOutput) -> Iterator[str]:
    """README.md is the card that the shards and `build.json` give now."""
    from ..data_cards.card import render_card

    readme = output.path / "README.md"
    if not readme.is_file():
        yield "there is no README.md; `stressreel card` writes it"
    elif readme.read_text(encoding="utf-8") != render_card(output.path, output.info):
        yield "README.md is not the card of this content; `stressreel card` writes it again"


def line(outcome: Outcome) -> str:
    """Write one check's line, with its first problems below."""
    if outcome.passed:
        return f"ok    {outcome.name}"
    more = outcome.count - len(outcome.problems)
    listed = [*outcome.problems, *([f"… and {more} more"] if more else [])]
    return "\n".join([f"FAIL  {outcome.name}", *(f"        {problem}" for problem in listed)])

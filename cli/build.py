"""Define the commands whose options come from settings classes: `build-NAME` and `stressreel mine`."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..builders import benchmark_names, build_options, load_benchmark
from ..core.build_options import RunOptions
from ..core.errors import UsageError
from ..core.functions import description
from ..core.objects import address
from .functions import show
from .options import from_values, settings_command
from .terminal import echo

if TYPE_CHECKING:
    from ..builders.base import Benchmark

"""Maximum number of tables whose rows are reported one by one."""
MINE_EXAMPLES = """

\b
Examples:
  stressreel mine --questions sample --out mined.jsonl
  stressreel mine --questions mine.csv --columns id=qid,answer=a --out mined.parquet
  stressreel mine --questions Annotations.csv --out mined.jsonl --review to-read.csv
  stressreel mine --questions Annotations.csv --imitate-release --out as-released.jsonl
"""


def build_command(name: str, program: str) -> click.Command:
    """Return the click command that builds a benchmark."""
    kind, text = build_options(name)

    def run(**values: Any) -> None:
        from ..api.build import run_build
        from ..core.output import fitting

        benchmark = load_benchmark(name)
        settings = from_values(kind, values)
        options = from_values(RunOptions, values)
        done = run_build(benchmark, settings, options, say=lambda text: echo(text, err=True))
        if not isinstance(done, dict) or options.out is None:
            echo(str(done))
            return
        with fitting(options.out):  # an existing complete output is untrusted
            text = report(benchmark, options.out, done)
        echo(text)

    return settings_command(program, run, kind, RunOptions, help=text)


def report(benchmark: Benchmark, out: Path, done: Mapping[str, Any]) -> str:
    """Return a summary of a finished output, with the code that loads it."""
    from ..builders.runtime.missing import first_of
    from ..core.left_out import LEFT_OUT
    from ..core.output import describe_counts
    from ..core.plan import UNTIMED

    skips = done["skips"]["count"]
    counts = {name: splits for name, splits in done["counts"].items() if name != LEFT_OUT.name}
    left_out = sum(done["counts"].get(LEFT_OUT.name, {}).values())
    entries = "entry" if left_out == 1 else "entries"
    first, *others = counts
    place = address(out) or str(out)
    shown = [first, *(others if benchmark.result_table not in others else [benchmark.result_table])[:1]]
    untimed = [str(name) for name in done["notes"].get(UNTIMED, ())]
    lines = [
        f"Built {place}: {describe_counts(counts)}",
        f"version {done['dataset_version']}, fingerprint {done['fingerprint'][:16]}"
        + (f", {skips} skipped (listed in build.json)" if skips else ""),
        *([f"left out: {left_out:,} {entries} (stressreel list left-out {place})"] if left_out else []),
        *([f"note: source videos without times, shown at their nominal rate: {first_of(untimed)}"] if untimed else []),
        "",
        "import stressreel",
        f"out = stressreel.read({json.dumps(place, ensure_ascii=False)})",
    ]
    for name in shown:
        variable = re.sub(r"\W|^(?=\d)", "_", name)
        split = list(done["counts"][name])[-1]
        lines.append(f'{variable} = out.load("{name}", split="{split}")  # a datasets.Dataset')
    return "\n".join(lines)


class BuildGroup(click.Group):
    """Click group with one command per benchmark, which is imported only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all benchmarks."""
        return benchmark_names()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Look up the command of a benchmark, or suggest the most similar name if it is unknown."""
        names = benchmark_names()
        if args and args[0] not in names:
            near = difflib.get_close_matches(args[0].removeprefix("build-"), names, 1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise click.UsageError(f"unknown benchmark {args[0]!r}. {hint}Benchmarks: {', '.join(names)}.", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a benchmark, or None if it is unknown."""
        return build_command(cmd_name, cmd_name) if cmd_name in benchmark_names() else None


@click.group("build", cls=BuildGroup)
def command() -> None:
    """Build a benchmark. `stressreel build NAME …` is the same as `build-NAME …`."""


def mine_command() -> click.Command:
    """Return the click command `stressreel mine`."""
    from ..api.mine import mine, run_mine
    from ..negatives.settings import MineSettings

    def run(**values: Any) -> int:
        settings = from_values(MineSettings, values)
        if settings.out is None:
            raise UsageError("--out is missing. Use it to specify the output file (.jsonl or .parquet).")
        return show(lambda: run_mine(settings), {}, "text")

    return settings_command("mine", run, MineSettings, help=description(mine) + MINE_EXAMPLES)

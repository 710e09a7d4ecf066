"""`stressreel build NAME`, and `build-NAME`: commands made from the settings of benchmarks."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..builders import benchmark_names, build_options, load_benchmark
from ..core.objects import address
from ..core.options import RunOptions
from .options import from_values, settings_command
from .terminal import echo

if TYPE_CHECKING:
    from ..builders.base import Benchmark

FEW = 4


def build_command(name: str, program: str) -> click.Command:
    """Make the command that builds a benchmark.

    Args:
        name: Its name.
        program: What the command is called.
    """
    kind, text = build_options(name)

    def run(**values: Any) -> None:
        from ..api.build import run_build
        from ..core.output import fitting

        benchmark = load_benchmark(name)
        settings = from_values(kind, values)
        options = from_values(RunOptions, values)
        done = run_build(benchmark, settings, options, say=lambda text: echo(text, err=True), show=echo)
        if done is not None and options.out is not None:
            with fitting(options.out):  # what is complete already may be anybody's
                text = report(benchmark, options.out, done)
            echo(text)

    return settings_command(program, run, kind, RunOptions, help=text)


def report(benchmark: Benchmark, out: Path, done: Mapping[str, Any]) -> str:
    """Write what was built and how to open it."""
    rows = {name: sum(splits.values()) for name, splits in done["counts"].items()}
    skips = done["skips"]["count"]
    counted = [f"{count:,} {name}" for name, count in rows.items()]
    if len(counted) > FEW:
        counted = [f"{len(rows)} configs", f"{sum(rows.values()):,} rows"]
    first, *others = rows
    url = address(out)
    folder = json.dumps(url or str(out), ensure_ascii=False)
    example = next((name for name in others if name == benchmark.result_table), others[0] if others else None)
    lines = [
        f"Built {url or out}: " + ", ".join(counted),
        f"version {done['dataset_version']}, fingerprint {done['fingerprint'][:16]}"
        + (f", {skips} skipped (listed in build.json)" if skips else ""),
        "",
        "from datasets import load_dataset",
    ]
    if url:
        lines[-1] += "\nfrom stressreel import data_files"
        lines += [
            f'{name} = load_dataset("parquet", **data_files({folder}, "{name}"))' for name in (first, example) if name
        ]
        return "\n".join(lines)
    lines.append(f"{first} = load_dataset({folder})")
    if example:
        split = list(done["counts"][example])[-1]
        lines.append(f'{example} = load_dataset({folder}, "{example}", split="{split}")')
    return "\n".join(lines)


class BuildGroup(click.Group):
    """A group whose commands are the benchmarks, each imported when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the benchmarks."""
        return benchmark_names()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the benchmark; of a name that is none, name the nearest."""
        names = benchmark_names()
        if args and args[0] not in names:
            near = difflib.get_close_matches(args[0].removeprefix("build-"), names, 1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            raise click.UsageError(f"there is no benchmark {args[0]!r}. {hint}There are {', '.join(names)}.", ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Make the command of a benchmark."""
        return build_command(cmd_name, cmd_name) if cmd_name in benchmark_names() else None


@click.group("build", cls=BuildGroup)
def command() -> None:
    """Build a benchmark: `stressreel build NAME …` is the same as `build-NAME …`."""

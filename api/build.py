"""Build benchmarks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from ..builders import load_benchmark
from ..builders.parts import card_of
from ..builders.rebuilt import opening
from ..core.build_options import BuildSettings, RunOptions
from ..core.errors import UsageError
from ..core.extras import package
from ..core.objects import address, objects_at
from ..core.options import from_keywords, options_of
from ..core.output import FinishedOutput, fitting
from ..core.progress import Working, showing
from ..core.requirements import Requirement, check
from ..core.results import Result
from ..core.share import Unfinished
from .outputs import Output, read
from .withhold import withhold

if TYPE_CHECKING:
    from ..builders.base import Benchmark, Prepared
    from ..builders.runtime.output import UnfinishedOutput
    from ..core.plan import Plan
    from ..video.estimate import BuildEstimate

Say = Callable[[str], None]


@dataclass(frozen=True)
class DryRun(Result):
    """Result of a build with `dry_run`: the plan, of which nothing was written. `print` shows what the command prints.

    Attributes:
        benchmark: Name of the benchmark.
        counts: Number of units by split.
        noun: Noun for a unit, such as "pair".
        plan: The plan, with its `units`, and with counts of what was read and left out in `notes`.
        estimate: Estimated `total.size` in bytes, `total.cpu_s` in seconds, and `disk`, the peak disk usage in bytes;
            None if no videos are encoded.
        notes: Warnings about the inputs and options.
    """

    benchmark: str
    counts: dict[str, int]
    noun: str
    plan: Plan = field(repr=False)
    estimate: BuildEstimate | None = field(repr=False)
    text: str = field(repr=False)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@overload
def build(
    name: str, *, dry_run: Literal[False] = False, shard: None = None, out: Path | str, **options: Any
) -> Output: ...
@overload
def build(name: str, *, dry_run: Literal[True], **options: Any) -> DryRun: ...
@overload
def build(
    name: str, *, dry_run: Literal[False] = False, shard: str | None, out: Path | str, **options: Any
) -> Output | Unfinished: ...
@overload
def build(name: str, **options: Any) -> Output | DryRun | Unfinished: ...
def build(name: str, **options: Any) -> Output | DryRun | Unfinished:
    """Build a benchmark, as `stressreel build NAME` does.

    Args:
        name: Name of the benchmark, such as "clavi".
        options: Options of the command, as in `build("clavi", charades="~/Charades", out="out/clavi")`. Their names
            have `_` where the command has `-`.

    Returns:
        The output. With `dry_run=True`, the plan; for a `shard` that is not the last one to finish, what remains.

    Raises:
        InputError: The benchmark or option is unknown, a value is not allowed, or inputs cannot be used.
        MismatchError: Another build was started in `out`.
        BuildError: Too many videos were skipped, or a worker died.
        OutputError: `out` cannot be written.
    """
    benchmark = load_benchmark(name)
    running = {each.keyword for each in options_of(RunOptions)}
    settings = from_keywords(benchmark.settings, {key: value for key, value in options.items() if key not in running})
    run = from_keywords(RunOptions, {key: value for key, value in options.items() if key in running})
    done = run_build(benchmark, settings, run, say=print)
    return done if isinstance(done, DryRun | Unfinished) else read(run.out or "")


def run_build(
    benchmark: Benchmark, settings: BuildSettings, options: RunOptions, *, say: Say
) -> dict[str, Any] | DryRun | Unfinished:
    """Run a build, or describe it in a dry run. `say` prints notes.

    Returns:
        The content of `build.json`; for a dry run, its plan; for a share while others are unfinished, what remains.
    """
    if options.out is None and not options.dry_run:
        raise UsageError("--out is missing. Use it to specify the folder in which to build.")
    check_run(options)
    with showing(options.progress):
        done = _run_build(benchmark, settings, options, say=say)
        if isinstance(done, dict) and options.withhold is not None and options.out is not None:
            copies = options.out.with_name(f"{options.out.name}.withheld")
            there = (copies / "private" / "build.json").is_file()
            say(f"kept {copies}" if there else str(withhold(options.out, split=options.withhold, to=copies)))
        return done


def _run_build(
    benchmark: Benchmark, settings: BuildSettings, options: RunOptions, *, say: Say
) -> dict[str, Any] | DryRun | Unfinished:
    from ..builders.runtime.build import RunSettings, executor_for, run, uncollected
    from ..builders.runtime.missing import list_beside
    from ..builders.runtime.shares import run_share
    from ..data_cards.card import write_card

    to_download = check(requirements_of(benchmark, settings, options), dry_run=options.dry_run)
    if options.ray_address and not options.dry_run:
        from ..builders.runtime.ray_cluster import check_address

        check_address(options.ray_address)
    with uncollected(), Working("reading the annotations and planning"):
        prepared = benchmark.prepare(settings, dry_run=options.dry_run, progress=options.progress)
    for warning in prepared.warnings:
        say(f"note: {warning}")
    workers = options.workers or os.cpu_count() or 1
    if options.dry_run:
        return _described(benchmark, prepared, workers, options.out, to_download)
    plan = prepared.plan
    check_withhold(benchmark, options, plan.splits)
    info = opening(benchmark, settings, prepared)

    def card(out: Path, done: dict[str, Any]) -> None:
        with fitting(out):  # shards may be left over from an earlier run or another program
            write_card(FinishedOutput(out, done), benchmark.declared(done), card_of(benchmark))

    estimated = prepared.estimate if options.check_space else None
    needs = (lambda probe: estimated(workers, probe).disk) if estimated else None
    out = options.out or Path()
    tools = plan.identity.get("tools", {})
    executor = executor_for(options.workers, options.executor, ray_address=options.ray_address, tools=tools)
    how = RunSettings(
        executor,
        settings.max_skip,
        settings.allow_missing,
        options.progress,
        needs,
        prepared.searched,
        list_beside(out),
    )
    if options.share:
        return run_share(plan, prepared.builder, out, options.share, how, info=info, write_card=card, say=say)
    with _claim(out) as output:
        return run(
            plan, prepared.builder, output, how, fresh=not options.resume, info=info, write_card=card, say=say
        )  # fmt: skip


def requirements_of(benchmark: Benchmark, settings: BuildSettings, options: RunOptions) -> list[Requirement]:
    """Return all that a build needs besides the core, for its content and for running it."""
    needs = [*benchmark.requirements(settings)]
    if options.executor == "ray":
        needs.append(package("ray", "--executor ray"))
    if options.out is not None and address(options.out):
        needs.append(package("obstore", "object storage"))
    return needs


def _described(
    benchmark: Benchmark, prepared: Prepared, workers: int, out: Path | None, to_download: Sequence[Requirement]
) -> DryRun:
    from ..builders.runtime.space import in_words

    plan, lines, estimate = prepared.plan, [prepared.describe()], None
    lines += [f"  {each.name}, for {each.what}, will be downloaded from the Hub" for each in to_download]
    if prepared.estimate:
        with Working("encoding short stretches to estimate size and time"):
            estimate = prepared.estimate(workers, True)
        lines += in_words(estimate, workers, None if out is None or address(out) else out)
    counts = Counter(unit.split for unit in plan.units)
    return DryRun(
        benchmark=benchmark.name,
        counts={split: counts[split] for split in plan.splits},
        noun=plan.noun,
        plan=plan,
        estimate=estimate,
        text="\n".join(lines),
        notes=tuple(prepared.warnings),
    )


def check_withhold(benchmark: Benchmark, options: RunOptions, splits: Sequence[str]) -> None:
    """Check, before any work is done, that the answers of the requested split can be withheld.

    Raises:
        UsageError: The split does not exist, the benchmark declares no answers, or the output is in object storage.
    """
    if options.withhold is None:
        return
    if benchmark.public is None:
        raise UsageError(
            f"--withhold: the benchmark {benchmark.name!r} does not declare which columns may be shown without "
            "answers. Set `Benchmark.public`."
        )
    if options.withhold not in splits:
        raise UsageError(
            f"--withhold {options.withhold}: the build has no such split. Available splits: {', '.join(splits)}."
        )
    if options.out is not None and address(options.out):
        raise UsageError("--withhold requires --out to be a local folder. Build locally, then upload the public copy.")


def check_run(options: RunOptions) -> None:
    """Raise UsageError if options conflict."""
    if options.ray_address and options.executor != "ray":
        raise UsageError(f"--ray-address {options.ray_address} requires --executor ray.")
    if options.executor == "inline" and (options.workers or 1) > 1:
        raise UsageError(
            f"--executor inline uses this process only, but --workers is {options.workers}. Omit one of these options."
        )
    if options.share and not options.resume:
        raise UsageError(
            f"--fresh with --shard {options.share} would discard the work of the other processes. Remove {options.out} "
            "before they start, or specify another --out."
        )
    if options.share and options.out is not None and (url := address(options.out)):
        raise UsageError(
            f"--shard {options.share} requires --out to be a folder that all processes share, but --out is {url}. "
            "Specify a folder, or run a single driver with --executor ray."
        )


def _claim(out: Path) -> AbstractContextManager[UnfinishedOutput]:
    from ..builders.runtime.object_store import claim_objects
    from ..builders.runtime.output import claim

    return claim(out) if address(out) is None else claim_objects(objects_at(out))

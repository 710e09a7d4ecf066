"""Build benchmarks."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeAlias, overload

from ..builders import BENCHMARKS, load_benchmark
from ..core.build_settings import BuildSettings, Unfinished, WorkShare
from ..core.errors import UsageError, printable
from ..core.extras import Requirement, check_requirements, package
from ..core.functions import keywords_of
from ..core.objects import address, objects_at
from ..core.progress import Working, showing
from ..core.results import Result, json_value
from ..core.settings import optional_path

if TYPE_CHECKING:
    from ..builders.base import Benchmark, Prepared
    from ..builders.runtime.output import UnfinishedOutput
    from ..core.plan import BuildEstimate, Plan
    from .outputs import Output

P = ParamSpec("P")
Built: TypeAlias = "Output | DryRun | Unfinished"
RESULTS = """Returns:
    The output; with `dry_run`, the plan; for a `shard` that is not the last one to finish, what remains.

Raises:
    InputError: An option is not allowed, or inputs cannot be used.
    MismatchError: Another build was started in `out`.
    BuildError: Too many videos had to be skipped, or a worker died.
    OutputError: `out` cannot be written.
"""


@dataclass(frozen=True)
class DryRun(Result):
    """Result of a build with `dry_run`: the plan, of which nothing was written. `print` shows what the command prints.

    Attributes:
        benchmark: Name of the benchmark.
        counts: Number of units by split.
        noun: Noun for a unit, such as "pair".
        plan: The plan, with its `units`, and with counts of what was read and left out in `notes`.
        estimate: Estimated `size_bytes`, `peak_disk_bytes` and `cpu_seconds`; None if no videos are encoded.
        notes: Warnings about the inputs and settings.
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

    def as_json(self) -> dict[str, Any]:
        """Return the plan without its units, with sizes in bytes and times in seconds.

        `read` contains the counts of what was read and left out. `estimate` is null if no videos are encoded.
        """
        return {**json_value(self), "read": json_value(self.plan.notes), "estimate": json_value(self.estimate)}


class BuildFunction(Protocol[P]):
    """A function that builds a benchmark. A dry run returns the plan; a share that is not the last, what remains."""

    @overload
    def __call__(self, *, dry_run: Literal[True], **settings: Any) -> DryRun: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *, shard: str, **settings: Any) -> Output | Unfinished: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, *args: P.args, **settings: P.kwargs) -> Output: ...
    def __call__(self, *args: Any, **settings: Any) -> Built:
        """Build the benchmark."""


def builds(kind: Callable[P, BuildSettings]) -> Callable[[Callable[[Any], Any]], BuildFunction[P]]:
    """Decorate a function of settings that builds a benchmark, so that it takes their fields as keywords.

    The results and errors, which are the same for all builds, are added to its docstring.
    """

    def decorate(function: Callable[[Any], Any]) -> Any:
        function.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\n{RESULTS}"
        return keywords_of(kind)(function)

    return decorate


def build_function(name: str) -> Callable[..., Built]:
    """Return the function that builds a benchmark, such as `build_clavi`.

    Raises:
        InputError: The benchmark is unknown, or its package cannot be imported.
    """
    if name in BENCHMARKS:
        return getattr(importlib.import_module("..", __package__), f"build_{name}")  # type: ignore[no-any-return]
    benchmark = load_benchmark(name)

    def run(settings: BuildSettings) -> Built:
        return run_build(name, settings)

    run.__name__, run.__doc__ = f"build_{name}", benchmark.description or benchmark.summary
    return builds(benchmark.settings)(run)


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
def build(name: str, **options: Any) -> Built: ...
def build(name: str, **options: Any) -> Built:
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
    return build_function(name)(**options)


def run_build(name: str, settings: BuildSettings) -> Built:
    """Run a build, or describe it in a dry run. Notes are printed on standard error.

    Returns:
        The output; for a dry run, its plan; for a share while others are unfinished, what remains.
    """
    from .outputs import read
    from .publish import withhold

    out = optional_path(settings.out)
    if out is None and not settings.dry_run:
        raise UsageError("--out is missing. Use it to specify the folder in which to build.")
    check_run(settings)
    with showing(settings.progress):
        done = _run_build(load_benchmark(name), settings, out)
        if isinstance(done, DryRun | Unfinished) or out is None:
            return done  # type: ignore[return-value]
        output = read(out)
        if settings.withhold is not None:
            copies = out.with_name(f"{out.name}.withheld")
            if not withheld_before(copies, settings.withhold, output.info["fingerprint"]):
                say(str(withhold(out, split=settings.withhold, to=copies)))
            else:
                say(f"kept {copies}")
        return output


def withheld_before(copies: Path, split: str, fingerprint: str) -> bool:
    """Return whether these copies exist. Raise UsageError if they are those of another split or another output."""
    from ..core.documents import parse_own, read_own

    record = copies / "private" / "build.json"
    if not record.is_file():
        return False
    withheld = parse_own(read_own(record)).get("withheld") or {}
    if (withheld.get("split"), withheld.get("from")) != (split, fingerprint):
        raise UsageError(
            f"--withhold {split}: {copies} contains copies of another output or with another withheld split. Remove "
            "it, or use another --out."
        )
    return True


def _run_build(benchmark: Benchmark, settings: BuildSettings, out: Path | None) -> dict[str, Any] | DryRun | Unfinished:
    from ..builders.parts import card_of
    from ..builders.rebuild import opening
    from ..builders.runtime.build import BuildRun, RunSettings, executor_for, uncollected
    from ..builders.runtime.source_videos import list_beside
    from ..core.output import FinishedOutput, fitting
    from ..data_cards.card import write_card

    to_download = check_requirements(requirements_of(benchmark, settings), dry_run=settings.dry_run)
    if settings.ray_address and not settings.dry_run:
        from ..builders.runtime.executors import check_address

        check_address(settings.ray_address)
    with uncollected(), Working("reading the annotations and planning"):
        prepared = benchmark.prepare(settings, dry_run=settings.dry_run, progress=settings.progress)
    check_withhold(benchmark, settings, prepared.plan.splits)
    workers = settings.workers or os.cpu_count() or 1
    if settings.dry_run or out is None:
        return _described(benchmark, prepared, workers, out, to_download)
    for warning in prepared.warnings:
        say(f"note: {warning}")
    plan = prepared.plan

    def card(out: Path, done: dict[str, Any]) -> None:
        with fitting(out):  # shards may be left over from an earlier run or another program
            write_card(FinishedOutput(out, done), benchmark.declared(done), card_of(benchmark))

    def needs(probe: bool) -> float:
        estimate = prepared.estimate(workers, probe=probe)
        return estimate.peak_disk_bytes if estimate else 0.0

    tools = plan.identity.get("tools", {})
    executor = executor_for(settings.workers, settings.executor, ray_address=settings.ray_address, tools=tools)
    options = RunSettings(
        executor,
        settings.max_skip,
        settings.allow_missing,
        settings.progress,
        needs if settings.check_space else None,
        prepared.searched,
        list_beside(out),
    )
    run = BuildRun(plan, prepared.builder, options, opening(benchmark, settings, prepared), card, say)
    if isinstance(settings.shard, WorkShare):
        return run.run_share(out, settings.shard)
    with _claim(out) as output:
        return run.run(output, fresh=not settings.resume)


def requirements_of(benchmark: Benchmark, settings: BuildSettings) -> list[Requirement]:
    """Return all that a build needs besides the core, for its content and for running it."""
    needs = [*benchmark.requirements(settings)]
    if settings.executor == "ray":
        needs.append(package("ray", "--executor ray"))
    if settings.out is not None and address(settings.out):
        needs.append(package("obstore", "object storage"))
    return needs


def _described(
    benchmark: Benchmark, prepared: Prepared, workers: int, out: Path | None, to_download: Sequence[Requirement]
) -> DryRun:
    from ..builders.runtime.build import in_words

    plan, lines = prepared.plan, [prepared.describe()]
    lines += [
        f"  {requirement.name}, for {requirement.what}, will be downloaded from the Hub" for requirement in to_download
    ]
    with Working("encoding short stretches to estimate size and time"):
        estimate = prepared.estimate(workers, probe=True)
    if estimate:
        lines += in_words(estimate, None if out is None or address(out) else out)
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


def check_withhold(benchmark: Benchmark, settings: BuildSettings, splits: Sequence[str]) -> None:
    """Check, before any work is done, that the answers of the requested split can be withheld.

    Raises:
        UsageError: The split does not exist, the benchmark declares no answers, or the output is in object storage.
    """
    if settings.withhold is None:
        return
    if not benchmark.defines("public"):
        raise UsageError(
            f"--withhold: the benchmark {benchmark.name!r} does not declare which columns may be shown without "
            "answers. Set `Benchmark.public`."
        )
    if settings.withhold not in splits:
        raise UsageError(
            f"--withhold {settings.withhold}: the build has no such split. Available splits: {', '.join(splits)}."
        )
    if settings.out is not None and address(settings.out):
        raise UsageError("--withhold requires --out to be a local folder. Build locally, then upload the public copy.")


def check_run(settings: BuildSettings) -> None:
    """Raise UsageError if options conflict."""
    if settings.ray_address and settings.executor != "ray":
        raise UsageError(f"--ray-address {settings.ray_address} requires --executor ray.")
    if settings.executor == "inline" and (settings.workers or 1) > 1:
        raise UsageError(
            f"--executor inline uses this process only, but --workers is {settings.workers}. Omit one of them."
        )
    if settings.shard and not settings.resume:
        raise UsageError(
            f"--fresh with --shard {settings.shard} would discard the work of the other processes. Remove "
            f"{settings.out} before they start, or specify another --out."
        )
    if settings.shard and settings.out is not None and (url := address(settings.out)):
        raise UsageError(
            f"--shard {settings.shard} requires --out to be a folder that all processes share, but --out is {url}. "
            "Specify a folder, or run a single driver with --executor ray."
        )


def say(text: str) -> None:
    """Print a line on standard error, with control characters escaped."""
    print(printable(text), file=sys.stderr, flush=True)


def _claim(out: Path) -> AbstractContextManager[UnfinishedOutput]:
    from ..builders.runtime.object_store import claim_objects
    from ..builders.runtime.output import claim

    return claim(out) if address(out) is None else claim_objects(objects_at(out))


def report(output: Output) -> str:
    """Return a summary of a finished output, with the code that loads it."""
    from ..builders.runtime.source_videos import first_of
    from ..core.output import describe_counts
    from ..core.plan import LEFT_OUT, UNTIMED

    done, benchmark = output.info, output.benchmark
    skips = done["skips"]["count"]
    counts = {name: splits for name, splits in done["counts"].items() if name != LEFT_OUT.name}
    left_out = sum(done["counts"].get(LEFT_OUT.name, {}).values())
    entries = "entry" if left_out == 1 else "entries"
    first, *others = counts
    path = address(output.path) or str(output.path)
    shown = [first, *(others if benchmark.result_table not in others else [benchmark.result_table])[:1]]
    untimed = [str(name) for name in done["notes"].get(UNTIMED, ())]
    lines = [
        f"Built {path}: {describe_counts(counts)}",
        f"version {done['dataset_version']}, fingerprint {done['fingerprint'][:16]}"
        + (f", {skips} skipped (listed in build.json)" if skips else ""),
        *([f"left out: {left_out:,} {entries} (stressreel list left-out {path})"] if left_out else []),
        *([f"note: source videos without times, shown at their nominal rate: {first_of(untimed)}"] if untimed else []),
        "",
        "import stressreel",
        f"out = stressreel.read({json.dumps(path, ensure_ascii=False)})",
    ]
    for name in shown:
        variable = re.sub(r"\W|^(?=\d)", "_", name)
        split = list(done["counts"][name])[-1]
        lines.append(f'{variable} = out.load("{name}", split="{split}")  # a datasets.Dataset')
    return "\n".join(lines)

"""Find benchmarks by name, and import them on first use.

Other packages can register benchmarks in the entry-point group `stressreel.benchmarks`, as name = "module:Class".
"""

from __future__ import annotations

import difflib
import importlib
from functools import cache
from typing import TYPE_CHECKING

from ..core.errors import InputError

if TYPE_CHECKING:
    from ..core.output import FinishedOutput
    from .base import Benchmark

BENCHMARKS = {
    "causal": "stressreel.builders.causal.benchmark:Causal",
    "clavi": "stressreel.builders.clavi.benchmark:Clavi",
    "decomp": "stressreel.builders.decomp.benchmark:Decomp",
    "perturbed": "stressreel.builders.perturbed.benchmark:Perturbed",
}
SUMMARIES = {
    "causal": "Build CausalChaos: why-questions with five answers and five explanations to choose from, and the clips.",
    "clavi": "Build the CLAVI benchmark from Charades, or from any annotated segments.",
    "decomp": "Decompose compositional questions about videos into graphs of sub-questions.",
    "perturbed": "Build MSRVTT-P or YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 "
    "combinations.",
}
"""First line of the help of each build, so that it can be listed without importing the benchmark."""
GROUP = "stressreel.benchmarks"


def benchmark_names() -> list[str]:
    """Return the sorted names of all benchmarks, including those that other installed packages provide."""
    return sorted({*BENCHMARKS, *_installed()})


@cache  # it takes long to search all installed packages
def _installed() -> dict[str, str]:
    """Return the entry points of installed benchmarks by name. If a name occurs twice, the first is used."""
    from importlib.metadata import entry_points

    return {point.name: point.value for point in reversed([*entry_points(group=GROUP)])}


@cache
def load_benchmark(name: str) -> Benchmark:
    """Import a benchmark by name.

    Raises:
        InputError: The name is unknown, or its package cannot be imported.
    """
    target = BENCHMARKS.get(name) or _installed().get(name)
    if target is None:
        near = difflib.get_close_matches(name, benchmark_names(), 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"unknown benchmark {name!r}.{hint} Benchmarks: {', '.join(benchmark_names())}.")
    module, _, attribute = target.partition(":")
    try:
        benchmark: Benchmark = getattr(importlib.import_module(module), attribute)()
    except (ImportError, AttributeError, TypeError) as error:
        raise InputError(
            f"benchmark {name!r} cannot be loaded from {target}: {error}. Reinstall its package, or uninstall it."
        ) from error
    if benchmark.name != name:
        raise InputError(
            f"{target} is named {benchmark.name!r}, but its entry point is named {name!r}. The two names must match."
        )
    return benchmark


def benchmark_of(output: FinishedOutput) -> Benchmark:
    """Import the benchmark that built an output. Raise InputError if it is not installed."""
    name = output.info["builder"]
    if name not in benchmark_names():
        raise InputError(
            f"{output.path} was built by {name!r}, which is not installed. Installed benchmarks: "
            f"{', '.join(benchmark_names())}. Use the version of stressreel that built it (`tools` in build.json), "
            "and install the package that provides the benchmark."
        )
    return load_benchmark(name)

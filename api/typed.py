"""Provide functions whose parameters come from settings classes, such as `build_clavi` and `mine`.

Type checkers read `typed.pyi`, which a test compares with the settings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..builders import benchmark_names, load_benchmark
from ..core.build_options import RunOptions
from ..core.functions import keyword_signature
from .build import build
from .mine import mine as mine

if TYPE_CHECKING:
    from ..core.share import Unfinished
    from .build import DryRun
    from .outputs import Output

PREFIX = "build_"
AFTER = """

Returns:
    The output; with `dry_run`, the plan; for a `shard` that is not the last, what remains.

Raises:
    InputError: An option is not allowed, or inputs cannot be used.
    MismatchError: Another build was started in `out`.
    BuildError: Too many videos had to be skipped, or a worker died.
    OutputError: `out` cannot be written.
"""


def __getattr__(name: str) -> Callable[..., Output | DryRun | Unfinished]:
    benchmark = name.removeprefix(PREFIX)
    if not name.startswith(PREFIX) or benchmark not in benchmark_names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = load_benchmark(benchmark)

    def made(**options: Any) -> Output | DryRun | Unfinished:
        return build(benchmark, **options)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = inspect.cleandoc(found.description) + AFTER
    function = keyword_signature(found.settings, RunOptions)(made)
    globals()[name] = function
    return function

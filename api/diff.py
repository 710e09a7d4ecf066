"""Compare two outputs of the same benchmark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..core.errors import UsageError
from ..core.functions import public
from ..core.progress import Working
from ..core.rows import AnyPath
from ..core.settings import LARGEST_COUNT, within

if TYPE_CHECKING:
    from ..builders.runtime.diff import Difference


@public
def diff(
    a: AnyPath,
    b: AnyPath,
    *,
    decode: bool = True,
    limit_videos: Annotated[int | None, within(1, LARGEST_COUNT, show_default="all videos that differ")] = None,
) -> Difference:
    """Compare the settings, tables, rows and videos of two outputs of the same benchmark.

    The report compares how they were built, and their columns, rows, splits and videos. If the hashes of two videos
    differ, their decoded frames are compared. The command exits with 0 if the content is the same, and with 1 if it
    differs.

    For example::

        stressreel diff out/a out/b

    Args:
        a: The first output, a folder or a URL of object storage.
        b: The second output.
        decode: Decode videos whose bytes differ and compare their frames.
        limit_videos: Decode at most this many videos per table, evenly spaced.

    Raises:
        UsageError: An output does not exist, or the two belong to different benchmarks.
        InputError: An output is unfinished or cannot be read.
    """
    from ..builders import benchmark_of
    from ..builders.runtime.diff import diff_outputs
    from ..core.objects import address
    from ..core.output import reading

    if limit_videos and not decode:
        raise UsageError("limit_videos requires decoding, which is disabled.")
    paths = Path(a), Path(b)
    names = (address(paths[0]) or str(paths[0]), address(paths[1]) or str(paths[1]))
    with reading(paths[0]) as first, reading(paths[1]) as second:
        benchmarks = benchmark_of(first), benchmark_of(second)
        if benchmarks[0] is not benchmarks[1]:
            raise UsageError(
                f"{names[0]} belongs to {benchmarks[0].name} and {names[1]} to {benchmarks[1].name}, so their tables "
                "cannot be compared. Compare two outputs of the same benchmark."
            )
        configs_a, configs_b = (
            {config.name: config for config in benchmarks[0].tables(output)} for output in (first, second)
        )
        pairs = [(configs_a.get(name), configs_b.get(name)) for name in {**configs_a, **configs_b}]
        with Working("comparing"):
            return diff_outputs(first, second, pairs, names=names, decode=decode, most_videos=limit_videos)

"""Check a finished output."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import UsageError
from ..records.functions import Positive, public
from ..records.options import Option

if TYPE_CHECKING:
    from ..records.output import FinishedOutput
    from ..runtime.verify import Outcome, Verification

Workers = Annotated[int | None, Option("", minimum=1, shown="one a core")]


@public
def verify(
    out: Path | str,
    *,
    decode: bool = True,
    workers: Workers = None,
    sources: str | Path | None = None,
    annotations: Path | str | None = None,
    sample: Positive = 20,
    each: Callable[[Outcome], None] | None = None,
) -> Verification:
    """Check the output of a build in `out`. The command exits with 1 if any check fails.

    Args:
        out: The output.
        decode: Decode the videos and compare frames.
        workers: Processes for decoding.
        sources: Folder of the source videos (and annotations) that it was built from, or the word "sample": a part is
            made again from them and compared.
        annotations: Annotations that it was built from, file or folder, if they are not in `sources`.
        sample: How many units to make again from `sources`.
        each: Called with what each check found, as soon as it is known.

    Returns:
        What every check found.

    Raises:
        InputError: There is no finished output.
        UsageError: A folder is not there.
    """
    from ..builders.parts import checks_for
    from ..records.checks import VerifyOptions
    from ..records.output import reading
    from ..runtime.verify import Verification, run_checks

    with reading(Path(out)) as output:
        folder = source_folder(output, sources)
        there = Path(annotations) if annotations is not None else None
        if there is not None and not there.exists():
            raise UsageError(f"annotations: there is no file or folder {there}.")
        options = VerifyOptions(decode, workers or os.cpu_count() or 1, folder, sample, there)
        checks = checks_for(output, options)
    outcomes = []
    for outcome in run_checks(output, checks):
        outcomes.append(outcome)
        if each is not None:
            each(outcome)
    return Verification(str(out), output.info["fingerprint"], tuple(outcomes))


def source_folder(output: FinishedOutput, given: str | Path | None) -> Path | None:
    """Return the folder of `sources`; `sample` is the built-in sample that fits the output.

    Raises:
        UsageError: There is no such folder.
    """
    from ..builders import benchmark_of
    from ..samples.cache import cached_sample

    if given is None:
        return None
    drawn = benchmark_of(output).drawn_sample
    if given == "sample" and drawn:
        return cached_sample(drawn)
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"sources: there is no folder {given}. Give the folder of the source videos, or the word `sample`."
        )
    return folder

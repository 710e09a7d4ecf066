"""What every executor does: a unit is rendered, its files are delivered, and what was found out is given back."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from typing import Protocol

from ...core.errors import BuildError, StressreelError, VideoError
from ...core.files import output_error
from ...core.plan import Builder, Facts, Skip, Unit
from .store import Store

Result = tuple[Unit, Facts | Skip]

# What a library with threads of its own is told: processes are what scales here.
ONE_THREAD = dict.fromkeys(
    ("OPENCV_FOR_THREADS_NUM", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


class Executor(Protocol):
    """Renders units somewhere."""

    def execute(self, builder: Builder, units: Sequence[Unit], store: Store) -> Iterator[Result]:
        """Render units.

        Args:
            builder: Renders them; pickled once to every worker.
            units: The work.
            store: Takes their files.

        Yields:
            Every unit with its facts or its skip, as they finish.

        Raises:
            OutputError: The disk is full or not writable.
            BuildError: A worker died, or the encoder failed.
        """


def longest_first(units: Sequence[Unit]) -> list[Unit]:
    """Sort units by their cost."""
    return sorted(units, key=lambda unit: -unit.cost)


def render_unit(builder: Builder, unit: Unit, store: Store) -> Facts | Skip:
    """Render one unit and deliver its files; a source that cannot be used becomes a Skip and leaves nothing."""
    try:
        folder = store.scratch(unit.id)
        try:
            facts = builder.render(unit, folder)
        except VideoError as error:
            store.discard(unit.id)
            return Skip(unit.id, unit.source_id, error.reason, error.detail)
        store.deliver(unit.id, facts["files"])
        return facts
    except StressreelError:
        raise
    except OSError as error:
        raise output_error(error, folder) from error
    except (ValueError, RuntimeError, ArithmeticError) as error:
        raise BuildError(
            f"{unit.id} of video {unit.source_id} failed in a way that should not happen: "
            f"{type(error).__name__}: {error}. Please report it; --debug shows where."
        ) from error
    finally:
        gc.collect()  # frames in reference cycles are few to Python's collector, but large

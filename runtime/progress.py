"""Progress of long work: a bar on a terminal, plain lines anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from tqdm import tqdm

LINE_EVERY_S = 10.0


class Progress:
    """Counts finished pieces of work on standard error, with rate and time left."""

    def __init__(self, label: str, total: int, unit: str, *, shown: bool = True):
        """Start at 0.

        Args:
            label: What is being done.
            total: Pieces of work.
            unit: What a piece is called, such as "pair".
            shown: False to print nothing.
        """
        self.label, self.total, self.unit, self.shown = label, total, unit, shown
        self.done = 0
        self._started = self._printed = time.monotonic()
        self._bar: tqdm[Any] | None = None
        if shown and sys.stderr.isatty():
            self._bar = tqdm(total=total, desc=label, unit=unit, dynamic_ncols=True)

    def advance(self, count: int = 1) -> None:
        """Count pieces as done."""
        self.done += count
        if self._bar is not None:
            self._bar.update(count)
        elif self.shown and (time.monotonic() - self._printed >= LINE_EVERY_S or self.done == self.total):
            self._printed = time.monotonic()
            rate = self.done / max(self._printed - self._started, 1e-9)
            left = "done" if self.done == self.total else f"{_clock((self.total - self.done) / rate)} left"
            print(
                f"{self.label}: {self.done}/{self.total} {self.unit}s, {rate:.2f} {self.unit}s/s, {left}",
                file=sys.stderr,
                flush=True,
            )

    def __enter__(self) -> Self:
        """Return the counter."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def progress_bar(stack: ExitStack, what: str, wanted: bool) -> Callable[[int, int], None] | None:
    """Make a bar that appears with its first report and is closed with the stack; None if none is wanted."""
    if not wanted:
        return None
    bars: list[tqdm[Any]] = []

    def update(done: int, total: int) -> None:
        if not bars:
            bars.append(stack.enter_context(tqdm(desc=what, total=total, leave=False, disable=None)))
        bars[0].total = total
        bars[0].update(done - bars[0].n)

    return update

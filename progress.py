"""Progress of long work on standard error, and what of it outlives an interruption.

On a terminal it is a bar, anywhere else a line now and then. Only commands show it, and functions that are told to:
`showing` decides for all that runs inside it, so what works need not be told.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from tqdm import tqdm

LINE_EVERY_S = 10.0
SILENT_S = 3.0
"""What is over sooner is not worth a line."""

T = TypeVar("T")

_shown = False
_running: list[Progress | Working] = []
_kept = Counter[str]()


@contextmanager
def showing(wanted: bool = True) -> Iterator[None]:
    """Show the progress of all that runs inside, or of nothing."""
    global _shown
    before, _shown = _shown, wanted
    try:
        yield
    finally:
        _shown = before


class Progress:
    """Counts finished pieces of work, with rate and time left."""

    def __init__(self, label: str, total: int, unit: str, *, shown: bool | None = None, brief: bool = False):
        """Start at 0.

        Args:
            label: What is being done.
            total: Pieces of work.
            unit: What a piece is called, such as "pair".
            shown: Whether to print anything; None for what `showing` says.
            brief: Whether the work is a step of something else: then it is not mentioned if it is over soon.
        """
        self.label, self.total, self.unit, self.brief = label, total, unit, brief
        self.shown = _shown if shown is None else shown
        self.done = 0
        self._started = self._printed = time.monotonic()
        self._bar: tqdm[Any] | None = None
        if self.shown and sys.stderr.isatty():
            wait = SILENT_S if brief else 0.0
            self._bar = tqdm(total=total, desc=label, unit=unit, dynamic_ncols=True, leave=not brief, delay=wait)

    def advance(self, count: int = 1) -> None:
        """Count pieces as done."""
        self.done += count
        if self._bar is not None:
            self._bar.update(count)
        elif self.shown and self._due():
            self._printed = time.monotonic()
            rate = self.done / max(self._printed - self._started, 1e-9)
            left = "done" if self.done == self.total else f"{_clock((self.total - self.done) / rate)} left"
            print(
                f"{self.label}: {self.done}/{self.total} {self.unit}s, {rate:.2f} {self.unit}s/s, {left}",
                file=sys.stderr,
                flush=True,
            )

    def _due(self) -> bool:
        if self.done == self.total and (not self.brief or self._printed > self._started):
            return True
        return time.monotonic() - self._printed >= LINE_EVERY_S

    def __enter__(self) -> Self:
        """Return the counter."""
        _running.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the bar as it is."""
        _running.remove(self)
        if self._bar is not None:
            self._bar.close()


def tracked(items: Sequence[T], label: str, unit: str) -> Iterator[T]:
    """Yield items, and show how many are done: a step of something else."""
    with Progress(label, len(items), unit, brief=True) as progress:
        for item in items:
            yield item
            progress.advance()


class Working:
    """Shows that work whose amount is not known goes on, and since when."""

    def __init__(self, label: str):
        """Say what is being done."""
        self.label, self.done = label, 0
        self._started = time.monotonic()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Begin to show it, after some seconds."""
        _running.append(self)
        if _shown:
            self._thread = threading.Thread(target=self._report, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Show it no longer."""
        _running.remove(self)
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _report(self) -> None:
        bar = sys.stderr.isatty()
        wait, every = SILENT_S, 1.0 if bar else LINE_EVERY_S
        shown = False
        while not self._over.wait(wait):
            wait = every
            if not _shown or _running[-1:] != [self]:  # a step of this has a line of its own
                continue
            text = f"{self.label}: {f'{self.done:,} done, ' if self.done else ''}{_clock(self.seconds)}"
            print(f"\r\x1b[K{text}" if bar else text, end="" if bar else "\n", file=sys.stderr, flush=True)
            shown = True
        if bar and shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    @property
    def seconds(self) -> float:
        """How long it has lasted."""
        return time.monotonic() - self._started


def counted(items: Iterable[T]) -> Iterator[T]:
    """Yield items, and count them for the `Working` that runs, if one does."""
    for item in items:
        if _running and isinstance(_running[-1], Working):
            _running[-1].done += 1
        yield item


def keep(noun: str, count: int = 1) -> None:
    """Note that finished work is safe, so that the same command need not do it again.

    Args:
        noun: What a piece is called, such as "pair".
        count: How many.
    """
    _kept[noun] += count


def kept() -> str:
    """Return what is safe, such as "3 pairs, 1 shard"; empty if nothing is."""
    found = [f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in _kept.items() if count]
    return ", ".join(found)


def forget() -> None:
    """Begin anew: nothing has been kept by the command that starts."""
    _kept.clear()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

"""Show progress on standard error, and count the work that survives an interruption.

Terminals and notebooks show a bar. Elsewhere, a line is printed at intervals. Progress is shown only inside a `showing`
block.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from tqdm import tqdm

BAR_EVERY_S = 1.0
LINE_EVERY_S = 10.0
SILENT_S = 3.0
"""Steps that take less time are not shown."""

T = TypeVar("T")
Counts = Any  # a `multiprocessing.Value` of an integer

_shown = False
_timed = False
_ticked = 0
_sink: Counts | None = None
_running: list[Progress | Working] = []
_kept = Counter[str]()


@contextmanager
def showing(wanted: bool = True) -> Iterator[None]:
    """Show or hide progress inside a `with` block."""
    global _shown
    before, _shown = _shown, wanted
    try:
        yield
    finally:
        _shown = before


@contextmanager
def timed(wanted: bool = True) -> Iterator[None]:
    """Print the time that each step took inside a `with` block, also where progress is not shown."""
    global _timed
    before, _timed = _timed, wanted
    try:
        yield
    finally:
        _timed = before


class Progress:
    """Counts finished items, and shows their rate and the remaining time."""

    def __init__(
        self,
        label: str,
        total: int,
        unit: str,
        *,
        shown: bool | None = None,
        brief: bool = False,
        ticks: bool = False,
    ):
        """Start a counter of `total` items, each called a `unit`, such as "pair".

        `shown=None` follows `showing`. A `brief` step of other work is shown only if it takes long. With `ticks`, the
        counter includes items of unfinished units, as counted by `tick`.
        """
        self.label, self.total, self.unit, self.brief = label, total, unit, brief
        self.shown = _shown if shown is None else shown
        self.done = 0
        self._before = ticked() if ticks else None
        self._started = time.monotonic()
        self._advanced = (0, self._started)  # number of finished items when it was last seen to grow, and that time
        self._said = False
        self._said_done = False
        self._beat: _Beat | None = None
        self._bar: tqdm[Any] | None = None

    @property
    def seen(self) -> int:
        """Number of finished items, including those of unfinished units."""
        ticks = 0 if self._before is None else ticked() - self._before
        return min(self.total, max(self.done, ticks))

    def advance(self, count: int = 1) -> None:
        """Add to the number of finished items."""
        self.done += count
        if self._bar is not None:
            self._bar.update(self.seen - self._bar.n)
        elif self.shown and self.done == self.total and (self._said or not self.brief):
            self._say()

    def _say(self) -> None:
        if self._bar is not None:
            self._bar.n = self.seen
            self._bar.refresh()
            return
        if self._said_done:
            return
        self._said, self._said_done = True, self.done == self.total
        done = self.seen
        now = time.monotonic()
        if done > self._advanced[0]:
            self._advanced = done, now
        seconds = now - self._started
        rate = done / max(seconds, 1e-9)
        # The last items may be slow, so that the remaining time is at least the time since the last progress.
        remaining = max((self.total - done) / max(rate, 1e-9), now - self._advanced[1])
        left = "done" if self._said_done else f"{_clock(remaining)} left" if done else ""
        parts = [f"{done:,}/{self.total:,} {self.unit}s", f"{rate:.2f} {self.unit}s/s" if done else _clock(seconds)]
        print(f"{self.label}: {', '.join(filter(None, [*parts, left]))}", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        _running.append(self)
        if self.shown:
            bar = _kind_of_bar()
            if bar is None:
                self._beat = _Beat(self._say, first=LINE_EVERY_S, every=LINE_EVERY_S)
            else:
                wait = SILENT_S if self.brief else 0.0
                said: dict[str, Any] = {"desc": self.label, "unit": self.unit, "leave": not self.brief, "delay": wait}
                self._bar = bar(total=self.total, dynamic_ncols=True, **said)
                self._beat = _Beat(self._say, first=SILENT_S, every=BAR_EVERY_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _running.remove(self)
        if self._beat is not None:
            self._beat.stop()
        if self._bar is not None:
            self._bar.close()
        _say_time(self.label, self._started)


def _kind_of_bar() -> type[tqdm[Any]] | None:
    ipython = sys.modules.get("IPython")
    in_notebook = getattr(ipython and ipython.get_ipython(), "kernel", None) is not None
    if in_notebook and find_spec("ipywidgets") is not None:
        from tqdm.notebook import tqdm as drawn

        return drawn
    if not in_notebook and not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    return tqdm


class _Beat:
    def __init__(self, call: Callable[[], None], *, first: float, every: float):
        self._call, self._first, self._every, self._over = call, first, every, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        wait = self._first
        while not self._over.wait(wait):
            wait = self._every
            self._call()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


def tracked(items: Sequence[T], label: str, unit: str) -> Iterator[T]:
    """Yield items while showing progress. Work of a few seconds is not shown."""
    with Progress(label, len(items), unit, brief=True) as progress:
        for item in items:
            yield item
            progress.advance()


class Working:
    """Shows the elapsed time of work whose extent is unknown."""

    def __init__(self, label: str):
        self.label, self.done = label, 0
        self._started = time.monotonic()
        self._beat: _Beat | None = None
        self._line = False

    def __enter__(self) -> Self:
        _running.append(self)
        if _shown:
            every = BAR_EVERY_S if sys.stderr.isatty() else LINE_EVERY_S
            self._beat = _Beat(self._say, first=SILENT_S, every=every)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _running.remove(self)
        if self._beat is not None:
            self._beat.stop()
        if self._line:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        _say_time(self.label, self._started)

    def _say(self) -> None:
        if not _shown or _running[-1:] != [self]:  # an inner step has its own line
            return
        text = f"{self.label}: {f'{self.done:,} done, ' if self.done else ''}{_clock(time.monotonic() - self._started)}"
        self._line = sys.stderr.isatty()
        print(f"\r\x1b[K{text}" if self._line else text, end="" if self._line else "\n", file=sys.stderr, flush=True)


def counted(items: Iterable[T]) -> Iterator[T]:
    """Yield items, and count them in the innermost `Working` block, if there is one."""
    for item in items:
        if _running and isinstance(_running[-1], Working):
            _running[-1].done += 1
        yield item


def tick() -> None:
    """Count one item of an unfinished unit, using the shared counter if `tick_into` was called."""
    global _ticked
    if _sink is None:
        _ticked += 1
    else:
        with _sink.get_lock():
            _sink.value += 1


def ticked() -> int:
    """Return the number of ticks so far, including those of workers."""
    return _ticked if _sink is None else int(_sink.value)


def tick_into(counter: Counts) -> None:
    """Count the ticks of this process in memory that is shared between processes."""
    global _sink
    _sink = counter


def keep(noun: str, count: int = 1) -> None:
    """Count items that have been stored, so that another run need not produce them again."""
    _kept[noun] += count


def kept() -> str:
    """Return a description of the stored items, such as "3 pairs, 1 shard", or "" if there are none."""
    found = [f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in _kept.items() if count]
    return ", ".join(found)


def forget() -> None:
    """Reset the counts of stored items."""
    _kept.clear()


def _say_time(label: str, started: float) -> None:
    """Print how long a step took, if this is wanted (`timed`)."""
    if _timed:
        print(f"{label}: {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

"""Show progress on standard error, and count the work that survives an interruption.

Terminals and notebooks show a bar. Elsewhere, a line is printed at intervals. Progress is shown only inside a `showing`
block. Python drops a KeyboardInterrupt that is raised in a destructor or a callback, so Ctrl-C is recorded as well.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Self, TypeVar

BAR_EVERY_S = 1.0
LINE_EVERY_S = 10.0
SILENT_S = 3.0
"""Brief steps that take less time are not shown."""
LINE = "{desc}: {n_fmt}/{total_fmt} {unit}s in {elapsed}, {remaining} left"

T = TypeVar("T")

_shown = ContextVar("shown", default=False)
_timed = ContextVar("timed", default=False)
_running: list[Progress] = []
_sink: Callable[[], object] | None = None
_kept = Counter[str]()


@contextmanager
def _within(mode: ContextVar[bool], wanted: bool = True) -> Iterator[None]:
    token = mode.set(wanted)
    try:
        yield
    finally:
        mode.reset(token)


showing = partial(_within, _shown)
"""Show or hide progress inside a `with` block."""
timed = partial(_within, _timed)
"""Print the time that each step took inside a `with` block, also where progress is not shown."""


@dataclass(eq=False)
class Progress:
    """Shows how many of `total` items are finished, each called a `unit`, such as "pair".

    Without `total`, only the elapsed time is shown. `shown=None` follows `showing`. A `brief` step of other work is
    shown only if it takes long.
    """

    label: str
    total: int | None = None
    unit: str = ""
    shown: bool | None = None
    brief: bool = False
    done = ticks = 0

    def advance(self, count: int = 1) -> None:
        """Add to the number of finished items."""
        self.done += count
        self.ticks = max(self.ticks - count, 0)

    def __enter__(self) -> Self:
        self._began, self._over = time.time(), threading.Event()
        self._thread = threading.Thread(target=self._draw, args=(_shown.get(),), daemon=True)
        _running.append(self)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        _running.remove(self)
        if _timed.get():
            print(f"{self.label}: {time.time() - self._began:.1f} s", file=sys.stderr, flush=True)

    def _draw(self, shown: bool) -> None:
        live = sys.stderr.isatty() or "ipykernel" in sys.modules
        every = BAR_EVERY_S if live else LINE_EVERY_S
        if not (shown if self.shown is None else self.shown) or (self.brief and self._over.wait(min(every, SILENT_S))):
            return
        from tqdm.auto import tqdm  # takes 0.1 s

        form = "{desc}: {elapsed}" if self.total is None else None if live else LINE
        bar = tqdm(
            desc=self.label, total=self.total, unit=self.unit, leave=not self.brief, bar_format=form,
            position=0, dynamic_ncols=True, gui=not live, delay=1e-9,
        )  # fmt: skip
        bar.start_t = self._began
        over = False
        while not over:
            over = self._over.wait(every)
            bar.n = min(self.done + self.ticks, self.total or 0)
            if _running[-1] is self and not (over and self.total is None):  # else an inner step is shown
                bar.refresh() if live else print(bar, file=sys.stderr, flush=True)
        bar.close()


Working = partial(Progress, brief=True)
"""Shows the elapsed time of work whose extent is unknown, if it takes long."""


def tracked(items: Sequence[T], label: str, unit: str) -> Iterator[T]:
    """Yield items while showing progress. Work of a few seconds is not shown."""
    with Progress(label, len(items), unit, brief=True) as progress:
        for item in items:
            yield item
            progress.advance()


def tick() -> None:
    """Count one item of an unfinished unit in the innermost step, which may be one of the parent process."""
    if _sink is not None:
        _sink()
    elif _running:
        _running[-1].ticks += 1


def tick_into(sink: Callable[[], object]) -> None:
    """Call a function for each tick of this worker process, which sends it to the parent."""
    global _sink
    _sink = sink


def keep(noun: str, count: int = 1) -> None:
    """Count items that have been stored, so that another run need not produce them again."""
    _kept[noun] += count


def kept() -> str:
    """Return a description of the stored items, such as "3 pairs, 1 shard", or "" if there are none."""
    counts = [f"{count:,} {noun}{'' if count == 1 else 's'}" for noun, count in _kept.items() if count]
    return ", ".join(counts)


def forget() -> None:
    """Reset the counts of stored items."""
    _kept.clear()


_interrupts: list[int] = []


def listen_for_interrupts() -> None:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, and record it for `raise_if_interrupted`."""
    signal.signal(signal.SIGINT, _on_interrupt)
    signal.signal(signal.SIGTERM, _on_interrupt)


def interrupted() -> bool:
    """Return whether the user has asked to stop, in which case later failures are only a consequence."""
    return bool(_interrupts)


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt again if Python has dropped it."""
    if _interrupts:
        raise KeyboardInterrupt


def _on_interrupt(signal_number: int, frame: FrameType | None) -> None:
    _interrupts.append(signal_number)
    raise KeyboardInterrupt

"""Handle Ctrl-C reliably, since Python drops a KeyboardInterrupt raised in a destructor or a callback."""

from __future__ import annotations

import signal
from types import FrameType

_asked: list[int] = []


def listen() -> None:
    """Raise KeyboardInterrupt on SIGINT and SIGTERM, and record it for `check`."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


def asked() -> bool:
    """Return whether the user has asked to stop, in which case later failures are only a consequence."""
    return bool(_asked)


def check() -> None:
    """Raise KeyboardInterrupt again if Python has dropped it."""
    if _asked:
        raise KeyboardInterrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    _asked.append(number)
    raise KeyboardInterrupt

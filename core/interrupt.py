"""Ctrl-C that is not lost: Python drops a KeyboardInterrupt that is raised in a destructor or a callback."""

from __future__ import annotations

import signal
from types import FrameType

_asked: list[int] = []


def listen() -> None:
    """Raise KeyboardInterrupt on Ctrl-C and on a request to end, and remember it for `check`."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.signal(signal.SIGTERM, _interrupt)


def asked() -> bool:
    """Whether the user wants to stop: what fails from then on fails for that reason."""
    return bool(_asked)


def check() -> None:
    """Raise a KeyboardInterrupt that was asked for and lost.

    Raises:
        KeyboardInterrupt: The user wants to stop.
    """
    if _asked:
        raise KeyboardInterrupt


def _interrupt(number: int, frame: FrameType | None) -> None:
    _asked.append(number)
    raise KeyboardInterrupt

"""Work that makes many lasting objects, without Python's search for circular garbage, which is for nothing there."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave the search for circular garbage off: it looks through everything again and again as more is read."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

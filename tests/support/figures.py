"""Matplotlib figures: as they are drawn, and not painted where nobody looks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from matplotlib.figure import Figure


def keep_drawn(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[Any]:
    """Return a list to which every figure goes that a module with `draw_png` draws."""
    kept: list[Any] = []
    png = module.draw_png

    def keep(draw: Any, height: float) -> bytes:
        def both(figure: Any) -> None:
            draw(figure)
            kept.append(figure)

        return png(both, height)

    monkeypatch.setattr(module, "draw_png", keep)
    return kept


PNG = b"\x89PNG\r\n\x1a\n"
PAINT = Figure.savefig


def leave_unpainted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Matplotlib write files of eight bytes: to paint one takes half a second, and few tests look at it."""

    def save(self: Figure, target: Any, **options: Any) -> None:
        if hasattr(target, "write"):
            target.write(PNG)
        else:
            Path(target).write_bytes(PNG)

    monkeypatch.setattr(Figure, "savefig", save)


@contextmanager
def painted() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", PAINT)
        yield

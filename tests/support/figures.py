"""Matplotlib figures as they are drawn."""

from types import ModuleType
from typing import Any

import pytest


def keep_drawn(monkeypatch: pytest.MonkeyPatch, module: ModuleType) -> list[Any]:
    """Return a list to which every figure goes that a module with `_png` draws."""
    kept: list[Any] = []
    png = module._png

    def keep(draw: Any, height: float) -> bytes:
        def both(figure: Any) -> None:
            draw(figure)
            kept.append(figure)

        return png(both, height)

    monkeypatch.setattr(module, "_png", keep)
    return kept

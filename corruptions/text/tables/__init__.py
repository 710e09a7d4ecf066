"""Word tables for the text perturbations."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def read_table(name: str) -> dict[str, Any]:
    """Load `<name>.yaml` and cache it. Callers must not modify the result."""
    content: dict[str, Any] = yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))
    return content

"""Word tables of the text perturbations: data with their sources, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def read_table(name: str) -> dict[str, Any]:
    """Read `<name>.yaml`, a mapping; the caller must not change it.

    Its key `version` counts changes of content; every part names its `source`.
    """
    content: dict[str, Any] = yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))
    return content

"""Word tables of the text perturbations: data with sources, each read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def read_table(name: str) -> dict[str, Any]:
    """Return the content of `<name>.yaml`, a mapping that callers must not change.

    The key `version` is increased when the content changes; every part states its `source`.
    """
    content: dict[str, Any] = yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))
    return content

"""Word tables of the text perturbations: data with their sources, read once."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def read_table(name: str) -> dict[str, Any]:
    """Read `<name>.yaml`; the caller must not change it.

    A table is a mapping. Its key `version` counts changes of content; every part names its `source`.
    """
    content: dict[str, Any] = yaml.safe_load((Path(__file__).parent / f"{name}.yaml").read_text(encoding="utf-8"))
    return content


def table_hashes() -> dict[str, str]:
    """Hash every table, by file name: what decides the wording besides the code."""
    from ....core.files import sha256_file

    return {path.name: sha256_file(path) for path in sorted(Path(__file__).parent.glob("*.yaml"))}

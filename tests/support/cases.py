"""Tables of cases that stand in `cases.yaml` beside the tests, by module and function."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml


def read_cases(file: str) -> dict[str, Any]:
    return _read(Path(file).with_name("cases.yaml"))


@cache
def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content

"""Dataset cards."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def write_card(out: Path, info: dict[str, Any]) -> None:
    """Write README.md."""
    configs = "".join(
        f"- config_name: {name}\n  default: {str(name == 'questions').lower()}\n  data_files:\n"
        + "".join(f"  - split: {split}\n    path: {name}/{split}-*.parquet\n" for split in splits)
        for name, splits in info["counts"].items()
    )
    (out / "README.md").write_text(f"---\nconfigs:\n{configs}---\n")

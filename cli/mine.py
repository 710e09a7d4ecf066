"""`stressreel mine`: wrong options for any set of questions."""

from __future__ import annotations

from typing import Any

from ..api.mine import mine, run_mine
from ..core.errors import UsageError
from ..core.functions import description
from ..negatives.settings import MineSettings
from .functions import show
from .options import from_values, settings_command

EXAMPLES = """

\b
Examples:
  stressreel mine --questions sample --out mined.jsonl
  stressreel mine --questions mine.csv --columns id=qid,answer=a --out mined.parquet
  stressreel mine --questions Annotations.csv --out mined.jsonl --review to-read.csv
  stressreel mine --questions Annotations.csv --imitate-release --out as-released.jsonl
"""


def run(**values: Any) -> int:
    """Find wrong options, and print what was found."""
    settings = from_values(MineSettings, values)
    if settings.out is None:
        raise UsageError("--out is missing: the file to write, .jsonl or .parquet.")
    return show(lambda: run_mine(settings), {}, "text")


command = settings_command("mine", run, MineSettings, help=description(mine) + EXAMPLES)

"""Cases of text perturbations from their files, and the real captions that properties are looked at on."""

import csv
import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from stressreel.corruptions.registry import TextResult, text_corruptions
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.tools import Tools

CASES = Path(__file__).parents[1] / "corruptions" / "text" / "cases"
Row = tuple[str, str, str]  # style, key, caption


def cases(family: str) -> list[tuple[str, dict[str, Any]]]:
    content = yaml.safe_load((CASES / f"{family}.yaml").read_text(encoding="utf-8"))
    return [(name, case) for name, rows in content.items() for case in rows]


def perturb(name: str, text: str, *, style: str = "declarative", seed: int = 0, key: str = "case") -> TextResult:
    """Perturb a caption."""
    return TextRecipe(text_corruptions()[name], seed, key, style).apply(text, Tools())


@cache
def read_captions(shared: Path) -> tuple[Row, ...]:
    """All 1,000 captions of MSR-VTT's test and all 13,829 of YouCook2."""
    with (shared / "data" / "msrvtt" / "MSRVTT_JSFUSION_test.csv").open(newline="") as file:
        rows = [("declarative", row["key"], row["sentence"]) for row in csv.DictReader(file)]
    found = json.loads((shared / "data" / "youcook2" / "youcookii_annotations_trainval.json").read_text())
    for video, entry in found["database"].items():
        rows += [("imperative", f"{video}_{part['id']}", part["sentence"]) for part in entry["annotations"]]
    assert len(rows) == 1_000 + 13_829
    return tuple(rows)

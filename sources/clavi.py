"""The released CLAVI pairs: `train_annotations.json`, `test_annotations.json`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from ..errors import InputError
from .tables import Problems, read_text

PAIR_ID = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True)
class ReleasedPair:
    """One pair as released.

    Attributes:
        id: 8 hex digits.
        video_id: The Charades video.
        a: Class, start and end in seconds of the earlier action.
        b: The same of the later one.
        others: `other_actions`.
        cuts_ms: `out_a, in_a, in_b, out_b` in milliseconds.
    """

    id: str
    video_id: str
    a: tuple[str, float, float]
    b: tuple[str, float, float]
    others: tuple[str, ...]
    cuts_ms: tuple[int, int, int, int]


def read_released(path: Path) -> list[ReleasedPair]:
    """Read one of the two released files.

    Raises:
        InputError: Not such a file, or an entry is malformed (all such entries are named).
    """
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path.name}, line {error.lineno}: not well-formed JSON ({error.msg}).") from error
    if not isinstance(content, dict) or not content:
        raise InputError(
            f"{path.name}: expected an object with an entry for each pair, as in CLAVI's train_annotations.json."
        )
    problems = Problems()
    pairs = []
    for name, entry in content.items():
        try:
            pairs.append(_pair(name, entry))
        except (KeyError, TypeError, ValueError, InvalidOperation) as error:
            what = f"the key {error}" if isinstance(error, KeyError) else str(error) or "numbers as text"
            problems.add(path, None, f"{name!r}", what, json.dumps(entry))
    problems.raise_if_any("Take the file as released, or leave --pairs out to select the pairs anew.")
    return pairs


def _pair(name: str, entry: dict[str, Any]) -> ReleasedPair:
    if not PAIR_ID.fullmatch(name):
        raise ValueError("8 hex digits as the pair's id")
    a, b = ((str(key), float(start), float(end)) for key, start, end in entry["info"])
    out_a, in_a, in_b, out_b = (
        int(Decimal(str(entry["ext"][cut])).scaleb(3).to_integral_value()) for cut in ("out_a", "in_a", "in_b", "out_b")
    )
    if not 0 <= out_a < in_a <= in_b < out_b:
        raise ValueError("0 ≤ out_a < in_a ≤ in_b < out_b")
    others = tuple(str(key) for key in entry["other_actions"])
    return ReleasedPair(name, str(entry["vid_id"]), a, b, others, (out_a, in_a, in_b, out_b))

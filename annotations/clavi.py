"""Load the pairs of the CLAVI release from `train_annotations.json` and `test_annotations.json`."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.documents import parse_json, read_text
from ..core.errors import InputError
from .entries import Problems, seconds

PAIR_ID = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True)
class ReleasedPair:
    """A pair of the release, with times in seconds and cut points in milliseconds.

    Attributes:
        id: Pair id, 8 hexadecimal digits.
        a: Class, start and end of the earlier action.
        b: Class, start and end of the later action.
        others: The field `other_actions`.
        cuts_ms: Cut points `out_a, in_a, in_b, out_b`.
    """

    id: str
    video_id: str
    a: tuple[str, float, float]
    b: tuple[str, float, float]
    others: tuple[str, ...]
    cuts_ms: tuple[int, int, int, int]


def read_released(path: Path) -> list[ReleasedPair]:
    """Load a file of the release. Raise InputError if it has another format or malformed entries (all are listed)."""
    try:
        content = parse_json(read_text(path), _object)
    except json.JSONDecodeError as error:
        raise InputError(f"{path.name}, line {error.lineno}: invalid JSON ({error.msg}).") from error
    except ValueError as error:
        raise InputError(f"{path.name}: invalid JSON ({error}). Use the released file.") from error
    if not isinstance(content, dict) or not content:
        raise InputError(
            f"{path.name}: expected an object with an entry for each pair, as in CLAVI's train_annotations.json."
        )
    problems = Problems()
    pairs = []
    for name, entry in content.items():
        expected, pair = _pair(name, entry)
        if pair is None:
            problems.add(path, None, repr(name), expected, json.dumps(entry))
        else:
            pairs.append(pair)
    problems.raise_if_any("Use the file as released, or omit --pairs to select pairs by the rules.")
    return pairs


def _object(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dictionary in which duplicate ids have invalid values, so that `_pair` rejects them."""
    values = dict(items)
    if len(values) < len(items):
        times = Counter(name for name, _ in items)
        values |= {name: "a duplicate entry" for name in values if times[name] > 1}
    return values


def _pair(name: str, entry: Any) -> tuple[str, ReleasedPair | None]:
    """Parse an entry. Return the expected format, for error messages, and the pair or None if the entry is invalid."""
    if not PAIR_ID.fullmatch(name):
        return "8 hex digits as the pair's id", None
    expected = (
        "vid_id, info (two [class, start, end]), other_actions (a list of classes) and ext "
        "(out_a, in_a, in_b, out_b), times in seconds"
    )
    try:
        video, others = entry["vid_id"], entry["other_actions"]
        (a, start_a, end_a), (b, start_b, end_b) = entry["info"]
        first, second, third, fourth = (_time(value) for value in (start_a, end_a, start_b, end_b))
        edges = (_time(entry["ext"][cut]) for cut in ("out_a", "in_a", "in_b", "out_b"))
        out_a, in_a, in_b, out_b = (round(edge * 1000) for edge in edges)
    except (KeyError, TypeError, ValueError):
        return expected, None
    texts = [video, a, b, *(others if isinstance(others, list) else [None])]
    if not all(isinstance(text, str) and text for text in texts):
        return expected, None
    if not first < second <= third < fourth:
        return "A before B, both with start < end", None
    if not 0 <= out_a < in_a <= in_b < out_b:
        return "0 ≤ out_a < in_a ≤ in_b < out_b", None
    return "", ReleasedPair(
        name, video, (a, first, second), (b, third, fourth), tuple(others), (out_a, in_a, in_b, out_b)
    )


def _time(value: Any) -> float:
    time = seconds(str(value))
    if time is None:
        raise ValueError(value)
    return time

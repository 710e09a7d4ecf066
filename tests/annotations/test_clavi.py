import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stressreel.annotations.clavi import ReleasedPair, read_released

ENTRY: dict[str, Any] = {
    "vid_id": "DOQ9Y",
    "info": [["c000", "6.50", "14.70"], ["c063", "17.20", "24.50"]],
    "other_actions": ["c006", "c097"],
    "ext": {"out_a": "5.701", "out_b": "24.525", "in_a": "14.927", "in_b": "16.603"},
}
A, B = ("c000", 6.5, 14.7), ("c063", 17.2, 24.5)


def test_entries_are_read_in_order_with_exact_milliseconds(write: Callable[..., Path]) -> None:
    touching = {"out_a": "0.0", "in_a": "9.7", "in_b": "9.7", "out_b": "15.441"}
    inexact = {"out_a": "0.57", "in_a": "1.005", "in_b": "4.35", "out_b": "16.1"}  # as binary fractions
    entries = {
        "9b71c4ad": ENTRY,
        "06496b26": {**ENTRY, "vid_id": "QGQGZ", "other_actions": [], "ext": touching},
        "00000000": {**ENTRY, "ext": inexact},
    }
    assert read_released(write("train_annotations.json", json.dumps(entries))) == [
        ReleasedPair("9b71c4ad", "DOQ9Y", A, B, ("c006", "c097"), (5701, 14927, 16603, 24525)),
        ReleasedPair("06496b26", "QGQGZ", A, B, (), (0, 9700, 9700, 15441)),
        ReleasedPair("00000000", "DOQ9Y", A, B, ("c006", "c097"), (570, 1005, 4350, 16100)),
    ]

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from stressreel.annotations.clavi import ReleasedPair, read_released
from stressreel.core.errors import InputError

Entry = dict[str, Any]
Change = Callable[[Entry], object]

ENTRY: Entry = {
    "vid_id": "DOQ9Y",
    "vid_len": "41.29",
    "start_time": "6.50",
    "end_time": "24.50",
    "subject": "EA2K",
    "info": [["c000", "6.50", "14.70"], ["c063", "17.20", "24.50"]],
    "other_actions": ["c006", "c097"],
    "ext": {"out_a": "5.701", "out_b": "24.525", "in_a": "14.927", "in_b": "16.603"},
}
A, B = ("c000", 6.5, 14.7), ("c063", 17.2, 24.5)
PAIR = ReleasedPair("9b71c4ad", "DOQ9Y", A, B, ("c006", "c097"), (5701, 14927, 16603, 24525))


def write(folder: Path, content: object) -> Path:
    path = folder / "train_annotations.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def changed(change: Change) -> Entry:
    entry = deepcopy(ENTRY)
    change(entry)
    return entry


def ext(**cuts: object) -> Change:
    return lambda entry: entry["ext"].update(cuts)


def test_entries_are_read_in_order(tmp_path: Path) -> None:
    other = changed(lambda entry: entry.update(vid_id="QGQGZ", other_actions=[]))
    other["ext"] = {"out_a": "0.0", "in_a": "9.7", "in_b": "9.7", "out_b": "15.441"}
    assert read_released(write(tmp_path, {"9b71c4ad": ENTRY, "06496b26": other})) == [
        PAIR,
        ReleasedPair("06496b26", "QGQGZ", PAIR.a, PAIR.b, (), (0, 9700, 9700, 15441)),
    ]


def test_milliseconds_are_exact(tmp_path: Path) -> None:
    assert 4.35 * 100 != 435  # so 1.005 and the like need decimals
    entry = changed(ext(out_a="0.57", in_a="1.005", in_b="4.35", out_b="16.1"))
    (pair,) = read_released(write(tmp_path, {"9b71c4ad": entry}))
    assert pair.cuts_ms == (570, 1005, 4350, 16100)


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.pop("info"),
        lambda entry: entry["info"][0].__setitem__(1, "nan"),
        lambda entry: entry["info"].append(["c001", "1", "2"]),
        lambda entry: entry.update(vid_id=""),
        lambda entry: entry.update(other_actions=["c006", 7]),
        ext(in_a="-0.001"),
    ],
)
def test_malformed_entry_is_named_by_its_id(tmp_path: Path, change: Change) -> None:
    path = write(tmp_path, {"06496b26": ENTRY, "9b71c4ad": changed(change)})
    with pytest.raises(InputError, match=r"(?s)^1 problem .*column '9b71c4ad': expected vid_id, info"):
        read_released(path)

from __future__ import annotations

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
PAIR = ReleasedPair(
    id="9b71c4ad",
    video_id="DOQ9Y",
    a=("c000", 6.5, 14.7),
    b=("c063", 17.2, 24.5),
    others=("c006", "c097"),
    cuts_ms=(5701, 14927, 16603, 24525),
)


def write(folder: Path, content: object) -> Path:
    path = folder / "train_annotations.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return path


def changed(change: Change) -> Entry:
    entry = deepcopy(ENTRY)
    change(entry)
    return entry


def ext(**cuts: object) -> Change:
    return lambda entry: entry["ext"].update(cuts)


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_released(path)
    return str(caught.value)


def test_entries_are_read_in_order_as_they_stand(tmp_path: Path) -> None:
    other = changed(lambda entry: entry.update(vid_id="QGQGZ", other_actions=[]))
    other["ext"] = {"out_a": "0.0", "in_a": "9.7", "in_b": "9.7", "out_b": "15.441"}
    assert read_released(write(tmp_path, {"9b71c4ad": ENTRY, "06496b26": other})) == [
        PAIR,
        ReleasedPair("06496b26", "QGQGZ", PAIR.a, PAIR.b, (), (0, 9700, 9700, 15441)),
    ]


def test_numbers_may_be_numbers_and_the_file_may_have_a_mark(tmp_path: Path) -> None:
    entry = changed(ext(out_a=5.701, out_b=24.525, in_a=14.927, in_b=16.603))
    entry["info"] = [["c000", 6.5, 14.7], ["c063", 17.2, 24.5]]
    assert read_released(write(tmp_path, "\ufeff" + json.dumps({"9b71c4ad": entry}))) == [PAIR]


def test_milliseconds_are_exact_where_binary_fractions_are_not(tmp_path: Path) -> None:
    assert 4.35 * 100 != 435  # so 1.005 and the like need decimals
    entry = changed(ext(out_a="0.57", in_a="1.005", in_b="4.35", out_b="16.1"))
    (pair,) = read_released(write(tmp_path, {"9b71c4ad": entry}))
    assert pair.cuts_ms == (570, 1005, 4350, 16100)


@pytest.mark.parametrize(
    ("cuts", "fits"),
    [
        ({"out_a": "0"}, True),
        ({"in_a": "16.603"}, True),
        ({"in_a": "16.604"}, False),
        ({"out_a": "14.926"}, True),
        ({"out_a": "14.927"}, False),
        ({"in_b": "24.524"}, True),
        ({"in_b": "24.525"}, False),
    ],
)
def test_cuts_must_be_in_order(tmp_path: Path, cuts: dict[str, str], fits: bool) -> None:
    path = write(tmp_path, {"9b71c4ad": changed(ext(**cuts))})
    if fits:
        assert len(read_released(path)) == 1
    else:
        assert (
            refusal(path)
            .split("\n")[1]
            .startswith("  train_annotations.json, column '9b71c4ad': expected 0 ≤ out_a < in_a ≤ in_b < out_b, got ")
        )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"9b71c4ad": {\n"vid_id" "A"}}', ", line 2: not well-formed JSON (Expecting ':' delimiter)."),
        ("", ", line 1: not well-formed JSON (Expecting value)."),
        *((text, ": expected an object with an entry for each pair, as in") for text in ("{}", "[]", "5", "null")),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    assert refusal(write(tmp_path, content)).startswith(f"train_annotations.json{message}")


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.pop("vid_id"),
        lambda entry: entry.pop("info"),
        lambda entry: entry.pop("ext"),
        lambda entry: entry.pop("other_actions"),
        lambda entry: entry["ext"].pop("in_b"),
        lambda entry: entry["info"].pop(),
        lambda entry: entry["info"].append(["c001", "1", "2"]),
        lambda entry: entry["info"][0].pop(),
        lambda entry: entry["info"][0].__setitem__(1, "early"),
        lambda entry: entry["info"][0].__setitem__(1, "nan"),
        lambda entry: entry["info"][0].__setitem__(1, "-1"),
        lambda entry: entry["info"][1].__setitem__(2, "inf"),
        lambda entry: entry["info"][0].__setitem__(0, 0),
        lambda entry: entry.update(info=5),
        lambda entry: entry.update(vid_id=None),
        lambda entry: entry.update(vid_id=""),
        lambda entry: entry.update(other_actions=None),
        lambda entry: entry.update(other_actions="c006"),
        lambda entry: entry.update(other_actions=["c006", 7]),
        ext(in_a="soon"),
        ext(in_a=None),
        ext(in_a="NaN"),
        ext(out_b="Infinity"),
        ext(out_a="-0.001"),
    ],
)
def test_a_malformed_entry_is_refused_by_its_id(tmp_path: Path, change: Change) -> None:
    entry = changed(change)
    lines = refusal(write(tmp_path, {"06496b26": ENTRY, "9b71c4ad": entry})).split("\n")
    assert lines == [
        "1 problem in the annotations; nothing was written.",
        "  train_annotations.json, column '9b71c4ad': expected vid_id, info (two [class, start, end]), other_actions "
        "(a list of classes) and ext (out_a, in_a, in_b, out_b), times in seconds, "
        f"got {json.dumps(entry)[:77] + '…'!r}",
        "Take the file as released, or leave --pairs out to select the pairs anew.",
    ]


@pytest.mark.parametrize(
    "info",
    [
        ENTRY["info"][::-1],
        [["c000", "6.50", "6.50"], ENTRY["info"][1]],
        [["c000", "6.50", "17.21"], ENTRY["info"][1]],
        [ENTRY["info"][0], ["c063", "24.50", "24.50"]],
    ],
    ids=["B before A", "empty A", "overlap", "empty B"],
)
def test_a_comes_before_b(tmp_path: Path, info: object) -> None:
    message = refusal(write(tmp_path, {"9b71c4ad": changed(lambda entry: entry.update(info=info))}))
    assert "'9b71c4ad': expected A before B, both with start < end, got" in message


@pytest.mark.parametrize("name", ["9b71c4a", "9b71c4adf", "9B71C4AD", "../../ab", "9b71c4ag", "9b71c4ad\n"])
def test_an_id_is_eight_hex_digits(tmp_path: Path, name: str) -> None:
    assert f"column {name!r}: expected 8 hex digits as the pair's id" in refusal(write(tmp_path, {name: ENTRY}))


def test_all_malformed_entries_are_told_at_once(tmp_path: Path) -> None:
    lines = refusal(write(tmp_path, {"first": ENTRY, "9b71c4ad": ENTRY, "00000000": 5, "00000001": {}})).split("\n")
    assert lines[0].startswith("3 problems")
    assert [line.split("'")[1] for line in lines[1:4]] == ["first", "00000000", "00000001"]


def test_an_id_that_comes_twice_is_refused(tmp_path: Path) -> None:
    entry = json.dumps(ENTRY)
    lines = refusal(write(tmp_path, f'{{"9b71c4ad": {entry}, "06496b26": {entry}, "9b71c4ad": {entry}}}')).split("\n")
    assert len(lines) == 3
    assert lines[1].startswith("  train_annotations.json, column '9b71c4ad': ")
    assert lines[1].endswith("got '\"an entry that comes twice\"'")


@pytest.mark.shared
def test_the_released_file_is_read_whole(shared: Path) -> None:
    path = shared / "data" / "clavi" / "train_annotations.json"
    content = json.loads(path.read_text())
    pairs = read_released(path)
    assert len(pairs) == 1915
    assert [pair.id for pair in pairs] == list(content)
    for pair in pairs:
        entry = content[pair.id]
        assert (pair.video_id, list(pair.others)) == (entry["vid_id"], entry["other_actions"])
        assert [list(pair.a), list(pair.b)] == [[key, float(s), float(e)] for key, s, e in entry["info"]]
        cuts = [float(entry["ext"][name]) for name in ("out_a", "in_a", "in_b", "out_b")]
        assert [cut / 1000 for cut in pair.cuts_ms] == cuts

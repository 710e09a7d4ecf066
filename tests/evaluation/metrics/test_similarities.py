"""Matrices and ranked lists from files."""

import json
from pathlib import Path

import numpy as np
import pytest
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics.similarities import order_of, read_matrix, read_ranked

CLIP_OF = {"v1#0": "v1", "v2#0": "v2", "v2#1": "v2"}


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16, np.int16, np.uint8])
def test_any_numbers_make_a_matrix(tmp_path: Path, kind: type) -> None:
    np.save(tmp_path / "a.npy", np.asfortranarray(np.arange(6).reshape(2, 3)).astype(kind))
    assert read_matrix(tmp_path / "a.npy", (2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]


def test_what_is_no_matrix(tmp_path: Path) -> None:
    with open(tmp_path / "z.npy", "wb") as file:
        np.savez(file, a=np.zeros((2, 3)))
    np.save(tmp_path / "b.npy", np.zeros((2, 3), bool))
    np.save(tmp_path / "t.npy", np.zeros((3, 2)))
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY")
    for name, says in {
        "z": "archive of arrays",
        "b": "holds bool",
        "t": "Transpose it",
        "x": "cannot be read",
    }.items():
        with pytest.raises(InputError, match=says):
            read_matrix(tmp_path / f"{name}.npy", (2, 3))


def test_ranked_lists(tmp_path: Path) -> None:
    path = tmp_path / "clean.jsonl"
    lines = [{"id": "v1", "ranked": ["v2", "v1"]}, {"id": "v2#0", "ranked": ["v2"]}]
    path.write_text("\ufeff" + "\n\n".join(map(json.dumps, lines)) + "\n")
    assert read_ranked(path, CLIP_OF, {"v1", "v2"}) == {"v1#0": ["v2", "v1"], "v2#0": ["v2"]}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "v2", "ranked": ["v1"]}', "line 2: 'v2' is no caption"),  # it has two captions
        ('{"id": "v1#0", "ranked": ["v1"]}', "line 2: caption 'v1#0' comes twice"),
        ('{"id": "v2#0", "ranked": ["v3"]}', "line 2: 'v3' is no clip"),
        ('{"id": "v2#0"}', "line 2: expected"),
    ],
)
def test_ranked_lists_that_cannot_be_used(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "clean.jsonl"
    path.write_text('{"id": "v1", "ranked": ["v1"]}\n' + line)
    with pytest.raises(InputError) as refused:
        read_ranked(path, CLIP_OF, {"v1", "v2"})
    assert says in str(refused.value)


def test_an_order_names_everything_once(tmp_path: Path) -> None:
    path = tmp_path / "clips.txt"
    assert order_of(path, ["a", "b"]).tolist() == [0, 1]
    path.write_text("\ufeffb\r\na\r\n")
    assert order_of(path, ["a", "b"]).tolist() == [1, 0]
    path.write_text("b\nb\n")
    with pytest.raises(InputError, match="first that differs: 'a'"):
        order_of(path, ["a", "b"])
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="as UTF-8"):
        order_of(path, ["a", "b"])

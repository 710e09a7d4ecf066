import json
import zlib
from pathlib import Path
from typing import Any

import inspect_logs
import pyarrow as pa
import pytest
from inspect_logs import DEFLATED, STORED, ZSTANDARD, archive, eval_file, json_file, sample
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics import logs
from stressreel.evaluation.metrics.predictions import read_predictions

NAME = "2026-11-22T15-40-45-00-00_stressreel-ud-answer_x"
LOGGED = [{"id": f"q{n}", "config": "ud", "answer": "AB"[n % 2] + " because" * n, "fingerprint": "f"} for n in range(5)]


def samples(logged: list[dict[str, Any]] = LOGGED) -> list[dict[str, Any]]:
    return [sample(number, one) for number, one in enumerate(logged)]


@pytest.mark.parametrize(
    ("method", "chunked"), [(STORED, False), (DEFLATED, True), (ZSTANDARD, False), (ZSTANDARD, True)]
)
def test_eval_files_are_read(method: int, chunked: bool, tmp_path: Path) -> None:
    long = [{**one, "answer": one["answer"] + " and so on" * 1000} for one in LOGGED]
    assert read_predictions(eval_file(tmp_path / "a.eval", samples(long), method, chunked)).rows == long


def test_log_folder_and_json_agree(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    one = eval_file(tmp_path / f"{NAME}.eval", samples())
    other = json_file(tmp_path / "in" / f"{NAME}.json", samples())
    named = json_file(tmp_path / "mine.json", samples())  # as `inspect log dump` may be stored
    (tmp_path / "in" / "logs.json").write_text("{}")  # what `inspect view bundle` lists
    assert [read_predictions(path).rows for path in (one, other, tmp_path / "in", named)] == [LOGGED] * 4


def test_failed_samples_and_repeated_scorers(tmp_path: Path) -> None:
    failed = {**sample(7, None), "error": {"message": "time out"}}
    twice = sample(8, LOGGED[0])
    twice["scores"]["again"] = twice["scores"]["judge"]
    twice["scores"]["length"] = {"value": 3, "metadata": None}
    assert read_predictions(eval_file(tmp_path / "a.eval", [failed, twice])).rows == [LOGGED[0]]
    eval_file(tmp_path / "a.eval", [failed])
    with pytest.raises(InputError, match="contain no scored sample"):
        read_predictions(tmp_path)


FIRST = "samples/s0_epoch_1.json"
GOOD = json.dumps(sample(0, LOGGED[0])).encode()


def of(content: bytes, *more: Any, **how: Any) -> bytes:
    return archive({"header.json": b"{}", FIRST: content}, *more, **how)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "cannot be read as an inspect-ai log"),
        (archive({"word/document.xml": b"<a/>"}), "is not an inspect-ai log"),
        (of(GOOD, method=12), "compressed by method 12"),
        (of(GOOD)[:-200], "cannot be read as an inspect-ai log"),
        (of(b"\xff"), "invalid JSON"),
        (of(b"[" * 5000), "invalid JSON"),
        (of(b'{"scores": [1]}'), "expected an inspect-ai sample"),
        (of(b'{"scores": {"mine": 1}}'), "has no 'stressreel'"),
        (of(GOOD, sizes={FIRST: 3}), "is damaged"),
        (of(GOOD, sizes={FIRST: len(GOOD) + 1}), "is damaged"),
    ],
)
def test_damaged_archives_are_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_predictions(tmp_path / "a.eval")


def in_one_frame(content: bytes, method: int) -> bytes:
    if method == ZSTANDARD:
        return bytes(pa.compress(content, "zstd", asbytes=True))
    deflate = zlib.compressobj(wbits=-15)
    return deflate.compress(content) + deflate.flush()


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_archive_bombs_are_not_unpacked(method: int, tmp_path: Path, monkeypatch: Any) -> None:
    """What is stated is believed as far as it is allowed, and what comes is read as far as it was stated."""
    monkeypatch.setattr(logs, "LEAST_ROOM", 100_000)
    bomb = {f"samples/s{n}_epoch_1.json": b"0" * 40_000 for n in range(4)}
    monkeypatch.setattr(inspect_logs, "packed", in_one_frame)  # small frames do not compress as well
    (tmp_path / "a.eval").write_bytes(archive({"header.json": b"{}", **bomb}, method))
    with pytest.raises(InputError, match="unpacks to 160,000 bytes"):
        read_predictions(tmp_path / "a.eval")
    (tmp_path / "b.eval").write_bytes(archive({"header.json": b"{}", **bomb}, method, dict.fromkeys(bomb, 10)))
    with pytest.raises(InputError, match=r"is damaged|cannot be read"):
        read_predictions(tmp_path / "b.eval")


def test_json_logs_without_samples_are_refused(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.json"
    for content, said in (
        ({"eval": {}, "samples": None}, "samples of this inspect-ai log are not a list"),
        ({"eval": {}, "samples": [1]}, "sample 1: expected an inspect-ai sample"),
    ):
        path.write_text(json.dumps(content))
        with pytest.raises(InputError, match=said):
            read_predictions(path)
    path.write_text('[{"id": 1}]')  # by itself a list of predictions, in a folder with logs none
    with pytest.raises(InputError, match="has no 'stressreel'"):
        read_predictions(tmp_path)

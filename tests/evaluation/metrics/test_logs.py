import json
from pathlib import Path
from typing import Any

import inspect_logs
import pyarrow as pa
import pytest
from inspect_logs import DEFLATED, STORED, ZSTANDARD, archive, eval_file, json_file, packed, sample
from stressreel.core.errors import InputError
from stressreel.evaluation.metrics import logs
from stressreel.evaluation.metrics.predictions import read_predictions

NAME = "2026-11-22T15-40-45-00-00_stressreel-ud-answer_x"
LOGGED = [{"id": f"q{n}", "config": "ud", "answer": "AB"[n % 2] + " because" * n, "fingerprint": "f"} for n in range(5)]
SAMPLES = [sample(number, one) for number, one in enumerate(LOGGED)]


@pytest.mark.parametrize(
    ("method", "chunked"), [(STORED, False), (DEFLATED, True), (ZSTANDARD, False), (ZSTANDARD, True)]
)
def test_eval_files_are_read(method: int, chunked: bool, tmp_path: Path) -> None:
    long = [{**one, "answer": one["answer"] + " and so on" * 1000} for one in LOGGED]
    samples = [sample(number, one) for number, one in enumerate(long)]
    assert read_predictions(eval_file(tmp_path / "a.eval", samples, method, chunked)).rows == long


def test_log_folder_and_json_agree(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    one = eval_file(tmp_path / f"{NAME}.eval", SAMPLES)
    other = json_file(tmp_path / "in" / f"{NAME}.json", SAMPLES)
    named = json_file(tmp_path / "mine.json", SAMPLES)  # as `inspect log dump` may be stored
    (tmp_path / "in" / "logs.json").write_text("{}")  # what `inspect view bundle` lists
    assert [read_predictions(path).rows for path in (one, other, tmp_path / "in", named)] == [LOGGED] * 4


def test_failed_samples_and_repeated_scorers(tmp_path: Path) -> None:
    failed, twice = {**sample(7, None), "error": {"message": "time out"}}, sample(8, LOGGED[0])
    twice["scores"] |= {"again": twice["scores"]["judge"], "length": {"value": 3, "metadata": None}}
    assert read_predictions(eval_file(tmp_path / "a.eval", [failed, twice])).rows == [LOGGED[0]]
    eval_file(tmp_path / "a.eval", [failed])
    with pytest.raises(InputError, match="contain no scored sample"):
        read_predictions(tmp_path)


FIRST = "samples/s0_epoch_1.json"
GOOD = json.dumps(SAMPLES[0]).encode()


def of(content: bytes, **how: Any) -> bytes:
    return archive({"header.json": b"{}", FIRST: content}, **how)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.eval", b"", "cannot be read as an inspect-ai log"),
        ("a.eval", archive({"word/document.xml": b"<a/>"}), "is not an inspect-ai log"),
        ("a.eval", of(GOOD, method=12), "compressed by method 12"),
        ("a.eval", of(b"[" * 5000), "invalid JSON"),
        ("a.eval", of(b'{"scores": {"mine": 1}}'), "has no 'stressreel'"),
        ("a.eval", of(GOOD, sizes={FIRST: len(GOOD) + 1}), "is damaged"),
        (f"{NAME}.json", b'{"eval": {}, "samples": [1]}', "sample 1: expected an inspect-ai sample"),
        (f"{NAME}.json", b'[{"id": 1}]', "has no 'stressreel'"),  # a list of predictions is none among logs
    ],
)
def test_damaged_logs_are_refused(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_predictions(tmp_path)


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_archive_bombs_are_not_unpacked(method: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stated is believed as far as it is allowed, and what comes is read as far as it was stated."""
    one_frame = (
        (lambda content, _: bytes(pa.compress(content, "zstd", asbytes=True))) if method == ZSTANDARD else packed
    )
    monkeypatch.setattr(logs, "LEAST_ROOM", 100_000)
    monkeypatch.setattr(inspect_logs, "packed", one_frame)  # small frames do not compress as well
    bomb = {f"samples/s{n}_epoch_1.json": b"0" * 40_000 for n in range(4)}
    for sizes, said in ((None, "unpacks to 160,000 bytes"), (dict.fromkeys(bomb, 10), "is damaged|cannot be read")):
        (tmp_path / "a.eval").write_bytes(archive({"header.json": b"{}", **bomb}, method, sizes))
        with pytest.raises(InputError, match=said):
            read_predictions(tmp_path / "a.eval")

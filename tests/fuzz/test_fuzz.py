"""Damaged files of strangers are read, or refused in words: no traceback, and no control characters on a terminal."""

from __future__ import annotations

import csv
import importlib
import io
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from agqa_files import row, write_graphs
from commands import run
from inspect_logs import eval_file, json_file, sample
from stressreel.annotations.agqa import index_rows, read_rows
from stressreel.annotations.agqa_graphs import open_graphs
from stressreel.annotations.charades import read_charades
from stressreel.annotations.samples import cached_sample
from stressreel.core.errors import CONTROLS, StressreelError
from stressreel.evaluation.models import Reply
from stressreel.evaluation.models.journal import AnswerJournal

Rng = np.random.Generator
Dump = Callable[[Any], bytes]
TEXTS = (
    *("", " ", "nan", "null", "-1", "1e999", "9" * 5000, "²", "../../etc/passwd", "a\\b", "..", "--help", "x" * 300),
    *("\x00", "\ud800", "\u202e", '"', "\n", "\r", "=cmd()", "[[[[", "{{7*7}}", "%s%n", "\ufeff", "<think>" * 500),
    *("c000 1 2", "c999 1 2;c000 2 1", "1/0", "1:2:3", "\x1b[2J\x1b]0;owned\x07", "a\x9b2Jb\u2028d", "</script><!--"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**31, 2**63, 10**400, 0.5, 1e308, float("nan"), float("inf"), [], {}, [[]], {"": None}),
    *(["a", "b"], [["c000", "0", "1"]] * 3, {"id": 1}, b"\xff", {"path": "../x"}),
)
FAULTS = (ValueError, LookupError, csv.Error, RecursionError, OverflowError, TypeError, pa.ArrowException)

# Formats


def dumped_lines(rows: list[Any]) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode("utf-8", "surrogatepass")


def dumped_table(rows: list[list[Any]], mark: str = ",") -> bytes:
    target = io.StringIO()
    csv.writer(target, delimiter=mark, escapechar="\\").writerows(rows)
    return target.getvalue().encode("utf-8", "surrogatepass")


def dumped_parquet(columns: dict[str, Any]) -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return target.getvalue()


def loaded(content: bytes) -> tuple[Any, Dump]:
    """Return a file's content as lists and dicts, and the function that writes them."""
    if content[:4] == b"PAR1":
        return pq.read_table(io.BytesIO(content)).to_pydict(), dumped_parquet
    text = content.decode("utf-8-sig")
    if text[:1] not in ("{", "["):
        mark = "\t" if "\t" in text.split("\n")[0] else ","
        return list(csv.reader(io.StringIO(text), delimiter=mark)), lambda rows: dumped_table(rows, mark)
    with suppress(ValueError):
        return [json.loads(text)], dumped_lines
    return [json.loads(line) for line in text.splitlines()], dumped_lines


def write(path: Path, content: Any) -> None:
    match path.suffix:
        case _ if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        case ".jsonl":
            path.write_bytes(dumped_lines(content))
        case ".csv" | ".tsv":
            rows = [list(content[0]), *(list(each.values()) for each in content)]
            path.write_bytes(dumped_table(rows, "\t" if path.suffix == ".tsv" else ","))
        case ".parquet":
            pq.write_table(pa.Table.from_pylist(content), path)
        case _:
            path.write_text(json.dumps(content), encoding="utf-8")


# Damage


def pick(rng: Rng, choices: Any) -> Any:
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def any_value(rng: Rng) -> Any:
    deep: Any = 1
    for _ in range(int(rng.choice([40, 900]))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return pick(rng, (pick(rng, TEXTS), pick(rng, VALUES), deep))


def change(value: Any, rng: Rng) -> None:
    """Replace, exchange, rename, double or remove a value anywhere in lists and dicts."""
    key = pick(rng, value if isinstance(value, dict) else range(len(value)))
    if isinstance(value[key], dict | list) and value[key] and rng.random() < 0.8:
        return change(value[key], rng)
    kind = rng.integers(5)
    if kind == 0:
        del value[key]
    elif kind == 1 and isinstance(value, dict):
        value[pick(rng, TEXTS)] = value.pop(key)
    elif kind == 1:
        value.insert(key, pick(rng, (value[key], any_value(rng))))
    elif kind == 2:
        value[key] = pick(rng, value.values() if isinstance(value, dict) else value)
    else:
        value[key] = any_value(rng)


def damaged(content: bytes, rng: Rng) -> bytes:
    """Change a value in the terms of the format, or bytes."""
    with suppress(*FAULTS):
        if rng.random() < 0.6:
            value, dump = loaded(content)
            change(value, rng)
            return dump(value)
    place, length = int(rng.integers(len(content) + 1)), int(rng.integers(1, 30))
    hostile = pick(rng, TEXTS).encode("utf-8", "surrogatepass")
    instead = pick(rng, (b"", rng.bytes(length), bytes([pick(rng, (0, 127, 128, 255))]) * length, hostile))
    end = pick(rng, (place, place + length, len(content)))
    return content[:place] + instead + content[end:]


# Good files and what reads them


def read_questions_of_videos(path: Path) -> None:
    index = index_rows(path)
    for video in index.spans:
        read_rows(path, index.of(video), index.stamp)


def read_scene_graphs(path: Path) -> None:
    graphs = open_graphs(path)
    for video in graphs.spans:
        graphs.read(video)


def read_journal(path: Path) -> None:
    with AnswerJournal(path, {"model": "m"}):
        pass


TABLE = yaml.safe_load(Path(__file__).with_name("files.yaml").read_text(encoding="utf-8"))
LOADERS: dict[str, tuple[str | Callable[[Path], object], list[Any]]] = {
    "Charades_v1_train.csv": (lambda path: read_charades(path.parent), []),
    "test_balanced.txt": (read_questions_of_videos, []),
    "AGQA_test_stsgs.pkl": (read_scene_graphs, []),
    "a.journal": (read_journal, []),
    **{name: (each["reader"], [each["split"]] if "split" in each else []) for each in TABLE for name in each["files"]},
}


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of each kind that is read; read only."""
    folder = tmp_path_factory.mktemp("good")
    for name in ("charades", "causal", "msrvtt"):
        for path in cached_sample(name).rglob("*.csv"):
            shutil.copy(path, folder)
    for each in TABLE:
        for name in each["files"] if "content" in each else ():
            write(folder / name, each["content"])
    write(folder / "test_balanced.txt", {name: row(name) for name in ("YSKX3-1", "LSKA2-1", "YSKX3-2")})
    write_graphs(folder / "AGQA_test_stsgs.pkl")
    samples = [sample(n, {"id": f"q{n}", "answer": "A", "config": "ud", "fingerprint": "f"}) for n in range(5)]
    eval_file(folder / "log.eval", samples)
    json_file(folder / "2026-11-22T15-40-45-00-00_ud_x.json", samples)
    with AnswerJournal(folder / "a.journal", {"model": "m"}) as journal:
        journal.add("video|questions/1", Reply("Yes, “it” is.", False, 100, 2, "m", {"moved": 0.25}))
    return folder


def read(path: Path) -> None:
    reader, more = LOADERS[path.name]
    if isinstance(reader, str):
        module, _, function = reader.rpartition(".")
        reader = getattr(importlib.import_module(f"stressreel.{module}"), function)
    found = reader(path, *more)
    if isinstance(found, Iterator):
        list(found)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("times", [4, pytest.param(200, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", LOADERS)
def test_a_damaged_file_is_read_or_refused(
    name: str, times: int, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = Path(shutil.copy(good / name, tmp_path))
    read(path)
    for seed in range(times):
        path.write_bytes(damaged((good / name).read_bytes(), np.random.default_rng(seed)))
        try:
            read(path)
        except StressreelError as error:
            if CONTROLS.search(str(error)):
                pytest.fail(f"{name} damaged with seed {seed} prints control characters")
        except Exception as error:
            raise AssertionError(f"{name} damaged with seed {seed}") from error


@pytest.mark.parametrize("times", [1, pytest.param(8, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["four_pairs", "built_recipes", "built_graphs"])
def test_a_damaged_output_is_read_or_refused(
    name: str, times: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    out = request.getfixturevalue(name)
    for seed in range(times):
        rng, copy = np.random.default_rng(seed), tmp_path / str(seed)
        shutil.copytree(out, copy)
        files = sorted(path for path in copy.rglob("*") if path.is_file())
        ending = pick(rng, sorted({path.suffix for path in files}))
        path = pick(rng, [path for path in files if path.suffix == ending])
        path.write_bytes(damaged(path.read_bytes(), rng))
        for words in (
            *(("verify", copy, "--no-decode"), ("card", copy), ("diff", copy, out), ("permute", copy, "--to", "p.csv")),
            *(("gallery", copy, "--to", "g", "--limit", 2), ("push", copy, "a/b", "--dry-run", "--no-decode")),
        ):
            done = run("stressreel", *words, cwd=tmp_path)
            assert done.code in (0, 1, 2), (seed, words, path)
            assert CONTROLS.search(done.out + done.err) is None, (seed, words, path)
        shutil.rmtree(copy)

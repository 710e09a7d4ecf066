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
from agqa_files import row, write_graphs
from commands import run
from inspect_logs import eval_file, json_file, sample
from stressreel.annotations.causalchaos import FIRST_COLOUR, STABLE
from stressreel.annotations.charades import read_charades
from stressreel.annotations.samples import cached_sample
from stressreel.core.errors import CONTROLS, StressreelError
from stressreel.evaluation.models import Reply
from stressreel.evaluation.models.journal import AnswerJournal

Rng = np.random.Generator
TEXTS = (
    *("", " ", "nan", "null", "-1", "1e999", "9" * 5000, "²", "../../etc/passwd", "a\\b", "..", "--help", "x" * 300),
    *("\x00", "\ud800", "\u202e", '"', "\n", "\r", "=cmd()", "[[[[", "{{7*7}}", "%s%n", "\ufeff", "<think>" * 500),
    *("c000 1 2", "c999 1 2;c000 2 1", "1/0", "1:2:3", "\x1b[2J\x1b]0;owned\x07", "a\x9b2Jb\u2028d", "</script><!--"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**31, 2**63, 10**400, 0.5, 1e308, float("nan"), float("inf"), [], {}, [[]], {"": None}),
    *(["a", "b"], [["c000", "0", "1"]] * 3, {"id": 1}),
)

# Mutations


def pick(rng: Rng, choices: Any) -> Any:
    choices = list(choices)
    return choices[int(rng.integers(len(choices)))]


def any_value(rng: Rng) -> Any:
    deep: Any = 1
    for _ in range(int(rng.choice([40, 900]))):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return pick(rng, (pick(rng, TEXTS), pick(rng, VALUES), deep))


def damaged(content: bytes, rng: Rng) -> bytes:
    """Change a value in the terms of the format, or bytes."""
    with suppress(ValueError, LookupError, csv.Error, RecursionError, OverflowError, TypeError, pa.ArrowException):
        if rng.random() < 0.6:
            return format_of(content)(content, rng)
    place, length = int(rng.integers(len(content) + 1)), int(rng.integers(1, 30))
    hostile = pick(rng, TEXTS).encode("utf-8", "surrogatepass")
    instead = pick(rng, (b"", rng.bytes(length), bytes([pick(rng, (0, 127, 128, 255))]) * length, hostile))
    end = pick(rng, (place, place + length, len(content)))
    return content[:place] + instead + content[end:]


def format_of(content: bytes) -> Callable[[bytes, Rng], bytes]:
    if content[:4] == b"PAR1":
        return parquet
    return json_value if content[:1] in (b"{", b"[") else csv_field


def json_value(content: bytes, rng: Rng) -> bytes:
    """Replace, rename, double or remove a value anywhere in JSON, or in a line of JSON lines."""
    text = content.decode("utf-8-sig")
    lines = text.split("\n") if "\n{" in text.rstrip() else [text]
    at = pick(rng, [number for number, line in enumerate(lines) if line.strip()])
    inner = value = json.loads(lines[at])
    while isinstance(inner, dict | list) and inner:
        key = pick(rng, inner if isinstance(inner, dict) else range(len(inner)))
        if isinstance(inner[key], dict | list) and inner[key] and rng.random() < 0.8:
            inner = inner[key]
            continue
        kind = rng.integers(4)
        if kind == 0:
            del inner[key]
        elif kind == 1 and isinstance(inner, dict):
            inner[pick(rng, TEXTS)] = inner.pop(key)
        elif kind == 1:
            inner.append(inner[key])
        else:
            inner[key] = any_value(rng)
        break
    lines[at] = json.dumps(value, ensure_ascii=False)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def csv_field(content: bytes, rng: Rng) -> bytes:
    """Replace, exchange, add or remove a field, or double a row."""
    text = content.decode("utf-8-sig")
    tab = "\t" if "\t" in text.split("\n")[0] else ","
    rows = [row for row in csv.reader(io.StringIO(text), delimiter=tab) if row]
    row, kind = pick(rng, rows), rng.integers(5)
    place, other = (int(rng.integers(len(row))) for _ in range(2))
    if kind == 0:
        row[place], row[other] = row[other], row[place]
    elif kind == 1:
        row.insert(place, pick(rng, TEXTS))
    elif kind == 2:
        del row[place]
    elif kind == 3:
        rows.append(list(row))
    else:
        row[place] = pick(rng, TEXTS)
    target = io.StringIO()
    csv.writer(target, delimiter=tab, escapechar="\\").writerows(rows)
    return target.getvalue().encode("utf-8", "surrogatepass")


def parquet(content: bytes, rng: Rng) -> bytes:
    """Change a cell, a column's type or name, or the rows of a table."""
    table = pq.read_table(io.BytesIO(content))
    at, count = int(rng.integers(table.num_columns)), table.num_rows
    name, kind = table.column_names[at], rng.integers(4)
    if kind == 0:
        values = table.column(at).to_pylist()
        values[int(rng.integers(count))] = pick(rng, (None, *TEXTS, -1, 2**31 - 1, float("nan"), [], {"path": "../x"}))
        table = table.set_column(at, name, pa.array(values, table.schema.field(at).type))
    elif kind == 1:
        made = (pa.nulls(count), pa.array([b"\xff"] * count), pa.array([{"a": 1}] * count), pa.array(range(count)))
        table = table.set_column(at, name, pick(rng, made))
    elif kind == 2:
        names = table.column_names
        names[at] = pick(rng, ("", names[0], "a.b", "\x1b[2J"))
        table = table.rename_columns(names)
    else:
        table = pick(rng, (table.remove_column(at), table.slice(0, 0), table.slice(1), pa.concat_tables([table] * 3)))
    target = io.BytesIO()
    pq.write_table(table, target)
    return target.getvalue()


# Good files and what reads them


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def table(rows: list[dict[str, Any]], mark: str = ",") -> str:
    target = io.StringIO()
    writer = csv.DictWriter(target, list(rows[0]), delimiter=mark)
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of each kind that is read; read only."""
    folder = tmp_path_factory.mktemp("good")
    for name, file in (("charades", "Charades_v1_train.csv"), ("causal", "Annotations.csv")):
        shutil.copy(cached_sample(name) / file, folder)
    shutil.copy(next(cached_sample("msrvtt").rglob("MSRVTT_JSFUSION_test.csv")), folder)
    step = {"index": 0, "heading": "stir the soup", "absolute_bounds": [1, 4]}
    segments = [{"segment": [n, n + 4], "id": n, "sentence": f"stir the soup {n}"} for n in range(4)]
    recipe = {"duration": 61.5, "subset": "training", "recipe_type": "226", "annotations": segments}
    ext = {"out_a": "5.701", "out_b": "24.525", "in_a": "14.927", "in_b": "16.603"}
    info = [["c000", "6.50", "14.70"], ["c063", "17.20", "24.50"]]
    pair = {"vid_id": "DOQ9Y", "info": info, "other_actions": ["c006", "c097"], "ext": ext}
    captions = [{"video": f"v{n}.mp4", "caption": "a dog runs", "start": n, "end": n + 2.5, "id": n} for n in range(5)]
    own = [{"video": f"v{n}.mp4", "start": n, "end": n + 4, "phrase": "add the oil", "split": "train"} for n in (0, 9)]
    questions = [{"id": n, "question": f"Why {n}?", "answer": f"because {n}", "group": n % 3} for n in range(9)]
    said = [{"id": f"q{n}", "answer": each} for n, each in enumerate(("A", "(B)", "Answer: C", "yes", "1", ""))]
    item = {"question": "Why?", "answer": "B", "options": '["Tom ran", "it barked"]', "ts": "1.5-3", "video_id": "v"}
    items = [{"id": f"q{n}", **item, "source_id": f"s{n}"} for n in range(5)]
    logged = [{"doc_id": n, "stressreel": {**each, "config": "ud", "fingerprint": "f"}} for n, each in enumerate(said)]
    captioned = [{"video_id": f"video{n % 3}", "caption": f"a man runs {n}", "sen_id": n} for n in range(9)]
    tests = [{"video_id": f"video{n}", "split": "test"} for n in range(3)]
    parts = ["Does a phone exist?", "What is it?"]
    graph = {
        **{"question": "Is it?", "type": "Object Equals", "new_program": "equals(phone)", "answer": "no"},
        "old_program": "Exists(phone, Iterate(video, Filter(frame, [objects])))",
        "subquestion": {
            text: {"type": "Object Exists", "program": "objExists(phone)", "answer": "yes", "key": f"A-1_{number}"}
            for number, text in enumerate(parts)
        },
        "hierarchy": {"Is it?": {"Equals": parts}},
    }
    texts = {
        "pairs.json": json.dumps({f"{n:08x}": pair for n in range(6)}),
        "MSRVTT_data.json": json.dumps({"videos": tests, "sentences": captioned}),
        "youcookii_annotations_trainval.json": json.dumps({"database": {"GLd3aX16zBg": recipe}}),
        **{"captions.csv": table(captions), "captions.jsonl": lines(captions)},
        **{"segments.csv": table(own), "segments.jsonl": lines(own)},
        "activitynet.json": json.dumps({"v": {"duration": 20.5, "timestamps": [[0, 5.5]], "sentences": ["he eats"]}}),
        "qvhighlights.jsonl": lines(
            [{"qid": 1, "vid": "v", "query": "he eats", "duration": 9, "relevant_windows": [[1, 5]]}] * 2
        ),
        "hirest.json": json.dumps({"Boil": {"v.mp4": {"v_duration": 9, "bounds": [0, 5], "steps": [step]}}}),
        "semicolons.csv": table(own, ";"),
        "by_video.json": json.dumps({f"v{n}": {"start": "0:01", "end": 5, "phrase": "add the oil"} for n in range(3)}),
        **{"own.csv": table(questions), "own.jsonl": lines(questions)},
        "cast.txt": "Tom, male  # the cat\nMammy Two Shoes, female\n",
        "fps.json": json.dumps({"S01E01": 23.976, "S01E02": "24000/1001"}),
        "sync.csv": f"Episode,{FIRST_COLOUR},{STABLE}\nS01E01,100,120\nS01E02,NA (none),77\n",
        "offsets.csv": "Episode,Offset\nS01E01,-3\nS01E02,+12\n",
        "config.yaml": "seed: 3\nlimit: 2\nsource: actions\nrender: false\nversion: 1.0.0\n",
        **{"p.jsonl": lines(said), "p.csv": table(said), "p.tsv": table(said, "\t")},
        **{"p.json": json.dumps({row["id"]: row["answer"] for row in said}), "20_samples_ud.jsonl": lines(logged)},
        **{"items.csv": table(items), "items.jsonl": lines(items)},
        "test_balanced.txt": json.dumps({name: row(name) for name in ("YSKX3-1", "LSKA2-1", "YSKX3-2")}),
        "A.json": json.dumps({"A-1": graph}),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    write_graphs(folder / "AGQA_test_stsgs.pkl")
    pq.write_table(pa.Table.from_pylist(said), folder / "p.parquet")
    pq.write_table(pa.Table.from_pylist(own), folder / "own.parquet")
    samples = [sample(number, each["stressreel"]) for number, each in enumerate(logged)]
    eval_file(folder / "log.eval", samples)
    json_file(folder / "2026-11-22T15-40-45-00-00_ud_x.json", samples)
    with AnswerJournal(folder / "a.journal", {"model": "m"}) as journal:
        journal.add("video|questions/1", Reply("Yes, “it” is.", False, 100, 2, "m", {"moved": 0.25}))
    return folder


def read_questions_of_videos(path: Path) -> None:
    from stressreel.annotations.agqa import index_rows, read_rows

    index = index_rows(path)
    for video in index.spans:
        read_rows(path, index.of(video), index.stamp)


def read_scene_graphs(path: Path) -> None:
    from stressreel.annotations.agqa_graphs import open_graphs

    graphs = open_graphs(path)
    for video in graphs.spans:
        graphs.read(video)


def read_journal(path: Path) -> None:
    with AnswerJournal(path, {"model": "m"}):
        pass


LOADERS: dict[str, tuple[str | Callable[[Path], object], tuple[Any, ...]]] = {
    "Charades_v1_train.csv": (lambda path: read_charades(path.parent), ()),
    "pairs.json": ("annotations.clavi.read_released", ()),
    "MSRVTT_JSFUSION_test.csv": ("annotations.msrvtt.read_msrvtt", (("test",),)),
    "MSRVTT_data.json": ("annotations.msrvtt.read_msrvtt", (("test",),)),
    "youcookii_annotations_trainval.json": ("annotations.youcook2.read_youcook2", (("train",),)),
    **{f"captions.{each}": ("annotations.captions.read_captions", ()) for each in ("csv", "jsonl")},
    **{name: ("annotations.segments.read_segments", ()) for name in ("segments.csv", "segments.jsonl")},
    **{
        name: ("annotations.segments.read_segments", ())
        for name in (
            *("activitynet.json", "qvhighlights.jsonl", "hirest.json", "semicolons.csv", "by_video.json"),
            "own.parquet",
        )
    },
    "Annotations.csv": ("annotations.causalchaos.read_causalchaos", ()),
    "fps.json": ("annotations.causalchaos.read_fps_map", ()),
    "sync.csv": ("annotations.causalchaos.read_sync_frames", ()),
    "offsets.csv": ("annotations.causalchaos.read_offsets", ()),
    **{f"own.{each}": ("annotations.question_tables.read_questions", ()) for each in ("csv", "jsonl")},
    "cast.txt": ("language.people.read_cast", ()),
    **{
        name: ("evaluation.metrics.predictions.read_predictions", ())
        for name in (
            *("p.jsonl", "p.json", "p.csv", "p.tsv", "p.parquet", "log.eval", "20_samples_ud.jsonl"),
            "2026-11-22T15-40-45-00-00_ud_x.json",
        )
    },
    "items.csv": ("evaluation.blind.blind_questions.read_blind_questions", ()),
    "items.jsonl": ("evaluation.models.question_set.questions_of_file", ()),
    "A.json": ("annotations.agqa_hierarchies.read_hierarchies", ()),
    "test_balanced.txt": (read_questions_of_videos, ()),
    "AGQA_test_stsgs.pkl": (read_scene_graphs, ()),
    "a.journal": (read_journal, ()),
}
TIMES = [pytest.param(4), pytest.param(200, marks=pytest.mark.full)]


def read(path: Path) -> None:
    named, more = LOADERS[path.name]
    if isinstance(named, str):
        module, _, function = named.rpartition(".")
        named = getattr(importlib.import_module(f"stressreel.{module}"), function)
    found = named(path, *more)
    if isinstance(found, Iterator):
        list(found)


@pytest.mark.parametrize("times", TIMES)
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
            if not CONTROLS.search(str(error)):
                continue
            pytest.fail(f"{name} damaged with seed {seed} prints control characters")
        except Exception as error:
            raise AssertionError(f"{name} damaged with seed {seed}") from error


@pytest.mark.parametrize("times", [pytest.param(1), pytest.param(8, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["built", "built_recipes", "built_graphs"])
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

"""The list of the papers' tables and figures in docs/scores.md: complete, and its commands make what it says."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run
from pages import parse
from stressreel.builders.perturbed.scores import read_captions, suite_settings
from stressreel.core.output import open_output

PAGE = Path(__file__).parents[2] / "docs" / "scores.md"
SECTION = PAGE.read_text("utf-8").split("## Tables and figures of the papers")[1].split("\n## ")[0]
# What the papers have, by the numbers of their tables and figures.
PAPERS = {
    "CLAVI and QUAG": (16, 8),
    "MSRVTT-P and YouCook2-P": (16, 19),
    "CausalChaos": (4, 3),
    "Modality importance": (3, 4),
    "AGQA-Decomp": (5, 2),
}
COMMAND = re.compile(r"`((?:stressreel|build-\w+) [^`]+)`")
PARSED = ("MODEL", "card", "build-clavi")  # these need a model, or write into an output
NEEDS = {"open-ended": "pycocoevalcap", "text-shift": "rouge_score"}


def rows() -> Iterator[tuple[str, str, str]]:
    """Yield the paper, the numbers and what makes them, of every row."""
    paper = ""
    for line in SECTION.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ", 1)]
        if line.startswith("| ") and len(cells) == 2:
            if cells[1].rstrip(" |") == "reproduced by":
                paper = cells[0]
            else:
                yield paper, cells[0], cells[1].rstrip(" |")


def blocks() -> list[list[str]]:
    """The commands that stand before the tables."""
    return [shlex.split(line) for line in SECTION.splitlines() if line.startswith("    stressreel ")]


def listed() -> list[list[str]]:
    """The commands of the tables, each once, in order."""
    lines = dict.fromkeys(found for _, _, made in rows() for found in COMMAND.findall(made))
    return [shlex.split(line) for line in lines]


def test_every_table_and_figure_is_there_once() -> None:
    found: dict[str, dict[str, list[int]]] = {paper: {"Table": [], "Figure": []} for paper in PAPERS}
    for paper, numbers, made in rows():
        assert COMMAND.search(made) or made.startswith("no: ") or "](" in made or ".py`" in made, numbers
        for kind, given in re.findall(r"(Table|Figure)s? ([\d, ]+)", numbers):
            found[paper][kind] += [int(each) for each in re.findall(r"\d+", given)]
    for paper, (tables, figures) in PAPERS.items():
        assert sorted(found[paper]["Table"]) == list(range(1, tables + 1)), paper
        assert sorted(found[paper]["Figure"]) == list(range(1, figures + 1)), paper


@pytest.mark.parametrize("words", [pytest.param(each, id=shlex.join(each)) for each in (*blocks(), *listed())])
def test_every_command_is_parsed(words: list[str]) -> None:
    parse(words)


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def similarities(suite: Path, folder: Path, noise: float) -> None:
    captions = read_captions(open_output(suite), "all")
    rng = np.random.default_rng(int(10 * noise))
    folder.mkdir()
    for setting in suite_settings(open_output(suite).info):
        scale = noise * (1 + setting.severity + 2 * bool(setting.text))
        matrix = rng.normal(0, scale, (len(captions.clips), len(captions.ids)))
        matrix[captions.clip, np.arange(len(captions.ids))] += 1
        np.save(folder / f"{setting.name}.npy", matrix.astype(np.float32))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, built: Path, build_once: Callable[..., Path]) -> Path:
    """A folder with the outputs that the commands name, and made answers to them."""
    pytest.importorskip("sentence_transformers")
    place = tmp_path_factory.mktemp("papers")
    (place / "out").mkdir()
    texts = ("--text-perturbations", "typos,ocr,no_verbs,no_nouns_and_no_verbs")
    visual = ("--perturbations", "jpeg,jumble", "--severity", 3, "--no-render")
    suite = build_once("build-perturbed", "--msrvtt", "sample", "--modality", "all", *texts, *visual)
    decomp = build_once("build-decomp", "--charades", "sample")
    why = build_once("build-causal", "--annotations", "sample", "--preset", "ultrafast")
    for name, output in {"clavi": built, "causal": why, "msrvtt-p": suite, "decomp": decomp}.items():
        (place / "out" / name).symlink_to(output)
    rng = np.random.default_rng(0)
    for name, share in {"a1": 0.9, "a2": 0.7, "b1": 0.5, "v": 0.6, "t": 0.6}.items():
        asked = open_output(built).rows("questions", None, "test")
        right = [(row["question_id"], row["answer"] ^ (rng.random() > share)) for row in asked]
        write(place / f"{name}.jsonl", [{"id": each, "answer": ("no", "yes")[int(answer)]} for each, answer in right])
    for name in ("a", "b"):
        similarities(suite, place / f"sim-{name}", {"a": 0.2, "b": 0.4}[name])
    clips, settings = read_captions(open_output(suite), "all").clips, suite_settings(open_output(suite).info)
    judged = [
        {"setting": setting.name, "id": clip, "correct": setting.name == "clean" or bool(rng.random() < 0.6)}
        for setting in settings
        for clip in clips
    ]
    write(place / "qa.jsonl", judged)
    tables = {"ud": "ud", "ps": "ps", "un": "un", "confusion": "causal_confusion"}
    for name, config in tables.items():
        chosen = open_output(why).rows(config, None, "test")
        write(place / f"{name}.jsonl", [{"id": row["qid"], "answer": 0, "explanation": 1} for row in chosen])
    written = open_output(why).rows("open_ended", None, "test")
    write(place / "said.jsonl", [{"id": row["qid"], "answer": "Tom ran", "explanation": "he ran"} for row in written])
    nodes = open_output(decomp).rows("questions", None, "test")
    write(place / "nodes.jsonl", [{"key": row["key"], "answer": "yes"} for row in nodes])
    return place


@pytest.mark.full
def test_commands_run(folder: Path) -> None:
    """Every command that is run, as the page has them."""
    failed = {}
    for words in (*blocks(), *listed()):
        if any(word in PARSED for word in words):
            continue
        for name, package in NEEDS.items():
            if name in words:
                pytest.importorskip(package)
        done = run(*words, cwd=folder)
        if done.code:
            failed[shlex.join(words)] = done.err
        if words[1] == "permute":
            asked = [json.loads(line) for line in (folder / "permuted.jsonl").read_text("utf-8").splitlines()]
            keys = ("permuted", "seed", "id")
            write(folder / "answered.jsonl", [{key: row[key] for key in keys} | {"answer": "no"} for row in asked])
    assert failed == {}

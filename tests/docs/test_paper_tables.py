"""The list of the papers' tables and figures in docs/scores.md: complete, and its commands make what it says."""

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
from commands import rows, run
from pages import PAGES, parse
from stressreel.builders.perturbed.scores import read_captions, suite_settings
from stressreel.core.output import open_output

SECTION = PAGES["docs/scores.md"].read_text("utf-8").split("## Tables and figures of the papers")[1].split("\n## ")[0]
PAPERS = {
    "CLAVI and QUAG": (16, 8),
    "MSRVTT-P and YouCook2-P": (16, 19),
    "CausalChaos": (4, 3),
    "Modality importance": (3, 4),
    "AGQA-Decomp": (5, 2),
}
"""How many tables and figures the papers have."""
COMMAND = re.compile(r"`((?:stressreel|build-\w+) [^`]+)`")
PARSED = ("MODEL", "card", "build-clavi")  # these need a model, or write into an output
NEEDS = {"open-ended": "pycocoevalcap", "text-shift": "rouge_score"}


def listed() -> Iterator[tuple[str, str, str]]:
    """Yield the paper, the numbers and what makes them, of every row."""
    paper = ""
    for line in SECTION.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ", 1)]
        if line.startswith("| ") and len(cells) == 2:
            if cells[1].rstrip(" |") == "reproduced by":
                paper = cells[0]
            else:
                yield paper, cells[0], cells[1].rstrip(" |")


LINES = dict.fromkeys(re.findall(r"^ {4}(stressreel .*)", SECTION, re.M))  # before the tables, and then in them
LINES |= dict.fromkeys(line for _, _, made in listed() for line in COMMAND.findall(made))


def test_every_table_and_figure_is_there_once() -> None:
    found: dict[str, dict[str, list[int]]] = {paper: {"Table": [], "Figure": []} for paper in PAPERS}
    for paper, numbers, made in listed():
        assert COMMAND.search(made) or made.startswith("no: ") or "](" in made or ".py`" in made, numbers
        for kind, given in re.findall(r"(Table|Figure)s? ([\d, ]+)", numbers):
            found[paper][kind] += [int(each) for each in re.findall(r"\d+", given)]
    for paper, (tables, figures) in PAPERS.items():
        assert sorted(found[paper]["Table"]) == list(range(1, tables + 1)), paper
        assert sorted(found[paper]["Figure"]) == list(range(1, figures + 1)), paper


@pytest.mark.parametrize("line", LINES)
def test_every_command_is_parsed(line: str) -> None:
    parse(shlex.split(line))


@pytest.fixture
def folder(tmp_path: Path, built: Path, build_once: Callable[..., Path]) -> Path:
    """A folder with the outputs that the commands name, and made answers to them."""
    pytest.importorskip("sentence_transformers")
    texts = ("--text-perturbations", "typos,ocr,no_verbs,no_nouns_and_no_verbs")
    visual = ("--perturbations", "jpeg,jumble", "--severity", 3, "--no-render")
    suite = build_once("build-perturbed", "--msrvtt", "sample", "--modality", "all", *texts, *visual)
    decomp = build_once("build-decomp", "--charades", "sample")
    causal = build_once("build-causal", "--annotations", "sample", "--preset", "ultrafast")
    (tmp_path / "out").mkdir()
    for name, output in {"clavi": built, "causal": causal, "msrvtt-p": suite, "decomp": decomp}.items():
        (tmp_path / "out" / name).symlink_to(output)
    rng = np.random.default_rng(0)

    def write(name: str, lines: Iterable[dict[str, object]]) -> None:
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    for name, share in {"a1": 0.9, "a2": 0.7, "b1": 0.5, "v": 0.6, "t": 0.6}.items():
        said = [
            (row["question_id"], row["answer"] ^ (rng.random() > share)) for row in rows(built, "questions", "test")
        ]
        write(name, [{"id": each, "answer": ("no", "yes")[int(answer)]} for each, answer in said])
    captions, settings = read_captions(open_output(suite), "all"), suite_settings(open_output(suite).info)
    for name, noise in {"sim-a": 0.2, "sim-b": 0.4}.items():
        (tmp_path / name).mkdir()
        for setting in settings:
            matrix = rng.normal(0, noise * (1 + setting.severity), (len(captions.clips), len(captions.ids)))
            matrix[captions.clip, np.arange(len(captions.ids))] += 1
            np.save(tmp_path / name / f"{setting.name}.npy", matrix.astype(np.float32))
    judged = [(setting.name, clip, rng.random() < 0.6) for setting in settings for clip in captions.clips]
    write("qa", [{"setting": name, "id": clip, "correct": name == "clean" or bool(c)} for name, clip, c in judged])
    for name, config in {"ud": "ud", "ps": "ps", "un": "un", "confusion": "causal_confusion"}.items():
        write(name, [{"id": row["qid"], "answer": 0, "explanation": 1} for row in rows(causal, config, "test")])
    asked = rows(causal, "open_ended", "test")
    write("said", [{"id": row["qid"], "answer": "Tom ran", "explanation": "he ran"} for row in asked])
    write("nodes", [{"key": row["key"], "answer": "yes"} for row in rows(decomp, "questions", "test")])
    return tmp_path


@pytest.mark.full
def test_commands_run(folder: Path) -> None:
    """Every command that is run, as the page has them."""
    failed = {}
    for line in LINES:
        words = shlex.split(line)
        for name, package in NEEDS.items():
            if name in words:
                pytest.importorskip(package)
        if not {*words} & {*PARSED} and (done := run(*words, cwd=folder)).code:
            failed[line] = done.err
        if words[1] == "permute":
            permuted = (folder / "permuted.jsonl").read_text("utf-8").splitlines()
            answered = [json.dumps({**json.loads(each), "answer": "no"}) for each in permuted]
            (folder / "answered.jsonl").write_text("\n".join(answered), "utf-8")
    assert failed == {}

"""A command leaves with 2 if a path or a value on its command line is wrong, with 1 if its work fails."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click
import pytest
from agqa_files import row
from commands import refuses, rows, run
from stressreel.builders import BENCHMARKS
from stressreel.cli import main
from stressreel.cli.main import load_command
from stressreel.core import interrupt

PROGRAMS = ["stressreel", *(f"build-{name}" for name in BENCHMARKS)]
WRITTEN = {
    "verify given",  # options of a build, which that reads
    "--out",
    "--to",
    "modalities --items",
    "--picture",
    "--figure",
    "--review",
    "sample folder",
}  # need not be there
TEXTS = {"--charades", "--segments", "--msrvtt", "--annotations", "--questions", "given"}  # paths among other words
MISSING = "MISSING"
# What has to be said besides, for each path that is read. OUT, SUITE and CAUSAL are outputs, FOLDER a folder.
CASES: dict[tuple[str, str], str] = {
    ("stressreel ask", "out"): "MISSING --dry-run",
    ("stressreel ask", "--videos"): "DECOMP --videos MISSING --dry-run",
    ("stressreel audit", "out"): "MISSING --no-sbert",
    ("stressreel audit", "--items"): "--items MISSING --no-sbert",
    ("stressreel audit", "--train"): "--items ITEMS --train MISSING --no-sbert",
    ("stressreel card", "out"): "MISSING",
    ("stressreel compare", "a"): "MISSING FOLDER",
    ("stressreel compare", "b"): "ANSWERS MISSING --on OUT",
    ("stressreel compare", "--on"): "ANSWERS ANSWERS --on MISSING",
    ("stressreel diff", "a"): "MISSING OUT",
    ("stressreel diff", "b"): "OUT MISSING",
    ("stressreel export inspect", "out"): "MISSING --to NEW",
    ("stressreel export inspect", "--videos"): "DECOMP --to NEW --videos MISSING",
    ("stressreel gallery", "out"): "MISSING --to NEW",
    ("stressreel gallery", "--scores"): "OUT --to NEW --scores MISSING",
    ("stressreel gallery", "--predictions"): "OUT --to NEW --predictions MISSING",
    ("stressreel gallery", "--audit"): "OUT --to NEW --audit MISSING",
    ("stressreel export files", "out"): "MISSING --to NEW",
    ("stressreel export lmms-eval", "out"): "MISSING --to NEW",
    ("stressreel export lmms-eval", "--videos"): "DECOMP --to NEW --videos MISSING",
    ("stressreel export released", "out"): "MISSING --to NEW",
    ("stressreel export webdataset", "out"): "MISSING --to NEW",
    ("stressreel mine", "--questions"): "--questions MISSING --out NEW.jsonl",
    ("stressreel mine", "--config"): "--questions QUESTIONS --config MISSING --out NEW.jsonl",
    ("stressreel permute", "out"): "MISSING",
    ("stressreel probe", "out"): "MISSING --transformers x --to NEW",
    ("stressreel probe", "--videos"): "DECOMP --transformers x --to NEW --videos MISSING",
    ("stressreel push", "out"): "MISSING org/name --dry-run",
    ("stressreel push", "--key"): "OUT org/name --dry-run --sign --key MISSING",
    ("stressreel push", "--password-file"): "OUT org/name --dry-run --sign --key ITEMS --password-file MISSING",
    ("stressreel push", "--certificate"): "OUT org/name --dry-run --sign --key ITEMS --certificate MISSING",
    ("stressreel score answers", "out"): "MISSING --predictions ANSWERS",
    ("stressreel score answers", "--predictions"): "OUT --predictions MISSING",
    ("stressreel score answers", "--similarity"): "SUITE --similarity MISSING",
    ("stressreel score modalities", "out"): "MISSING video=ANSWERS text=ANSWERS video+text=ANSWERS",
    ("stressreel score modalities", "given"): "OUT video=ANSWERS text=MISSING video+text=ANSWERS",
    ("stressreel score open-ended", "out"): "MISSING --predictions ANSWERS",
    ("stressreel score open-ended", "--predictions"): "CAUSAL --predictions MISSING --no-sbert",
    ("stressreel score permuted", "out"): "MISSING --original ANSWERS --permuted ANSWERS",
    ("stressreel score permuted", "--original"): "OUT --original MISSING --permuted ANSWERS",
    ("stressreel score permuted", "--permuted"): "OUT --original ANSWERS --permuted MISSING",
    ("stressreel score permuted", "--categories"): "OUT --original ANSWERS --permuted ANSWERS --categories MISSING",
    ("stressreel score text-shift", "out"): "MISSING",
    ("stressreel sign", "out"): "MISSING --keyless",
    ("stressreel sign", "--key"): "OUT --key MISSING",
    ("stressreel sign", "--password-file"): "OUT --key ITEMS --password-file MISSING",
    ("stressreel sign", "--certificate"): "OUT --key ITEMS --certificate MISSING",
    ("stressreel table", "given"): "A=MISSING",
    ("stressreel verify", "out"): "MISSING",
    ("stressreel verify", "--annotations"): "OUT --annotations MISSING",
    ("stressreel verify", "--signed-by"): "OUT --signed-by MISSING",
    ("build-clavi", "--charades"): "--charades MISSING --out NEW",
    ("build-clavi", "--videos"): "--charades CHARADES --videos MISSING --out NEW",
    ("build-clavi", "--charades-sta"): "--charades CHARADES --source sta --charades-sta MISSING --out NEW",
    ("build-clavi", "--pairs"): "--charades CHARADES --pairs MISSING --out NEW",
    ("build-clavi", "--causalchaos"): "--causalchaos MISSING --out NEW",
    ("build-clavi", "--youcook2"): "--youcook2 MISSING --out NEW",
    ("build-clavi", "--segments"): "--segments MISSING --out NEW",
    ("build-clavi", "--config"): "--charades CHARADES --config MISSING --out NEW",
    ("build-perturbed", "--msrvtt"): "--msrvtt MISSING --out NEW",
    ("build-perturbed", "--youcook2"): "--youcook2 MISSING --out NEW",
    ("build-perturbed", "--captions"): "--captions MISSING --out NEW",
    ("build-perturbed", "--videos"): "--msrvtt MSRVTT --videos MISSING --out NEW",
    ("build-perturbed", "--glove"): "--msrvtt MSRVTT --modality text --text-perturbations swap_syn_word_embedding "
    "--glove MISSING --out NEW",
    ("build-perturbed", "--config"): "--msrvtt MSRVTT --config MISSING --out NEW",
    ("build-causal", "--annotations"): "--annotations MISSING --out NEW",
    ("build-causal", "--videos"): "--annotations QUESTIONS --videos MISSING --out NEW",
    ("build-causal", "--fps-map"): "--annotations QUESTIONS --fps-map MISSING --out NEW",
    ("build-causal", "--offsets"): "--annotations QUESTIONS --offsets MISSING --out NEW",
    ("build-causal", "--released-offsets"): "--annotations QUESTIONS --released-offsets MISSING --out NEW",
    ("build-causal", "--cast"): "--annotations QUESTIONS --cast MISSING --out NEW",
    ("build-causal", "--config"): "--annotations QUESTIONS --config MISSING --out NEW",
    ("build-decomp", "--charades"): "--charades MISSING --out NEW",
    ("build-decomp", "--action-genome"): "--charades CHARADES --action-genome MISSING --out NEW",
    ("build-decomp", "--videos"): "--charades CHARADES --embed yes --videos MISSING --out NEW",
    ("build-decomp", "--agqa"): "--agqa MISSING --out NEW",
    ("build-decomp", "--graphs"): "--agqa AGQA --graphs MISSING --out NEW",
    ("build-decomp", "--release-hierarchies"): "--release-hierarchies MISSING --out NEW",
    ("build-decomp", "--config"): "--charades CHARADES --config MISSING --out NEW",
}
VALUES = (
    "stressreel score answers OUT --predictions ANSWERS --split unknown",
    "stressreel score answers OUT --predictions ANSWERS --config unknown",
    "stressreel score answers OUT --predictions ANSWERS --out OUT/scores",
    "stressreel audit",
    "stressreel audit OUT --items ITEMS",
    "stressreel audit OUT --columns id=x",
    "stressreel audit OUT --config unknown --no-sbert",
    "stressreel audit OUT --split unknown --no-sbert",
    "stressreel audit OUT --to OUT/audit",
    "stressreel audit --items ITEMS --split unknown --no-sbert",
    "stressreel audit --items ITEMS --config unknown --no-sbert",
    "stressreel audit --items ITEMS --columns unknown=x --no-sbert",
    "stressreel audit --items ITEMS --columns x --no-sbert",
    "stressreel score modalities OUT video=ANSWERS text=ANSWERS video+text=ANSWERS --by unknown",
    "stressreel score modalities OUT video=ANSWERS text=ANSWERS video+text=ANSWERS --figure OUT/x.png",
    "stressreel score text-shift SUITE --figure NEW.png",
    "stressreel permute OUT --split unknown",
    "stressreel permute OUT --to NEW.txt",
    "stressreel permute OUT --to OUT/permuted.csv",
    "stressreel diff OUT SUITE",
    "stressreel diff OUT OUT --limit-videos 0",
    "stressreel diff OUT OUT --no-decode --limit-videos 1",
    "stressreel export inspect OUT --to NEW --name a-b",
    "stressreel export inspect OUT --to OUT/tasks",
    "stressreel gallery OUT --to OUT/gallery",
    "stressreel gallery OUT --to NEW --limit 0",
    "stressreel gallery OUT --to NEW --embed all",
    "stressreel export lmms-eval OUT --to NEW --name a-b",
    "stressreel export lmms-eval OUT --to OUT/tasks",
    "stressreel export files OUT --to OUT/files",
    "stressreel export webdataset OUT --to OUT/tars",
    "stressreel export webdataset OUT --to NEW --shard-size 5",
    "stressreel push OUT name --dry-run",
    "stressreel push OUT org/name --tag main --dry-run",
    "stressreel push OUT org/name --dry-run --sign",
    "stressreel push OUT org/name --dry-run --key ITEMS",
    "stressreel sign OUT",
    "stressreel sign OUT --key ITEMS --keyless",
    "stressreel sign OUT --keyless --certificate ITEMS",
    "stressreel verify OUT --fingerprint 0123456789abcde",
    "stressreel verify OUT --fingerprint 0123456789abcdefg",
    "stressreel verify OUT --identity me@example.org",
    "stressreel mine --questions QUESTIONS --out NEW.jsonl --num-options 1",
    "stressreel mine --questions QUESTIONS --out NEW.txt",
    "stressreel mine --questions QUESTIONS --out NEW.jsonl --train-split unknown",
    "stressreel mine --questions QUESTIONS --out NEW.jsonl --columns unknown=x",
    "stressreel sample NEW --kind unknown",
    "stressreel unknown",
    "build-clavi --charades CHARADES --out NEW --crf 99",
    "build-clavi --out NEW",
    "build-clavi --charades CHARADES --segments sample --out NEW",
    "build-clavi --charades CHARADES --split validation --out NEW",
    "build-clavi --segments sample --max-span nan --out NEW",
    "build-perturbed --msrvtt MSRVTT --out NEW --perturbations unknown",
    "build-perturbed --msrvtt MSRVTT --out NEW --modality text --text-perturbations unknown",
    "build-perturbed --msrvtt MSRVTT --out NEW --modality all --pairs jpeg",
    "build-causal --annotations QUESTIONS --out NEW --top-k 0",
    "build-causal --annotations QUESTIONS --out NEW --columns unknown=x",
    "build-decomp --out NEW",
    "build-decomp --charades CHARADES --agqa AGQA --out NEW",
    "build-decomp --agqa AGQA --split train --out NEW",
    "build-decomp --charades CHARADES --max-questions-per-video 0 --out NEW",
    "stressreel decompose Exists(phone) --json --dot",
    "stressreel export released DECOMP --to DECOMP/published",
    "stressreel export released DECOMP --to NEW --split unknown",
    "stressreel score answers OUT --predictions ANSWERS --released",
)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The paths that `CASES` names."""
    from stressreel.annotations.samples.causal import annotation_table as questions
    from stressreel.annotations.samples.charades import annotation_table, sample_videos
    from stressreel.annotations.samples.msrvtt import caption_table, sample_clips

    folder = tmp_path_factory.mktemp("places")
    texts = {
        "charades/Charades_v1_train.csv": annotation_table(list(sample_videos())),
        "charades/charades_sta_train.txt": "",
        "msrvtt/MSRVTT_JSFUSION_test.csv": caption_table(sample_clips()),
        "questions.csv": questions(),
        "empty/nothing": "",
        "agqa/test_balanced.txt": json.dumps({"A-1": row("A-1")}),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    sources = {
        "clavi": f"build-clavi --charades {folder}/charades --no-render --limit 1",
        "suite": f"build-perturbed --msrvtt {folder}/msrvtt --modality text --limit 2 --text-perturbations typos",
        "causal": f"build-causal --annotations {folder}/questions.csv --no-render --confuse 0 --negatives random "
        "--num-options 3 --splits UD",
        "decomp": f"build-decomp --agqa {folder}/agqa",
    }
    for name, command in sources.items():
        assert run(*command.split(), "--out", folder / name, "--no-progress").code == 0
    ids = [row["question_id"] for row in rows(folder / "clavi", "questions")]
    (folder / "answers.jsonl").write_text("".join(f'{{"id": "{name}", "answer": "yes"}}\n' for name in ids))
    (folder / "items.jsonl").write_text('{"id": 1, "question": "Did it rain?", "answer": "yes"}\n')
    return {
        "MISSING": str(folder / "not" / "there"),
        "NEW": str(folder / "new"),
        "FOLDER": str(folder / "empty"),
        "ANSWERS": str(folder / "answers.jsonl"),
        "ITEMS": str(folder / "items.jsonl"),
        "QUESTIONS": str(folder / "questions.csv"),
        "CHARADES": str(folder / "charades"),
        "MSRVTT": str(folder / "msrvtt"),
        "OUT": str(folder / "clavi"),
        "SUITE": str(folder / "suite"),
        "CAUSAL": str(folder / "causal"),
        "AGQA": str(folder / "agqa"),
        "DECOMP": str(folder / "decomp"),
    }


def spelled(line: str, places: dict[str, str]) -> list[str]:
    words = line.split()
    for name in sorted(places, key=len, reverse=True):
        words = [word.replace(name, places[name]) if not word.startswith("/") else word for word in words]
    return words


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from commands(found, f"{name} {inner}")
    else:
        yield name, command


def test_every_path_that_is_read_has_a_case() -> None:
    read = set()
    for program in PROGRAMS:
        for name, command in commands(main.stressreel if program == "stressreel" else load_command(program), program):
            if name.startswith("stressreel build "):
                continue  # the same as build-…
            for param in command.params:
                option = param.opts[0] if param.param_type_name == "option" else str(param.name)
                path = isinstance(param.type, click.Path) or option in TEXTS
                if path and option not in WRITTEN and f"{name.split()[-1]} {option}" not in WRITTEN:
                    read.add((name, option))
    assert read == set(CASES)


@pytest.mark.parametrize(("command", "option"), CASES)
def test_a_missing_path_is_wrong_usage(command: str, option: str, places: dict[str, str]) -> None:
    refuses(run(*command.split(), *spelled(CASES[command, option], places)), "not/there", code=2)


@pytest.mark.parametrize("line", VALUES)
def test_an_unknown_value_is_wrong_usage(line: str, places: dict[str, str]) -> None:
    assert run(*spelled(line, places)).code == 2


@pytest.mark.parametrize(
    "line",
    [
        "stressreel audit FOLDER",
        "stressreel audit --items QUESTIONS --no-sbert",
        "stressreel audit --items ITEMS --columns question=x --no-sbert",
        "stressreel card FOLDER",
        "stressreel export files OUT --to NEW",
        "stressreel gallery OUT --to FOLDER",
        "stressreel gallery OUT --to NEW --scores FOLDER",
        "stressreel gallery OUT --to NEW --predictions QUESTIONS --embed none",
        "stressreel push FOLDER org/name --dry-run",
        "stressreel push OUT org/name --dry-run",
        "stressreel verify FOLDER",
        "stressreel diff OUT FOLDER",
        "stressreel score answers OUT --predictions QUESTIONS",
        "stressreel compare FOLDER FOLDER",
        "build-clavi --charades FOLDER --out NEW",
        "build-clavi --charades CHARADES --out FOLDER",
        "build-decomp --release-hierarchies FOLDER --out NEW",
        "stressreel decompose Exists(phone",
    ],
)
def test_work_that_fails_is_no_wrong_usage(line: str, places: dict[str, str]) -> None:
    assert run(*spelled(line, places)).code == 1


def test_what_fails_after_ctrl_c_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was finished, so nothing is said of it; see `tests/core/test_progress.py` for what was."""
    monkeypatch.setattr(interrupt, "_asked", [2])
    for line in (
        "build-clavi --charades nowhere --out x",
        "stressreel ask nowhere --dry-run",
        "stressreel export files nowhere --to y",
        "stressreel gallery nowhere --to y",
        "stressreel verify nowhere",
    ):
        done = run(*line.split())
        assert done.code == 130
        assert done.err.rstrip().endswith("Stopped.")

"""A command leaves with 2 if a path or a value on its command line is wrong, with 1 if its work fails."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from agqa_files import row
from commands import refuses, rows, run, succeed
from cyclopts import App
from stressreel.builders import BENCHMARKS
from stressreel.cli import main
from stressreel.cli.commands import application, build_application
from stressreel.core import progress

WRITTEN = {"--out", "--to", "--figure", "--review", "modalities --items", "sample folder"}  # need not be there
TABLE = yaml.safe_load(Path(__file__).with_name("exit_codes.yaml").read_text("utf-8"))
CASES = {(command, option): line for command, lines in TABLE["missing"].items() for option, line in lines.items()}


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
        "segments.csv": "video,start,end,phrase\na,1,6,waving\na,8,13,opening a door\n",
        "captions.csv": "video,caption\na,a man waves\n",
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
    succeed("stressreel", "score", folder / "clavi", "--predictions", folder / "answers.jsonl", "--split", "all")
    (folder / "loop").symlink_to("loop")
    (folder / "stale").symlink_to("gone")
    (folder / "items.jsonl").write_text('{"id": 1, "question": "Did it rain?", "answer": "yes"}\n')
    return {
        "MISSING": str(folder / "not" / "there"),
        "LOOP": str(folder / "loop"),
        "STALE": str(folder / "stale"),
        "NEW": str(folder / "new"),
        "FOLDER": str(folder / "empty"),
        "ANSWERS": str(folder / "answers.jsonl"),
        "SCORED": str(folder / "answers.all.scores"),
        "ITEMS": str(folder / "items.jsonl"),
        "QUESTIONS": str(folder / "questions.csv"),
        "SEGMENTS": str(folder / "segments.csv"),
        "CAPTIONS": str(folder / "captions.csv"),
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


def every_command(app: App, path: str) -> Iterator[tuple[str, App]]:
    if app.default_command:
        yield path, app
    for name in app:
        if not name.startswith("-"):
            yield from every_command(app[name], f"{path} {name}")


def test_every_path_that_is_read_has_a_case() -> None:
    programs = {"stressreel": application(every=True)}
    programs |= {name: build_application(name) for name in (f"build-{benchmark}" for benchmark in BENCHMARKS)}
    read = {(name, "--config") for name in (*programs, "stressreel mine") if name != "stressreel"}
    for name, command in (found for path, app in programs.items() for found in every_command(app, path)):
        if name.startswith("stressreel build "):
            continue  # the same as build-…
        for argument in command.assemble_argument_collection():
            field = argument.field_info
            option = argument.name if field.kind is field.KEYWORD_ONLY else field.name
            if "Path" in str(argument.hint) and not {option, f"{name.split()[-1]} {option}"} & WRITTEN:
                read.add((name, option))
    assert read == set(CASES)


@pytest.mark.parametrize(("command", "option"), CASES)
def test_a_missing_path_is_wrong_usage(command: str, option: str, places: dict[str, str]) -> None:
    refuses(run(*command.split(), *spelled(CASES[command, option], places)), "not/there", code=2)


@pytest.mark.parametrize(("command", "option"), list(CASES)[::4])  # all are opened by `core.files`
def test_link_to_nowhere_is_named(command: str, option: str, places: dict[str, str]) -> None:
    for link, why in (("LOOP", "loop, which leads into a cycle of links"), ("STALE", "gone, which does not exist")):
        done = run(*command.split(), *spelled(CASES[command, option].replace("MISSING", link), places))
        assert done.code in (1, 2)
        assert f"note: {places[link]} is a link to {why}.\n" in done.err


@pytest.mark.parametrize(("line", "code"), [(line, code) for code in (2, 1) for line in TABLE[code]])
def test_wrong_usage_and_failing_work_differ(line: str, code: int, places: dict[str, str]) -> None:
    command, _, named = line.partition(" -> ")
    refuses(run(*spelled(command, places)), *spelled(named, places), code=code)
    assert code == 1 or not Path(places["NEW"]).exists()


def test_what_fails_after_ctrl_c_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was finished, so nothing is said of it; see `tests/core/test_progress.py` for what was."""
    monkeypatch.setattr(progress, "_interrupts", [2])
    for line in ("build-clavi --charades nowhere --out x", "stressreel verify nowhere"):
        done = run(*line.split())
        assert done.code == 130
        assert done.err.rstrip().endswith("Stopped.")


@pytest.mark.parametrize(
    ("benchmark", "at_fault"), [("halves", "stressreel or in the benchmark 'halves'"), ("clavi", "stressreel")]
)
def test_fault_names_benchmark_of_another_package(
    benchmark: str, at_fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(words: list[str], **options: bool) -> None:
        raise AttributeError("frames")

    monkeypatch.setattr(main, "application", fails)
    assert main.execute("stressreel", ["build", benchmark]) == 1
    assert f"AttributeError: frames\nThis is a fault in {at_fault}, not in your input." in capsys.readouterr().err


def test_a_path_that_is_not_utf8_is_refused() -> None:
    refuses(run("stressreel", "sample", "out\udcff"), r"'out\udcff' is not valid UTF-8", code=2)


@pytest.mark.parametrize("command", ["build causal --annotations", "build perturbed --msrvtt", "mine --questions"])
@pytest.mark.parametrize("written", ["--tagger nltk", "--config {folder}/old.yaml"])
def test_removed_option_is_refused_with_reason(command: str, written: str, tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text("tagger: nltk\n")
    done = run("stressreel", *command.split(), "sample", *written.format(folder=tmp_path).split())
    assert done.code == 2
    assert "--tagger was removed: English is read by spaCy's parser." in " ".join(done.err.split())


TIME = re.compile(r"^(.+): (\d+\.\d) s$", re.M)


def steps(err: str) -> list[str]:
    return [name for name, _ in TIME.findall(err)]


def test_verbose_names_steps_of_build_and_verify(sample: Path, tmp_path: Path) -> None:
    given = ("--charades", sample, "--limit", 1, "--no-render")
    build = run("stressreel", "build", "clavi", *given, "--out", tmp_path / "out", "-v")
    assert build.code == 0
    first, *between, last = steps(build.err)
    assert (first, last) == ("reading the annotations and planning", "stressreel build")
    assert {"packing", "writing the card"} <= set(between)
    verify = run("stressreel", "verify", tmp_path / "out", "--verbose")
    assert verify.code == 0
    for check in ("files", "schema", "counts", "card"):
        assert f"checking {check}" in steps(verify.err)
    assert steps(verify.err)[-1] == "stressreel verify"
    assert not steps(build.out + verify.out)
    quiet = run("stressreel", "verify", tmp_path / "out")
    assert quiet.out == verify.out
    assert not steps(quiet.err)


def test_verbose_without_progress_is_not_coloured(sample: Path, tmp_path: Path) -> None:
    given = ("--charades", sample, "--limit", 1, "--no-render", "--out", tmp_path / "out", "--no-progress", "-v")
    done = run("build-clavi", *given)
    assert "writing the card" in steps(done.err)
    assert "\x1b" not in done.out + done.err

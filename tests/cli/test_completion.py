"""What a shell completes, and what is suggested for names that are none."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from commands import run
from stressreel.builders import benchmark_names
from stressreel.cli.main import COMMANDS, load_command, stressreel


def completed(words: list[str], incomplete: str = "", *, program: str = "stressreel") -> list[str]:
    command = stressreel if program == "stressreel" else load_command(program)
    found = ShellComplete(command, {}, program, "_COMPLETE").get_completions(words, incomplete)
    return [item.value for item in found]


def test_commands_and_benchmarks() -> None:
    assert completed([]) == sorted(COMMANDS)
    assert completed(["build"]) == sorted(benchmark_names())


@pytest.mark.parametrize(
    ("option", "incomplete", "value"),
    [
        ("--perturbations", "jum", "jumble"),
        ("--perturbations", "jpeg,moti", "jpeg,motion_blur"),
        ("--text-perturbations", "typ", "typos"),
        ("--text-perturbations", "drop", "drop_text"),
        ("--pairs", "jpeg:no_v", "jpeg:no_verbs"),
    ],
)
def test_names_of_perturbations(option: str, incomplete: str, value: str) -> None:
    assert value in completed([option], incomplete, program="build-perturbed")


def test_a_name_is_not_offered_twice() -> None:
    assert "jpeg,jpeg" not in completed(["--perturbations"], "jpeg,j", program="build-perturbed")


@pytest.mark.parametrize(
    "words", [["score", "answers"], ["permute"], ["ask"], ["score", "modalities"], ["score", "open-ended"]]
)
def test_tables_and_splits_of_an_output(built: Path, words: list[str]) -> None:
    assert "questions" in completed([*words, str(built), "--config"], "q")
    assert completed([*words, str(built), "--split"], "t") == ["train", "test"]
    assert completed([*words, "--seed", "0", str(built), "--config", "questions", "--split"], "te") == ["test"]


def test_what_is_no_output_has_no_tables(tmp_path: Path) -> None:
    (tmp_path / "build.json").write_text("[")
    for out in (tmp_path, tmp_path / "nowhere"):
        assert completed(["score", "answers", str(out), "--config"]) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["build-clavi"], "Did you mean `stressreel build clavi`?"),
        (["build-calvi"], "Did you mean `stressreel build clavi`?"),
        (["verfy"], "Did you mean `stressreel verify`?"),
        (["zzz"], "lists them"),
        (["build", "calvi"], "Did you mean 'clavi'?"),
        (["build", "zzz"], "There are causal"),
        (["build", "perturbed", "--msrvtt", "x", "--dry-run", "--perturbations", "typos"], "Give it by --text-pert"),
        (
            ["build", "perturbed", "--msrvtt", "x", "--dry-run", "--perturbations", "typo"],
            "Did you mean 'typos', a text",
        ),
        (
            ["build", "perturbed", "--msrvtt", "x", "--dry-run", "--modality", "text", "--text-perturbations", "jpeg"],
            "'jpeg' is a visual perturbation, not a text one. Give it by --perturbations",
        ),
    ],
)
def test_names_that_are_none_are_answered_with_the_right_one(words: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("video,caption\nv,a dog runs\n")
    words = ["--captions" if word == "--msrvtt" else str(tmp_path / "x.csv") if word == "x" else word for word in words]
    done = run("stressreel", *words)
    assert done.code == 2
    assert said in done.err


def helps() -> list[list[str]]:
    return [[name] for name in COMMANDS] + [
        ["score", "answers"],
        ["score", "modalities"],
        ["score", "open-ended"],
        ["score", "text-shift"],
        ["export", "files"],
        *(["build", name] for name in benchmark_names()),
    ]


@pytest.mark.parametrize("words", helps(), ids=" ".join)
def test_help_has_no_marks_of_layout(words: list[str]) -> None:
    done = run("stressreel", *words, "--help")
    assert done.code == 0
    assert "\\b" not in done.out
    assert "\b" not in done.out

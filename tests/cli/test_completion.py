"""What a shell completes, and what is suggested for names that are none."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from commands import refuses, run
from stressreel.builders import benchmark_names
from stressreel.cli.commands import COMMANDS, load_command
from stressreel.cli.main import stressreel


def completed(words: list[str], incomplete: str = "", *, program: str = "stressreel") -> list[str]:
    command = stressreel if program == "stressreel" else load_command(program)
    found = ShellComplete(command, {}, program, "_COMPLETE").get_completions(words, incomplete)
    return [item.value for item in found]


def test_commands_and_benchmarks() -> None:
    assert completed([]) == list(COMMANDS)
    assert completed(["build"]) == sorted(benchmark_names())


def test_names_of_perturbations() -> None:
    for option, incomplete, value in (
        ("--perturbations", "jum", "jumble"),
        ("--perturbations", "jpeg,moti", "jpeg,motion_blur"),
        ("--text-perturbations", "typ", "typos"),
        ("--text-perturbations", "drop", "drop_text"),
        ("--pairs", "jpeg:no_v", "jpeg:no_verbs"),
    ):
        assert value in completed([option], incomplete, program="build-perturbed")
    assert "jpeg,jpeg" not in completed(["--perturbations"], "jpeg,j", program="build-perturbed")


def test_tables_and_splits_of_an_output(built: Path, tmp_path: Path) -> None:
    for words in (["score", "answers"], ["permute"], ["ask"], ["score", "modalities"], ["score", "open-ended"]):
        assert "questions" in completed([*words, str(built), "--config"], "q")
        assert completed([*words, str(built), "--split"], "t") == ["train", "test"]
        assert completed([*words, "--seed", "0", str(built), "--config", "questions", "--split"], "te") == ["test"]
    (tmp_path / "build.json").write_text("[")
    for out in (tmp_path, tmp_path / "nowhere"):
        assert completed(["score", "answers", str(out), "--config"]) == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("build-calvi", "Did you mean `stressreel build clavi`?"),
        ("verfy", "Did you mean `stressreel verify`?"),
        ("zzz", "lists them"),
        ("build calvi", "Did you mean 'clavi'?"),
        ("build perturbed --captions FILE --dry-run --perturbations typo", "Did you mean 'typos', a text"),
        (
            "build perturbed --captions FILE --dry-run --modality text --text-perturbations jpeg",
            "'jpeg' is a visual perturbation, not a text one. Use it with --perturbations",
        ),
    ],
)
def test_names_that_are_none_are_answered_with_the_right_one(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("video,caption\nv,a dog runs\n")
    refuses(run("stressreel", *line.replace("FILE", str(tmp_path / "x.csv")).split()), said, code=2)

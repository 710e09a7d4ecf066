"""What a shell completes: commands, options and choices by installed scripts, other values by asking the program."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import START, run
from every_command import every_command
from stressreel.builders import BENCHMARKS
from stressreel.cli.commands import COMMANDS
from stressreel.cli.completion import COMPLETE, INSTALL

SLOWEST_S = 1.5
BEGIN = "\x1fbegin\n"
TYPED = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
"_${1//-/_}" || true
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""What bash does when the tab key is pressed after some words."""


def completed(*words: object, program: str = "stressreel") -> list[str]:
    """What the program answers a script that asks it for values."""
    done = run(program, COMPLETE, *words)
    assert (done.code, done.err) == (0, "")
    before, begin, after = done.out.partition(BEGIN)
    assert begin
    assert not before.strip()
    return [line.split("\t")[0] for line in after.splitlines()]


def script(program: str, shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("ZSH_CUSTOM", raising=False)
    monkeypatch.delenv("ZSH", raising=False)
    done = run(program, INSTALL, "--shell", shell, "--output", tmp_path / shell)
    assert (done.code, done.err) == (0, "")
    return tmp_path / shell


class Bash:
    """A shell in which completion is installed, and the programs are found."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        self.folder, self.monkeypatch = tmp_path, monkeypatch
        (tmp_path / "bin").mkdir()
        (tmp_path / "typed.sh").write_text(TYPED)

    def press_tab(self, *words: str) -> list[str]:
        program = words[0]
        there = self.folder / program
        if not there.exists():
            script(program, "bash", self.folder, self.monkeypatch).rename(there)
            code = START.format(name=program, function="main" if program == "stressreel" else "build")
            (self.folder / "bin" / program).write_text(f"#!{sys.executable}\n{code}\n")
            (self.folder / "bin" / program).chmod(0o755)
        env = {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
        command = ["bash", self.folder / "typed.sh", there, *words]
        done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=self.folder, check=True)
        assert done.stderr == ""
        return done.stdout.split()


@pytest.fixture
def bash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bash:
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    return Bash(tmp_path, monkeypatch)


def test_bash_completes_commands_options_and_choices(bash: Bash) -> None:
    assert set(bash.press_tab("stressreel", "")) == {name for task in COMMANDS.values() for name in task}
    assert bash.press_tab("stressreel", "deco") == ["decompose"]
    assert set(bash.press_tab("stressreel", "build", "")) == set(BENCHMARKS)
    assert bash.press_tab("stressreel", "build", "clavi", "--charades") == ["--charades", "--charades-sta"]
    assert bash.press_tab("stressreel", "verify", "out", "--js") == ["--json"]
    assert "left-out" in bash.press_tab("stressreel", "list", "")
    assert bash.press_tab("build-clavi", "--order", "b") == ["balanced"]
    assert bash.press_tab("build-clavi", "--conf") == ["--config"]


def test_bash_asks_the_program_for_values(bash: Bash, built: Path) -> None:
    assert bash.press_tab("build-perturbed", "--perturbations", "jpeg,moti") == [r"jpeg\,motion_blur"]
    assert bash.press_tab("stressreel", "permute", str(built), "--split", "t") == ["train", "test"]
    assert bash.press_tab("stressreel", "permute", "nowhere", "--split", "t") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_know_every_command_and_are_valid(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = script("stressreel", shell, tmp_path, monkeypatch)
    text = path.read_text()
    for name in {word for command in every_command() for word in command.split()}:
        assert name in text
    for option in ("charades", "text-perturbations", "predictions", "licence-confirmed"):
        assert option in text
    assert COMPLETE in text
    if shutil.which(shell):
        subprocess.run([shell, "-n", path], check=True)


def test_names_of_perturbations() -> None:
    for option, incomplete, value in (
        ("--perturbations", "jum", "jumble"),
        ("--perturbations", "jpeg,moti", "jpeg,motion_blur"),
        ("--text-perturbations", "typ", "typos"),
        ("--text-perturbations", "drop", "drop_text"),
        ("--pairs", "jpeg:no_v", "jpeg:no_verbs"),
    ):
        assert value in completed(option, incomplete, program="build-perturbed")
        assert value in completed("build", "perturbed", option, incomplete)
    assert "jpeg,jpeg" not in completed("--perturbations", "jpeg,j", program="build-perturbed")
    assert completed("--relations", "sequence,", program="build-clavi") == ["sequence,overlap", "sequence,contain"]


def test_tables_and_splits_of_an_output(built: Path, tmp_path: Path) -> None:
    for words in (["score"], ["permute"], ["ask"], ["score", "modalities"], ["score", "open-ended"]):
        assert completed(*words, built, "--config", "") == ["questions", "videos", "pairs"]
        assert completed(*words, built, "--split", "") == ["train", "test"]
        assert completed(*words, "--seed", "0", built, "--config", "questions", "--split", "") == ["train", "test"]
    (tmp_path / "build.json").write_text("[")
    for out in (tmp_path, tmp_path / "nowhere", ""):
        assert completed("score", out, "--config", "") == []


@pytest.mark.parametrize("line", ["", "nothing", "score", "build nothing --x", "export", "verify --x y", "--json"])
def test_unknown_words_complete_to_nothing(line: str) -> None:
    assert completed(*line.split(), "") == []


def test_an_answer_comes_fast() -> None:
    code = START.format(name="build-perturbed", function="build")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code, COMPLETE, "--perturbations", "j"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < SLOWEST_S

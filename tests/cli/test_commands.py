"""What a shell completes: commands, options and choices by installed scripts, other values by asking the program."""

from __future__ import annotations

import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import START, run, start_python
from every_command import command_function, every_command, whole_application
from stressreel.builders import BENCHMARKS
from stressreel.cli.commands import COMMANDS, COMPLETE, INSTALL, application, build_application

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


EXAMPLES = re.compile(r"For example:\n\n((?: {4}\S.*(?:\n|$))+)")
COLUMNS = 90
"""Examples are shorter than this. Boxes of 80 columns wrap the last words of some."""
SLOW = {"numpy", "av", "pyarrow", "yaml", "tqdm", "packaging", "importlib.metadata", "stressreel.core.settings"}
"""Modules that a list of commands does not need, and that take long to import."""


def examples(command: str) -> list[str]:
    found = EXAMPLES.search(command_function(command).__doc__ or "")
    return [line.strip() for line in found[1].splitlines()] if found else []


@pytest.mark.parametrize("command", every_command())
def test_a_command_shows_examples_that_can_be_parsed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = examples(command)
    assert lines
    for line in lines:
        assert len(line) < COLUMNS
        program, *words = shlex.split(line)
        for word in words:
            if re.fullmatch(r"\w+\.(csv|json|jsonl)", word):
                Path(word).touch()
        app = whole_application() if program == "stressreel" else build_application(program)
        assert line.startswith((f"stressreel {command}", command.replace("build ", "build-")))
        function, _, _ = app.parse_args(words, exit_on_error=False, print_error=False)
        assert function.__name__ == command_function(command).__name__


@pytest.mark.parametrize("line", ["stressreel", "stressreel withhold", "build-clavi", "stressreel export inspect"])
def test_help_contains_the_examples(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    program, *words = line.split()
    done = run(program, *words, "--help")
    assert done.code == 0
    assert done.err == ""
    assert f"For example:\n\n    {'stressreel build clavi' if line == 'stressreel' else line}" in done.out
    assert "::" not in done.out


def test_help_is_coloured_only_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in run("stressreel", "--help").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[3" in run("stressreel", "--help").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run("stressreel", "--help").out


def test_the_list_of_commands_imports_nothing_slow() -> None:
    code = (
        "import sys; from stressreel.cli.main import execute; "
        f"execute('stressreel', ['--help']); print(sorted({SLOW!r} & set(sys.modules)), file=sys.stderr)"
    )
    out, err = start_python(code).communicate()
    assert "decompose" in out
    assert err == "[]\n"
    out, err = start_python(f"import sys, stressreel; print(sorted({SLOW!r} & set(sys.modules)))").communicate()
    assert (out, err) == ("[]\n", "")


def test_list_is_the_same_without_imports() -> None:
    listed, imported = application(), application(every=True)
    assert [*listed] == [*imported]
    for name in ("verify", "mine", "sample"):
        assert listed[name].help

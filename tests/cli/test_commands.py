"""The list of commands, their help, and what a shell completes: choices by scripts, other values by the program."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import START, run, start_python, succeed
from every_command import command_function, every_command
from stressreel.builders import BENCHMARKS
from stressreel.cli.commands import COMMANDS, COMPLETE, INSTALL, application

TYPED = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
"_${1//-/_}" || true
printf '%s\\n' "${COMPREPLY[@]}"
"""
"""What bash does when the tab key is pressed after some words."""


def completed(*words: object, program: str = "stressreel") -> list[str]:
    """What the program answers a script that asks it for values."""
    done = succeed(program, COMPLETE, *words)
    before, begin, after = done.out.partition("\x1fbegin\n")
    assert (before.strip(), bool(begin), done.err) == ("", True, "")
    return [line.split("\t")[0] for line in after.splitlines()]


def script(program: str, shell: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(path.parent))
    monkeypatch.delenv("ZSH_CUSTOM", raising=False)
    monkeypatch.delenv("ZSH", raising=False)
    assert succeed(program, INSTALL, "--shell", shell, "--output", path).err == ""
    return path


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_words_and_asks_for_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: Path) -> None:
    (tmp_path / "typed.sh").write_text(TYPED)
    (tmp_path / "bin").mkdir()
    for program, function in {"stressreel": "main", "build-clavi": "build", "build-perturbed": "build"}.items():
        script(program, "bash", tmp_path / f"{program}.sh", monkeypatch)
        code = START.format(name=program, function=function)
        (tmp_path / "bin" / program).write_text(f"#!{sys.executable}\n{code}\n")
        (tmp_path / "bin" / program).chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}

    def press_tab(line: str, incomplete: str = "") -> list[str]:
        command = ["bash", "typed.sh", f"{line.split()[0]}.sh", *line.split(), incomplete]
        done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, check=True)
        assert done.stderr == ""
        return done.stdout.split()

    assert set(press_tab("stressreel")) == {name for task in COMMANDS.values() for name in task}
    assert set(press_tab("stressreel build")) == set(BENCHMARKS)
    assert press_tab("stressreel build clavi", "--charades") == ["--charades", "--charades-sta"]
    assert press_tab("build-clavi --order", "b") == ["balanced"]
    assert press_tab("build-perturbed --perturbations", "jpeg,moti") == [r"jpeg\,motion_blur"]
    assert press_tab(f"stressreel permute {built} --split", "t") == ["train", "test"]
    assert press_tab("stressreel permute nowhere --split", "t") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_know_every_command(shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script("stressreel", shell, tmp_path / shell, monkeypatch)
    words = {word for command in every_command() for word in command.split()}
    words |= {"charades", "text-perturbations", "predictions", "licence-confirmed", COMPLETE}
    assert [word for word in words if word not in path.read_text()] == []
    if shutil.which(shell):
        subprocess.run([shell, "-n", path], check=True)


def test_values_follow_from_the_words_before() -> None:
    for program, words in (("build-perturbed", ()), ("stressreel", ("build", "perturbed"))):
        assert "jpeg:no_verbs" in completed(*words, "--pairs", "jpeg:no_v", program=program)
        assert "drop_text" in completed(*words, "--text-perturbations", "drop", program=program)
        assert "jpeg,jpeg" not in completed(*words, "--perturbations", "jpeg,j", program=program)
    assert completed("--relations", "sequence,", program="build-clavi") == ["sequence,overlap", "sequence,contain"]
    for line in ("", "nothing", "build nothing --x", "export", "verify --x y", "--json"):
        assert completed(*line.split(), "") == []


def test_tables_and_splits_of_an_output(built: Path, tmp_path: Path) -> None:
    for words in (["score"], ["permute"], ["score", "modalities"]):
        assert completed(*words, built, "--config", "") == ["questions", "videos", "pairs"]
        assert completed(*words, "--seed", "0", built, "--config", "questions", "--split", "") == ["train", "test"]
    (tmp_path / "build.json").write_text("[")
    for out in (tmp_path, tmp_path / "nowhere", ""):
        assert completed("score", out, "--config", "") == []


EXAMPLES = re.compile(r"For example:\n\n((?: {4}\S.*(?:\n|$))+)")
COLUMNS = 90
"""Examples are shorter than this. Boxes of 80 columns wrap the last words of some."""
SLOW = {"numpy", "av", "pyarrow", "yaml", "tqdm", "packaging", "importlib.metadata", "stressreel.core.settings"}
"""Modules that a list of commands does not need, and that take long to import."""


@pytest.mark.parametrize("command", every_command())
def test_a_command_shows_examples_of_itself(command: str) -> None:
    """That they can be parsed is tested in `tests/docs/test_pages.py`."""
    found = EXAMPLES.search(command_function(command).__doc__ or "")
    assert found
    for line in map(str.strip, found[1].splitlines()):
        assert len(line) < COLUMNS
        assert f"{line} ".startswith((f"stressreel {command} ", f"{command.replace('build ', 'build-')} "))


@pytest.mark.parametrize("line", ["stressreel", "stressreel withhold", "build-clavi", "stressreel export inspect"])
def test_help_has_examples_and_colour_on_request(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    done = succeed(*line.split(), "--help")
    assert f"For example:\n\n    {'stressreel build clavi' if line == 'stressreel' else line}" in done.out
    assert "::" not in done.out
    assert "\x1b" not in done.out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[3" in run(*line.split(), "--help").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run(*line.split(), "--help").out


def test_the_list_of_commands_imports_nothing_slow() -> None:
    imported = f"print(sorted({SLOW!r} & set(sys.modules)), file=sys.stderr)"
    listing = "from stressreel.cli.main import execute; execute('stressreel', ['--help'])"
    out, err = start_python(f"import sys; {listing}; {imported}; import stressreel; {imported}").communicate()
    assert "decompose" in out
    assert err == "[]\n[]\n"


def test_lists_repeat_the_first_lines_of_help() -> None:
    listed, every = application(), application(every=True)
    for short, whole in ((listed, every), (application(["build"])["build"], every["build"])):
        assert [*short] == [*whole]
        for name in [name for name in short if not name.startswith("-")]:
            assert f"{whole[name].help}\n".startswith(f"{short[name].help}\n"), name

"""Every command shows examples that work, and the list of commands appears at once."""

import re
import shlex
from pathlib import Path

import pytest
from commands import run, start_python, succeed
from every_command import command_function, every_command, whole_application
from stressreel.cli.commands import application, build_application

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
    done = succeed(program, *words, "--help")
    assert done.err == ""
    assert f"For example:\n\n    {'stressreel build clavi' if line == 'stressreel' else line}" in done.out
    assert "::" not in done.out


def test_help_colour_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_command_list_without_imports_is_complete() -> None:
    listed, imported = application(), application(every=True)
    assert [*listed] == [*imported]
    for name in ("verify", "mine", "sample"):
        assert listed[name].help

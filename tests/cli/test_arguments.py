"""The command line neither guesses, converts nor drops what users write."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import stressreel
import yaml
from commands import Ran, refuses, run, run_json, run_process
from stressreel.api.build import build_function
from stressreel.builders import SUMMARIES, benchmark_names
from stressreel.cli import commands
from stressreel.core.build_settings import BuildSettings

PROGRAM = "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"
Parse = Callable[..., Any]


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Parse:
    """Return the settings of a build command, or what it prints if they are refused, without running the build."""

    def parsed(*arguments: object, config: object = None, benchmark: str = "clavi") -> BuildSettings | Ran:
        found: list[BuildSettings] = []
        build = "stressreel.api.benchmarks.run_build"
        monkeypatch.setattr(build, lambda benchmark, settings: found.append(settings))
        words = [*arguments, "--out", tmp_path / "out"]
        if config is not None:
            text = config if isinstance(config, str) else yaml.safe_dump(config)
            (tmp_path / "c.yaml").write_text(text)
            words += ["--config", tmp_path / "c.yaml"]
        done = run(f"build-{benchmark}", *words)
        return found[0] if found else done

    return parsed


# Switches


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("fresh: true", {"resume": False}),
        ("fresh: false", {"resume": True}),
        ("resume: false", {"resume": False}),
        ("resume: true", {"resume": True}),
        ("progress: false", {"progress": False}),
        ("no-progress: true", {"progress": False}),
        ("no-render: true", {"render": False}),
        ("no-render: false", {"render": True}),
        ("render: false", {"render": False}),
        ("allow-missing: true", {"allow_missing": True}),
        ("allow_missing: false", {"allow_missing": False}),
    ],
)
def test_switches_in_yaml(parse: Parse, lines: str, expected: dict[str, Any]) -> None:
    settings = parse("--charades", "sample", config=lines)
    assert {name: getattr(settings, name) for name in expected} == expected
    assert set(expected) <= settings.given


@pytest.mark.parametrize(
    ("flag", "name", "value"),
    [
        ("--fresh", "resume", False),
        ("--resume", "resume", True),
        ("--no-progress", "progress", False),
        ("--no-render", "render", False),
        ("--allow-missing", "allow_missing", True),
    ],
)
def test_switches_as_flags_override_yaml(parse: Parse, flag: str, name: str, value: bool) -> None:
    settings = parse("--charades", "sample", flag, config={name: not value})
    assert getattr(settings, name) is value


def test_switches_that_are_off_have_no_opposite(parse: Parse) -> None:
    for flag in ("--no-allow-missing", "--no-dry-run"):
        refuses(parse("--charades", "sample", flag), flag, code=2)


# Numbers


@pytest.mark.parametrize("option", ["seed", "limit", "workers", "crf"])
@pytest.mark.parametrize("value", ["2.7", "2.0", "1e3", "1_0", "0x10", "two", "none"])
def test_whole_numbers_are_not_rounded(parse: Parse, option: str, value: str) -> None:
    refuses(parse("--charades", "sample", f"--{option}", value), f"--{option}", f"'{value}'", code=2)
    refuses(parse("--charades", "sample", config=f"{option}: '{value}'"), f"--{option}", f"'{value}'", code=2)


@pytest.mark.parametrize("value", ["2.7", "true", "[1, 2]", "{a: 1}", "2026-01-02"])
def test_numbers_in_yaml(parse: Parse, value: str) -> None:
    refuses(parse("--charades", "sample", config=f"seed: {value}"), "seed", code=2)


@pytest.mark.parametrize(("option", "value"), [("seed", -1), ("crf", 52), ("max-skip", 1.5), ("max-span", "nan")])
def test_limits_are_named(parse: Parse, option: str, value: float | str) -> None:
    refuses(parse("--charades", "sample", f"--{option}={value}"), f"--{option}", str(value), "Must be", code=2)


# Options


def test_yaml_mappings_and_null_before_the_command(parse: Parse, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("segments: x.csv\ncolumns: {start: from, end: to}\nfps: null\nlimit: 1\n")
    done = run("stressreel", "--config", tmp_path / "c.yaml", "build", "clavi", "--dry-run")
    refuses(done, "x.csv", code=2)  # which does not exist; all options were accepted


def test_unknown_yaml_keys_name_the_nearest_option(parse: Parse, tmp_path: Path) -> None:
    refuses(parse("--charades", "sample", config="sead: 1"), str(tmp_path / "c.yaml"), "'sead'", "seed?", code=2)
    refuses(parse("--charades", "sample", config="zzz: 1"), "'zzz'", "allow-missing, audio", code=2)
    refuses(parse("--charades", "sample", config="config: x.yaml"), "'config'", code=2)
    refuses(parse("--charades", "sample", config="json: true"), "'json'", code=2)
    refuses(parse("--charades", "sample", config="3: 1"), "'3'", code=2)


@pytest.mark.parametrize("lines", ["fresh: true\nresume: true", "allow-missing: true\nallow_missing: true"])
def test_options_given_twice_in_yaml_are_refused(parse: Parse, lines: str) -> None:
    refuses(parse("--charades", "sample", config=lines), "the same option", code=2)


@pytest.mark.parametrize("content", ["- a", "seed", "a: [", "seed: 1\nseed: 2"])
def test_yaml_of_another_form_is_refused(parse: Parse, content: str, tmp_path: Path) -> None:
    refuses(parse("--charades", "sample", config=content), str(tmp_path / "c.yaml"), code=2)


def test_options_given_twice_are_refused(parse: Parse) -> None:
    refuses(parse("--charades", "sample", "--seed", 1, "--seed", 2), "--seed", code=2)
    refuses(parse("--charades", "sample", "--fresh", "--resume"), "--resume", code=2)


@pytest.mark.parametrize("words", [("--splits", "UD,PS"), ("--splits", "UD", "PS"), ("--splits=UD,PS",)])
def test_several_values(parse: Parse, words: tuple[str, ...]) -> None:
    assert parse("--annotations", "sample", *words, benchmark="causal").splits == ("ud", "ps")


@pytest.mark.parametrize("splits", ["UD,PS", ["UD", "PS"]])
def test_several_values_in_yaml(parse: Parse, splits: object) -> None:
    config = {"splits": splits, "annotations": "sample"}
    assert parse(config=config, benchmark="causal").splits == ("ud", "ps")


def test_values_that_begin_with_a_dash(parse: Parse) -> None:
    own = ("--segments", "sample.csv", "--title")
    refuses(parse(*own, "--mine"), "--title requires a value", "--title=VALUE", code=2)
    assert parse(*own[:2], "--title=--mine").title == "--mine"
    assert parse("--charades", "sample", "--seed=3").seed == 3
    assert run("stressreel", "list", "visual", "--", "-x").code == 2


@pytest.mark.parametrize("words", [("--", "--charades", "sample"), ("sample",), ("--charades", "sample", "more")])
def test_words_without_an_option_are_refused(parse: Parse, words: tuple[str, ...]) -> None:
    refuses(parse(*words), code=2)


def test_empty_paths_are_not_the_current_folder(parse: Parse) -> None:
    refuses(parse("--charades="), "--charades is empty", code=2)
    refuses(parse("--charades", "sample", "--videos", ""), "--videos is empty", code=2)
    refuses(parse("--charades", "sample", config="videos: ''"), "--videos is empty", code=2)
    refuses(run("stressreel", "verify", ""), "OUT is empty", code=2)


def test_values_keep_their_types_with_pydantic(parse: Parse) -> None:
    """The parser then compares values with their types once more."""
    pytest.importorskip("pydantic")
    settings = parse("--segments", "a.csv", "--split-shares", ".8,.1,.1", "--shard", "1/2")
    assert settings.split_shares == (0.8, 0.1, 0.1)
    assert parse("--msrvtt", "sample", "--severity", "1,3-4", benchmark="perturbed").severities == (1, 3, 4)
    refuses(run("stressreel", "verify", "nowhere", "--sample", 2), "nowhere does not exist", code=2)
    refuses(run("stressreel", "verify", "nowhere", "--sample", "all"), "nowhere does not exist", code=2)


# Commands


def test_list_repeats_first_line_of_docstrings() -> None:
    listed = {name: text for group in commands.COMMANDS.values() for name, text in group.items()}
    functions = {}
    for name in listed:
        function = commands.SUBCOMMANDS.get(name, {"": name}).get("")
        if function and name != "build":
            functions[name] = getattr(stressreel, function)
    assert listed.keys() - functions.keys() == {"build", "data", "export"}
    assert {name: _summary(function) for name, function in functions.items()} == {
        name: listed[name] for name in functions
    }
    built = {name: _summary(build_function(name)) for name in SUMMARIES}
    assert built == SUMMARIES
    assert set(SUMMARIES) == {*benchmark_names()}


def _summary(function: Callable[..., Any]) -> str:
    return " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())


def test_programs_exit_with_0_1_or_2() -> None:
    assert run("stressreel", "--help").code == run("build-clavi", "-h").code == run("stressreel", "--version").code == 0
    assert run("stressreel").code == run("stressreel", "build").code == run("stressreel", "list", "visual").code == 0
    refuses(run("stressreel", "decompose", "Exists("), code=1)
    refuses(run("stressreel", "decompose", PROGRAM, "--wording", "theirs"), "theirs", "ours", "engine", code=2)


def test_errors_are_plain_text_without_colour() -> None:
    coloured = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    for words in (["verfy"], ["verify"], ["list", "x"], ["verify", "x", "--y"], ["push", "x", "y", "--tag", "a b"]):
        done = run_process("stressreel", *words, env=coloured)
        assert done.code == 2
        assert done.err.startswith("Error: ")
        assert "\x1b" not in done.out + done.err


def test_common_options_precede_or_follow_the_command() -> None:
    plain = run_json("stressreel", "decompose", PROGRAM)
    assert json.loads(run("stressreel", "--json", "decompose", PROGRAM).out) == plain
    for verbose in ("-v", "--verbose"):
        done = run("stressreel", "decompose", PROGRAM, "--json", verbose)
        assert json.loads(done.out) == plain
    refuses(run("stressreel", "decompose", PROGRAM, "--json", "--dot"), "--dot", "--json", code=2)

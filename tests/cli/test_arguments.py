"""The command line neither guesses, converts nor drops what users write."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Ran, refuses, run, run_json, run_process
from stressreel.core.build_settings import BuildSettings

PROGRAM = "Exists(phone, Iterate(Localize(after, opening a door), Filter(frame, [objects])))"
SAMPLE = ("--charades", "sample")
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


@pytest.mark.parametrize(
    ("switch", "name", "value"),
    [
        ("fresh", "resume", False),
        ("resume", "resume", True),
        ("no-progress", "progress", False),
        ("no-render", "render", False),
        ("allow-missing", "allow_missing", True),
        ("allow_missing", "allow_missing", True),
    ],
)
def test_flags_override_switches_in_yaml(parse: Parse, switch: str, name: str, value: bool) -> None:
    for given in (True, False):
        settings = parse(*SAMPLE, config={switch: given})
        assert getattr(settings, name) is (value == given)
        assert name in settings.given
    flag = f"--{switch.replace('_', '-')}"
    assert getattr(parse(*SAMPLE, flag, config={name: not value}), name) is value


WHOLE = [("seed", value) for value in ("2.7", "2.0", "1e3", "1_0", "0x10", "two", "none")]


@pytest.mark.parametrize(("option", "value"), [*WHOLE, ("limit", "2.5"), ("workers", "1e0"), ("crf", "20.5")])
def test_whole_numbers_are_not_rounded(parse: Parse, option: str, value: str) -> None:
    refuses(parse(*SAMPLE, f"--{option}", value), f"--{option}", f"'{value}'", code=2)
    refuses(parse(*SAMPLE, config=f"{option}: '{value}'"), f"--{option}", f"'{value}'", code=2)


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        *[(f"seed: {value}", "seed") for value in ("2.7", "true", "[1, 2]", "{a: 1}", "2026-01-02")],
        *[(f"{key}: 1", f"'{key}'") for key in ("zzz", "config", "json", 3)],
        ("sead: 1", "seed?"),
        ("videos: ''", "--videos"),
        ("fresh: true\nresume: true", "same option"),
        ("allow-missing: true\nallow_missing: true", "same option"),
        *[(content, "c.yaml") for content in ("- a", "seed", "a: [", "seed: 1\nseed: 2")],
    ],
)
def test_yaml_is_refused(parse: Parse, lines: str, named: str) -> None:
    refuses(parse(*SAMPLE, config=lines), named, code=2)


def test_yaml_mappings_and_null_before_the_command(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("segments: x.csv\ncolumns: {start: from, end: to}\nfps: null\nlimit: 1\n")
    done = run("stressreel", "--config", tmp_path / "c.yaml", "build", "clavi", "--dry-run")
    refuses(done, "x.csv", code=2)  # which does not exist; all options were accepted


def test_several_values(parse: Parse) -> None:
    own = ("--annotations", "sample")
    for words in (("--splits", "UD,PS"), ("--splits", "UD", "PS"), ("--splits=UD,PS",)):
        assert parse(*own, *words, benchmark="causal").splits == ("ud", "ps")
    for splits in ("UD,PS", ["UD", "PS"]):
        assert parse(*own, config={"splits": splits}, benchmark="causal").splits == ("ud", "ps")


def test_values_keep_their_types_with_pydantic(parse: Parse) -> None:
    """The parser then compares values with their types once more."""
    pytest.importorskip("pydantic")
    settings = parse("--segments", "a.csv", "--split-shares", ".8,.1,.1", "--shard", "1/2")
    assert settings.split_shares == (0.8, 0.1, 0.1)
    assert parse("--msrvtt", "sample", "--severity", "1,3-4", benchmark="perturbed").severities == (1, 3, 4)
    for sample in (2, "all"):
        refuses(run("stressreel", "verify", "nowhere", "--sample", sample), "nowhere", code=2)


def test_errors_are_plain_text_without_colour() -> None:
    coloured = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    for words in (["verify"], ["push", "x", "y", "--tag", "a b"]):
        done = run_process("stressreel", *words, env=coloured)
        assert done.code == 2
        assert done.err.startswith("Error: ")
        assert "\x1b" not in done.out + done.err


def test_common_options_precede_or_follow_the_command() -> None:
    plain = run_json("stressreel", "decompose", PROGRAM)
    for words in (("--json", "decompose", PROGRAM), ("decompose", PROGRAM, "--json", "-v")):
        assert json.loads(run("stressreel", *words).out) == plain

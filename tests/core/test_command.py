"""Options, stated once as fields of settings classes; and the recorded command, compared with what stands beside it."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.core.build_options import BuildSettings, RunOptions
from stressreel.core.command import Command, differing_command, given_files, read_command, recorded
from stressreel.core.errors import InputError
from stressreel.core.options import (
    Need,
    comma_separated,
    content,
    from_keywords,
    nested,
    option,
    options_of,
    read_settings,
)

RENDERED = Need(lambda settings: settings.render, "with --no-render", "leave out --no-render")
FAMILY = ("red", "green")
Info = dict[str, Any]


@dataclass(frozen=True)
class Inner:
    tau: float = option(0.5, "A cosine.", minimum=-1, maximum=1)


@dataclass(frozen=True, kw_only=True)
class Example(BuildSettings):
    source: str = option("", "A folder.", required=True, content=False, write=lambda given: "DIR")
    table: Path | None = option(None, "A file.", exists=True, content=False)
    more: tuple[Path, ...] = option((), "Files.", exists=True, content=False)
    hidden: Path | None = option(None, "A file.", exists=True, content=False, write=lambda given: "FILE")
    names: tuple[str, ...] = option(("all",), "Names.", read=comma_separated, shown="all")
    kind: Literal["a", "b"] = option("a", "A kind.")
    mode: Literal["plain", "rich"] = option("plain", "A mode.", content=False, record="changed")
    render: bool = option(True, "Make videos.")
    crf: int = option(23, "A quality.", minimum=0, maximum=51, needs=(RENDERED,))
    inner: Inner = nested(Inner)
    both: tuple[str, str] | None = option(None, "Two folders.", content=False)
    free: str | None = option(None, "A text.", content=False)
    words: str | None = option(None, "Any words.", content=False, quoted=True)
    colour: str = "none"


def example(**given: Any) -> Example:
    return from_keywords(Example, {"source": "x/y.csv", **given})


def decided(settings: Example) -> Example:
    """Write the family out, as perturbations are."""
    names = FAMILY if settings.names == ("all",) else settings.names
    return replace(settings, names=names, colour=names[0] if settings.mode == "rich" else "none")


COMMAND = Command("build-example", Example, decided)


def built(instead: dict[str, str | None] | None = None, **given: Any) -> Info:
    """What `build.json` says of a build."""
    settings = example(**given)
    return {
        "command": recorded(COMMAND.program, settings, instead),
        "settings": as_json(content(decided(settings))),
        "files": given_files(settings),
        "inputs": {name: "0" for names in given_files(settings).values() for name in names},
        "split": settings.split,
        "limit": settings.limit,
        "dataset_version": settings.version,
    }


def as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_json(inner) for name, inner in value.items()}
    return list(value) if isinstance(value, tuple) else value


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made = [tmp_path / name for name in ("a.csv", "my own - table.csv", "--b.csv")]
    for path in made:
        path.touch()
    return made


def test_it_spells_out_what_decides() -> None:
    made = example(names="x,y", render=False, max_skip=0.5, both=("l", "r"))
    assert recorded("build-example", made, {"kind": "b"}) == (
        "build-example --source DIR --names x,y --kind b --no-render --tau 0.5 --both l r --seed 0 --split all "
        "--max-skip 0.5 --version 1.3.0 --out OUT"
    )


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"names": "x, y", "kind": "b", "tau": -0.25, "seed": 7, "crf": 0},
        {"tau": 1e-05, "render": False},
        {"mode": "rich", "split": "all", "limit": 3, "version": "1.2.3-rc.1+x", "max_skip": 0.5},
        {"both": ("my folder", "yours"), "free": "some words - with -- dashes", "allow_missing": True},
    ],
    ids=str,
)
def test_what_was_built_passes(given: dict[str, Any]) -> None:
    assert list(differing_command(built(**given), COMMAND)) == []


def test_names_of_files_may_have_spaces(files: list[Path]) -> None:
    for table in files:
        info = built(table=table, more=files, hidden=table)
        assert list(differing_command(info, COMMAND)) == []
        assert read_command(info, Example)[0].more == tuple(Path(path.name) for path in files)


def swap(old: str, new: str) -> Callable[[Info], object]:
    def change(info: Info) -> None:
        assert old in info["command"]
        info["command"] = info["command"].replace(old, new)

    return change


FAULTS: dict[str, tuple[Callable[[Info], object], str]] = {
    "program": (swap("build-example", "build-other"), "a build records 'build-example --source"),
    "seed": (swap("--seed 0", "--seed 7"), "seed: 0 → 7"),
    "seed twice": (swap("--seed 0", "--seed 1 --seed 0"), "but a build records"),
    "no effect": (
        swap("--kind a", "--no-render --crf 20"),
        "incompatible options: --crf has no effect with --no-render",
    ),
    "no number": (swap("--seed 0", "--seed zero"), "--seed zero, which must be a whole number"),
    "switch": (swap("--crf 23", "--no-render"), "render: True → False"),
    "version": (swap("--version 1.3.0", "--version 1.3.1"), "--version is 1.3.1 in the command, but version is 1.3.0"),
    "foreign": (swap("--kind a", "--kind a --free x --frobnicate"), "--frobnicate, which is not an option"),
    "a file": (swap("--table a.csv", "--table b.csv"), "--table was a.csv"),
    "other files": (lambda info: info["files"].update(table=["b.csv"]), "--table was b.csv"),
    "settings": (lambda info: info["settings"].update(crf=24), "crf: 24 → 23"),
    "split": (lambda info: info.update(split="test"), "--split is all in the command, but split is test"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_differs_is_said(name: str, files: list[Path]) -> None:
    info = built(table=files[0])
    change, said = FAULTS[name]
    change(info)
    found = list(differing_command(info, COMMAND))
    assert any(said in problem for problem in found), found


# Options


def test_keywords_become_settings() -> None:
    made = example(names="x, y", kind="b", tau=0.25, both=("l", "r"), limit=3)
    assert (made.names, made.kind, made.inner.tau, made.both, made.limit) == (("x", "y"), "b", 0.25, ("l", "r"), 3)
    assert example().crf == 23


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"nmaes": "x"}, "unknown option 'nmaes'"),
        ({"tagger": "nltk"}, "--tagger was removed: English is read by spaCy's parser"),
        ({"kind": "c"}, "must be one of a, b"),
        ({"kind": 3}, "must be a string"),
        ({"crf": 52}, "at least 0 and at most 51"),
        ({"crf": 2.5}, "must be a whole number"),
        ({"crf": True}, "must be a whole number"),
        ({"tau": "high"}, "must be a number"),
        ({"tau": float("nan")}, "must be a number"),
        ({"render": "yes"}, "must be True or False"),
        ({"names": " , "}, "is empty; give names"),
        ({"both": ("one",)}, "must consist of 2 values"),
        ({"version": "1"}, "is not a semantic version"),
        ({"limit": 0}, "at least 1"),
    ],
)
def test_what_is_not_allowed_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        example(**given)


def test_content_is_what_build_json_keeps_and_comes_back() -> None:
    made = example(tau=0.25, seed=7, limit=3)
    kept = content(made)
    own = {"seed": 7, "names": ("all",), "kind": "a", "render": True, "crf": 23, "inner": {"tau": 0.25}}
    assert kept == {**own, "colour": "none"}
    stored = {**kept, "names": list(kept["names"])}
    assert content(read_settings(Example, stored)) == kept


@pytest.mark.parametrize("name", benchmark_names())
def test_every_benchmark_states_its_options(name: str) -> None:
    settings = load_benchmark(name).settings
    flags = [each.flag for kind in (settings, RunOptions) for each in options_of(kind)]
    assert len(flags) == len(set(flags))
    assert all(each.option.help.endswith(".") for each in options_of(settings))
    decided = content(read_settings(settings, {}))
    assert "seed" in decided
    assert not {"out", "workers", "videos"} & set(decided)


@pytest.mark.parametrize(
    "words",
    [
        "My clips",
        "it's",
        "'",
        "''",
        "a'\"'\"'b",
        "x' --crf '3",
        "x --out OUT",
        "--no-render",
        "a  --kind b",
        '"$HOME" `ls`',
    ],
)
def test_quoted_words_survive_in_the_command(words: str) -> None:
    info = built(words=words, crf=30, kind="b")
    settings, problems = read_command(info, Example)
    assert problems == []
    assert (settings.words, settings.crf, settings.kind, settings.render) == (words, 30, "b", True)
    assert words in shlex.split(info["command"])
    assert list(differing_command(info, COMMAND)) == []

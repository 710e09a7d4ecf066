"""Options, stated once as fields of settings classes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.core.errors import InputError
from stressreel.core.options import (
    BuildSettings,
    RunOptions,
    comma_separated,
    content,
    from_keywords,
    nested,
    option,
    options_of,
    read_settings,
)


@dataclass(frozen=True)
class Inner:
    tau: float = option(0.5, "A cosine.", minimum=-1, maximum=1)


@dataclass(frozen=True, kw_only=True)
class Example(BuildSettings):
    source: str = option("", "A file.", required=True, content=False, write=lambda given: Path(given).name)
    names: tuple[str, ...] = option(("all",), "Names.", read=comma_separated, shown="all")
    kind: Literal["a", "b"] = option("a", "A kind.")
    render: bool = option(True, "Make videos.")
    crf: int = option(23, "A quality.", minimum=0, maximum=51, counts=lambda settings: settings.render)
    inner: Inner = nested(Inner)
    both: tuple[str, str] | None = option(None, "Two folders.", content=False)


def example(**given: Any) -> Example:
    return from_keywords(Example, {"source": "x/y.csv", **given})


def test_keywords_become_settings() -> None:
    made = example(names="x, y", kind="b", tau=0.25, both=("l", "r"), limit=3)
    assert (made.names, made.kind, made.inner.tau, made.both, made.limit) == (("x", "y"), "b", 0.25, ("l", "r"), 3)
    assert example().crf == 23


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"nmaes": "x"}, "unknown option 'nmaes'"),
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
    assert kept == {"seed": 7, "names": ("all",), "kind": "a", "render": True, "crf": 23, "inner": {"tau": 0.25}}
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

"""Settings: options declared once, as documented fields, and what may be given for them."""

import math
import random
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.core.errors import InputError, UsageError
from stressreel.core.settings import (
    ColumnNames,
    Count,
    InputFile,
    Need,
    OptionalPath,
    PathOrRows,
    checked,
    create,
    help_of,
    options_of,
    parsed,
    refuse_unused,
    to_name,
    within,
)
from stressreel.core.tabular import comma_separated
from stressreel.negatives.settings import MineSettings

ALL = (*(load_benchmark(name).settings for name in benchmark_names()), MineSettings)
EACH = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
CAUSAL = load_benchmark("causal").settings
NAMES = Annotated[Sequence[str], parsed(comma_separated, spread=True)]
SHARE, SOURCE = Annotated[float, within(0, 1)], Annotated[str | Path, parsed(to_name)]


def causal(**given):
    return create(CAUSAL, {"annotations": "x/y.csv", **given})


@EACH
def test_every_option_is_documented_and_default_allowed(kind):
    options = options_of(kind)
    names = {option.name for option in options}
    assert [option.name for option in options if not option.help.endswith(".")] == []
    flags = [flag for option in options for flag in ({option.flag(), option.flag(False)})]
    assert len(flags) == len(set(flags))
    assert {name for each in kind.__mro__ for name in help_of(each)} <= names | {"given"}
    assert kind.inherited_needs.keys() | kind.unrecorded - {"videos", "given"} <= names
    for option in options:
        if option.default not in (None, ()) and not option.required:
            assert checked(option.name, option.hint, option.default) == option.default


def test_given_options_become_settings_and_are_known():
    made = causal(splits="ps, UD", preset="fast", max_skip=0.25, limit=3, columns={"answer": "A"}, fps_map=None)
    assert (made.splits, made.preset, made.max_skip, made.limit) == (("ud", "ps"), "fast", 0.25, 3)
    assert made.columns == ("answer=A",)
    assert made.given == {"annotations", "splits", "preset", "max_skip", "limit", "columns"}
    assert causal(crf=CAUSAL.crf) == causal(columns={}, limit=None) == causal()
    assert causal(crf=CAUSAL.crf).given == {"annotations", "crf"}


def test_options_without_effect_are_refused_together():
    with pytest.raises(UsageError, match="--crf, --audio and --max-skip have no effect with --no-render"):
        causal(render=False, crf=CAUSAL.crf, audio="drop", max_skip=0.5)
    with pytest.raises(UsageError, match=r"--ps-by has no effect without the division PS\. Leave it out, or add PS"):
        causal(splits="UD", ps_by="rows")
    never = Need(lambda settings: False, "at all", "stop")
    with pytest.raises(UsageError, match="--crf and --seed have no effect at all"):
        refuse_unused(causal(crf=3, seed=3), dict.fromkeys(("crf", "seed", "limit"), (never,)))


def test_preset_sets_what_was_not_given():
    made = causal(llm_model="m")
    assert (made.twins, made.given) == ("right", {"annotations", "llm_model"})
    assert causal(llm_model="m", twins="right") == made
    with pytest.raises(UsageError, match="--twins balanced contradicts --llm-model, which implies --twins right"):
        causal(llm_model="m", twins="balanced")


def test_unknown_missing_and_empty_options_are_refused():
    for name, value, words in (
        ("annotations", None, "missing"),
        ("preset", None, "None"),
        ("splits", [], "empty"),
        ("preset_", 1, "Did you mean preset"),
        ("zzz", 1, "Options: allow-missing"),
        ("tagger", 1, "removed"),
    ):
        with pytest.raises(UsageError, match=rf"{name}.*{words}"):
            causal(**{name: value})


@pytest.mark.parametrize(
    ("hint", "given", "value"),
    [
        (Count, np.int64(3), 3),
        (SHARE, np.float32(0.5), 0.5),
        (SHARE, 1, 1.0),
        (bool, np.bool_(False), False),
        (NAMES, {"x"}, ("x",)),
        (NAMES, np.array(["x,y", "z"]), ("x", "y", "z")),
        (tuple[int, int], np.array([1, 2]), (1, 2)),
        (OptionalPath, "~/b", Path.home() / "b"),
        (PathOrRows, "~/x", "~/x"),  # rows or a path, told apart by the function
        (SOURCE, Path("a/b"), "a/b"),
        (SOURCE, "sample", "sample"),
    ],
)
def test_values_are_converted_to_plain_ones(hint, given, value):
    made = checked("option", hint, given)
    assert (made, type(made)) == (value, type(value))


@pytest.mark.parametrize(
    ("hint", "given", "words"),
    [
        (Count, 0, ">= 1"),
        (Count, 10**20, "<= 1000000000"),
        (Count, 2.5, "whole number"),
        (Count, True, "whole number"),
        (SHARE, math.nan, "a number"),
        (SHARE, math.inf, "<= 1"),
        (SHARE, Decimal("0.5"), "a number"),
        (bool, 1, "True or False"),
        (Literal["a", "b"], ["a"], "one of a, b"),
        (NAMES, " , ", "empty"),
        (tuple[int, int], (1,), "2 values"),
        (tuple[int, int], 3, "2 values"),
        (OptionalPath, 3, "a path"),
        (InputFile, "/", "existing file"),
        (ColumnNames, "a=b,a=c", "twice"),
        (ColumnNames, "a", "question=Q"),
    ],
)
def test_what_is_not_allowed_is_refused(hint, given, words):
    with pytest.raises(UsageError, match=f"^option=.*{words}"):
        checked("option", hint, given)


JUNK = (
    *(None, True, 5, -1, 10**400, 2.5, math.nan, -math.inf, 1j),
    *("", " ", "\0", "x", "-5", "--out", "\ud800", "a" * 9999),
    *(b"x", [], ["x", 3], [None], {}, {"a": 1}, {1: None}, object(), np.zeros((2, 2)), float, range(3), Path("x")),
)


@EACH
def test_junk_values_raise_only_usage_errors(kind):
    for option in options_of(kind):
        for value in JUNK:
            with suppress(UsageError):
                checked(option.name, option.hint, value)


@pytest.mark.parametrize("name", benchmark_names())
def test_option_combinations_raise_only_input_errors(name):
    benchmark, rng = load_benchmark(name), random.Random(name)
    for _ in range(300):
        options = rng.sample(options_of(benchmark.settings), rng.randint(1, 6))
        given = {option.name: rng.choice([option.default, *JUNK]) for option in options} | {
            key: value for key, value in benchmark.sample.items() if rng.random() < 0.8
        }
        with suppress(InputError):
            benchmark.decide(create(benchmark.settings, given))

"""Settings: options declared once, as documented fields, and what may be given for them."""

import math
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import numpy as np
import pytest
from cyclopts import Parameter
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.core.errors import InputError, UsageError
from stressreel.core.settings import (
    ColumnNames,
    Count,
    Implies,
    InputFile,
    Limit,
    Need,
    Needs,
    OptionalPath,
    PathOrRows,
    Settings,
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

RENDERED = Need(lambda settings: settings.render, "with --no-render", "leave out --no-render")
LARGE = Need(lambda settings: settings.count > 1, "with --count 1", "increase --count")


@dataclass(frozen=True, kw_only=True)
class Base(Settings):
    """Inherited options.

    Attributes:
        quality: A quality.
        split: A split.
    """

    quality: Annotated[int, within(0, 51), Needs(RENDERED)] = 23
    split: str = "all"


@dataclass(frozen=True, kw_only=True)
class Example(Base):
    """Own options.

    Attributes:
        source: A folder or file.
        names: Some names.
        kind: A kind
            of thing.
        count: A number of things.
        share: A share.
        render: Make videos.
        turbo: Be fast and bad.
        table: A file.
        folder: A folder.
        both: Two numbers.
        limit: A limit.
        columns: Names of columns.
        split: One of two splits.
    """

    inherited_needs: ClassVar[Mapping[str, Needs]] = {"quality": Needs(LARGE)}

    source: Annotated[str | Path, parsed(to_name)] = field(kw_only=False)
    names: Annotated[Sequence[str], parsed(comma_separated, spread=True)] = ("all",)
    kind: Literal["a", "b"] = "a"
    count: Count = 2
    share: Annotated[float, within(0, 1)] = 0.5
    render: bool = True
    turbo: Annotated[bool, Parameter(negative="--slow"), Implies({"kind": "b", "render": False})] = False
    table: InputFile = None
    folder: OptionalPath = None
    both: tuple[int, int] | None = None
    limit: Limit = None
    columns: ColumnNames = ()
    split: Literal["train", "all"] = "all"


def example(**given):
    return create(Example, {"source": "x/y.csv", **given})


ALL = (*(load_benchmark(name).settings for name in benchmark_names()), MineSettings)
EACH = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)


def test_own_options_come_first_and_replace_inherited():
    options = {option.name: option for option in options_of(Example)}
    assert ([*options][-1], options["split"].help) == ("quality", "One of two splits.")
    assert (options["quality"].needs, options["count"].needs) == ((RENDERED, LARGE), ())
    assert (options["render"].flag(), options["render"].flag(False)) == ("--render", "--no-render")
    assert (options["turbo"].flag(False), options["columns"].flag(("a=b",))) == ("--slow", "--columns")


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
    made = example(names="x, y", kind="b", share=0.25, both=[1, 2], limit=3, columns={"a": "A"})
    assert (made.names, made.kind, made.share, made.both, made.limit) == (("x", "y"), "b", 0.25, (1, 2), 3)
    assert made.columns == ("a=A",)
    assert made.given == {"source", "names", "kind", "share", "both", "limit", "columns"}
    assert example(kind="a") == example()
    assert example(kind="a").given == {"source", "kind"}
    assert example(table=None, both=None, limit=None, columns={}, folder=None).given == {"source"}


def test_options_without_effect_are_refused_together():
    with pytest.raises(UsageError, match=r"--quality has no effect with --no-render\. Leave it out, or leave out"):
        example(render=False, quality=23)
    with pytest.raises(UsageError, match="--quality has no effect with --count 1"):
        example(count=1, quality=20)
    assert example(render=False).quality == 23
    never = Need(lambda settings: False, "at all", "stop")
    with pytest.raises(UsageError, match="--kind and --count have no effect at all"):
        refuse_unused(example(kind="a", count=3), dict.fromkeys(("kind", "count", "limit"), (never,)))


def test_preset_sets_what_was_not_given():
    made = example(turbo=True)
    assert (made.kind, made.render, made.given) == ("b", False, {"source", "turbo"})
    assert example(turbo=True, kind="b") == made
    for given, said in ({"kind": "a"}, "--kind a"), ({"render": True}, "--render"):
        with pytest.raises(UsageError, match=f"{said} contradicts --turbo"):
            example(turbo=True, **given)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"count": np.int64(3)}, 3),
        ({"share": np.float32(0.5)}, 0.5),
        ({"share": 1}, 1.0),
        ({"render": np.bool_(False)}, False),
        ({"names": np.array(["x", "y"])}, ("x", "y")),
        ({"names": {"x"}}, ("x",)),
        ({"names": ["x,y", "z"]}, ("x", "y", "z")),
        ({"both": np.array([1, 2])}, (1, 2)),
        ({"folder": "a/b"}, Path("a/b")),
        ({"source": Path("a/b")}, "a/b"),
        ({"source": "sample"}, "sample"),
    ],
    ids=str,
)
def test_values_are_converted_to_plain_ones(given, value):
    ((name, _),) = given.items()
    made = getattr(example(**given), name)
    assert made == value
    assert type(made) is type(value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "c"}, "kind='c' must be one of a, b"),
        ({"kind": ["a"]}, "must be one of a, b"),
        ({"kind": None}, "None"),
        ({"count": 0}, ">= 1"),
        ({"count": 10**20}, "<= 1000000000"),
        ({"count": 2.5}, "whole number"),
        ({"count": True}, "whole number"),
        ({"share": math.nan}, "a number"),
        ({"share": math.inf}, "<= 1"),
        ({"share": Decimal("0.5")}, "a number"),
        ({"render": None}, "None"),
        ({"render": 1}, "True or False"),
        ({"names": " , "}, "empty"),
        ({"names": []}, "empty"),
        ({"both": (1,)}, "2 values"),
        ({"both": 3}, "2 values"),
        ({"folder": 3}, "a path"),
        ({"source": None}, "missing"),
        ({"source": 3}, "a path"),
        ({"table": "absent.csv"}, "existing file"),
        ({"table": "/"}, "existing file"),
        ({"columns": "a=b,a=c"}, "twice"),
        ({"columns": "a"}, "question=Q"),
        ({"split": "test"}, "train, all"),
        ({"kinds": 1}, "Did you mean kind"),
        ({"zzz": 1}, "Options: both, columns"),
        ({"tagger": 1}, "removed"),
    ],
    ids=str,
)
def test_what_is_not_allowed_is_refused(given, words):
    with pytest.raises(UsageError, match=next(iter(given))) as caught:
        example(**given)
    assert words in str(caught.value)


def test_home_is_replaced(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "t.csv").touch()
    made = example(source="~/s", folder="~/f", table="~/t.csv")
    assert (made.source, made.folder, made.table) == ("~/s", tmp_path / "f", tmp_path / "t.csv")
    assert checked("p", PathOrRows, "~/x") == "~/x"  # rows or a path, told apart by the function


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

"""What `build.json` records of settings: they come back, their command gives them again, and changes are noticed."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stressreel.builders import load_benchmark
from stressreel.cli.commands import build_application
from stressreel.core.build_settings import (
    BuildSettings,
    WorkShare,
    check_record,
    command_line,
    content,
    from_record,
    read_share,
    recorded,
)
from stressreel.core.errors import InputError, UsageError
from stressreel.core.plan import Unit
from stressreel.core.settings import (
    NOT_CONTENT,
    Input,
    InputFile,
    Need,
    Needs,
    Option,
    create,
    existing_file,
    options_of,
    parsed,
    plain,
    to_name,
    within,
)
from stressreel.core.source import DETAILS, Source, SourceDetails, described
from stressreel.core.tabular import comma_separated

RENDERED = Need(lambda settings: settings.render, "with --no-render", "leave out --no-render")
FAMILY = ("red", "green")
OWN = Source("example", "example", {"license": "unknown"}, own=True)
Info = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Example(SourceDetails, BuildSettings):
    """Options of every kind.

    Attributes:
        source: A folder.
        table: A file.
        more: Files.
        model: A model.
        names: Names.
        kind: A kind.
        render: Make videos.
        crf: A quality.
        tau: A cosine.
        both: Two folders.
        text: A text.
    """

    source: Annotated[str | Path, parsed(to_name), Input(found_by="*.csv")]
    table: InputFile = None
    more: Annotated[tuple[Path, ...], parsed(lambda given: tuple(map(existing_file, given))), Input()] = ()
    model: Annotated[str | None, Input(private=True)] = None
    names: Annotated[tuple[str, ...], parsed(comma_separated)] = ("all",)
    kind: Literal["a", "b"] = "a"
    render: bool = True
    crf: Annotated[int, within(0, 51), Needs(RENDERED)] = 23
    tau: Annotated[float, within(-1, 1)] = 0.5
    both: tuple[str, str] | None = None
    text: Annotated[str | None, NOT_CONTENT] = None


def example(**given: Any) -> Example:
    return create(Example, {"source": "x", **given})


def decided(settings: Example) -> Example:
    """Write the family out, as perturbations are."""
    return replace(settings, names=FAMILY) if settings.names == ("all",) else settings


def built(given: Example) -> Info:
    """Return what `build.json` contains of a build, after it was read."""
    stored = recorded(decided(given))
    files = [given.table, given.cite, *given.more]
    info = {
        "settings": stored,
        "command": command_line("build-example", Example, stored),
        "split": given.split,
        "limit": given.limit,
        "dataset_version": given.version,
        "inputs": {Path(file).name: "0" for file in files if file},
        "source": described(OWN, given).as_json(),
    }
    return json.loads(json.dumps(info))  # type: ignore[no-any-return]


def found(info: Info) -> list[str]:
    return [str(line) for line in check_record(info, "build-example", Example, decided)]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made = [tmp_path / name for name in ("a.csv", "my own - table.csv", "--b.csv")]
    for path in made:
        path.touch()
    return made


class TestRecord:
    def test_inputs_are_recorded_without_folders(self, files: list[Path], tmp_path: Path) -> None:
        made = example(source=tmp_path, table=files[0], more=files[1:], model="/models/own", out=tmp_path, workers=3)
        stored = recorded(made)
        assert stored["source"] == "SOURCE_DIR"
        assert (stored["table"], stored["more"]) == ("a.csv", ["my own - table.csv", "--b.csv"])
        assert stored["model"] == "MODEL"
        assert not {"out", "workers", "videos", "given"} & set(stored)
        assert str(tmp_path) not in json.dumps(stored)

    def test_sample_differs_from_file_of_its_name(self, tmp_path: Path) -> None:
        (tmp_path / "sample").touch()
        causal = load_benchmark("causal").settings
        assert recorded(create(causal, {"annotations": "sample"}))["annotations"] == "sample"
        assert recorded(create(causal, {"annotations": tmp_path / "sample"}))["annotations"] == "./sample"

    def test_content_excludes_inputs_and_run_options(self) -> None:
        kept = content(example(tau=0.25, seed=7, limit=3, text="x", source="y"))
        own = {"names": ("all",), "kind": "a", "render": True, "crf": 23, "tau": 0.25, "both": None, "seed": 7}
        assert kept == own

    def test_what_is_missing_or_not_allowed_is_refused(self) -> None:
        for stored in ({}, {"source": "x", "kind": "c"}, {"source": None}, {"source": "x", "crf": None}):
            with pytest.raises(UsageError):
                from_record(Example, stored)

    def test_inputs_need_not_exist_to_be_restored(self) -> None:
        made = from_record(Example, {"source": "x", "table": "absent.csv", "more": ["absent"], "names": ["x"]})
        assert (made.table, made.more, made.names) == (Path("absent.csv"), (Path("absent"),), ("x",))


class TestCommand:
    def test_it_names_what_differs_and_has_an_effect(self) -> None:
        made = example(names="x,y", render=False, max_skip=0.5, both=("l", "r"), limit=3, allow_missing=True)
        assert command_line("build-example", Example, recorded(replace(made, crf=30))) == (
            "build-example --source SOURCE_DIR --names x,y --no-render --both l r --seed 0 --limit 3 --allow-missing "
            "--max-skip 0.5 --version 1.3.0 --out OUT"
        )

    @pytest.mark.parametrize(
        "words", ["My clips", "it's", "''", "a'\"'\"'b", "x --out OUT", '"$HOME" `ls`', "-x", "--no-render", "a=b"]
    )
    def test_any_words_survive_a_shell(self, words: str) -> None:
        command = command_line("build-example", Example, recorded(example(text=words)))
        assert [word for word in shlex.split(command) if word in (words, f"--text={words}")]


SWAPS = {
    "program": ("build-example", "build-other"),
    "seed": ("--seed 0", "--seed 7"),
    "an option more": ("--seed 0", "--kind b --seed 0"),
    "without effect": ("--seed 0", "--no-render --crf 20 --seed 0"),
    "version": ("--version 1.3.0", "--version 1.3.1"),
    "file": ("--table a.csv", "--table b.csv"),
    "default": ("--seed 0", "--crf 23 --seed 0"),
}


class TestCheck:
    @pytest.fixture
    def info(self, files: list[Path]) -> Info:
        more = {"title": "Mine", "licence": "mit", "homepage": "https://example.org", "description": "Clips."}
        files[2].write_text("@misc{a, title = {b}}")
        return built(example(table=files[0], more=files[1:], cite=files[2], text="x", tau=0.25, limit=3, **more))

    @pytest.mark.parametrize(
        "given",
        [
            {},
            {"names": "x, y", "kind": "b", "tau": -0.25, "seed": 7, "crf": 0},
            {"tau": 1e-05, "render": False},
            {"split": "all", "limit": 3, "version": "1.2.3-rc.1+x", "max_skip": 0.5},
            {"both": ("my folder", "yours"), "text": "some words - with -- dashes", "allow_missing": True},
            {"tau": 1, "title": "--out", "licence": "cc0-1.0"},
        ],
        ids=str,
    )
    def test_builds_verify_with_every_kind_of_option(self, given: dict[str, Any]) -> None:
        assert found(built(example(**given))) == []

    def test_names_of_files_may_have_spaces(self, files: list[Path], info: Info) -> None:
        assert found(info) == []
        words = shlex.split(info["command"])
        assert {"my own - table.csv", "--more=--b.csv"} <= set(words)

    @pytest.mark.parametrize("name", SWAPS)
    def test_another_command_is_noticed(self, name: str, info: Info) -> None:
        old, new = SWAPS[name]
        assert old in info["command"]
        info["command"] = info["command"].replace(old, new)
        assert found(info)

    @pytest.mark.parametrize("name", sorted({option.name for option in options_of(Example)} - Example.unrecorded))
    def test_every_setting_is_compared(self, name: str, info: Info) -> None:
        for value in others(info["settings"][name]):
            changed = info["settings"] | {name: value}
            assert found(info | {"settings": changed}), value
            command = info["command"]
            try:
                command = command_line("build-example", Example, changed)
            except InputError:
                continue
            elsewhere = ("split", "limit", "version", *DETAILS)
            if name in elsewhere or (name in ("table", "more") and value):
                assert found(info | {"settings": changed, "command": command}), value
        assert found(info | {"settings": {key: value for key, value in info["settings"].items() if key != name}})

    def test_setting_without_effect_is_compared(self) -> None:
        info = built(example(render=False))
        info["settings"]["crf"] = 24
        assert any("crf is 24" in line for line in found(info))

    def test_setting_that_a_build_would_expand_is_compared(self) -> None:
        info = built(example())
        info["settings"]["names"] = ["all"]
        assert any("names" in line and "red" in line for line in found(info))

    def test_unknown_setting_is_noticed(self, info: Info) -> None:
        info["settings"]["colour"] = "red"
        assert any("colour, which is not an option" in line for line in found(info))

    @pytest.mark.parametrize(
        ("name", "value"), [("split", "test"), ("limit", 4), ("limit", None), ("dataset_version", "2.0.0")]
    )
    def test_entries_beside_the_settings_are_compared(self, name: str, value: object, info: Info) -> None:
        assert found(info | {name: value})

    def test_every_entry_of_the_source_is_compared(self, info: Info) -> None:
        source = info["source"]
        assert {"title", "description", "link", "bibtex"} <= source.keys()
        for name in ("name", "title", "license", "redistributable", "link", "description", "bibtex"):
            value = {"license": {"license": "cc0-1.0"}, "redistributable": None}.get(name, "")
            assert found(info | {"source": source | {name: value}}), name

    def test_file_that_is_no_input_is_noticed(self, info: Info) -> None:
        for name in list(info["inputs"]):
            less = {key: value for key, value in info["inputs"].items() if key != name}
            assert any(name in line for line in found(info | {"inputs": less}))


def others(value: Any) -> Iterator[Any]:
    """Yield values other than one that was recorded, of its type and of others."""
    likely: list[Any] = [None, True, False, 0, 7, -0.75, "b", "x.csv", "test", "2.0.0", ["x"], ["x", "y"], {}, []]
    yield from (each for each in likely if type(each) is not type(value) or each != value)


# Settings of the builds

NAMES = {"clavi": "build-clavi", "causal": "build-causal", "perturbed": "build-perturbed", "decomp": "build-decomp"}
TABLES = ("a.csv", "my clips.csv", "it's.json", "-x.csv", "=.csv")
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "columns": st.sampled_from(["phrase=note", {"question": "The Question", "answer": "A"}]),
    "split_shares": st.sampled_from([".8,.1,.1", (0.5, 0.25, 0.25)]),
    "relations": st.sampled_from(["sequence", "contain", ["overlap", "sequence"]]),
    "splits": st.sampled_from(["UD", ["un", "PS"], "UD,PS,UN"]),
    "perturbations": st.sampled_from(["jpeg", "noise,jumble", "all", ["temporal"]]),
    "text_perturbations": st.sampled_from(["typos,no_verbs", "bias", "all", ["change_char"], "mlm_suggestion"]),
    "pairs": st.sampled_from(["jpeg:no_verbs,jumble:typos", "jpeg:no_verbs"]),
    "severity": st.sampled_from(["3", "1-5", "1,3,5", (2, 3), 3]),
    "licence": st.sampled_from(["CC-BY-4.0", "other:my-terms https://example.org/terms"]),
    "homepage": st.just("https://example.org/a?b=c"),
    "version": st.sampled_from(["1.2.3-rc.1", "1.3.0"]),
    "title": st.sampled_from(["Own  clips", "--no-render", "it's “mine”"]),
    "description": st.sampled_from(["-1", "A $HOME `ls`."]),
    "fps": st.sampled_from([25, 23.976]),
    "llm_base_url": st.just("http://127.0.0.1:9/v1"),
    "translate": st.just(("one", "/two")),
}
STARTS: dict[str, list[dict[str, Any]]] = {
    "clavi": [
        {"charades": "sample"},
        {"charades": "{folder}", "wording": "natural"},
        {"charades": "{folder}", "cuts": "balanced"},
        {"charades": "{folder}", "source": "sta"},
        {"charades": "{folder}", "pairs": "{file}"},
        {"segments": "{file}"},
        {"segments": "{file}", "order": "pairs"},
        {"causalchaos": "{file}"},
        {"youcook2": "{file}"},
    ],
    "causal": [{"annotations": "sample"}, {"annotations": "{file}"}, {"annotations": "{file}", "balance": "none"}],
    "perturbed": [
        {"msrvtt": "sample"},
        {"msrvtt": "{folder}", "modality": "all"},
        {"youcook2": "{folder}", "modality": "text"},
        {"captions": "{file}", "modality": "multimodal"},
        {"captions": "{file}", "modality": "all", "severity": "1-3"},
    ],
    "decomp": [
        {"charades": "sample"},
        {"charades": "{folder}"},
        {"agqa": "{file}"},
        {"release_hierarchies": "{folder}"},
    ],
}


@pytest.fixture(scope="module", autouse=True)
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A working directory with the inputs, and with others under the names that are recorded."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "elsewhere").mkdir()
    for name in TABLES:
        (folder / name).write_text("@misc{a, title = {b}}")
        (folder / "elsewhere" / name).write_text("@misc{a, title = {b}}")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


def value_of(option: Option) -> st.SearchStrategy[Any]:
    """Return values of an option, most of which are allowed. Inputs lie in a folder."""
    if option.input and not option.input.private:
        files = st.sampled_from([f"elsewhere/{each}" for each in TABLES])
        return st.just("elsewhere") if option.input.found_by else files
    if option.name in VALUES:
        return VALUES[option.name]
    hint = plain(option.hint)
    kinds = (hint, *get_args(hint))
    if choices := next((get_args(kind) for kind in kinds if get_origin(kind) is Literal), ()):
        return st.sampled_from(choices)
    if hint is bool:
        return st.booleans()
    if int in kinds:
        return st.integers(0, 60)
    if float in kinds:
        return st.one_of(st.floats(-1, 40, allow_nan=False), st.integers(0, 3))
    return st.sampled_from(["my/own", "x y", "own"])


@st.composite
def made(draw: st.DrawFn, name: str) -> BuildSettings:
    """Draw settings of a build that its command would accept."""
    benchmark = load_benchmark(name)
    start = draw(st.sampled_from(STARTS[name]))
    places = {"file": f"elsewhere/{draw(st.sampled_from(TABLES))}", "folder": "elsewhere"}
    options = {key: value.format(**places) for key, value in start.items()}
    found = create(benchmark.settings, options)
    skipped = {*benchmark.settings.unrecorded, *start, *(one for each in STARTS[name] for one in list(each)[:1])}
    others = [option for option in options_of(benchmark.settings) if option.name not in skipped]
    for option in draw(st.permutations(others))[:8]:
        more = {**options, option.name: draw(value_of(option))}
        try:
            new = create(benchmark.settings, more)
            benchmark.decide(new)
        except InputError:
            continue
        options, found = more, new
    return found


def as_read(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.mark.parametrize("name", NAMES)
def test_record_and_command_restore_settings(name: str) -> None:
    benchmark, application = load_benchmark(name), build_application(NAMES[name])

    @settings(suppress_health_check=list(HealthCheck))
    @given(made(name))
    def check(given: Any) -> None:
        stored = as_read(recorded(given))
        restored = from_record(benchmark.settings, stored)
        assert as_read(recorded(restored)) == stored
        assert content(restored) == content(given)
        inputs = {option.name: None for option in options_of(benchmark.settings) if option.input}
        assert replace(restored, **inputs) == replace(given, **inputs)
        assert "elsewhere" not in json.dumps(stored)
        assert os.getcwd() not in json.dumps(stored)
        decided = benchmark.decide(given)
        assert benchmark.decide(decided) == decided
        stored = as_read(recorded(decided))
        assert as_read(recorded(benchmark.decide(from_record(benchmark.settings, stored)))) == stored
        words = shlex.split(command_line(NAMES[name], benchmark.settings, stored))[1:]
        for word in words:  # folders that the command names by placeholders
            if word.endswith("_DIR"):
                Path(word).mkdir(exist_ok=True)
        _, bound, _ = application.parse_args(words, exit_on_error=False, print_error=False)
        assert as_read(recorded(benchmark.decide(create(benchmark.settings, bound.arguments)))) == stored

    check()


@pytest.mark.parametrize("name", NAMES)
def test_changes_of_a_build_are_noticed(name: str) -> None:
    benchmark = load_benchmark(name)

    @settings(suppress_health_check=list(HealthCheck), max_examples=20)
    @given(made(name), st.data())
    def check(given: Any, data: st.DataObject) -> None:
        stored = as_read(recorded(benchmark.decide(given)))
        info = {
            "settings": stored,
            "command": command_line(benchmark.program, benchmark.settings, stored),
            "split": given.split,
            "limit": given.limit,
            "dataset_version": given.version,
            "inputs": dict.fromkeys(TABLES, "0"),
            "source": (described(OWN, given) if isinstance(given, SourceDetails) else OWN).as_json(),
        }

        def lines(changed: Mapping[str, Any]) -> list[Any]:
            record = info | {"settings": changed}
            return list(check_record(record, benchmark.program, benchmark.settings, benchmark.decide))

        assert lines(stored) == []
        key = data.draw(st.sampled_from(sorted(stored)))
        for value in (value for value in others(stored[key]) if value != stored[key]):  # 0 and 0.0 are the same
            assert lines(stored | {key: value}), (key, value)

    check()


UNITS = [Unit(f"u{n:03d}", "train", "v", {}, float(n * n % 17)) for n in range(101)]


@pytest.mark.parametrize("count", [1, 2, 3, 50, 101, 200])
def test_every_unit_is_in_one_share(count: int) -> None:
    shares = [WorkShare(number, count).of(UNITS) for number in range(1, count + 1)]
    found = [unit.id for share in shares for unit in share]
    assert sorted(found) == [unit.id for unit in UNITS]
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_shares_are_about_as_much_work() -> None:
    costs = [sum(unit.cost for unit in WorkShare(number, 4).of(UNITS)) for number in range(1, 5)]
    assert max(costs) - min(costs) <= max(unit.cost for unit in UNITS)


def test_share_is_parsed() -> None:
    assert read_share("3/50") == WorkShare(3, 50)
    assert str(WorkShare(3, 50)) == "3/50"


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/3/4", "", "1.0/3", "٣/50"])
def test_invalid_share_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not in the form I/N, such as 3/50"):
        read_share(text)

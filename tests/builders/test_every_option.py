"""Every option of every build and of `mine`, in every mode: it changes what is written, or it is refused."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
import yaml
from commands import info, refuses, run, succeed
from cyclopts import App, CycloptsError, Token
from cyclopts.argument import Argument
from option_inputs import INPUTS
from stressreel.api.mine import mine
from stressreel.builders import load_benchmark
from stressreel.builders.rebuild import opening
from stressreel.cli.commands import application
from stressreel.core.build_settings import RunOptions, check_record
from stressreel.core.errors import InputError, UsageError
from stressreel.core.plan import Plan, Unit
from stressreel.core.settings import Option, create, is_empty, options_of
from stressreel.negatives.settings import MineSettings

TABLE = yaml.safe_load(Path(__file__).with_name("every_option.yaml").read_text())
MODES: Mapping[str, Mapping[str, Any]] = TABLE["modes"]
TESTS = Path(__file__).parents[1]
IN_DEFAULT_RUN = ("given pairs", "agqa", "published graphs")
ABSURD = 10**20

Fill = Callable[[Any], Any]


def settings_of(benchmark: str) -> type[Any]:
    return MineSettings if benchmark == "mine" else load_benchmark(benchmark).settings


@cache
def options(benchmark: str) -> dict[str, Option]:
    return {each.name: each for each in options_of(settings_of(benchmark))}


def walked(mode: str) -> list[str]:
    """The options to try in a mode: those that it does not set, except those of the run."""
    about = MODES[mode]
    skipped = {*about["options"], *TABLE["run"], *TABLE["exempt"].get(mode, ())}
    return [name for name in about.get("only", options(about["benchmark"])) if name not in skipped]


def given_in(mode: str, fill: Fill, name: str = "") -> dict[str, Any]:
    """The options of a mode, and one more."""
    about = MODES[mode]
    given = {option: fill(value) for option, value in about["options"].items()}
    if name:
        given[name] = fill(about.get("values", {}).get(name, TABLE["values"][about["benchmark"]][name]))
    return given


def filled(value: Any, folder_of: Callable[[str], Path]) -> Any:
    """Replace the names of inputs in a value by their folders."""
    if isinstance(value, list):
        return [filled(item, folder_of) for item in value]
    if not isinstance(value, str) or "{" not in value:
        return value
    name = value[value.index("{") + 1 : value.index("}")]
    return value.replace(f"{{{name}}}", str(folder_of(name)))


@pytest.fixture(scope="session")
def fill(once: Callable[[str, Callable[[Path], object]], Path], tmp_path_factory: pytest.TempPathFactory) -> Fill:
    """Replaces the names of inputs by folders that contain them."""

    def folder_of(name: str) -> Path:
        return tmp_path_factory.mktemp(name) if name == "out" else once(f"every-option-{name}", INPUTS[name])

    return lambda value: filled(value, folder_of)


def written(benchmark: str, given: Mapping[str, Any]) -> str:
    """Return a hash of what is written: rows, files, the videos that are used, and the source that the card names."""
    if benchmark == "mine":
        mined = mine(**given, progress=False)
        return digest([mined.rows, Path(given["review"]).read_text() if "review" in given else ""])
    chosen = load_benchmark(benchmark)
    settings = create(chosen.settings, given)
    prepared = chosen.prepare(settings)
    record = json.loads(json.dumps(opening(chosen, settings, prepared)))
    assert list(check_record(record, chosen.program, chosen.settings, chosen.decide)) == []
    plan, builder = prepared.plan, prepared.builder
    units = [[unit.id, unit.split, unit.source_id, unit.payload] for unit in plan.units]
    tables = [[config.name, [column.name for column in config.columns]] for config in plan.configs]
    videos = sorted(getattr(builder, "videos", {}).items())
    source = plan.identity["source"]
    return digest([units, tables, videos, source, [made(builder, unit) for unit in chosen_units(builder, plan)]])


def chosen_units(builder: Any, plan: Plan) -> list[Unit]:
    """Units that need no video, and the four cheapest that do."""
    rendered = sorted((unit for unit in plan.units if builder.renders(unit) and unit.source_id), key=lambda u: u.cost)
    return [*(unit for unit in plan.units if unit not in rendered), *rendered[:4]]


def made(builder: Any, unit: Unit) -> Any:
    """Return the files of a unit as hashes, and its rows."""
    if builder.renders(unit) and unit.source_id and builder.missing(unit):
        return "missing"
    with TemporaryDirectory() as folder:
        facts = builder.render(unit, Path(folder)) if builder.renders(unit) else {}
        files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(Path(folder).iterdir())}
        return [files, list(builder.rows(unit, facts))]


def digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def refusal(act: Callable[..., object], *arguments: Any) -> str:
    """Return the message if something is refused, or ""."""
    try:
        act(*arguments)
    except InputError as error:
        return str(error)
    return ""


def test_the_table_lists_every_option() -> None:
    for benchmark, values in TABLE["values"].items():
        assert {*values, *TABLE["run"]} >= options(benchmark).keys()
        assert {*values} <= options(benchmark).keys()
    assert {each.name for each in options_of(RunOptions)} <= TABLE["run"].keys()


@pytest.mark.parametrize("name", TABLE["run"])
def test_run_options_have_their_own_tests(name: str) -> None:
    path, _, test = TABLE["run"][name].partition("::")
    assert f"def {test}(" in (TESTS / path).read_text()


@pytest.mark.parametrize("mode", MODES)
def test_option_without_effect_is_refused_with_any_value(mode: str, tmp_path: Path) -> None:
    def fill(value: Any) -> Any:
        file = filled(value, lambda name: tmp_path)
        if file != value and isinstance(file, str) and file != str(tmp_path):
            Path(file).touch()
        return file

    settings = settings_of(MODES[mode]["benchmark"])
    for name in walked(mode):
        each = options(MODES[mode]["benchmark"])[name]
        given = given_in(mode, fill, name)
        said = refusal(create, settings, given)
        assert not said or each.flag(given[name]) in said
        names, has_none, _ = said.partition(" no effect ")
        if has_none and each.flag() in names and not is_empty(each, each.default):
            assert "no effect" in refusal(create, settings, given_in(mode, fill) | {name: each.default}), name


@pytest.mark.parametrize(
    "mode", [mode if mode in IN_DEFAULT_RUN else pytest.param(mode, marks=pytest.mark.full) for mode in MODES]
)
@pytest.mark.timeout(1800)
def test_option_changes_what_is_written_or_is_refused(mode: str, fill: Fill) -> None:
    benchmark = MODES[mode]["benchmark"]
    before = written(benchmark, given_in(mode, fill))
    applied, refused, faults = [], [], []
    for name in walked(mode):
        try:
            (applied if written(benchmark, given_in(mode, fill, name)) != before else faults).append(name)
        except InputError as error:
            (refused if name.replace("_", "-") in str(error) else faults).append(name)
    print(f"{mode}: {len(applied)} applied, {len(refused)} refused")
    assert faults == []


@pytest.mark.parametrize(
    ("benchmark", "given", "words"),
    [
        ("causal", {"ties": "id", "top_k": 3, "rank_by": "explanation"}, ("--ties", "--top-k", "--rank-by")),
        ("clavi", {"segments": "sample", "wording": "natural", "paraphrases": 3}, ("--wording", "--paraphrases")),
        ("clavi", {"charades": "sample", "render": False, "crf": 23}, ("--crf", "--no-render")),
        ("clavi", {"charades": "sample", "cuts": "balanced", "min_gap": 1}, ("--min-gap", "2.5")),
        ("perturbed", {"msrvtt": "x", "modality": "multimodal", "severity": "3"}, ("--severity", "--modality all")),
        ("causal", {"imitate_release": True, "pool": "split"}, ("--pool split", "--imitate-release", "--pool all")),
        ("causal", {"llm_model": "m", "twins": "balanced"}, ("--twins balanced", "--llm-model", "--twins right")),
    ],
)
def test_refusal_names_options_and_remedy(benchmark: str, given: dict[str, Any], words: tuple[str, ...]) -> None:
    more = {"annotations": "sample"} if benchmark == "causal" else {}
    said = refusal(create, settings_of(benchmark), more | given)
    assert said
    assert [word for word in words if word not in said] == []


def test_file_gives_options_as_the_command_line_does(tmp_path: Path) -> None:
    arguments = ("build-clavi", "--config", tmp_path / "o.yaml", "--dry-run")
    for line in ("crf: 23", "preset: veryfast", "audio: drop", "allow-missing: false"):
        (tmp_path / "o.yaml").write_text(f"charades: sample\nrender: false\n{line}\n")
        refuses(run(*arguments), f"{line.split(':')[0]} has no effect with --no-render", code=2)
    (tmp_path / "o.yaml").write_text("charades: sample\nrender: false\npairs: []\n")
    succeed(*arguments)


def test_recorded_version_is_the_given_one(built: Path) -> None:
    assert info(built)["dataset_version"] == "1.2.0"
    assert "1.2.0" in (built / "README.md").read_text()


# Limits of numbers


def numeric_options(app: App, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Argument]]:
    """Yield the options and arguments of a command, and of those below it, that are numbers."""
    for name in app:
        if not name.startswith("-"):
            yield from numeric_options(app[name], (*words, name))
    for argument in app.assemble_argument_collection() if app.default_command else ():
        if {int, float} & {argument.hint, *get_args(argument.hint)} and argument.parse:
            yield words, argument


def test_absurd_number_is_refused_by_every_option() -> None:
    numbers = list(numeric_options(application(every=True)))
    assert len(numbers) > 80
    for words, argument in numbers:
        for value in (str(ABSURD), "1e400", "nan", "-inf", "9" * 5000):
            argument.tokens[:] = [Token(keyword=argument.name, value=value)]
            with pytest.raises(CycloptsError):
                pytest.fail(f"{words}: {argument.convert_and_validate()}")


def test_absurd_number_is_refused_in_words() -> None:
    for words in ("mine sample --num-options", "build causal --annotations sample --top-k", "ask x --fps"):
        refuses(run("stressreel", *words.split(), ABSURD), words.split()[-1], "<=", code=2)
    for name in ("num_options", "top_k", "alpha", "same_text", "max_lend", "review_count", "seed"):
        with pytest.raises(UsageError, match="<="):
            mine("sample", **{name: ABSURD})

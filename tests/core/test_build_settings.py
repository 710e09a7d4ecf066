"""What `build.json` records of settings: they come back, their command gives them again, and changes are noticed."""

import json
import os
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.cli.commands import build_application
from stressreel.core.build_settings import (
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
from stressreel.core.settings import create, options_of, plain
from stressreel.core.source import Source, SourceDetails, described

CLAVI, CAUSAL = (load_benchmark(name).settings for name in ("clavi", "causal"))
OWN = Source("example", "example", {"license": "unknown"}, own=True)
TABLES = ("a.csv", "my clips.csv", "it's.json", "-x.csv", "=.csv")
STARTS = {
    "clavi": "charades=sample, charades=DIR wording=natural, charades=DIR cuts=balanced, charades=DIR source=sta, "
    "charades=DIR pairs=FILE, segments=FILE, segments=FILE order=pairs, causalchaos=FILE, youcook2=FILE",
    "causal": "annotations=sample, annotations=FILE, annotations=FILE balance=none",
    "perturbed": "msrvtt=sample, msrvtt=DIR modality=all, youcook2=DIR modality=text, "
    "captions=FILE modality=multimodal, captions=FILE modality=all severity=1-3",
    "decomp": "charades=sample, charades=DIR, agqa=FILE, release_hierarchies=DIR",
}
VALUES = {
    "columns": ["phrase=note", {"question": "The Question", "answer": "A"}],
    "split_shares": [".8,.1,.1", (0.5, 0.25, 0.25)],
    "relations": ["sequence", "contain", ["overlap", "sequence"]],
    "splits": ["UD", ["un", "PS"], "UD,PS,UN"],
    "perturbations": ["jpeg", "noise,jumble", "all", ["temporal"]],
    "text_perturbations": ["typos,no_verbs", "bias", "all", ["change_char"], "mlm_suggestion"],
    "pairs": ["jpeg:no_verbs,jumble:typos", "jpeg:no_verbs"],
    "severity": ["3", "1-5", "1,3,5", (2, 3), 3],
    "licence": ["CC-BY-4.0", "other:my-terms https://example.org/terms"],
    "homepage": ["https://example.org/a?b=c"],
    "version": ["1.2.3-rc.1", "1.4.0"],
    "title": ["Own  clips", "--no-render", "it's “mine”", "''", "x --out OUT", "a=b"],
    "description": ["-1", "A $HOME `ls`."],
    "fps": [25, 23.976],
    "llm_base_url": ["http://127.0.0.1:9/v1"],
    "translate": [("one", "/two")],
}


@pytest.fixture(scope="module", autouse=True)
def _inputs(tmp_path_factory):
    """A working directory with the inputs, and with others under the names that are recorded."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "elsewhere").mkdir()
    for name in (*TABLES, *(f"elsewhere/{name}" for name in TABLES)):
        (folder / name).write_text("@misc{a, title = {b}}")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield


def values_of(option):
    """Values of an option, some of which are allowed. Inputs lie in a folder."""
    if option.input and not option.input.private:
        return ["elsewhere"] if option.input.found_by else [f"elsewhere/{each}" for each in TABLES]
    kinds = (plain(option.hint), *get_args(plain(option.hint)))
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    return VALUES.get(option.name) or choices or [True, False, 0, 1, 20, 0.25, -0.5, 1e-05, 40.0, "x y"]


@st.composite
def made(draw, name):
    """Draw settings of a build that its command would accept."""
    benchmark, starts = load_benchmark(name), STARTS[name].split(", ")
    places = {"DIR": "elsewhere", "FILE": f"elsewhere/{draw(st.sampled_from(TABLES))}"}
    start = dict(each.split("=") for each in draw(st.sampled_from(starts)).split())
    options = {key: places.get(value, value) for key, value in start.items()}
    found = create(benchmark.settings, options)
    skipped = {*benchmark.settings.unrecorded, *options, *(each.partition("=")[0] for each in starts)}
    others = [option for option in options_of(benchmark.settings) if option.name not in skipped]
    for option in draw(st.permutations(others))[:16]:
        more = {**options, option.name: draw(st.sampled_from(values_of(option)))}
        try:
            new = create(benchmark.settings, more)
            benchmark.decide(new)
        except InputError:
            continue
        options, found = more, new
    return found


def as_read(value):
    return json.loads(json.dumps(value))


def built(name, given):
    """Return what `build.json` contains of a build, after it was read."""
    benchmark = load_benchmark(name)
    stored = as_read(recorded(benchmark.decide(given)))
    source = described(OWN, given) if isinstance(given, SourceDetails) else OWN
    return {
        "settings": stored,
        "command": command_line(benchmark.program, benchmark.settings, stored),
        "split": given.split,
        "limit": given.limit,
        "dataset_version": given.version,
        "inputs": dict.fromkeys(TABLES, "0"),
        "source": as_read(source.as_json()),
    }


def found(name, info):
    benchmark = load_benchmark(name)
    return list(check_record(info, benchmark.program, benchmark.settings, benchmark.decide))


@pytest.mark.parametrize("name", benchmark_names())
def test_record_and_command_restore_settings(name):
    benchmark = load_benchmark(name)
    application = build_application(benchmark.program)

    @settings(suppress_health_check=list(HealthCheck), max_examples=30)
    @given(made(name))
    def check(given):
        stored = as_read(recorded(given))
        restored = from_record(benchmark.settings, stored)
        assert as_read(recorded(restored)) == stored
        assert content(restored) == content(given)
        inputs = {option.name: option.input for option in options_of(benchmark.settings) if option.input}
        assert replace(restored, **dict.fromkeys(inputs)) == replace(given, **dict.fromkeys(inputs))
        for private in (option for option, how in inputs.items() if how.private and option in stored):
            assert {str(stored[private])} <= {"None", private.upper(), str([private.upper()] * 2)}
        for place in ("elsewhere", os.getcwd()):
            assert place not in json.dumps(stored)
        decided = benchmark.decide(given)
        assert benchmark.decide(decided) == decided
        stored = as_read(recorded(decided))
        assert as_read(recorded(benchmark.decide(from_record(benchmark.settings, stored)))) == stored
        words = shlex.split(command_line(benchmark.program, benchmark.settings, stored))[1:]
        for word in words:  # folders that the command names by placeholders
            if word.endswith("_DIR"):
                Path(word).mkdir(exist_ok=True)
        _, bound, _ = application.parse_args(words, exit_on_error=False, print_error=False)
        assert as_read(recorded(benchmark.decide(create(benchmark.settings, bound.arguments)))) == stored

    check()


@pytest.mark.parametrize("name", benchmark_names())
def test_changed_settings_of_a_build_are_noticed(name):
    @settings(suppress_health_check=list(HealthCheck), max_examples=20)
    @given(made(name), st.data())
    def check(given, data):
        info = built(name, given)
        stored = info["settings"]
        assert found(name, info) == []
        key = data.draw(st.sampled_from(sorted(stored)))
        likely = [None, True, False, 0, 7, -0.75, "b", "x.csv", "test", "2.0.0", ["x"], ["x", "y"], {}, []]
        for value in (value for value in likely if value != stored[key]):  # 0 and 0.0 are the same
            assert found(name, info | {"settings": stored | {key: value}}), (key, value)
        assert found(name, info | {"settings": {each: value for each, value in stored.items() if each != key}}), key

    check()


def test_entries_beside_the_settings_are_compared():
    said = {"title": "Mine", "licence": "mit", "homepage": "https://example.org", "description": "Clips."}
    given = create(CLAVI, {"segments": "a.csv", "cite": "-x.csv", "limit": 3, "seed": 7, **said})
    info = built("clavi", given)
    assert found("clavi", info) == []
    for old, new in (("build-clavi", "build-causal"), ("--seed 7", "--seed 0"), ("--seed 7", "--seed 7 --crf 23")):
        assert found("clavi", info | {"command": info["command"].replace(old, new)}), new
    for entry, value in (("split", "test"), ("limit", 4), ("limit", None), ("dataset_version", "2.0.0")):
        assert found("clavi", info | {entry: value}), entry
    for entry in ("name", "title", "license", "redistributable", "link", "description", "bibtex"):
        assert found("clavi", info | {"source": info["source"] | {entry: ""}}), entry
    for name in ("a.csv", "-x.csv"):
        less = {key: value for key, value in info["inputs"].items() if key != name}
        assert any(name in line for line in found("clavi", info | {"inputs": less}))
    assert any("colour" in line for line in found("clavi", info | {"settings": info["settings"] | {"colour": "red"}}))


def test_sample_differs_from_file_of_its_name(tmp_path):
    (tmp_path / "sample").touch()
    assert recorded(create(CAUSAL, {"annotations": "sample"}))["annotations"] == "sample"
    assert recorded(create(CAUSAL, {"annotations": tmp_path / "sample"}))["annotations"] == "./sample"


def test_content_excludes_inputs_and_run_options():
    runs = {"limit": 3, "version": "2.0.0", "workers": 3, "max_skip": 0.5, "videos": "elsewhere"}
    one, other, seeded = (create(CAUSAL, {"annotations": "sample", **more}) for more in ({}, runs, {"seed": 7}))
    assert content(one) == content(other)
    assert content(seeded) == content(one) | {"seed": 7}


def test_records_that_no_build_wrote_are_refused():
    sample = {"annotations": "x"}
    for stored in ({}, {"annotations": None}, {**sample, "crf": None}, {**sample, "preset": "c"}):
        with pytest.raises(UsageError):
            from_record(CAUSAL, stored)
    made = from_record(CLAVI, {"segments": "absent.csv", "pairs": ["absent"]})  # inputs need not exist any more
    assert (made.segments, made.pairs) == ("absent.csv", (Path("absent"),))


def test_command_names_what_differs_and_has_effect():
    given = {"annotations": "a.csv", "splits": "PS,UD", "columns": {"answer": "A b"}, "render": False, "limit": 3}
    stored = recorded(replace(create(CAUSAL, given), crf=30))
    assert command_line("build-causal", CAUSAL, stored) == (
        "build-causal --annotations a.csv --columns 'answer=A b' --splits ud,ps --no-render --seed 0 --limit 3 "
        "--version 1.4.0 --out OUT"
    )


UNITS = [Unit(f"u{n:03d}", "train", "v", {}, float(n * n % 17)) for n in range(101)]


@pytest.mark.parametrize("count", [1, 4, 50, 101, 200])
def test_shares_have_every_unit_and_equal_work(count):
    shares = [read_share(f"{number}/{count}").of(UNITS) for number in range(1, count + 1)]
    assert sorted(unit.id for share in shares for unit in share) == [unit.id for unit in UNITS]
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
    costs = [sum(unit.cost for unit in share) for share in shares]
    assert max(costs) - min(costs) <= (4 if count <= 50 else 16)  # the cost of a unit
    assert str(WorkShare(count, count)) == f"{count}/{count}"


def test_invalid_share_is_refused():
    for text in ("0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/3/4", "", "1.0/3", "٣/50"):
        with pytest.raises(ValueError, match="I/N"):
            read_share(text)

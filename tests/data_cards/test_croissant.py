import hashlib
import json
import logging
import shutil

import pytest
from commands import info, rows
from stressreel.annotations.charades import CHARADES
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.builders.parts import card_of
from stressreel.core.output import FinishedOutput, open_output
from stressreel.data_cards.card import write_card
from stressreel.data_cards.croissant import render_croissant

LONG = ("causal", "perturbed")  # to build
FEW = {  # of each sample what is built in seconds
    "causal": "--negatives random --confuse 0 --num-options 3 --splits UD --preset ultrafast",
    "clavi": "--limit 2 --preset ultrafast",
    "decomp": "--limit 2",
    "perturbed": "--limit 1 --severity 3 --perturbations jpeg,freeze --preset ultrafast",
}


@pytest.fixture(params=[pytest.param(n, marks=pytest.mark.full if n in LONG else ()) for n in benchmark_names()])
def out(request, build_once):
    name = request.param
    given = [f"--{option.replace('_', '-')}={value}" for option, value in load_benchmark(name).sample.items()]
    return build_once(f"build-{name}", *given, *FEW.get(name, "").split(), "--workers", 1)


def plain(value):
    """What mlcroissant read, as storage has it: it gives texts as bytes, and full names to inner fields."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name.rpartition("/")[2]: plain(each) for name, each in value.items()}
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if hasattr(value, "item") else value


@pytest.mark.filterwarnings("ignore")  # mlcroissant's own, which are about rdflib and pandas
def test_croissant_is_valid_and_reads_the_tables(out, caplog):
    caplog.set_level(logging.ERROR)
    dataset = pytest.importorskip("mlcroissant").Dataset(str(out / "croissant.json"))
    issues = dataset.metadata.ctx.issues
    assert not issues.errors
    said = sorted(line.partition('"')[2].partition('"')[0] for line in issues.warnings)
    assert said == ["https://schema.org/datePublished"]
    tables = info(out)["counts"]
    assert [each.uuid for each in dataset.metadata.record_sets] == list(tables)
    configs = {config.name: config for config in load_benchmark(info(out)["builder"]).declared(info(out))}
    for table, splits in tables.items():
        columns = configs[table].columns
        keys = [column.name for column in columns[: configs[table].key_columns]]
        stored = {tuple(row[key] for key in keys): row for row in rows(out, table)}
        found = [{name.removeprefix(f"{table}/"): row[name] for name in row} for row in dataset.records(table)]
        assert len(found) == len(stored) == sum(splits.values())
        if "split" not in (column.name for column in columns):
            assert {row["split"].decode() for row in found} == set(splits)
        for row in found:
            expected = stored[tuple(plain(row[key]) for key in keys)]
            for column in columns:
                if column.kind == "video":
                    assert hashlib.sha256(row[column.name]).hexdigest() == expected["sha256"] == row["sha256"].decode()
                else:
                    assert plain(row[column.name]) == expected[column.name], column.name


def test_croissant_has_hashes_and_no_local_paths(out, tmp_path):
    before = (out / "croissant.json").read_text("utf-8")
    content = json.loads(before)
    files = {each["contentUrl"]: each for each in content["distribution"] if each["@type"] == "cr:FileObject"}
    parquet = {path.relative_to(out).as_posix() for path in out.rglob("*.parquet") if ".build" not in path.parts}
    assert files.keys() == parquet
    for name, each in files.items():
        stored = (out / name).read_bytes()
        assert (each["sha256"], each["contentSize"]) == (hashlib.sha256(stored).hexdigest(), f"{len(stored)} B")
    assert str(out) not in before
    biases = content.get("rai:dataBiases", [])
    assert all("%" in line for line in biases)
    assert bool(biases) == (info(out)["builder"] in ("clavi", "causal"))
    copy, benchmark = shutil.copytree(out, tmp_path / "elsewhere"), load_benchmark(info(out)["builder"])
    (copy / "croissant.json").unlink()
    write_card(open_output(copy), benchmark.declared(info(copy)), card_of(benchmark))
    assert (copy / "croissant.json").read_text("utf-8") == before


def test_source_is_named_with_licence(four_pairs):
    output = open_output(four_pairs)
    real = FinishedOutput(output.path, output.info | {"source": CHARADES.as_json()})
    configs = load_benchmark("clavi").declared(real.info)
    content = json.loads(render_croissant(real, configs, {"pretty_name": "x"}, ["b"]))
    assert content["license"] == CHARADES.license["license_link"]
    assert CHARADES.link in content["rai:dataCollection"]
    assert (content["citeAs"], content["rai:dataBiases"]) == (CHARADES.citation, ["b"])
    assert "rai:dataLimitations" not in content

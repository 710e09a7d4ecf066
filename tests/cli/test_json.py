"""`--json` of every command: one JSON document on standard output, with the keys that scripts rely on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from commands import rows, run, run_json, succeed
from every_command import every_command
from stressreel.api.data import WORDNET

Places = dict[str, Path | str]

PROGRAM = "Exists(phone, Iterate(video, Filter(frame, [objects])))"
PREDICTIONS = "--predictions {yes} --resamples 100 --out {to}"
TINY = "--transformers {model} --to {to} --frames 1 --limit 2 --max-tokens 2 --resamples 100"
CASES: dict[str, tuple[str, str]] = {
    "build causal": (
        "--annotations sample --no-render --negatives random --dry-run",
        "benchmark counts estimate notes noun read",
    ),
    "build clavi": (
        "--charades {charades} --limit 1 --preset ultrafast --out {to}",
        "builder counts fingerprint settings tools",
    ),
    "build decomp": ("--charades sample --limit 1 --dry-run", "benchmark counts estimate notes noun read"),
    "build perturbed": (
        "--msrvtt {msrvtt} --severity 1 --perturbations jpeg --shard 1/2 --preset ultrafast --out {to}",
        "noun path remaining running share total",
    ),
    "list": ("benchmarks", "0 1 2 3"),
    "sample": ("{to} --kind causal", "folder kind"),
    "mine": ("--questions sample --balance none --max-lend 0 --ties id", "0"),
    "data show": ("", "advice found"),
    "data download": ("--to {nltk_data}", "advice found"),
    "verify": ("{clavi} --no-decode", "checks fingerprint output passed"),
    "gallery": ("{clavi} --to {to} --embed none --limit 1", "answered noun page shown total videos"),
    "diff": ("{clavi} {clavi}", "a b benchmark build fingerprints same summary tables"),
    "card": ("{copy}", "path"),
    "decompose": ("{program}", "edges nodes"),
    "ask": ("{clavi} --endpoint {url} --model m --to {to}.jsonl --modalities blind --limit 1", "model requests"),
    "score": ("{clavi} " + PREDICTIONS, "answers benchmark config headline interval split tables"),
    "score explain": ("{graphs} --predictions {graph_answers} --question {root}", "edges goes_wrong_at nodes root"),
    "score modalities": ("{clavi} video={yes} text={yes} video+text={yes}", "answers categories config interval split"),
    "score open-ended": ("{said} --no-sbert --meteor nltk " + PREDICTIONS, "answers headline interval tables"),
    "score permuted": ("{clavi} --original {yes} --permuted {permuted}", "answers config split"),
    "score text-shift": ("{suite} --no-card", "perturbations"),
    "compare": ("A={scores} B={scores}", "differences interval notes rows std title"),
    "audit": ("--items {items} --no-sbert --resamples 100", "audits interval version"),
    "probe": ("{clavi} " + TINY, "effects tables"),
    "permute": ("{clavi} --to {to}.jsonl --sets 1", "items path sets"),
    "push": ("{sampled} org/clavi --dry-run", "dry_run files licence public pushed repository signed tag verification"),
    "export files": ("{clavi} --to {to}", "calls count folder kept shards what"),
    "export inspect": ("{clavi} --to {to}", "commands folder group tasks"),
    "export lmms-eval": ("{clavi} --to {to}", "commands folder group tasks"),
    "export vlmevalkit": ("{clavi} --to {to}", "commands folder group tasks"),
    "export released": ("{graphs} --to {to}", "calls count folder kept shards what"),
    "export webdataset": ("{clavi} --to {to}", "calls count folder kept shards what"),
    "withhold": ("{clavi} --to {to}", "private public split"),
    "sign": ("{copy} --key {key}", "files path"),
}
"""Arguments of each command, and keys of its document (positions, if it is a list)."""
NEEDS = {
    "build causal": "sentence_transformers",
    "mine": "sentence_transformers",
    "audit": "sklearn",
    "ask": "openai",
    "probe": "transformers",
    "score open-ended": "pycocoevalcap",
    "score text-shift": "sacrebleu",
    "sign": "model_signing",
    "push": "huggingface_hub",
}


def write(path: Path, values: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(map(json.dumps, values)))
    return path


class Lazily(dict[str, Callable[[], Path | str]]):
    """Makes a place when a case names it."""

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name)()


@pytest.fixture
def places(
    tmp_path: Path, request: pytest.FixtureRequest, once: Callable[[str, Callable[[Path], object]], Path]
) -> Iterator[Lazily]:
    built = request.getfixturevalue

    def clavi() -> Path:
        return Path(built("built"))

    def answers() -> Path:
        asked = rows(clavi(), "questions", "test")
        return write(tmp_path / "yes.jsonl", [{"id": row["question_id"], "answer": "yes"} for row in asked])

    def permuted() -> Path:
        to = tmp_path / "p.jsonl"
        assert run("stressreel", "permute", clavi(), "--to", to, "--sets", 1).code == 0
        sets = [json.loads(line) for line in to.read_text().splitlines()]
        return write(tmp_path / "q.jsonl", [{**row, "answer": "yes"} for row in sets])

    def scores() -> Path:
        to = tmp_path / "scores"
        succeed("stressreel", "score", clavi(), "--predictions", answers(), "--resamples", 100, "--out", to)
        return to

    def graph_answers() -> Path:
        asked = rows(built("built_graphs"), "questions")
        return write(tmp_path / "g.jsonl", [{"id": row["key"], "answer": "yes"} for row in asked])

    def model() -> Path:
        return once("qwen2-vl", import_module("tiny_models").write_qwen2_vl)

    def items() -> Path:
        texts = [f"because dog number {n} ran to house {n * n}" for n in range(12)]
        more = {"question": "Why?", "config": "a", "source": "v"}
        asked = [
            {"id": str(n), **more, "options": [text, texts[n - 1], texts[n - 2]], "answer": text}
            for n, text in enumerate(texts)
        ]
        return write(tmp_path / "items.jsonl", asked)

    def said() -> Path:
        return write(
            tmp_path / "said.jsonl",
            [
                {"id": row["question_id"], "answer": "a dog", "source_id": "v"}
                for row in rows(clavi(), "questions", "test")
            ],
        )

    def nltk_data() -> Path:
        (tmp_path / WORDNET).mkdir(parents=True)
        return tmp_path

    with import_module("endpoint").running() as endpoint:
        yield Lazily(
            to=lambda: tmp_path / "to",
            program=lambda: PROGRAM,
            charades=lambda: built("sample"),
            msrvtt=lambda: built("msrvtt"),
            clavi=clavi,
            sampled=lambda: built("build_once")("build-clavi", "--charades", "sample", "--no-render", "--limit", 2),
            nltk_data=nltk_data,
            suite=lambda: Path(shutil.copytree(built("built_recipes"), tmp_path / "suite")),
            graphs=lambda: built("built_graphs"),
            root=lambda: rows(built("built_graphs"), "graphs", "test")[0]["root"],
            copy=lambda: Path(shutil.copytree(clavi(), tmp_path / "copy")),
            key=lambda: import_module("signing").key_pair(tmp_path).key,
            url=lambda: endpoint.url,
            yes=answers,
            permuted=permuted,
            scores=scores,
            graph_answers=graph_answers,
            model=model,
            items=items,
            said=said,
        )


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Nothing is downloaded, no sample is drawn, and models that are trained are tiny."""
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    command = request.getfixturevalue("command")
    if command == "data download":
        monkeypatch.setattr("nltk.downloader.Downloader.incr_download", lambda *given: iter(()))
    if command == "sample":
        monkeypatch.setattr("stressreel.annotations.samples.write_sample", lambda kind, folder: None)


@pytest.mark.usefixtures("_small", "hub")
@pytest.mark.parametrize("command", CASES)
def test_the_document_has_its_keys(command: str, places: Lazily) -> None:
    if command in NEEDS and find_spec(NEEDS[command]) is None:
        pytest.skip(f"needs {NEEDS[command]}")
    given, keys = CASES[command]
    done = succeed("stressreel", *command.split(), *(word.format_map(places) for word in given.split()), "--json")
    document = json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    found = map(str, range(len(document))) if isinstance(document, list) else document
    assert set(keys.split()) <= set(found)


def test_every_command_has_a_case() -> None:
    assert set(CASES) == set(every_command())
    assert set(NEEDS) <= set(CASES)


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("options", {"benchmark", "options"}),
        ("visual", {"name", "family", "levels", "unit"}),
        ("text", {"name", "family", "kind", "needs"}),
    ],
)
def test_a_list_has_an_object_for_each_entry(kind: str, keys: set[str]) -> None:
    for entry in run_json("stressreel", "list", kind):
        assert keys <= set(entry)


def test_dry_run_gives_bytes_and_seconds(sample: Path) -> None:
    done = run("build-clavi", "--charades", sample, "--limit", 1, "--dry-run", "--json")
    found = json.loads(done.out)
    assert found["benchmark"] == "clavi"
    assert (sum(found["counts"].values()), found["noun"]) == (1, "pair")
    estimate = found["estimate"]
    assert estimate["peak_disk_bytes"] > estimate["size_bytes"] > 1000
    assert estimate["cpu_seconds"] > 0
    assert sum(part["size_bytes"] for part in estimate["parts"]) <= estimate["size_bytes"]


def test_build_prints_its_build_json(sample: Path, tmp_path: Path) -> None:
    done = run("build-clavi", "--charades", sample, "--limit", 1, "--no-render", "--out", tmp_path / "out", "--json")
    assert json.loads(done.out) == json.loads((tmp_path / "out" / "build.json").read_text())


def test_errors_leave_standard_output_empty(tmp_path: Path) -> None:
    for words in (["verify", tmp_path], ["nothing"], ["build", "clavi"], ["score", tmp_path, "--seed", "x"]):
        done = run("stressreel", *words, "--json")
        assert (done.code, done.out) == (done.code or 1, "")
        assert done.err.startswith("Error: ")

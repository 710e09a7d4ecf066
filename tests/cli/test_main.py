"""What commands leave with: 2 if a path or a value is wrong, 1 if the work fails, and otherwise JSON if asked for."""

import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import every_command
import nltk.downloader
import pytest
import yaml
from agqa_files import row
from commands import refuses, rows, run, succeed
from cyclopts import App
from stressreel.annotations.samples.causal import annotation_table as question_table
from stressreel.annotations.samples.charades import annotation_table, sample_videos
from stressreel.annotations.samples.msrvtt import caption_table, sample_clips
from stressreel.api.data import WORDNET
from stressreel.builders import BENCHMARKS, benchmark_of
from stressreel.cli import main
from stressreel.cli.commands import application, build_application
from stressreel.core import progress
from stressreel.core.output import open_output
from stressreel.evaluation.people import plan

WRITTEN = {"--out", "--to", "--figure", "--review", "modalities --items", "sample folder"}  # need not be there
TABLE = yaml.safe_load(Path(__file__).with_name("exit_codes.yaml").read_text("utf-8"))
CASES = {(command, option): line for command, lines in TABLE["missing"].items() for option, line in lines.items()}
Places = dict[str, str]


def written(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, build_once: Callable[..., Path]) -> Places:
    """The paths that the table names."""
    folder = tmp_path_factory.mktemp("places")
    texts = [f"because dog number {n} ran to house {n * n}" for n in range(12)]
    items = [{"options": [text, texts[n - 1], texts[n - 2]], "answer": text} for n, text in enumerate(texts)]
    written(folder / "items.jsonl", *({"id": str(n), "question": "Why?", **item} for n, item in enumerate(items)))
    written(folder / "charades" / "Charades_v1_train.csv", annotation_table(list(sample_videos())))
    written(folder / "charades" / "charades_sta_train.txt")
    written(folder / "msrvtt" / "MSRVTT_JSFUSION_test.csv", caption_table(sample_clips()))
    written(folder / "questions.csv", question_table())
    written(folder / "segments.csv", "video,start,end,phrase", "a,1,6,waving", "a,8,13,opening a door")
    written(folder / "captions.csv", "video,caption", "a,a man waves")
    written(folder / "folder" / WORDNET / "nothing")
    written(folder / "agqa" / "test_balanced.txt", {"A-1": row("A-1")})
    builds = {
        "out": f"build-clavi --charades {folder}/charades --no-render --limit 3",
        "suite": f"build-perturbed --msrvtt {folder}/msrvtt --modality text --limit 2 --text-perturbations typos",
        "causal": f"build-causal --annotations {folder}/questions.csv --no-render --confuse 0 --negatives random "
        "--num-options 3 --splits UD",
        "decomp": f"build-decomp --agqa {folder}/agqa",
    }
    for name, command in builds.items():
        succeed(*command.split(), "--out", folder / name, "--no-progress")
    shutil.copytree(folder / "out", folder / "copy")
    ids = [row["question_id"] for row in rows(folder / "out", "questions")]
    nodes = [row["key"] for row in rows(folder / "decomp", "questions")]
    for name, asked in {"answers": ids, "nodes": nodes}.items():
        written(folder / f"{name}.jsonl", *({"id": each, "answer": "yes"} for each in asked))
    output = open_output(folder / "out")
    drawn = plan(output, benchmark_of(output), items=2, seed=1)
    said = {"choice": "yes", "mark": "", "reason": "", "seconds": 1.0}
    head = {"format": "stressreel answers", "version": 1, "output": "clavi", "fingerprint": drawn.fingerprint}
    asked = {"seed": 1, "items": 2, "condition": drawn.condition, "annotator": "Ann"}
    answers = [{"key": item.key, **said} for item in drawn.items]
    written(folder / "person.json", {**head, **asked, "answers": answers})
    succeed("stressreel", "score", folder / "out", "--predictions", folder / "answers.jsonl", "--split", "all")
    succeed("stressreel", "permute", folder / "out", "--to", folder / "permuted.jsonl", "--sets", 1, "--split", "all")
    sets = (folder / "permuted.jsonl").read_text("utf-8").splitlines()
    written(folder / "permuted.jsonl", *({**json.loads(each), "answer": "yes"} for each in sets))
    (folder / "loop").symlink_to("loop")
    (folder / "stale").symlink_to("gone")
    found = {path.name.partition(".")[0].upper(): str(path) for path in folder.iterdir() if path.suffix != ".scores"}
    videos = build_once("build-clavi", "--charades", "sample", "--limit", 1, "--preset", "ultrafast")
    others = {"MISSING": "not/there", "NEW": "new", "SCORED": "answers.all.scores"}
    return {**found, "VIDEOS": str(videos), **{name: str(folder / place) for name, place in others.items()}}


def spelled(line: str, places: Places) -> list[str]:
    words = line.split()
    for name in sorted(places, key=len, reverse=True):
        words = [word.replace(name, places[name]) if not word.startswith("/") else word for word in words]
    return words


def with_options(app: App, path: str) -> Iterator[tuple[str, App]]:
    if app.default_command:
        yield path, app
    for name in app:
        if not name.startswith("-"):
            yield from with_options(app[name], f"{path} {name}")


def test_every_path_that_is_read_has_a_case() -> None:
    programs = {"stressreel": application(every=True)}
    programs |= {name: build_application(name) for name in (f"build-{benchmark}" for benchmark in BENCHMARKS)}
    read = {(name, "--config") for name in (*programs, "stressreel mine") if name != "stressreel"}
    for name, command in (found for path, app in programs.items() for found in with_options(app, path)):
        if name.startswith("stressreel build "):
            continue  # the same as build-…
        for argument in command.assemble_argument_collection():
            field = argument.field_info
            option = argument.name if field.kind is field.KEYWORD_ONLY else field.name
            if "Path" in str(argument.hint) and not {option, f"{name.split()[-1]} {option}"} & WRITTEN:
                read.add((name, option))
    assert read == set(CASES)


@pytest.mark.parametrize(("command", "option"), CASES)
def test_a_missing_path_is_wrong_usage(command: str, option: str, places: Places) -> None:
    refuses(run(*command.split(), *spelled(CASES[command, option], places)), "not/there", code=2)


@pytest.mark.parametrize(("command", "option"), list(CASES)[::12])  # all are opened by `core.files`
@pytest.mark.parametrize(("link", "why"), [("LOOP", "loop, which leads into a cycle"), ("STALE", "gone, which does")])
def test_link_to_nowhere_is_named(command: str, option: str, link: str, why: str, places: Places) -> None:
    done = run(*command.split(), *spelled(CASES[command, option].replace("MISSING", link), places))
    assert done.code in (1, 2)
    assert f"note: {places[link]} is a link to {why}" in done.err


@pytest.mark.parametrize(("line", "code"), [(line, code) for code in (2, 1) for line in TABLE[code]])
def test_wrong_usage_and_failing_work_differ(line: str, code: int, places: Places) -> None:
    command, _, named = line.partition(" -> ")
    done = run(*spelled(command, places), *["--json"] * (code == 1))
    refuses(done, *spelled(named, places), code=code)
    assert done.err.startswith("Error: ") or code == 1
    assert code == 1 or not Path(places["NEW"]).exists()


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("line", TABLE[0])
def test_json_is_one_document(line: str, places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, package in TABLE["needs"].items():
        if line.startswith(command) and find_spec(package) is None:
            pytest.skip(f"needs {package}")
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setattr("nltk.downloader.Downloader.incr_download", lambda *given: iter(()))
    monkeypatch.setattr("stressreel.annotations.samples.write_sample", lambda kind, folder: None)
    given = {**places, "NEW": str(tmp_path / "new")}
    if "MODEL" in line:
        import_module("tiny_models").write_qwen2_vl(tmp_path / "model")
        given["MODEL"] = str(tmp_path / "model")
    if "KEY" in line:
        given["KEY"] = str(import_module("signing").key_pair(tmp_path).key)
    command, _, keys = line.partition(" -> ")
    with import_module("endpoint").running() as server:
        done = succeed(*spelled(command, {**given, "URL": server.url}), "--json")
    document = json.loads(done.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert set(keys.split()) <= set(map(str, range(len(document))) if isinstance(document, list) else document)


def test_every_command_has_a_line_with_json() -> None:
    for command in every_command.every_command():
        start = command.replace("build ", "build-") if command.startswith("build ") else f"stressreel {command}"
        assert any(line.startswith(f"{start} ") for line in TABLE[0]), command


def incr_download(self: object, name: str, folder: str) -> Iterator[Any]:
    """Write WordNet's zip, as NLTK's downloader does, or give an error if the folder is named `offline`."""
    if folder.endswith("offline"):
        yield nltk.downloader.ErrorMessage(None, "no\n   network.")
        return
    with zipfile.ZipFile(written(Path(folder) / f"{WORDNET}.zip"), "w") as archive:
        archive.writestr(f"{name}/README", "text")
    yield nltk.downloader.SelectDownloadDirMessage(folder)


def test_download_names_an_unknown_folder_and_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.downloader.Downloader, "incr_download", incr_download)
    done = succeed("stressreel", "data", "download", "--to", tmp_path / "data")
    assert done.out.endswith(f"set NLTK_DATA={tmp_path / 'data'}\n")
    folder = tmp_path / "offline"
    refuses(run("stressreel", "data", "download", "--to", folder), f"into {folder}: no network. Without a network")


def test_what_fails_after_ctrl_c_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was finished, so nothing is said of it; see `tests/core/test_progress.py` for what was."""
    monkeypatch.setattr(progress, "_interrupts", [2])
    for line in ("build-clavi --charades nowhere --out x", "stressreel verify nowhere"):
        done = run(*line.split())
        assert (done.code, done.err.rstrip().endswith("Stopped.")) == (130, True)


def test_fault_names_benchmark_of_another_package(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setattr(main, "application", lambda words, **options: words.frames)
    for benchmark, at_fault in (("halves", "stressreel or in the benchmark 'halves'"), ("clavi", "stressreel")):
        assert main.execute("stressreel", ["build", benchmark]) == 1
        error = capfd.readouterr().err
        assert error.startswith("Error: AttributeError: ")
        assert f"This is a fault in {at_fault}, not in your input." in error


def test_a_path_that_is_not_utf8_is_refused() -> None:
    refuses(run("stressreel", "sample", "out\udcff"), r"out\udcff", code=2)


def steps(err: str) -> list[str]:
    return re.findall(r"^(.+): \d+\.\d s$", err, re.M)


def test_verbose_names_steps_without_colour(sample: Path, tmp_path: Path) -> None:
    given = ("--charades", sample, "--limit", 1, "--no-render", "--out", tmp_path / "out", "--no-progress", "-v")
    build = succeed("build-clavi", *given, "--json")
    assert json.loads(build.out) == json.loads((tmp_path / "out" / "build.json").read_text())
    first, *between, last = steps(build.err)
    assert (first, last) == ("reading the annotations and planning", "build-clavi")
    assert {"packing", "writing the card"} <= set(between)
    assert "\x1b" not in build.err
    verify = succeed("stressreel", "verify", tmp_path / "out", "--verbose")
    assert {f"checking {check}" for check in ("files", "schema", "counts", "card")} <= set(steps(verify.err))
    quiet = succeed("stressreel", "verify", tmp_path / "out")
    assert (quiet.out, steps(quiet.err)) == (verify.out, [])

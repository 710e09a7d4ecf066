"""README and the tutorials as a reader follows them: every command and every block of Python, in order, in one folder.

Each page starts in a fresh copy of the checkout and a new virtual environment without extras, with a home of its own
that has the files that the page calls the reader's. The page's own `pip install` lines add extras. `walkthrough.yaml`
lists what is replaced or not run, with the reason; nothing else is left out.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import endpoint
import hub
import pytest
import yaml
from agqa_questions import write_agqa
from commands import rows
from option_inputs import write_events, write_recipes
from pages import ROOT, WALKED, blocks
from stressreel.annotations.samples import cached_sample
from stressreel.annotations.samples.msrvtt import sample_clips, write_msrvtt_sample
from tiny_models import write_llava_onevision

TABLE: list[dict[str, str]] = yaml.safe_load(Path(__file__).with_name("walkthrough.yaml").read_text("utf-8"))


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


def runnable(page: str) -> Iterator[tuple[Step, str]]:
    """Yield the steps of a page that are run, each with its shell code."""
    for step in steps(page):
        code, entries = step.code, entries_for(page, step)
        if all("by" in entry for entry in entries):
            for entry in entries:
                code = code.replace(entry["text"], entry["by"])
            yield step, f"python - <<'END'\n{code}END" if code.endswith("\n") else code


def walk(page: str, folder: Path, variables: Mapping[str, str]) -> None:
    """Run a page in one shell, and fail with every step that fails or does not print what the page shows."""
    done = list(runnable(page))
    marked = [f"{code}\nprintf '\\036%d\\n' $?" for _, code in done]  # which ends the output of a step
    script = "\n".join(["exec 2>&1 </dev/null", *marked])
    (folder.parent / "page.sh").write_text(script, "utf-8")
    with open(folder.parent / "page.log", "w+", encoding="utf-8") as log:
        subprocess.run(["bash", folder.parent / "page.sh"], cwd=folder, env=dict(variables), stdout=log)
        log.seek(0)
        printed = log.read()
    results = re.findall(r"(.*?)\x1e(\d+)\n", printed, re.S)
    assert len(results) == len(done), printed[-3000:]
    faults, lines = [], list[str]()
    for (step, code), (output, status) in zip(done, results, strict=True):
        lines += [" ".join(line.split()) for line in output.splitlines()]
        unseen = [line for line in step.printed if " ".join(line.split()) not in lines]
        if status != "0" or unseen:
            faults.append(f"$ {code}\nexit status {status}, not printed: {unseen}\n{output[-2000:]}")
        lines = [] if step.printed else lines
    assert not faults, "\n\n".join(faults)


def write_belongings(home: Path, folder: Path) -> None:
    """Write the reader's own files, named as on the pages, from the samples."""
    charades, causal = map(cached_sample, ("charades", "causal"))
    videos = charades / "Charades_v1_480"
    for source, name in ((charades, "Charades"), (causal / "videos", "episodes"), (videos, "videos")):
        shutil.copytree(source, home / name)
    write_msrvtt_sample(home / "MSRVTT", sample_clips()[:1])
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
    asked = {"question": "What is shown?", "options": ["a kitchen", "a park"], "answer": "a park", "subtitles": "Hm."}
    items = []
    for clip, name in zip(clips, ("kitchen.mp4", "park.mp4"), strict=False):
        for to in (home / "clips", folder / "clips"):
            to.mkdir(exist_ok=True)
            shutil.copy(clip, to / name)
        items.append(asked | {"id": name, "video_id": name})
    (folder / "tvqa.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", WALKED)
def test_page_runs_from_a_fresh_installation(page: str, tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns(".*", "build", "out", "*.egg-info", "__pycache__")  # a clone has none
    home, folder = tmp_path / "home", Path(shutil.copytree(ROOT, tmp_path / "stressreel", ignore=ignored))
    programs = tmp_path / "venv" / "bin"
    home.mkdir()
    cache = os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache" / "pip"))
    hidden = ("NLTK_DATA", "PYTHONPATH", "VIRTUAL_ENV", "XDG_CACHE_HOME")
    variables = {name: value for name, value in os.environ.items() if name not in hidden}
    variables |= {"HOME": str(home), "PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_CACHE_DIR": cache}
    variables |= {"PIP_QUIET": "1", "BROWSER": "true", "WORDNET": os.environ["NLTK_DATA"]}
    subprocess.run([sys.executable, "-m", "venv", str(programs.parent)], check=True)
    subprocess.run([programs / "pip", "install", "."], cwd=folder, env=variables, check=True)
    write_belongings(home, folder)
    variables["PATH"] = os.pathsep.join([str(programs), variables["PATH"]])
    with ExitStack() as servers:
        if page == "docs/ask.md":
            write_llava_onevision(folder / "llava-hf" / "llava-onevision-qwen2-0.5b-ov-hf")
            write_llava_onevision(folder / "MODEL")
            variables["ENDPOINT"] = servers.enter_context(endpoint.running()).url
        if page == "docs/share.md":
            server = servers.enter_context(hub.running())
            server.writable = ("ORG",)
            variables |= {"HF_ENDPOINT": server.url, "HF_TOKEN": hub.TOKEN, "HF_HUB_DISABLE_XET": "1"}
        walk(page, folder, variables)
    shutil.rmtree(programs.parent)  # up to 2 GB


def test_every_replacement_has_a_reason_and_is_needed() -> None:
    used = [entry for page in WALKED for step in steps(page) for entry in entries_for(page, step)]
    assert [entry for entry in TABLE if entry not in used or not entry.get("why")] == []


def test_questions_that_the_quickstart_quotes_are_built(built: Path) -> None:
    quoted = re.findall(r"\"([A-Z][^\"]+\?)\"", (ROOT / "docs" / "quickstart.md").read_text("utf-8"))
    assert quoted
    assert {*quoted} <= {row["question"] for row in rows(built, "questions")}

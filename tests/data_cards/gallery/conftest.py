"""Galleries of the samples, and a browser that opens them from the disk."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import rows, run

CHROMIUM = Path(os.environ.get("STRESSREEL_CHROMIUM", "/usr/bin/chromium"))
TEXTS = "random_noun,typos"
HOSTILE = '<img src=x onerror="window.hacked=1"> & </script><script>window.hacked=2</script> {{7*7}} \u2028 \'"` end'


@pytest.fixture(scope="session")
def shown(once: Callable[..., Path]) -> Callable[..., Path]:
    """Writes the gallery of an output once for all workers; read only."""

    def make(name: str, out: Path, *arguments: object) -> Path:
        def write(folder: Path) -> None:
            done = run("stressreel", "gallery", out, "--to", folder, "--no-progress", *arguments)
            assert done.code == 0, done.err

        return once(f"gallery-{name}", write)

    return make


@pytest.fixture(scope="session")
def clavi(built: Path, shown: Callable[..., Path], once: Callable[..., Path]) -> Path:
    """Pairs, with answers of a model that always says yes, and their scores."""

    def score(folder: Path) -> None:
        folder.mkdir()
        answers = folder / "yes.jsonl"
        ids = [row["question_id"] for row in rows(built, "questions")]
        answers.write_text("".join(json.dumps({"id": name, "answer": "yes"}) + "\n" for name in ids))
        assert run("stressreel", "score", built, "--predictions", answers, "--split", "all").code == 0

    return shown("clavi", built, "--scores", once("gallery-yes", score) / "yes.all.scores")


@pytest.fixture(scope="session")
def suite(build_once: Callable[..., Path], msrvtt: Path) -> Path:
    """Two short clips under two perturbations and two severities, with captions and combinations; read only."""
    given = ("--msrvtt", msrvtt, "--severity", "1,3", "--perturbations", "jpeg,jumble", "--modality", "all")
    return build_once("build-perturbed", *given, "--text-perturbations", TEXTS, "--tagger", "pattern", "--limit", 2)


@pytest.fixture(scope="session")
def perturbed(suite: Path, shown: Callable[..., Path]) -> Path:
    """The gallery of `suite`."""
    return shown("perturbed", suite)


@pytest.fixture(scope="session")
def causal(built_causal: Path, shown: Callable[..., Path], once: Callable[..., Path]) -> Path:
    """Questions with confused options, with what a blind model chooses."""

    def audit(folder: Path) -> None:
        folder.mkdir()
        choices = {row["qid"]: [{"guesser": "first", "choice": 0}] for row in rows(built_causal, "causal_confusion")}
        audits = [{"config": "causal_confusion", "part": "answer", "choices": choices}]
        (folder / "audit.json").write_text(json.dumps({"audits": audits}))

    return shown("causal", built_causal, "--audit", once("gallery-audit", audit))


@pytest.fixture(scope="session")
def graphs(build_once: Callable[..., Path], shown: Callable[..., Path], once: Callable[..., Path]) -> Path:
    """Question graphs, with answers of a model that always says yes."""
    out = build_once("build-decomp", "--charades", "sample")

    def answer(file: Path) -> None:
        file.mkdir()
        keys = [row["key"] for row in rows(out, "questions")]
        text = "".join(json.dumps({"id": key, "answer": "yes"}) + "\n" for key in keys)
        (file / "yes.jsonl").write_text(text)

    return shown("graphs", out, "--predictions", once("gallery-says-yes", answer) / "yes.jsonl")


@pytest.fixture(scope="session")
def hostile(build_once: Callable[..., Path], shown: Callable[..., Path], once: Callable[..., Path]) -> Path:
    """Captions that would run, were they read as HTML or put between the lines of a script."""

    def write(folder: Path) -> None:
        folder.mkdir()
        given = [{"video": "clip", "caption": text} for text in (HOSTILE, "a plain caption")]
        (folder / "captions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))

    given = ("--captions", once("hostile-captions", write) / "captions.jsonl", "--modality", "text")
    out = build_once("build-perturbed", *given, "--text-perturbations", TEXTS, "--tagger", "pattern")
    return shown("hostile", out)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield found
        found.close()


class Visit:
    """A gallery that is opened, with what went wrong while it was."""

    def __init__(self, page: Any, folder: Path):
        self.page, self.address = page, (folder / "index.html").as_uri()
        self.faults: list[str] = []
        page.on("console", lambda told: self.faults.append(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda asked: None if self.inside(asked.url) else self.faults.append(asked.url))

    def inside(self, address: str) -> bool:
        """Whether a request is for a file of the gallery."""
        return address == "about:blank" or address.startswith(self.address.removesuffix("index.html"))

    def go(self, place: str = "") -> None:
        """Open a page of it anew, and wait until it is drawn."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}{place}")
        self.until("document.querySelector('#page h1') !== null")

    def until(self, condition: str, seconds: float = 60) -> None:
        """Wait for a condition; `wait_for_function` needs eval, which the page forbids."""
        for _ in range(round(seconds / 0.05)):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never: {condition}")

    def entries(self) -> list[str]:
        """The ids of all exhibits."""
        ids: list[str] = self.page.evaluate("Data.all().entries.map((entry) => entry[0])")
        return ids

    def item(self, name: str, more: str = "") -> None:
        """Open an exhibit, and wait until its videos can be played."""
        self.go(f"#item={name}{more}")
        self.until("document.querySelector('#page .view') !== null")


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visit]]:
    """Opens a gallery in a window of some width; nothing may have gone wrong with it in the end."""
    opened: list[Visit] = []
    contexts = []

    def make(folder: Path, width: int = 1280, scheme: str = "light", motion: str = "no-preference") -> Visit:
        size = {"width": width, "height": 900}
        context = browser.new_context(viewport=size, color_scheme=scheme, reduced_motion=motion)
        contexts.append(context)
        opened.append(Visit(context.new_page(), folder))
        return opened[-1]

    yield make
    for context in contexts:
        context.close()
    assert [fault for each in opened for fault in each.faults] == []

#!/usr/bin/env python3
"""Take the screenshots in docs/gallery.md: galleries of the samples in Debian's Chromium.

    python .ci/screenshots.py --work build/screenshots

Builds the samples, answers them with a simulated model, opens their galleries and writes docs/gallery-*.png with 256
colours each. Needs the requirements of the gallery tests and the extras `perturb`, `text` and `sbert`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from stressreel.core.output import open_output

ROOT = Path(__file__).resolve().parents[1]
SIZE = {"width": 1200, "height": 800}
SAMPLES = {
    "clavi": ("build-clavi", "--charades", "sample"),
    "perturbed": ("build-perturbed", "--msrvtt", "sample", "--modality", "all", "--limit", "2"),
    "causal": ("build-causal", "--annotations", "sample"),
    "decomp": ("build-decomp", "--charades", "sample"),
}
PAGES = {  # picture: gallery, address, colour scheme, scroll offset or target, element under the mouse
    "index": ("clavi", "", "light", 0, None),
    "complement": ("clavi", "#item=0bcce67f", "light", 0, None),
    "questions": (
        "clavi",
        "#item=0bcce67f",
        "light",
        640,
        ".asked-table tbody tr:nth-child(8) .value:nth-child(3) .answer",
    ),
    "compare": ("perturbed", "#item=video90001", "dark", 0, None),
    "grid": ("perturbed", "#item=video90001", "light", ".grid", None),
    "captions": ("perturbed", "#item=video90001", "light", ".captions", None),
    "options": ("causal", "#item=causal_confusion/5", "light", 0, None),
    "graph": ("decomp", "#item=SR0A1-23", "light", 540, None),
}


def run(name: str, *arguments: str) -> None:
    """Run a `stressreel` command."""
    code = f"import sys; sys.argv[0] = {name!r}; from stressreel.cli.main import main, build; "
    subprocess.run(
        [sys.executable, "-c", code + ("main()" if name == "stressreel" else "build()"), *arguments], check=True
    )


def answers(out: Path, file: Path) -> None:
    """Write answers of a simulated model, three quarters of which are correct, selected by a hash of the question."""

    def pick(name: str, most: int) -> int:
        return int(hashlib.sha256(name.encode()).hexdigest(), 16) % most

    lines: list[dict[str, Any]] = []
    for row in open_output(out).rows("questions", ["key", "answer"]):
        right = row["answer"] is not None and pick(row["key"], 4) > 0
        lines.append({"id": row["key"], "answer": row["answer"] if right else ("no", "yes")[pick(row["key"], 2)]})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def picture(page: Page, address: str, down: int | str, pointed: str | None) -> bytes:
    """Open a page and return its screenshot as PNG."""
    page.goto(address)
    page.wait_for_selector("#page h1")
    if isinstance(down, str):
        page.evaluate("(place) => document.querySelector(place).scrollIntoView()", down)
    else:
        page.evaluate(f"window.scrollTo(0, {down})")
    if pointed:
        page.locator(pointed).hover()
    page.wait_for_timeout(1500)
    return page.screenshot()


def main() -> None:
    """Build the samples, write their galleries and take the screenshots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "screenshots")
    work = parser.parse_args().work
    work.mkdir(parents=True, exist_ok=True)
    for name, (command, *options) in SAMPLES.items():
        run(command, *options, "--out", str(work / name), "--no-progress")
        more = []
        if name == "decomp":
            answers(work / name, work / "answers.jsonl")
            more = ["--predictions", str(work / "answers.jsonl")]
        run("stressreel", "gallery", str(work / name), "--to", str(work / f"{name}-gallery"), "--force", *more)
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, (gallery, place, scheme, down, pointed) in PAGES.items():
            page = browser.new_page(viewport=SIZE, color_scheme="dark" if scheme == "dark" else "light")
            address = (work / f"{gallery}-gallery" / "index.html").as_uri() + place
            shot = Image.open(io.BytesIO(picture(page, address, down, pointed))).convert("RGB")
            shot.quantize(256, dither=Image.Dither.NONE).save(ROOT / "docs" / f"gallery-{name}.png", optimize=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()

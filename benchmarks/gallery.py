"""Measure the search speed of a gallery's index in Debian's Chromium.

    python benchmarks/gallery.py                       # 3,000 pairs with 19 questions each
    python benchmarks/gallery.py --items 10000

The gallery contains pairs of Charades classes with CLAVI's questions, without videos. Two times are measured for each
query: that of the search (`Search.run`), and that from a key press to the repaint. Needs Chromium (STRESSREEL_CHROMIUM,
default /usr/bin/chromium) and Playwright's Python package.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright
from stressreel.core.numerics import rng_for
from stressreel.core.source import sample_source
from stressreel.data_cards.gallery.exhibits import Exhibit, ExhibitQuestion, Facet, Gallery
from stressreel.data_cards.gallery.site import PAGE, About, data_files, page, static_files
from stressreel.templates import load_classes, load_questions

QUERIES = ("d", "door", "opening door", "opening door before", "sitting chair window", "c0", "nothing of this kind", "")
ONE = """(query) => {
  const begin = performance.now();
  const found = Search.run(Data.all(), { q: query, chosen: {}, verdict: "" }).length;
  return [performance.now() - begin, found];
}"""
TYPED = """async (query) => {
  const search = document.getElementById("search");
  const begin = performance.now();
  search.value = query;
  search.dispatchEvent(new Event("input"));
  const done = performance.now() - begin;
  await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
  return [done, performance.now() - begin];
}"""


def exhibits(count: int) -> Iterator[Exhibit]:
    names = sorted({entry.phrase for entry in load_classes().classes.values()})
    for number in range(count):
        a, b, c = (names[place] for place in rng_for(0, "gallery", number).choice(len(names), 3, replace=False))
        phrases = {"A": a, "B": b, "C": c}
        asked = [
            ExhibitQuestion(template.worded(phrases, dict.fromkeys("ABC", "")), {"type": template.type})
            for template in load_questions("clavi")
        ]
        split = "test" if number % 3 == 0 else "train"
        facets = {"split": [split], "class": [a, b], "source": [f"V{number // 3:05d}"]}
        yield Exhibit(f"{number:08x}", f"{a} / {b}", facets, "complement", {}, asked=asked)


def write(folder: Path, count: int) -> None:
    shown = list(exhibits(count))
    facets = [Facet("split", "Split"), Facet("class", "Action"), Facet("source", "Source")]
    gallery = Gallery(count, lambda places: iter(shown), "pair", facets, [Facet("type", "Type")])
    about = About("benchmark", "Benchmark: of the search", "1.0.0", "0" * 64, sample_source("made up"), "none", count)
    files = {**static_files(), **dict(data_files(about, gallery, shown, {})), PAGE: page(about)}
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as running:
        folder = Path(name)
        write(folder, given.items)
        size = (folder / "data" / "index.js").stat().st_size
        chromium = os.environ.get("STRESSREEL_CHROMIUM", "/usr/bin/chromium")
        browser = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto((folder / PAGE).as_uri())
        tab.wait_for_selector(".card")
        loaded = tab.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        print(f"{given.items:,} items, index of {size / 1e6:.2f} MB, page ready after {loaded:.0f} ms\n")
        print(f"{'query':24}{'found':>8}{'search, ms':>12}{'slowest':>9}{'with cards':>12}{'repainted':>11}")
        for query in QUERIES:
            runs = [tab.evaluate(ONE, query) for _ in range(given.rounds)]
            typed = [tab.evaluate(TYPED, query) for _ in range(given.rounds)]
            took = [each[0] for each in runs]
            middle = [statistics.median(each) for each in zip(*typed, strict=True)]
            print(
                f"{query!r:24}{runs[0][1]:>8,}{statistics.median(took):>12.1f}{max(took):>9.1f}"
                f"{middle[0]:>12.1f}{middle[1]:>11.1f}"
            )
        browser.close()


if __name__ == "__main__":
    main()

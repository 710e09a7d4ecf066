"""Pages opened in Chromium, with what goes wrong while they are."""

import os
from importlib.util import find_spec
from pathlib import Path

import pytest

CHROMIUM = Path(os.environ.get("STRESSREEL_CHROMIUM", "/usr/bin/chromium"))
THERE = CHROMIUM.is_file() and find_spec("playwright")
NEEDS_CHROMIUM = pytest.mark.skipif(not THERE, reason="needs Playwright and Chromium (apt-get install chromium)")
AXE = Path(__file__).parents[2] / ".ci" / "node_modules" / "axe-core" / "axe.min.js"
NEEDS_AXE = pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not there: npm install --prefix .ci")
HOSTILE = '<img src=x onerror="window.hacked=1"> & </script><script>window.hacked=2</script> {{7*7}} \u2028 \'"` end'


class Visited:
    """Pages that are opened, with what went wrong while it was."""

    def __init__(self, page, folder):
        self.page, self.address = page, (folder / "index.html").as_uri()
        self.text, self.evaluate = page.inner_text, page.evaluate
        self.faults = []
        page.on("console", lambda told: self.faults.append(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda asked: self.faults.append(asked.url) if self.outside(asked.url) else None)
        self.go()

    def outside(self, address):
        return (
            address != "about:blank"
            and not address.startswith("blob:file:")
            and not address.startswith(self.address.removesuffix("index.html"))
        )

    def go(self, place=""):
        """Open a page of it anew, and wait until it is drawn."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.address}{place}")
        self.until("document.querySelector('#page h1') !== null")

    def until(self, condition, seconds=60):
        """Wait for a condition; `wait_for_function` needs eval, which the page forbids."""
        for _ in range(round(seconds / 0.05)):
            if self.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"never: {condition}")

    def entries(self):
        return self.evaluate("Data.all().entries.map((entry) => entry[0])")

    def item(self, name=""):
        """Open an exhibit, or the first one, and wait until it is drawn."""
        self.go(f"#item={name or self.entries()[0]}")
        self.until("document.querySelector('#page .view') !== null")

    def count(self, selector):
        return self.page.locator(selector).count()

    def axe_faults(self, *impacts):
        """What axe-core finds, with the elements; only faults with one of `impacts`, if any are given."""
        self.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.evaluate("axe.run(document, {preload: false}).then((done) => done.violations)")
        chosen = [fault for fault in found if not impacts or fault["impact"] in impacts]
        return [(fault["id"], [node["html"][:120] for node in fault["nodes"]]) for fault in chosen]

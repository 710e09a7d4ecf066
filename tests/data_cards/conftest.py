import pytest
from browsing import CHROMIUM, Visited


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        found = running.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser):
    """Opens pages; nothing may have gone wrong with it in the end."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = []

    def make(folder):
        opened.append(Visited(context.new_page(), folder))
        return opened[-1]

    yield make
    context.close()
    assert [fault for each in opened for fault in each.faults] == []

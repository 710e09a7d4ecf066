import json
import os
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from commands import rows, run

CHROMIUM = Path(os.environ.get("STRESSREEL_CHROMIUM", "/usr/bin/chromium"))
THERE = CHROMIUM.is_file() and find_spec("playwright")
pytestmark = pytest.mark.skipif(not THERE, reason="needs Playwright and Chromium (apt-get install chromium)")
Visit = Callable[[Path], Any]
TEXTS = ("--text-perturbations", "random_noun,typos")
HOSTILE = '<img src=x onerror="window.hacked=1"> & </script><script>window.hacked=2</script> {{7*7}} \u2028 \'"` end'
VIDEOS = "[...document.querySelectorAll('.variant video, .stage video')]"
PLAYABLE = f"{VIDEOS}.length === 2 && {VIDEOS}.every((video) => video.readyState >= 3 && !video.seeking)"
# The times of the frames that both videos show after a press.
SHOWN = """(label) => {
  const videos = VIDEOS;
  const frames = videos.map((video) => new Promise((found) =>
    video.requestVideoFrameCallback((now, frame) => found(frame.mediaTime))));
  document.querySelector(`[aria-label="${label}"]`).click();
  return Promise.all(frames);
}""".replace("VIDEOS", VIDEOS)
# How far apart the videos are, in seconds, at every repaint of a while, and how far the first went.
APART = """async (ms) => {
  const videos = VIDEOS, apart = [], begin = performance.now();
  while (performance.now() - begin < ms) {
    await new Promise(requestAnimationFrame);
    apart.push(Math.abs(videos[0].currentTime - videos[1].currentTime));
  }
  return [Math.max(...apart), videos[0].currentTime];
}""".replace("VIDEOS", VIDEOS)
AXE = Path(__file__).parents[3] / ".ci" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("galleries")


def gallery(out: Path, to: Path, *arguments: object) -> Path:
    done = run("stressreel", "gallery", out, "--to", to, "--no-progress", *arguments)
    assert done.code == 0, done.err
    return to


def json_lines(path: Path, given: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in given))
    return path


@pytest.fixture(scope="module")
def clavi(built: Path, folder: Path) -> Path:
    """Pairs with the scores of a model that always says yes."""
    answers = ({"id": row["question_id"], "answer": "yes"} for row in rows(built, "questions"))
    said = json_lines(folder / "yes.jsonl", answers)
    assert run("stressreel", "score", built, "--predictions", said, "--split", "all").code == 0
    return gallery(built, folder / "clavi", "--scores", folder / "yes.all.scores")


@pytest.fixture(scope="module")
def perturbed(build_once: Callable[..., Path], msrvtt: Path, folder: Path) -> Path:
    """Two short clips under two perturbations and two severities, with captions and combinations."""
    given = ("--msrvtt", msrvtt, "--severity", "1,3", "--perturbations", "jpeg,jumble", "--modality", "all")
    return gallery(build_once("build-perturbed", *given, *TEXTS, "--limit", 2), folder / "perturbed")


@pytest.fixture(scope="module")
def causal(built_causal: Path, folder: Path) -> Path:
    """Questions with confused options, with what a blind model chooses."""
    choices = {row["qid"]: [{"guesser": "first", "choice": 0}] for row in rows(built_causal, "causal_confusion")}
    audit = {"audits": [{"config": "causal_confusion", "part": "answer", "choices": choices}]}
    return gallery(built_causal, folder / "causal", "--audit", json_lines(folder / "audit.json", [audit]))


@pytest.fixture(scope="module")
def graphs(build_once: Callable[..., Path], folder: Path) -> Path:
    """Question graphs with the answers of a model that always says yes."""
    out = build_once("build-decomp", "--charades", "sample")
    answers = ({"id": row["key"], "answer": "yes"} for row in rows(out, "questions"))
    return gallery(out, folder / "graphs", "--predictions", json_lines(folder / "graphs.jsonl", answers))


@pytest.fixture(scope="module")
def hostile(build_once: Callable[..., Path], folder: Path) -> Path:
    """Captions that would run, were they read as HTML or put between the lines of a script."""
    given = ({"video": "clip", "caption": text} for text in (HOSTILE, "a plain caption"))
    captions = json_lines(folder / "captions.jsonl", given)
    return gallery(
        build_once("build-perturbed", "--captions", captions, "--modality", "text", *TEXTS), folder / "hostile"
    )


class Visited:
    """A gallery that is opened, with what went wrong while it was."""

    def __init__(self, page: Any, folder: Path):
        self.page, self.address = page, (folder / "index.html").as_uri()
        self.faults: list[str] = []
        page.on("console", lambda told: self.faults.append(told.text) if told.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda asked: self.faults.append(asked.url) if self.outside(asked.url) else None)
        self.go()

    def outside(self, address: str) -> bool:
        return address != "about:blank" and not address.startswith(self.address.removesuffix("index.html"))

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
        return self.page.evaluate("Data.all().entries.map((entry) => entry[0])")

    def item(self, name: str) -> None:
        """Open an exhibit, and wait until it is drawn."""
        self.go(f"#item={name}")
        self.until("document.querySelector('#page .view') !== null")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as running:
        found = running.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """Opens a gallery; nothing may have gone wrong with it in the end."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened: list[Visited] = []

    def make(folder: Path) -> Visited:
        opened.append(Visited(context.new_page(), folder))
        return opened[-1]

    yield make
    context.close()
    assert [fault for each in opened for fault in each.faults] == []


def first_pair(visit: Visit, clavi: Path) -> Any:
    seen = visit(clavi)
    seen.item(seen.entries()[0])
    return seen


def test_both_videos_play_in_step(visit: Visit, clavi: Path) -> None:
    seen = first_pair(visit, clavi)
    seen.until(PLAYABLE)
    seen.page.click(".play")
    seen.until(f"{VIDEOS}.every((video) => !video.paused && video.currentTime > 0.2)")
    apart, reached = seen.page.evaluate(APART, 1500)
    assert apart <= 0.04
    assert reached > 1
    seen.page.evaluate(f"{VIDEOS}[1].currentTime += 0.06")  # a video that falls behind comes back
    seen.until(f"Math.abs({VIDEOS}[0].currentTime - {VIDEOS}[1].currentTime) <= 0.01")
    seen.page.click(".play")
    seen.until(f"{VIDEOS}.every((video) => video.paused)")
    assert len(set(seen.page.evaluate(f"{VIDEOS}.map((video) => video.currentTime)"))) == 1


def test_a_step_is_one_frame(visit: Visit, clavi: Path) -> None:
    seen = first_pair(visit, clavi)
    seen.until(PLAYABLE)
    film = seen.page.evaluate("Sync.current().players()[0].film")
    frames, seconds = film["rate"]
    for frame in (1, 2, 3):
        assert seen.page.evaluate(SHOWN, "One frame on") == pytest.approx([frame * seconds / frames] * 2, abs=1e-4)
    assert seen.page.evaluate(SHOWN, "One frame back") == pytest.approx([2 * seconds / frames] * 2, abs=1e-4)
    assert seen.page.inner_text(".time").startswith(f"3 / {film['frames']}")


def test_search_filters_and_links(visit: Visit, clavi: Path) -> None:
    seen = visit(clavi)
    everything = seen.entries()
    assert seen.page.locator(".card").count() == len(everything)
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("LIGHT throwing")
    seen.until("document.querySelectorAll('.card').length === 1")
    assert "q=LIGHT" in seen.page.evaluate("location.hash")
    seen.page.fill("#search", "")
    seen.page.get_by_label("Split").select_option("test")
    tests = seen.page.locator(".card").count()
    assert 0 < tests < len(everything)
    seen.page.locator(".card").first.click()
    seen.until(f"document.querySelector('.crumbs')?.textContent.includes('1 of {tests}')")
    second = seen.page.get_attribute("#go-right", "href")
    seen.page.keyboard.press("j")
    seen.until("document.querySelector('.crumbs').textContent.includes('2 of')")
    assert seen.page.evaluate("location.hash") == second
    seen.page.keyboard.press("Escape")
    seen.until(f"document.querySelectorAll('.card').length === {tests}")
    seen.page.get_by_text("Clear", exact=True).click()
    seen.until(f"document.querySelectorAll('.card').length === {len(everything)}")
    seen.go("#item=nowhere")
    assert "Not in this gallery" in seen.page.inner_text("#page")


def test_scores_link_to_what_the_model_got_wrong(visit: Visit, clavi: Path) -> None:
    seen = visit(clavi)
    seen.go("#page=scores")
    link = seen.page.locator("tr", has_text="E-NC").first.locator("a")
    count = int(link.inner_text().split()[0])
    link.click()
    seen.until("document.querySelectorAll('.card').length > 0")
    assert seen.page.locator(".card").count() == count == len(seen.entries())  # who says yes gets all E-NC wrong
    assert seen.page.evaluate("document.getElementById('verdict').value") == "wrong"
    seen.page.locator(".card").first.click()
    seen.until("document.querySelector('.asked-table') !== null")
    assert seen.page.locator("tr.sought .type").all_inner_texts() == ["E-NC"]


def test_a_clip_is_compared_under_every_perturbation(visit: Visit, perturbed: Path) -> None:
    seen = visit(perturbed)
    assert len(seen.entries()) == 2
    seen.item(seen.entries()[0])
    assert seen.page.locator(".thumb").count() == 4
    assert seen.page.locator(".thumb video").count() == 0  # pictures, until they are pointed at
    seen.page.locator(".thumb").nth(3).click()
    seen.until(PLAYABLE)
    assert "jumble · severity 3" in seen.page.inner_text(".chosen")
    severity = seen.page.get_by_role("slider", name="Severity")
    severity.focus()
    severity.press("ArrowLeft")
    assert "jumble · severity 1" in seen.page.inner_text(".chosen")
    seen.until(PLAYABLE)
    seen.page.get_by_label("Wipe: how much is clean, in per cent").fill("80")
    clipped = "getComputedStyle(document.querySelector('.stage .perturbed')).clipPath"
    assert "80%" in seen.page.evaluate(clipped)


def test_captions_are_shown_as_differences(visit: Visit, perturbed: Path) -> None:
    seen = visit(perturbed)
    seen.item(seen.entries()[0])
    original = seen.page.inner_text(".captions .original")
    rows = seen.page.locator(".changes tbody tr")
    assert rows.count() == 2
    for number in range(2):
        kept = rows.nth(number).evaluate(
            "(row) => [...row.querySelectorAll('.diff > :not(ins)')].map((part) => part.textContent).join('')"
        )
        assert kept == original if "unchanged" not in rows.nth(number).inner_text() else kept == ""
    assert seen.page.locator(".changes del").count() > 0


def test_options_show_where_they_come_from(visit: Visit, causal: Path) -> None:
    seen = visit(causal)
    seen.go("#table=causal_confusion")
    count = seen.page.locator(".card").count()
    assert 0 < count < len(seen.entries())
    twin = seen.page.evaluate("Data.all().entries.find((entry) => entry[0].startsWith('causal_confusion/'))[0]")
    seen.item(twin)
    assert seen.page.locator(".options").count() == 2
    assert seen.page.locator(".option").count() == 10
    assert seen.page.locator(".option.is-right").count() == 2
    assert seen.page.locator(".tag.guess").all_inner_texts() == ["blind: first"]
    assert seen.page.locator(".is-twin .diff").count() == seen.page.locator(".is-twin").count() > 0
    seen.until("document.querySelector('.single video')?.readyState >= 2")


def test_a_graph_is_drawn_with_its_rules(visit: Visit, graphs: Path) -> None:
    seen = visit(graphs)
    seen.go("#is=contradictory")
    name = seen.page.inner_text(".card .id")
    seen.item(name)
    content = seen.page.evaluate(
        "Data.item(Data.place(decodeURIComponent(location.hash.slice(6)))).then((f) => f.item.content)"
    )
    drawn = [place for row in content["rows"] for place in row]
    edges = content["edges"]
    seen.until("document.querySelectorAll('.arrow').length > 0")
    assert seen.page.locator(".node").count() == len(drawn) == len(content["nodes"]) - content["hidden"]
    assert seen.page.locator(".arrow").count() == sum(len(edge["children"]) for edge in edges)
    assert seen.page.locator(".rule").count() == len(edges)
    assert seen.page.locator(".node.contradicts").count() == sum(node["contradicts"] for node in content["nodes"]) > 0


def test_hostile_captions_stay_texts(visit: Visit, hostile: Path) -> None:
    seen = visit(hostile)
    assert seen.page.evaluate("document.querySelector('.card .title').textContent") == HOSTILE
    seen.item(seen.entries()[0])
    assert seen.page.evaluate("document.querySelector('#page h1').textContent") == HOSTILE
    assert seen.page.evaluate("document.querySelectorAll('#page script, #page img').length") == 0
    refused = "document.createElement('script'), {textContent: 'window.hacked = 3'}"
    seen.page.evaluate(f"document.body.append(Object.assign({refused}))")
    assert seen.page.evaluate("window.hacked") is None
    assert "Content Security Policy" in seen.faults.pop()


@pytest.mark.parametrize("name", ["clavi", "perturbed", "causal", "graphs"])
def test_axe_finds_nothing_serious(name: str, visit: Visit, request: pytest.FixtureRequest) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not there: npm install --prefix .ci")
    seen = visit(request.getfixturevalue(name))
    for place in ("", f"#item={seen.entries()[-1]}", *(["#page=scores"] if name == "clavi" else [])):
        seen.go(place)
        seen.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = seen.page.evaluate("axe.run(document, {preload: false}).then((done) => done.violations)")
        serious = [fault for fault in found if fault["impact"] in ("serious", "critical")]
        assert [(fault["id"], [node["html"][:120] for node in fault["nodes"]]) for fault in serious] == []

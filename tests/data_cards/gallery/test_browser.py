"""Galleries in Debian's Chromium, opened from the disk: players, search, links, keys, and nothing from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = Path(os.environ.get("STRESSREEL_CHROMIUM", "/usr/bin/chromium"))
THERE = CHROMIUM.is_file() and find_spec("playwright")
pytestmark = pytest.mark.skipif(not THERE, reason="needs Playwright and Chromium (apt-get install chromium)")
Visits = Callable[..., Any]
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


def first_pair(visit: Visits, clavi: Path, **how: Any) -> Any:
    seen = visit(clavi, **how)
    seen.go()
    seen.item(seen.entries()[0])
    return seen


def test_both_videos_play_in_step(visit: Visits, clavi: Path) -> None:
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


def test_a_step_is_one_frame(visit: Visits, clavi: Path) -> None:
    seen = first_pair(visit, clavi)
    seen.until(PLAYABLE)
    film = seen.page.evaluate("Sync.current().players()[0].film")
    frames, seconds = film["rate"]
    for frame in (1, 2, 3):
        assert seen.page.evaluate(SHOWN, "One frame on") == pytest.approx([frame * seconds / frames] * 2, abs=1e-4)
    assert seen.page.evaluate(SHOWN, "One frame back") == pytest.approx([2 * seconds / frames] * 2, abs=1e-4)
    assert seen.page.inner_text(".time").startswith(f"3 / {film['frames']}")


def test_a_piece_of_the_time_line_leads_to_its_first_frame(visit: Visits, clavi: Path) -> None:
    seen = first_pair(visit, clavi)
    seen.until(PLAYABLE)
    pieces = seen.page.evaluate("[...document.querySelectorAll('.piece')].map((piece) => piece.ariaLabel)")
    assert [piece[0] for piece in pieces if piece[0] != "f"] == ["A", "B", "B", "A"]
    start = int(pieces[-1].rsplit(" to ", 1)[0].rsplit(" ", 1)[1])
    seen.page.click(".variant:nth-child(2) .piece:last-child")
    seen.until(f"document.querySelector('.time').textContent.startsWith('{start + 1} / ')")
    assert seen.page.inner_text(".variant:nth-child(2) .now").startswith("A: ")


def test_an_answer_shows_its_opposite_and_its_counterpart(visit: Visits, clavi: Path) -> None:
    seen = first_pair(visit, clavi)
    rows = "document.querySelectorAll('.asked-table tbody tr')"
    assert seen.page.evaluate(f"{rows}.length") == 19
    assert seen.page.locator(".tag.negative").count() == 9
    at = seen.page.evaluate(f"[...{rows}].findIndex((row) => row.querySelector('.tag').textContent === 'BA')")
    buttons = seen.page.locator(".asked-table tbody tr").nth(at).locator(".answer")
    buttons.nth(0).hover()
    opposite = "document.querySelector('.is-opposite').closest('tr').querySelector('th').textContent"
    asked, other = seen.page.evaluate(f"{rows}[{at}].querySelector('th').textContent"), seen.page.evaluate(opposite)
    assert {asked.replace("before", "after"), asked.replace("after", "before")} & {other}
    seen.page.mouse.move(0, 0)
    buttons.nth(1).focus()
    assert seen.page.locator(".is-counterpart").count() == 1
    assert seen.page.evaluate(opposite) == other
    assert "Q′: " in seen.page.inner_text(".relation")
    assert "The model says “yes”." in seen.page.inner_text(".relation")


def test_search_filters_and_links(visit: Visits, clavi: Path) -> None:
    seen = visit(clavi)
    seen.go()
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
    seen.until("document.querySelector('.variants') !== null")
    assert seen.page.inner_text(".crumbs").endswith(f"1 of {tests}")
    second = seen.page.get_attribute("#go-right", "href")
    seen.page.keyboard.press("j")
    seen.until("document.querySelector('.crumbs').textContent.includes('2 of')")
    assert seen.page.evaluate("location.hash") == second
    seen.page.keyboard.press("k")
    seen.until("document.querySelector('.crumbs').textContent.includes('1 of')")
    assert seen.page.evaluate("document.activeElement.id") == "main"
    seen.page.keyboard.press("Escape")
    seen.until(f"document.querySelectorAll('.card').length === {tests}")
    seen.page.get_by_text("Clear", exact=True).click()
    seen.until(f"document.querySelectorAll('.card').length === {len(everything)}")
    assert not seen.page.get_by_text("Clear", exact=True).is_visible()
    seen.go("#item=nowhere")
    assert "Not in this gallery" in seen.page.inner_text("#page")


def test_scores_link_to_what_the_model_got_wrong(visit: Visits, clavi: Path) -> None:
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
    seen.go("#type=E&is=wrong")
    assert seen.page.locator(".card").count() == 0  # and all E right


def test_a_clip_is_compared_under_every_perturbation(visit: Visits, perturbed: Path) -> None:
    seen = visit(perturbed)
    seen.go()
    assert len(seen.entries()) == 2
    seen.item(seen.entries()[0])
    assert seen.page.locator(".thumb").count() == 4
    assert seen.page.locator(".thumb video").count() == 0  # pictures, until they are pointed at
    seen.page.locator(".thumb").nth(1).hover()
    seen.until("document.querySelector('.thumb video')?.paused === false")
    seen.page.locator(".thumb").nth(3).click()
    seen.until(PLAYABLE)
    assert "jumble · severity 3" in seen.page.inner_text(".chosen")
    severity = seen.page.get_by_role("slider", name="Severity")
    severity.focus()
    severity.press("ArrowLeft")
    assert "jumble · severity 1" in seen.page.inner_text(".chosen")
    seen.until(PLAYABLE)
    seen.page.click(".play")
    seen.until(f"{VIDEOS}.every((video) => !video.paused && video.currentTime > 0.1)")
    apart, _ = seen.page.evaluate(APART, 800)
    assert apart <= 0.04
    wipe = seen.page.get_by_label("Wipe: how much is clean, in per cent")
    wipe.fill("80")
    clipped = "getComputedStyle(document.querySelector('.stage .perturbed')).clipPath"
    assert "80%" in seen.page.evaluate(clipped)
    seen.page.get_by_label("wipe", exact=True).uncheck()
    assert seen.page.evaluate(clipped) == "none"


def test_captions_are_shown_as_differences(visit: Visits, perturbed: Path) -> None:
    seen = visit(perturbed)
    seen.go()
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
    pair = seen.page.locator(".pair").first
    pair.click()
    assert "jpeg 3 with" in seen.page.inner_text(".combined") or "jumble 3 with" in seen.page.inner_text(".combined")


def test_options_show_where_they_come_from(visit: Visits, causal: Path) -> None:
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
    assert seen.page.locator(".is-twin").count() > 0
    assert seen.page.locator(".is-twin .diff").count() == seen.page.locator(".is-twin").count()
    seen.until("document.querySelector('.single video')?.readyState >= 2")


def test_a_graph_is_drawn_with_its_rules(visit: Visits, graphs: Path) -> None:
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
    # every child lies below each of its parents
    tops = seen.page.evaluate("[...document.querySelectorAll('.node')].map((box) => box.getBoundingClientRect().top)")
    top = dict(zip(drawn, tops, strict=True))
    assert all(top[child] > top[edge["parent"]] for edge in edges for child in edge["children"])


def test_hostile_captions_stay_texts(visit: Visits, hostile: Path) -> None:
    seen = visit(hostile)
    seen.go()
    given = '<img src=x onerror="window.hacked=1"> & </script><script>window.hacked=2</script> {{7*7}} \u2028 \'"` end'
    assert seen.page.evaluate("document.querySelector('.card .title').textContent") == given
    seen.item(seen.entries()[0])
    assert seen.page.evaluate("document.querySelector('#page h1').textContent") == given
    assert seen.page.evaluate("[window.hacked, document.querySelectorAll('#page script, #page img').length]") == [
        None,
        0,
    ]
    refused = (
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hacked = 3'}))"
    )
    seen.page.evaluate(refused)
    assert seen.page.evaluate("window.hacked") is None
    assert "Content Security Policy" in seen.faults.pop()


MORE = [pytest.param(name, marks=pytest.mark.full) for name in ("perturbed", "causal", "graphs", "hostile")]


@pytest.mark.parametrize("name", ["clavi", *MORE])
def test_a_phone_scrolls_in_one_direction(name: str, visit: Visits, request: pytest.FixtureRequest) -> None:
    seen = visit(request.getfixturevalue(name), width=360)
    seen.go()
    wide = "document.documentElement.scrollWidth"
    assert seen.page.evaluate(wide) == 360
    seen.item(seen.entries()[-1])
    assert seen.page.evaluate(wide) == 360
    if name == "clavi":
        seen.go("#page=scores")
        assert seen.page.evaluate(wide) == 360


@pytest.mark.parametrize("name", ["clavi", "perturbed", "causal", "graphs"])
def test_axe_finds_nothing_serious(name: str, visit: Visits, request: pytest.FixtureRequest) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not there: npm install --prefix .ci")
    seen = visit(request.getfixturevalue(name))
    seen.go()
    found = []
    for place in ("", f"#item={seen.entries()[-1]}", *(["#page=scores"] if name == "clavi" else [])):
        seen.go(place)
        seen.page.evaluate(AXE.read_text(encoding="utf-8"))
        for rules in ("", ", runOnly: ['color-contrast']"):  # all in light, and colours again in dark
            results = seen.page.evaluate(
                f"axe.run(document, {{preload: false{rules}}}).then((done) => done.violations)"
            )
            found += [
                (place, rules, fault["id"], [node["html"][:120] for node in fault["nodes"]][:3])
                for fault in results
                if fault["impact"] in ("serious", "critical")
            ]
            seen.page.get_by_label("Light or dark").click()
            seen.page.wait_for_timeout(200)  # colours move there
    assert found == []


@pytest.mark.full
def test_still_motion_and_the_theme_are_respected(visit: Visits, perturbed: Path) -> None:
    seen = visit(perturbed, motion="reduce")
    seen.go()
    seen.item(seen.entries()[0])
    seen.page.locator(".thumb").nth(0).hover()
    seen.page.wait_for_timeout(150)
    assert seen.page.locator(".thumb video").count() == 0
    paper = "getComputedStyle(document.body).backgroundColor"
    light = seen.page.evaluate(paper)
    seen.page.get_by_label("Light or dark").click()
    assert seen.page.evaluate(paper) != light

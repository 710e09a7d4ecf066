import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from browsing import HOSTILE, NEEDS_AXE, NEEDS_CHROMIUM
from commands import rows, run, succeed

pytestmark = NEEDS_CHROMIUM
Visit = Callable[[Path], Any]
TEXTS = ("--text-perturbations", "random_noun,typos")
VIDEOS = "[...document.querySelectorAll('.variant video, .stage video')]"
PLAYABLE = f"{VIDEOS}.length === 2 && {VIDEOS}.every((video) => video.readyState >= 3 && !video.seeking)"
# The times of the frames that both videos show after a press.
SHOWN = """(label) => {
  const frames = VIDEOS.map((video) => new Promise((found) =>
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


def gallery(out, to, *arguments):
    succeed("stressreel", "gallery", out, "--to", to, "--no-progress", *arguments)
    return to


def json_lines(path, given):
    path.write_text("".join(json.dumps(row) + "\n" for row in given))
    return path


def yes(out, path, key):
    """The answers of a model that always says yes."""
    return json_lines(path, ({"id": row[key], "answer": "yes"} for row in rows(out, "questions")))


@pytest.fixture(scope="module")
def clavi(built, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clavi")
    said = yes(built, folder / "yes.jsonl", "question_id")
    assert run("stressreel", "score", built, "--predictions", said, "--split", "all").code == 0
    return gallery(built, folder / "gallery", "--scores", folder / "yes.all.scores")


@pytest.fixture(scope="module")
def perturbed(build_once, msrvtt, tmp_path_factory):
    """Two short clips under two perturbations and two severities, with captions and combinations."""
    given = ("--msrvtt", msrvtt, "--severity", "1,3", "--perturbations", "jpeg,jumble", "--modality", "all")
    return gallery(build_once("build-perturbed", *given, *TEXTS, "--limit", 2), tmp_path_factory.mktemp("perturbed"))


@pytest.fixture(scope="module")
def causal(built_causal, tmp_path_factory):
    """Questions with confused options, with what a blind model chooses."""
    folder = tmp_path_factory.mktemp("causal")
    choices = {row["qid"]: [{"guesser": "first", "choice": 0}] for row in rows(built_causal, "causal_confusion")}
    audit = {"audits": [{"config": "causal_confusion", "part": "answer", "choices": choices}]}
    return gallery(built_causal, folder / "gallery", "--audit", json_lines(folder / "audit.json", [audit]))


@pytest.fixture(scope="module")
def graphs(built_graphs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    return gallery(built_graphs, folder / "gallery", "--predictions", yes(built_graphs, folder / "yes.jsonl", "key"))


def test_both_videos_play_in_step(visit, clavi):
    seen = visit(clavi)
    seen.item()
    seen.until(PLAYABLE)
    film = seen.evaluate("Sync.current().players()[0].film")
    frames, seconds = film["rate"]
    for label, frame in (("One frame on", 1), ("One frame on", 2), ("One frame on", 3), ("One frame back", 2)):
        assert seen.evaluate(SHOWN, label) == pytest.approx([frame * seconds / frames] * 2, abs=1e-4)
    assert seen.text(".time").startswith(f"3 / {film['frames']}")
    seen.page.click(".play")
    seen.until(f"{VIDEOS}.every((video) => !video.paused && video.currentTime > 0.2)")
    apart, reached = seen.evaluate(APART, 1500)
    assert (apart <= 0.04, reached > 1) == (True, True)
    seen.evaluate(f"{VIDEOS}[1].currentTime += 0.06")  # a video that falls behind comes back
    seen.until(f"Math.abs({VIDEOS}[0].currentTime - {VIDEOS}[1].currentTime) <= 0.01")
    seen.page.click(".play")
    seen.until(f"{VIDEOS}.every((video) => video.paused)")
    assert len(set(seen.evaluate(f"{VIDEOS}.map((video) => video.currentTime)"))) == 1


def test_search_filters_and_links(visit, clavi):
    seen = visit(clavi)
    everything = len(seen.entries())
    assert seen.count(".card") == everything
    seen.page.keyboard.press("/")
    seen.page.keyboard.type("LIGHT throwing")
    seen.until("document.querySelectorAll('.card').length === 1")
    assert "q=LIGHT" in seen.evaluate("location.hash")
    seen.page.fill("#search", "")
    seen.page.get_by_label("Split").select_option("test")
    tests = seen.count(".card")
    assert 0 < tests < everything
    seen.page.locator(".card").first.click()
    seen.until(f"document.querySelector('.crumbs')?.textContent.includes('1 of {tests}')")
    second = seen.page.get_attribute("#go-right", "href")
    seen.page.keyboard.press("j")
    seen.until("document.querySelector('.crumbs').textContent.includes('2 of')")
    assert seen.evaluate("location.hash") == second
    seen.page.keyboard.press("Escape")
    seen.until(f"document.querySelectorAll('.card').length === {tests}")
    seen.page.get_by_text("Clear", exact=True).click()
    seen.until(f"document.querySelectorAll('.card').length === {everything}")
    seen.go("#item=nowhere")
    assert "Not in this gallery" in seen.text("#page")


def test_scores_link_to_what_the_model_got_wrong(visit, clavi):
    seen = visit(clavi)
    seen.go("#page=scores")
    link = seen.page.locator("tr", has_text="E-NC").first.locator("a")
    count = int(link.inner_text().split()[0])
    link.click()
    seen.until("document.querySelectorAll('.card').length > 0")
    assert seen.count(".card") == count == len(seen.entries())  # who says yes gets all E-NC wrong
    assert seen.evaluate("document.getElementById('verdict').value") == "wrong"
    seen.page.locator(".card").first.click()
    seen.until("document.querySelector('.asked-table') !== null")
    assert seen.page.locator("tr.sought .type").all_inner_texts() == ["E-NC"]


def test_a_clip_and_its_captions_are_compared(visit, perturbed):
    seen = visit(perturbed)
    seen.item()
    assert (seen.count(".thumb"), seen.count(".thumb video")) == (4, 0)  # pictures, until they are pointed at
    seen.page.locator(".thumb").nth(3).click()
    seen.until(PLAYABLE)
    assert "jumble · severity 3" in seen.text(".chosen")
    seen.page.get_by_role("slider", name="Severity").press("ArrowLeft")
    assert "jumble · severity 1" in seen.text(".chosen")
    seen.until(PLAYABLE)
    seen.page.get_by_label("Wipe: how much is clean, in per cent").fill("80")
    assert "80%" in seen.evaluate("getComputedStyle(document.querySelector('.stage .perturbed')).clipPath")
    original, changed = seen.text(".captions .original"), seen.page.locator(".changes tbody tr")
    assert changed.count() == 2
    for row in changed.all():
        kept = row.evaluate(
            "(row) => [...row.querySelectorAll('.diff > :not(ins)')].map((p) => p.textContent).join('')"
        )
        assert kept == ("" if "unchanged" in row.inner_text() else original)
    assert seen.count(".changes del") > 0


def test_options_show_where_they_come_from(visit, causal):
    seen = visit(causal)
    seen.go("#table=causal_confusion")
    assert 0 < seen.count(".card") < len(seen.entries())
    seen.item(next(name for name in seen.entries() if name.startswith("causal_confusion/")))
    assert [seen.count(name) for name in (".options", ".option", ".option.is-right")] == [2, 10, 2]
    assert seen.page.locator(".tag.guess").all_inner_texts() == ["blind: first"]
    assert seen.count(".is-twin .diff") == seen.count(".is-twin") > 0
    seen.until("document.querySelector('.single video')?.readyState >= 2")


def test_a_graph_is_drawn_with_its_rules(visit, graphs):
    seen = visit(graphs)
    seen.go("#is=contradictory")
    seen.item(seen.text(".card .id"))
    place = "Data.place(decodeURIComponent(location.hash.slice(6)))"
    content = seen.evaluate(f"Data.item({place}).then((f) => f.item.content)")
    seen.until("document.querySelectorAll('.arrow').length > 0")
    assert seen.count(".node") == sum(map(len, content["rows"])) == len(content["nodes"]) - content["hidden"]
    assert seen.count(".arrow") == sum(len(edge["children"]) for edge in content["edges"])
    assert seen.count(".rule") == len(content["edges"])
    assert seen.count(".node.contradicts") == sum(node["contradicts"] for node in content["nodes"]) > 0


def test_hostile_captions_stay_texts(visit, build_once, tmp_path):
    """Captions that would run, were they read as HTML or put between the lines of a script."""
    given = ({"video": "clip", "caption": text} for text in (HOSTILE, "a plain caption"))
    captions = json_lines(tmp_path / "captions.jsonl", given)
    out = build_once("build-perturbed", "--captions", captions, "--modality", "text", *TEXTS)
    seen = visit(gallery(out, tmp_path / "gallery"))
    assert seen.evaluate("document.querySelector('.card .title').textContent") == HOSTILE
    seen.item()
    assert seen.evaluate("document.querySelector('#page h1').textContent") == HOSTILE
    assert seen.count("#page script, #page img") == 0
    refused = "document.createElement('script'), {textContent: 'window.hacked = 3'}"
    seen.evaluate(f"document.body.append(Object.assign({refused}))")
    assert seen.evaluate("window.hacked") is None
    assert "Content Security Policy" in seen.faults.pop()


@NEEDS_AXE
@pytest.mark.parametrize("name", ["clavi", "perturbed", "causal", "graphs"])
def test_axe_finds_nothing_serious(name, visit, request):
    seen = visit(request.getfixturevalue(name))
    for place in ("", f"#item={seen.entries()[-1]}", *(["#page=scores"] if name == "clavi" else [])):
        seen.go(place)
        assert seen.axe_faults("serious", "critical") == []

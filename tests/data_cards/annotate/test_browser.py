import json
from pathlib import Path

import pytest
from browsing import HOSTILE, NEEDS_AXE, NEEDS_CHROMIUM
from commands import rows, succeed
from stressreel.builders import benchmark_of
from stressreel.core.output import open_output
from stressreel.data_cards.annotate.pages import write_pages
from stressreel.evaluation.people import Item, Plan, check_answers, plan, read_answers

pytestmark = NEEDS_CHROMIUM
ORDER = "(name) => Session.open(name).order.map((item) => item.key)"
ITEMS = 20


def written(out, to, *arguments):
    succeed("stressreel", "annotate", out, "--to", to, "--items", ITEMS, "--no-progress", *arguments)
    return to


@pytest.fixture(scope="module")
def pages(built, tmp_path_factory):
    return written(built, tmp_path_factory.mktemp("annotate") / "pages")


@pytest.fixture(scope="module")
def drawn(built):
    output = open_output(built)
    return plan(output, benchmark_of(output), items=ITEMS, seed=1)


def begin(seen, name):
    """Enter a name with the keyboard, in the field that has the focus."""
    seen.page.keyboard.type(name)
    seen.page.keyboard.press("Enter")
    seen.until("document.querySelector('.item') !== null")
    return seen.evaluate(ORDER, name)


def reached(seen, number):
    seen.until(f"document.querySelector('.asked > .quiet')?.textContent.startsWith('Question {number} of ')")


def saved(seen, folder):
    with seen.page.expect_download() as download:
        seen.page.keyboard.press("s")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def test_three_people_answer_by_keyboard(visit, pages, drawn, built, tmp_path):
    """Each errs at other items, one of them reloads the page in the middle; the files say exactly what they pressed."""
    truth = {row["question_id"]: int(row["answer"]) for row in rows(built, "questions")}
    orders = []
    for name, every in (("Anna", 4), ("Ben B", 7), ("Çağla", 100)):
        seen = visit(pages)
        order = begin(seen, name)
        orders.append(order)
        expected = {}
        for place, key in enumerate(order):
            reached(seen, place + 1)
            right = truth[drawn.by_key[key].question_id]
            said = ("no", "yes")[right != (place % every == 2)]
            expected[key] = (said, "")
            if place == 5:
                expected[key] = (None, "cannot tell")
                seen.page.keyboard.press("t")
            elif place == 6:
                expected[key] = (None, "wrong")
                seen.page.keyboard.press("w")
                seen.page.keyboard.type("<b>No</b> door & 5 y n")
                seen.page.keyboard.press("Control+Enter")
            else:
                seen.page.keyboard.press(said[0])
            if place == 9 and name == "Ben B":
                reached(seen, 11)
                seen.page.reload()
        seen.until("document.querySelector('h1').textContent.startsWith('All answered')")
        answers = read_answers(saved(seen, tmp_path))
        check_answers(answers, drawn)
        assert answers.annotator == name
        assert {said.key: (said.choice, said.mark) for said in answers.answers} == expected
        assert [said.reason for said in answers.answers if said.reason] == ["<b>No</b> door & 5 y n"]
        assert all(0 <= said.seconds < 60 for said in answers.answers)
    assert len({tuple(order) for order in orders}) == 3
    assert {frozenset(order) for order in orders} == {frozenset(drawn.by_key)}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["answers-Anna.json", "answers-Ben_B.json", "answers-Çağla.json"]
    )


def test_answers_can_be_changed_and_skipped(visit, pages, tmp_path):
    seen = visit(pages)
    order = begin(seen, "Dora")
    seen.page.keyboard.press("y")
    reached(seen, 2)
    seen.page.keyboard.press("ArrowRight")  # skips the second
    reached(seen, 3)
    for _ in range(2):
        seen.page.keyboard.press("ArrowLeft")
    reached(seen, 1)
    assert seen.page.locator("[aria-pressed=true]").inner_text() == "Y\nYes"
    seen.page.keyboard.press("n")
    reached(seen, 2)
    seen.page.keyboard.press("w")
    seen.page.keyboard.type("s y t")  # only text
    seen.page.keyboard.press("Escape")
    reached(seen, 2)
    for _ in range(len(order) - 1):
        seen.page.keyboard.press("ArrowRight")
    assert seen.text("h1") == f"{len(order) - 1} without an answer"
    content = json.loads(saved(seen, tmp_path).read_text("utf-8"))
    assert [(said["key"], said["choice"]) for said in content["answers"]] == [(order[0], "no")]
    seen.page.keyboard.press("Enter")
    reached(seen, 2)


def test_progress_is_kept_by_person_and_pages(visit, pages, built, tmp_path):
    """Someone else, and pages with another seed, begin anew; the same person goes on in a new tab."""
    seen = visit(pages)
    begin(seen, "Eve")
    seen.page.keyboard.press("y")
    reached(seen, 2)
    begin(visit(pages), "Eve")
    again = visit(pages)
    begin(again, "Eve")
    reached(again, 2)
    for folder, name in ((pages, "Fay"), (written(built, tmp_path / "other", "--seed", 2), "Eve")):
        other = visit(folder)
        begin(other, name)
        reached(other, 1)


def test_videos_play_and_a_lost_one_is_reported(visit, built, tmp_path):
    folder = written(built, tmp_path / "pages")
    seen = visit(folder)
    begin(seen, "Gil")
    seen.until("document.querySelector('video').readyState >= 2")
    seen.page.keyboard.press("p")
    seen.page.keyboard.press("r")
    seen.until("!document.querySelector('video').paused && document.querySelector('video').currentTime > 0.2")
    seen.page.keyboard.press("p")
    seen.until("document.querySelector('video').paused")
    for path in folder.glob("media/*"):
        path.unlink()
    seen.page.keyboard.press("ArrowRight")
    seen.until("document.querySelector('[role=alert]')?.textContent.includes('cannot be played')")
    seen.faults[:] = [fault for fault in seen.faults if "ERR_FILE_NOT_FOUND" not in fault]


@pytest.mark.parametrize("condition", ["video", "text"])
def test_conditions_hide_the_question_or_the_video(condition, visit, built_causal, tmp_path):
    seen = visit(written(built_causal, tmp_path / "pages", "--condition", condition))
    begin(seen, "Hal")
    assert seen.count("video") == (condition == "video")
    assert ("The question is hidden" in seen.text("h1")) == (condition == "video")
    assert seen.page.locator(".choices:not(.marks) kbd").all_inner_texts() == ["1", "2", "3", "4", "5"]
    seen.page.keyboard.press("5")
    reached(seen, 2)
    assert json.loads(saved(seen, tmp_path).read_text("utf-8"))["answers"][0]["choice"] == 4


def test_hostile_questions_stay_texts(visit, built, tmp_path):
    item = Item("0" * 12, "id", None, HOSTILE, (HOSTILE, "b"))
    hostile = Plan("clavi", "f" * 64, 1, 1, "text", "questions", "test", (item,))
    write_pages(open_output(built), hostile, (), tmp_path / "pages")
    seen = visit(tmp_path / "pages")
    begin(seen, HOSTILE.replace("\u2028", ""))
    assert seen.evaluate("document.querySelector('#page h1').textContent") == HOSTILE
    assert seen.evaluate("document.querySelector('.choice span').textContent") == HOSTILE
    assert seen.count("#page script, #page img") == 0
    assert seen.evaluate("window.hacked") is None
    seen.page.keyboard.press("1")
    path = saved(seen, tmp_path)
    assert Path(path).parent == tmp_path
    assert read_answers(path).annotator.startswith("<img src=x onerror=")


def test_pages_fit_a_narrow_screen(visit, pages):
    seen = visit(pages)
    seen.page.set_viewport_size({"width": 360, "height": 740})
    fits = "document.documentElement.scrollWidth <= 360"
    assert seen.evaluate(fits)
    begin(seen, "a name as long as it may be, to see whether it fits the page")
    assert seen.evaluate(fits)
    seen.page.keyboard.press("w")
    assert seen.evaluate(fits)
    seen.page.keyboard.press("Escape")
    assert seen.page.locator(".choice").first.bounding_box()["height"] >= 44


@NEEDS_AXE
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme, visit, pages):
    seen = visit(pages)
    seen.page.emulate_media(color_scheme=scheme)
    assert seen.axe_faults() == []
    order = begin(seen, "Ida")
    seen.page.keyboard.press("y")
    reached(seen, 2)
    seen.page.keyboard.press("w")
    assert seen.axe_faults() == []
    seen.page.keyboard.press("Escape")
    for _ in order[1:]:
        seen.page.keyboard.press("ArrowRight")
    assert seen.axe_faults() == []

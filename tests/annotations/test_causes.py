from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from stressreel.annotations.causalchaos import read_causalchaos
from stressreel.annotations.samples.events import THINGS, THROWN
from stressreel.annotations.samples.paint import OBJECTS
from stressreel.annotations.samples.stage import frame_at, held_at, state_at, where
from stressreel.annotations.world.causes import annotation_table, causes, compose_causal
from stressreel.negatives.content_words import content_words, says_no_more

SCENES = [compose_causal(1, number, {}) for number in range(300)]
LINKS = ("root", "change", "reaction")
DRAWN = {"gust": "wind", "sneeze": "other person"}  # objects that are not named like the root


def test_the_answer_is_what_changed_before_the_reaction():
    for scene in SCENES:
        for why in scene.questions:
            root, change, reaction, row = why
            assert root.start < change.start < root.end < reaction.end
            assert change.end <= reaction.start
            assert row.answer == causes()["things"][change.action]
            assert row.explanation == causes()["roots"][root.action]
            assert float(row.start_frame / scene.rate) <= root.start
            assert reaction.end <= float(row.end_frame / scene.rate)
            before, after = (state_at(scene.stage.cues, t) for t in (change.start, reaction.start))
            known = {"light" if change.action == "lamp" else change.action}
            assert {thing for thing in before | after if before[thing] != after[thing]} == known


def test_nothing_else_happens_during_a_question():
    for scene in SCENES:
        for link in LINKS:
            assert len({getattr(why, link).action for why in scene.questions}) == len(scene.questions)
        for earlier, later in pairwise(scene.questions):
            assert earlier.row.end_frame < later.row.start_frame
        assert scene.questions[-1].row.end_frame <= scene.num_frames
        assert 13 <= scene.stage.length_s <= 30


def test_the_person_stands_at_the_thing_when_it_changes():
    for scene in SCENES[:100]:
        person = scene.stage.actors[0]
        for why in scene.questions:
            for t in (why.change.start, why.reaction.start + 1):
                station, _ = where(scene.stage, person, t, state_at(scene.stage.cues, t))
                assert station.x == scene.stage.station(why.change).x
                assert not held_at(person.cues, why.change.start)


@pytest.mark.parametrize("root", sorted(causes()["roots"]))
def test_a_root_is_seen_before_the_thing_changes(root):
    scene, why = next((s, w) for s in SCENES for w in s.questions if w.root.action == root)
    _, objects = frame_at(scene.stage, why.change.start - 0.1)
    assert (objects == OBJECTS.index(DRAWN.get(root, root))).sum() > 40
    if root in THROWN:
        _, earlier = frame_at(scene.stage, why.root.start)
        assert not (earlier == OBJECTS.index(root)).any()


@pytest.mark.parametrize("thing", sorted(causes()["things"]))
def test_a_change_is_seen(thing):
    scene, why = next((s, w) for s in SCENES for w in s.questions if w.change.action == thing)
    (first, _), (last, _) = (frame_at(scene.stage, t) for t in (why.root.start, why.reaction.start))
    changed = np.abs(first.astype(int) - last).max(axis=-1) > 30
    assert changed.sum() > 200
    assert (thing in THINGS) == (thing not in ("door", "fridge", "lamp"))


@pytest.mark.parametrize(("first", "second"), [*combinations(LINKS, 2)])
def test_causes_are_drawn_independently_of_effects(first, second):
    pairs = Counter(
        (getattr(why, first).action, getattr(why, second).action) for scene in SCENES for why in scene.questions
    )
    rows, columns = (sorted({pair[side] for pair in pairs}) for side in (0, 1))
    observed = np.array([[pairs[row, column] for column in columns] for row in rows])
    expected = observed.sum() / observed.size  # all values are equally frequent
    surplus = ((observed - expected) ** 2 / expected).sum() - (observed.size - 1)
    assert abs(surplus) < 4 * np.sqrt(2 * observed.size)
    assert observed.min() > 0


def test_no_cause_includes_another():
    for kind in ("things", "roots"):
        for one, two in combinations(map(content_words, causes()[kind].values()), 2):
            assert not says_no_more(one, two)


def test_a_video_depends_on_its_seed_and_number_only():
    assert compose_causal(1, 7, {}) == SCENES[7]
    assert compose_causal(2, 7, {}) != SCENES[7] != SCENES[8]
    assert {compose_causal(1, number, {"person": [2]}).person for number in range(8)} == {"Chloe"}


def test_the_table_is_read_as_causalchaos(tmp_path):
    path = tmp_path / "Annotations.csv"
    path.write_text(annotation_table(SCENES[:20]), encoding="utf-8")
    rows = read_causalchaos(path).rows
    assert [(row.episode, row.question, row.answer) for row in rows] == [
        (scene.id, why.row.question, why.row.answer) for scene in SCENES[:20] for why in scene.questions
    ]


def test_english_of_a_few_questions():
    assert [tuple(why.row[2:]) for scene in SCENES[:2] for why in scene.questions] == [
        ("Why did Finn crouch?", "The vase broke to pieces.", "First, the other person sneezed."),
        ("Why did Finn jump?", "The plant toppled over.", "First, a cat ran up and leapt."),
        ("Why did Finn sit on the floor?", "The window cracked.", "First, a strong wind blew."),
        (
            "Why did Finn suddenly sit down on the floor?",
            "The refrigerator sprang open.",
            "First, the other person threw a book.",
        ),
        ("Why did Finn duck?", "The box fell off its board.", "First, the other person sneezed."),
    ]

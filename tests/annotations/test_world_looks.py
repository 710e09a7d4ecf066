import numpy as np
import pytest
from stressreel.annotations.samples.movements import ACTS, CARRYING
from stressreel.annotations.samples.paint import OBJECTS
from stressreel.annotations.samples.stage import ROLES, Cue, frame_at
from stressreel.annotations.world.factors import world
from stressreel.annotations.world.scenes import Scene, compose

WORDS = world()["actions"]
PERSON_PX, OBJECT_PX = 900, 30  # of 320 × 240


def seen(scene: Scene, cue: Cue) -> dict[str, int]:
    """Count the visible pixels of each object in the middle of an action."""
    _, objects = frame_at(scene.stage, (cue.start + cue.end) / 2)
    return dict(zip(OBJECTS, np.bincount(objects.ravel(), minlength=len(OBJECTS)).tolist(), strict=True))


def test_each_action_has_a_drawing_and_six_ways_to_say_it():
    assert WORDS.keys() == ACTS.keys() | CARRYING.keys()
    for words in WORDS.values():
        assert len({*words["said"]}) == 6
        assert sum(way.startswith("is ") for way in words["said"]) == 1


@pytest.mark.parametrize("foreground", range(5))
def test_nothing_hides_who_acts_or_what_with(foreground):
    for number in range(3):
        scene = compose(foreground, number, {"foreground": [foreground], "people": [1]})
        for role, cues in zip(ROLES, (scene.cues, scene.stage.actors[1].cues), strict=True):
            for cue in cues:
                pixels = seen(scene, cue)
                assert pixels[role] > PERSON_PX, (number, role, cue)
                for thing in {*WORDS[cue.action]["objects"]} & {*OBJECTS}:
                    assert pixels[thing] > OBJECT_PX, (number, thing, cue)

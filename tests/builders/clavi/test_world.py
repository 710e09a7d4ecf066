"""Every answer about the drawn world is what the script says of the frames that are shown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_worlds import write_annotations
from stressreel.annotations.world.factors import world as world_table
from stressreel.annotations.world.scenes import Scene
from stressreel.annotations.world.writer import World
from stressreel.builders.clavi.prepare import prepare
from stressreel.builders.clavi.questions import question_rows
from stressreel.builders.clavi.settings import RELATIONS, ClaviSettings, decided
from stressreel.video.index import FrameIndex


def index_of(scene: Scene) -> FrameIndex:
    """The index of a video that isn't drawn."""
    rate, none = scene.rate, np.empty(0, dtype=np.int64)
    pts = np.arange(scene.num_frames) * rate.denominator
    end = scene.num_frames * rate.denominator
    return FrameIndex(Path(f"{scene.id}.mp4"), pts, end, Fraction(1, rate.numerator), Fraction(0), none)


def shown(scene: Scene, pieces: Sequence[range]) -> list[set[str]]:
    """The actions of everybody in each frame of a clip."""
    cues = [cue for actor in scene.stage.actors for cue in actor.all_cues]
    times = [float(frame / scene.rate) for piece in pieces for frame in piece]
    return [{cue.action for cue in cues if cue.start <= time < cue.end} for time in times]


def objects_of(action: str) -> list[str]:
    """The objects that somebody who does this uses."""
    return list(world_table()["actions"][action]["objects"])


def is_true(form: str, x: list[int], y: list[int], frames: int) -> bool:
    """Whether a question about actions in these frames is answered yes."""
    match form:
        case "Was someone X?":
            return bool(x)
        case "Was the person X at the beginning?":
            return bool(x) and x[0] + x[-1] < frames
        case "Was the person X at the end?":
            return bool(x) and x[0] + x[-1] > frames
        case "Did X happen before Y?":
            return bool(x and y) and x[-1] < y[0]
        case "Did X happen after Y?":
            return bool(x and y) and x[0] > y[-1]
        case "Was the person X while Y?":
            return bool({*x} & {*y})
        case "Was the person already X when they started Y?":
            return bool(x and y) and x[0] < y[0] and y[0] in x
        case "Did X start before Y started?":
            return bool(x and y) and x[0] < y[0]
        case "Did X start after Y started?":
            return bool(x and y) and x[0] > y[0]
        case "Did X happen in the first third of Y?":
            return bool(x and y) and y[0] <= x[0] and x[-1] < y[0] + (y[-1] + 1 - y[0]) / 3 + 1
        case "Did X happen in the last third of Y?":
            return bool(x and y) and x[-1] <= y[-1] and x[0] > y[-1] - (y[-1] + 1 - y[0]) / 3 - 1
    raise AssertionError(form)


@pytest.mark.parametrize("count", [32, pytest.param(1000, marks=pytest.mark.full)])
@pytest.mark.parametrize("cuts", ["release", "balanced"])
def test_answers_are_those_of_the_script(tmp_path: Path, count: int, cuts: Any) -> None:
    world = World("charades", count, 55, {})
    write_annotations(tmp_path, world)
    relations = RELATIONS if cuts == "release" else ("sequence", "overlap")
    settings = ClaviSettings(charades=str(tmp_path), rules="paper", relations=relations, render=False, cuts=cuts)
    prepared = prepare(decided(settings))
    scenes, asked = {scene.id: scene for scene in world.scenes()}, Counter[tuple[str, str]]()
    for unit in prepared.plan.units:
        scene, pair = scenes[unit.source_id], unit.payload
        used = {thing for actor in scene.stage.actors for cue in actor.cues for thing in objects_of(cue.action)}
        assert not used & {part for name in pair["objects_c"] for part in name.split("/")}
        phrases = {pair[f"phrase_{name}"]: pair[f"class_{name}"] for name in "abc"}
        pattern = "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))
        for variant, pieces in enumerate(prepared.builder.edits(index_of(scene), unit)):
            frames = shown(scene, pieces)
            for row in question_rows(pair, variant, prepared.settings):
                named = re.findall(pattern, row["question"])
                x, y = (
                    [number for number, done in enumerate(frames) if phrases[name] in done]
                    for name in (*named, named[0])[:2]
                )
                form = re.sub(pattern, "Y", re.sub(pattern, "X", row["question"], count=1))
                truth = is_true(form, x, y, len(frames))
                assert truth == (row["answer"] == "yes"), (row["question"], scene.id, pair["class_a"], pair["class_b"])
                asked[row["type"], row["answer"]] += 1
    kinds = {"BE", "BA", "SB", "AW", *(("TH",) if "contain" in relations else ())}
    assert {kind for kind, _ in asked} == kinds | {"E", "E-NC", "BA-NC", "W", "W-NC"}
    assert all(asked[kind, "yes"] == asked[kind, "no"] > 0 for kind in kinds)

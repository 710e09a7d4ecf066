"""The drawn world: balance, independence, truth of its tables, and the same bytes however it is drawn."""

import json
from collections import Counter
from itertools import combinations, groupby
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.annotations.charades import read_charades
from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.samples.paint import OBJECTS
from stressreel.annotations.samples.stage import frame_at, state_at
from stressreel.annotations.world.factors import drawn, factors, read_fixed, world
from stressreel.annotations.world.scenes import LONGEST_S, SHORTEST_S, Scene, compose
from stressreel.annotations.world.truth import row_of
from stressreel.annotations.world.writer import World, write_world
from stressreel.core.errors import InputError

SMALL = {"rate": [0], "held": [8], "distractors": [0]}  # the shortest videos


def main_cues(scene: Scene):
    return [cue for cue in scene.stage.actors[0].cues if cue.end - cue.start >= 4]


def bytes_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_world_is_as_varied_as_promised():
    assert len({act for acts in world()["furniture"].values() for act in acts}) >= 12
    assert len(OBJECTS) >= 23
    counts = {name: len(factor.values) for name, factor in factors().items()}
    assert counts["room"] >= 8
    assert counts["person"] >= 6
    assert min(counts.values()) > 1


def test_nothing_comes_first_more_often():
    first, second = Counter[str](), Counter[str]()
    for scene in (compose(3, number, {}) for number in range(400)):
        for position, cue in zip((first, second), main_cues(scene), strict=True):
            position.update([cue.action, cue.at, str(scene.stage.station(cue).x)])
    assert first == second


@given(st.integers(0, 2**32), st.integers(0, 10**6))
def test_timelines(seed: int, number: int):
    scene = compose(seed, number, {})
    assert SHORTEST_S <= scene.stage.length_s <= LONGEST_S
    assert scene.rate >= 12
    a, b = main_cues(scene)
    assert b.start - a.end >= 2.5
    for actor in scene.stage.actors:
        for earlier, later in zip(actor.cues, actor.cues[1:], strict=False):
            assert earlier.end < later.start
        assert all(0 < cue.start < cue.end < scene.stage.length_s for cue in actor.all_cues)
    assert all(cue.end - cue.start < 4 for actor in scene.stage.actors[1:] for cue in actor.cues)
    done = [
        cue.action for actor in scene.stage.actors for cue in actor.all_cues if cue.action not in world()["distractors"]
    ]
    assert len({*done}) == len(done)


def test_factors_are_independent():
    few = [factor for factor in factors().values() if len(factor.values) < 10]
    rows = [drawn(5, number, {}) for number in range(0, 4000, 2)]  # pairs share some values
    for one, other in combinations(few, 2):
        table = np.zeros((len(one.values), len(other.values)))
        for row in rows:
            table[row[one.name], row[other.name]] += 1
        expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
        freedom = (len(one.values) - 1) * (len(other.values) - 1)
        assert ((table - expected) ** 2 / expected).sum() < freedom + 5 * (2 * freedom) ** 0.5, (one.name, other.name)


def test_fixed_factors():
    fixed = read_fixed("room=2-3, people=1")
    rooms = {scene.room for scene in (compose(0, number, fixed) for number in range(40))}
    assert rooms == {*list(world()["rooms"])[1:3]}
    with pytest.raises(ValueError, match="opposite order"):
        read_fixed("span=1")
    assert read_fixed("span=1-4")
    for wrong in ("room=0", "room=9", "rooms=1", "room=1,room=2", "room", "room=x"):
        with pytest.raises(ValueError, match="room"):
            read_fixed(wrong)


def test_a_row_tells_what_the_frame_shows():
    scene = compose(2, 5, {})
    cue = main_cues(scene)[0]
    frame = round((cue.start + cue.end) / 2 * scene.rate)
    t = float(frame / scene.rate)
    _, objects = frame_at(scene.stage, t)
    row = row_of(scene, frame, objects)
    assert sum(thing["pixels"] for thing in row["objects"]) == (objects > 0).sum()
    for thing in row["objects"]:
        inside = objects[thing["top"] : thing["bottom"], thing["left"] : thing["right"]] == OBJECTS.index(thing["name"])
        assert inside.sum() == thing["pixels"]
        assert all(edge.any() for edge in (inside[0], inside[-1], inside[:, 0], inside[:, -1]))
    acting = {action["action"]: action["phase"] for action in row["people"][0]["actions"]}
    assert acting[cue.action] == pytest.approx((t - cue.start) / (cue.end - cue.start))
    assert {each["thing"]: each["value"] for each in row["state"]} == dict(state_at(scene.stage.cues, t))


@pytest.fixture(scope="module")
def charades(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world") / "charades"
    write_world(folder, World("charades", 2, 7, SMALL))
    return folder


def test_bytes_do_not_depend_on_workers_or_interruptions(charades: Path, tmp_path: Path):
    whole = bytes_in(charades)
    again = tmp_path / "again"
    write_world(again, World("charades", 2, 7, SMALL), workers=2)
    assert bytes_in(again) == whole
    write_world(again, World("charades", 2, 7, SMALL))  # nothing is left to do
    record = json.loads((again / "world.json").read_text())
    del record["annotations"]  # as if interrupted before the last step
    (again / "world.json").write_text(json.dumps(record))
    (again / "Charades_v1_train.csv").unlink()
    write_world(again, World("charades", 2, 7, SMALL))
    assert bytes_in(again) == whole


@pytest.mark.parametrize(
    ("other", "named"),
    [(World("charades", 3, 7, SMALL), "another world"), (World("charades", 2, 8, SMALL), "another world")],
)
def test_a_folder_of_something_else_is_not_completed(charades: Path, other: World, named: str):
    before = bytes_in(charades)
    with pytest.raises(InputError, match=named):
        write_world(charades, other)
    assert bytes_in(charades) == before


def test_a_foreign_folder_is_refused(tmp_path: Path):
    (tmp_path / "mine").touch()
    with pytest.raises(InputError, match="not empty"):
        write_world(tmp_path, World("charades", 2, 7, SMALL))


def test_tables_agree(charades: Path):
    lines = [json.loads(line) for line in (charades / "scenes.jsonl").read_text().splitlines()]
    annotated = {video.id: video for video in read_charades(charades).videos}
    frames = pq.read_table(charades / "world.parquet").to_pylist()
    counts = {video: len([*rows]) for video, rows in groupby(row["video_id"] for row in frames)}
    for line in lines:
        video = annotated[line["video_id"]]
        assert counts[video.id] == line["num_frames"]
        assert video.length_s == line["length_s"]
        told = {(action["action"], action["start_s"], action["end_s"]) for action in line["actions"]}
        assert {(segment.action.key, segment.start_s, segment.end_s) for segment in video.segments} == told
    sentences = (charades / "charades_sta_train.txt").read_text().splitlines()
    assert len(sentences) == 5 * sum(action["role"] == "person" for line in lines for action in line["actions"])


def test_five_captions_each(tmp_path: Path):
    write_world(tmp_path / "clips", World("msrvtt", 2, 7, SMALL), workers=2)
    read = read_msrvtt(tmp_path / "clips", ["train"])
    assert [len({*clip.captions}) for clip in read.clips] == [5, 5]
    assert all(len([*(tmp_path / "clips").rglob(f"{clip.source_id}.mp4")]) == 1 for clip in read.clips)

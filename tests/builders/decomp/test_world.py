"""Every answer about the drawn world is what its script says, and its files are those of Action Genome."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import stressreel
from drawn_worlds import write_annotations
from scene_truth import SceneTruth
from stressreel.annotations.action_genome import read_action_genome, with_action_genome
from stressreel.annotations.charades import read_charades
from stressreel.annotations.samples.stage import frame_at
from stressreel.annotations.scene_graphs import charades_graph
from stressreel.annotations.world.action_genome import annotated_frames
from stressreel.annotations.world.truth import SCHEMA, row_of
from stressreel.annotations.world.writer import KINDS, World, scene_as_json
from stressreel.builders.decomp.generation import MakingOptions, make_split
from stressreel.builders.decomp.prepare import prepare
from stressreel.builders.decomp.settings import DecompSettings, decided
from stressreel.builders.decomp.video_graphs import graphs_of
from stressreel.core.documents import read_pickle


def write_frames(folder: Path, world: World) -> dict[str, list[dict]]:
    """Write the annotations without videos, and return the rows of each video's annotated frames."""
    rows = {}
    with pq.ParquetWriter(folder / "world.parquet", SCHEMA) as table:
        for scene in world.scenes():
            rows[scene.id] = [
                row_of(scene, number, frame_at(scene.stage, float(number / scene.rate))[1])
                for number in sorted(annotated_frames(scene))
            ]
            table.write_table(pa.Table.from_pylist(rows[scene.id], SCHEMA))
    write_annotations(folder, world)
    return rows


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    world, folder = World("agqa", 16, 55, KINDS["agqa"].fixed), tmp_path_factory.mktemp("world")
    return world, folder, write_frames(folder, world)


def test_answers_are_those_of_the_script(drawn):
    compare_answers(*drawn)


@pytest.mark.full
def test_many_answers_are_those_of_the_script(tmp_path):
    world = World("agqa", 150, 56, KINDS["agqa"].fixed)
    compare_answers(world, tmp_path, write_frames(tmp_path, world))


def compare_answers(world, folder, rows):
    genome = read_action_genome(folder)
    scenes, graphs = {scene.id: scene for scene in world.scenes()}, defaultdict(list)
    for video in read_charades(folder, ("train", "test")).videos:
        rate = float(scenes[video.id].rate)
        graphs[video.split].append(with_action_genome(charades_graph(video), genome[video.id], rate, drawn=True))
    compared, asked = Counter(), Counter()
    for split, members in graphs.items():
        made = make_split(split, members, MakingOptions())
        for graph in members:
            video = graphs_of(graph.video_id, made.questions[graph.video_id], graph)
            assert not video.answers.conflicts
            truth = SceneTruth(scene_as_json(scenes[graph.video_id]), rows[graph.video_id])
            answers = {question: answer.value for question, answer in video.answers.answers.items()}
            for question, answer in (answers | {root.question: root.answer for root in video.roots}).items():
                right = truth.answer(question)
                assert None in (answer, right) or answer == right, (graph.video_id, question, answer, right)
                compared["sure" if answer and right else "unsure" if answer else "unanswered"] += 1
                asked[type(question).__name__, answer] += 1
    assert compared["sure"] > 3 * compared["unsure"] > 0
    assert compared["unanswered"] < compared.total() / 8
    for kind in ("ObjectExists", "RelationExists", "Interaction", "ActionHappens"):
        assert min(asked[kind, "yes"], asked[kind, "no"]) > 0


def test_boxes_and_relations_are_those_of_the_picture(drawn):
    world, folder, rows = drawn
    table = read_pickle(folder / "object_bbox_and_relationship.pkl", "")  # refuses anything but builtins
    people = read_pickle(folder / "person_bbox.pkl", "")
    listed = (folder / "frame_list.txt").read_text().splitlines()
    assert listed == [*table] == [*people]
    for scene in world.scenes():
        for cue in scene.cues:
            assert sum(cue.start <= row["time_s"] < cue.end for row in rows[scene.id]) >= 5
        for row in rows[scene.id]:
            frame = f"{scene.id}.mp4/{row['frame'] + 1:06}.png"
            boxes = {(box["left"], box["top"], box["right"], box["bottom"]) for box in row["objects"]}
            ((left, top, right, bottom),) = people[frame]["bbox"]
            assert (left, top, right, bottom) in boxes
            classes = [thing["class"] for thing in table[frame]]
            assert len(classes) == len({*classes})
            for thing in table[frame]:
                x, y, width, height = thing["bbox"]
                assert thing["class"] == "floor" or (x, y, x + width, y + height) in boxes
                if {"holding", "touching", "sitting_on", "lying_on"} & {*thing["contacting_relationship"]}:
                    assert max(x, left) < min(x + width, right) + 3  # the two meet in the picture
                    assert max(y, top) < min(y + height, bottom) + 3


def test_frame_rates_are_those_of_the_drawn_videos(tmp_path):
    stressreel.sample(tmp_path, kind="agqa", count=2, seed=2, workers=1, fix="held=9,distractors=1,rate=1")
    folder = str(tmp_path)
    plan = prepare(decided(DecompSettings(charades=folder, action_genome=folder, embed="no"))).plan
    scenes = map(json.loads, (tmp_path / "scenes.jsonl").read_text().splitlines())
    lengths = {scene["video_id"]: scene["length_s"] for scene in scenes}
    assert plan.units
    for unit in plan.units:
        graph = unit.payload["graph"]
        assert graph["provenance"] == "drawn_frames"
        assert 0 < lengths[unit.id] - graph["times"][-1] < 1

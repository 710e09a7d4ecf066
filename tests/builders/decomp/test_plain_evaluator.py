"""What graphs answer, compared with what `plain_evaluator` answers, with rules of making, and with the drawing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from stressreel.annotations.charades import read_charades
from stressreel.annotations.charades_graphs import charades_graph
from stressreel.annotations.samples import acting, room
from stressreel.annotations.samples.acting import held_at, picture_at
from stressreel.annotations.samples.charades import SampleVideo, sample_videos
from stressreel.annotations.scene_graphs import SceneGraph
from stressreel.builders.decomp.drawn_graphs import drawn_graph
from stressreel.builders.decomp.graph_answers import GraphEvaluator
from stressreel.builders.decomp.making import MakingOptions, make_split
from stressreel.builders.decomp.programs import questions as ask
from stressreel.builders.decomp.programs.decomposition import decompose
from stressreel.builders.decomp.programs.questions import Question, kind_of, notation
from stressreel.builders.decomp.video_graphs import graphs_of
from stressreel.templates import read_table
from stressreel.templates.agqa import load_agqa

from .plain_evaluator import ROWS, Evaluator
from .random_graphs import PROVENANCES, Asker, random_graph

Asked = tuple[SceneGraph, Question]


def differences(asked: Iterable[Asked]) -> tuple[Counter[str], list[tuple[str, ...]]]:
    """Count the questions that the builder answers, by kind; list what the plain evaluator answers otherwise."""
    counts, found = Counter[str](), []
    for graph, question in asked:
        told, plain = GraphEvaluator(graph).answer(question), Evaluator(graph).value(question)
        counts[kind_of(question)] += told.value is not None
        if told.value != plain:
            said = f"{told.value}{told.reason and f' ({told.reason})'}, plainly {plain}"
            found.append((graph.provenance, graph.video_id, notation(question), said))
    return counts, found


def made_of(split: str, graphs: Sequence[SceneGraph], making: MakingOptions) -> list[tuple[SceneGraph, list[Question]]]:
    """Make questions; with each graph its roots and sub-questions, once each."""
    made = make_split(split, graphs, making).questions
    every = {
        name: [step.question for each in found for step in decompose(each.question)] for name, found in made.items()
    }
    return [(graph, list(dict.fromkeys(every[graph.video_id]))) for graph in graphs]


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_sample(split: str) -> None:
    graphs = [drawn_graph(video) for video in sample_videos() if video.split == split]
    made = made_of(split, graphs, MakingOptions(paired=False))
    counts, found = differences((graph, question) for graph, asked in made for question in asked)
    assert found == []
    assert counts.total() > 250


def chosen_graphs(shared: Path, number: int) -> list[SceneGraph]:
    videos = [video for video in read_charades(shared / "data" / "charades").videos if video.split == "test"]
    return [charades_graph(video) for video in random.Random(0).sample(videos, number)]


@pytest.mark.shared
@pytest.mark.full
def test_real_charades(shared: Path) -> None:
    """Each of 400 videos is asked its own questions, and those of another."""
    made = made_of("test", chosen_graphs(shared, 400), MakingOptions())
    pairs = zip(made, (*made[1:], made[0]), strict=True)
    asked = ((graph, each) for (graph, own), (_, others) in pairs for each in dict.fromkeys([*own, *others]))
    counts, found = differences(asked)
    assert found == []
    assert counts.total() > 20_000


def random_questions(number: int) -> Iterator[Asked]:
    for seed in range(number):
        rng = random.Random(seed)
        graph = random_graph(rng, PROVENANCES[seed % 4])
        for question in Asker(rng, graph).questions():
            yield graph, question


@pytest.mark.parametrize("number", [120, pytest.param(1500, marks=pytest.mark.full)])
def test_random_graphs(number: int) -> None:
    counts, found = differences(random_questions(number))
    assert found == []
    assert {kind: counts[kind] for kind in load_agqa().kinds if counts[kind] < number // 50} == {}


# What is to be seen in the drawing.


def bare(video: SampleVideo, furniture: str, time: float) -> NDArray[np.uint8]:
    """The picture without a piece of furniture; the person does what they do."""
    with pytest.MonkeyPatch.context() as patch:
        for painters in (room.STANDING, room.CHANGING):
            patch.setitem(painters, furniture, lambda brush, things: None)
        acting._empty_room.cache_clear()
        picture = picture_at(video.stage, time)
    acting._empty_room.cache_clear()
    return picture


def shown(video: SampleVideo, times: Sequence[float]) -> set[str]:
    """The names of all that is drawn, or held, at some of the times; what is held is looked for between them too."""
    table = read_table("agqa_drawn")
    some = times[:: max(1, len(times) // 4)]
    found = set(table["always"])
    for furniture, _ in video.stage.stations:
        if any(not np.array_equal(picture_at(video.stage, time), bare(video, furniture, time)) for time in some):
            found.update(table["furniture"][furniture])
    for time in np.arange(times[0], times[-1] + 0.05, 0.1):
        found.update(table["things"][thing] for thing in held_at(video.actions, float(time)))
    return found


@pytest.mark.parametrize("split", [pytest.param("train", marks=pytest.mark.full), "test"])
def test_what_exists_in_the_sample_is_drawn(split: str) -> None:
    """Every existence that is answered; and in the same parts of the video that of all other objects."""
    videos = {video.id: video for video in sample_videos() if video.split == split}
    counts = Counter[str]()
    graphs = [drawn_graph(video) for video in videos.values()]
    made = make_split(split, graphs, MakingOptions(paired=False)).questions
    for graph in graphs:
        found = graphs_of(graph.video_id, made[graph.video_id], graph).answers.answers
        answers = {question: one.value for question, one in found.items() if one.value}
        asked = {question: value for question, value in answers.items() if isinstance(question, ask.ObjectExists)}
        for window in {question.window for question in asked}:
            readings = Evaluator(graph).parts(window)[0]
            # What an action is done with is taken to be there from its first frame, before the hand has it.
            touched = {ROWS[action]["object"] for action in window.actions if isinstance(action, str)}
            for name in load_agqa().objects.keys() - touched:
                if value := GraphEvaluator(graph).answer(ask.ObjectExists(name, window)).value:
                    asked[ask.ObjectExists(name, window)] = value
            seen = [shown(videos[graph.video_id], [graph.times[frame] for frame in sorted(part)]) for part in readings]
            for question, value in asked.items():
                thing = question.object
                name = thing if isinstance(thing, str) else answers.get(thing)
                if question.window == window and name:
                    assert {name in part for part in seen} == {value == "yes"}, (graph.video_id, notation(question))
                    counts[value] += 1
    assert min(counts["yes"], counts["no"]) > 30

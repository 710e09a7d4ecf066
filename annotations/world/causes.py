"""Compose videos in which one thing leads to another, and why-questions about them in the format of CausalChaos.

A root event changes a thing, and the annotated person reacts. All three are drawn independently (see `causes.yaml`).
No two chains of events of a video share any of them, so each question has one true answer and one true explanation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import ceil, floor
from pathlib import Path
from typing import Any, NamedTuple

from ...core.documents import package_table
from ...core.numerics import rng_for
from ..samples.causal import SampleRow, question_table
from ..samples.events import HIT
from ..samples.figure import Look
from ..samples.stage import WALK_SPEED, Actor, Camera, Cue, Stage, Station
from .factors import drawn, factors, video_id, world
from .scenes import GLOOM, Scene

SPLIT, LETTER = "all", "C"
USED = ("room", "person", "other", "light", "camera", "rate")  # factors
ROOT_S, CHANGE_S, REACTION_S = 2.4, 0.8, (2.8, 3.3)
CHAINS = (2, 3)  # per video


@cache
def causes() -> Mapping[str, Any]:
    """Return the content of `causes.yaml`."""
    table: Mapping[str, Any] = package_table(Path(__file__).with_suffix(".yaml"))
    return table


class Why(NamedTuple):
    """What led to a reaction, and the question about it."""

    root: Cue
    change: Cue
    reaction: Cue
    row: SampleRow


@dataclass(frozen=True)
class CausalScene(Scene):
    """A video of the drawn world with why-questions in temporal order."""

    questions: tuple[Why, ...] = ()


def annotation_table(scenes: Iterable[CausalScene]) -> str:
    """Format the questions of scenes as `Annotations.csv`, numbered from 1."""
    return question_table((scene.id, why.row) for scene in scenes for why in scene.questions)


def compose_causal(seed: int, number: int, fixed: Mapping[str, Sequence[int]]) -> CausalScene:
    """Compose the video with this number. `fixed` is explained in `factors.drawn`."""
    table, looks, indices = causes(), world()["people"], drawn(seed, number, fixed)
    value = {name: factor.values[indices[name]] for name, factor in factors().items()}
    rate, names = Fraction(value["rate"]), list(looks)
    person, other = value["person"], names[(indices["person"] + 1 + indices["other"]) % len(names)]
    rng = rng_for(seed, "causes", number)

    def some(name: str) -> list[str]:
        return [str(key) for key in rng.permutation(sorted(table[name]))]

    count, side = int(rng.choice(CHAINS)), float(rng.choice((1.0, -1.0)))
    places = [side * (x - 160) + 160 for x in table["places"]]
    stations = dict(zip(some("things"), (Station(x, side) for x in rng.permutation(places)), strict=False))
    start, questions = round(float(rng.uniform(0.8, 1.4)), 2), list[Why]()
    for thing, root, reaction in zip(list(stations)[:count], some("roots"), some("reactions"), strict=False):
        if questions:
            way = abs(stations[thing].x - stations[questions[-1].change.at].x)
            start = round(questions[-1].reaction.end + 0.5 + way / WALK_SPEED + float(rng.uniform(0.3, 1.2)), 2)
        hit = round(start + HIT * ROOT_S, 2)
        reacts = round(hit + CHANGE_S + float(rng.uniform(0.0, 0.4)), 2)
        ends = round(reacts + float(rng.uniform(*REACTION_S)), 2)
        wording, reacting = str(rng.choice(table["questions"])), rng.choice(table["reactions"][reaction])
        question = wording.format(person=person, reaction=reacting)
        row = SampleRow(floor(start * rate), ceil(ends * rate), question, table["things"][thing], table["roots"][root])
        cues = Cue(root, start, round(start + ROOT_S, 2), thing), Cue(thing, hit, round(hit + CHANGE_S, 2), thing)
        questions.append(Why(*cues, Cue(reaction, reacts, ends, thing), row))
    room = world()["rooms"][value["room"]]
    stage = Stage(
        wall=room["wall"],
        floor=room["floor"],
        stations=(*stations.items(), ("", Station(side * (table["other"] - 160) + 160, side))),
        actors=(
            Actor(Look(**looks[person]), tuple(why.reaction for why in questions)),
            Actor(Look(**looks[other]), tuple(replace(why.root, at="") for why in questions)),
        ),
        length_s=round(questions[-1].reaction.end + float(rng.uniform(0.4, 1.2)), 2),
        camera=Camera(*world()["cameras"][value["camera"]]),
        decoration=tuple(map(tuple, room["decoration"][:1])),
        tint=tuple(world()["lights"][value["light"]]),
        gloom=GLOOM,
        events=tuple(cue for why in questions for cue in (why.root, why.change)),
    )
    name = video_id(seed, LETTER, number)
    return CausalScene(name, SPLIT, indices, person, other, value["room"], rate, stage, tuple(questions))

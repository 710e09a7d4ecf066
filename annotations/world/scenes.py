"""Compose the videos of the drawn world: who does what, where and when, and how it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...core.numerics import rng_for
from ..samples.figure import Look
from ..samples.stage import WALK_SPEED, Actor, Camera, Cue, Stage, Station
from .factors import NOTHING, SPANS, drawn, factors, video_id, world

LONGEST_S, SHORTEST_S = 30.0, 10.0
ACTION_S, DISTRACTOR_S, OTHER_S = (4.1, 4.7), (2.2, 2.8), (3.0, 3.9)  # CLAVI pairs actions of 4 s and more
GAP_S = (2.6, 3.2)  # between the actions, for `--cuts balanced`; walking may take longer
APART_S = 2.05  # between the ends of holding something and an action, for the relations of CLAVI
EDGE_S = 0.55  # of a third that contains an action
GLOOM = 0.5
LETTER = "V"  # of video ids
TEST_EVERY = 4  # pairs of videos
BEFORE_FIRST, AFTER_FIRST, BEFORE_SECOND, AFTER_SECOND, THROUGHOUT = range(len(SPANS))


@dataclass(frozen=True)
class Scene:
    """A video of the drawn world.

    Attributes:
        indices: Index of each factor's value.
        person: Name of the annotated person.
        other: Name of the other person, or "".
    """

    id: str
    split: str
    indices: Mapping[str, int]
    person: str
    other: str
    room: str
    rate: Fraction
    stage: Stage

    @property
    def num_frames(self) -> int:
        """Return the number of frames."""
        return round(self.stage.length_s * self.rate)

    @property
    def cues(self) -> tuple[Cue, ...]:
        """Return the actions of the annotated person by start."""
        return self.stage.actors[0].all_cues


def compose(seed: int, number: int, fixed: Mapping[str, Sequence[int]]) -> Scene:
    """Compose the video with this number. See `factors.drawn`."""
    table, indices = world(), drawn(seed, number, fixed)
    value = {name: factor.values[indices[name]] for name, factor in factors().items()}
    done = value["actions"].split(", ")
    furniture = [next(name for name, acts in table["furniture"].items() if act in acts) for act in done]
    spots = [table["places"][place] for place in value["places"].split(", ")]
    postures = [table["postures"].get(name, "standing") for name in furniture]
    places = [Station(*spot[posture]) for spot, posture in zip(spots, postures, strict=True)]
    kept = indices["distractors"]
    first, second = value["done"].split(", ")
    distractors = (first if kept & 1 else "", second if kept & 2 else "")  # none, first, last, both
    rng = rng_for(seed, "world", "times", number)
    held = "" if value["held"] == NOTHING else value["held"]
    cues, carry, length = _timeline(rng, done[:2], furniture[:2], places[:2], distractors, held, indices["span"])
    names = list(table["people"])
    person = names[indices["person"]]
    actors = [Actor(Look(**table["people"][person]), cues, carry)]
    other = ""
    if indices["people"]:
        other = names[(indices["person"] + 1 + indices["other"]) % len(names)]
        actors.append(
            Actor(
                Look(**table["people"][other]),
                (_other_cue(rng, done[2], furniture[2], cues, indices["moment"], length),),
            )
        )
    stations = dict(zip(furniture, places, strict=True))
    standing = {table["under"][name]: place for name, place in stations.items() if name in table["under"]}
    room = table["rooms"][value["room"]]
    stage = Stage(
        wall=room["wall"],
        floor=room["floor"],
        stations=tuple({**standing, **stations}.items()),
        actors=tuple(actors),
        length_s=length,
        camera=Camera(*table["cameras"][value["camera"]]),
        decoration=tuple(map(tuple, room["decoration"])),
        foreground=tuple(map(tuple, table["foregrounds"][value["foreground"]])),
        tint=tuple(table["lights"][value["light"]]),
        gloom=GLOOM,
    )
    split = "test" if number // 2 % TEST_EVERY == 1 else "train"
    return Scene(
        video_id(seed, LETTER, number), split, indices, person, other, value["room"], Fraction(value["rate"]), stage
    )


def _timeline(
    rng: np.random.Generator,
    done: Sequence[str],
    at: Sequence[str],
    places: Sequence[Station],
    distractors: tuple[str, str],
    held: str,
    span: int,
) -> tuple[tuple[Cue, ...], Cue | None, float]:
    """Assign times to the actions. Return the cues, that of the far hand, and the length of the video in seconds.

    If something is held throughout, the distractors follow the first and precede the second action, which then lie in
    the first and the last third of that time.
    """

    def between(low: float, high: float) -> float:
        return round(float(rng.uniform(low, high)), 2)

    a, b, lead, tail = between(*ACTION_S), between(*ACTION_S), between(0.5, 1.1), between(0.5, 1.1)
    gap = max(between(*GAP_S), round(abs(places[0].x - places[1].x) / WALK_SPEED + 0.8, 2))
    lasting = [between(*DISTRACTOR_S) if act else 0.0 for act in distractors]
    pauses = [between(0.5, 0.9) if act else 0.0 for act in distractors]
    inside, outside = between(APART_S, a - APART_S), between(APART_S, 2.5)  # the action, where holding begins or ends
    if held and span == THROUGHOUT:
        begin, start_a = 0.3, round(0.3 + outside, 2)
        third = max(start_a + a - begin, b + outside) + EDGE_S
        needed = outside + a + pauses[0] + lasting[0] + gap + lasting[1] + pauses[1] + b + outside
        end = round(begin + max(3 * third, needed), 2)
        start_b, length = round(end - outside - b, 2), round(end + 0.3, 2)
        starts = (start_a + a + pauses[0], start_b - pauses[1] - lasting[1])
    else:
        before, after = lasting[0] + pauses[0], lasting[1] + pauses[1]
        lead = max(lead, outside + 0.3 - before) if held and span == BEFORE_FIRST else lead
        tail = max(tail, outside + 0.3 - after) if held and span == AFTER_SECOND else tail
        start_a = round(lead + before, 2)
        start_b = round(start_a + a + gap, 2)
        length = round(start_b + b + after + tail, 2)
        starts = (lead, start_b + b + pauses[1])
        begin, end = {
            BEFORE_FIRST: (start_a - outside, start_a + inside),
            AFTER_FIRST: (start_a + a - inside, start_a + a + outside),
            BEFORE_SECOND: (start_b - outside, start_b + inside),
            AFTER_SECOND: (start_b + b - inside, start_b + b + outside),
        }.get(span, (0.0, 0.0))
    cues = [
        Cue(done[0], start_a, round(start_a + a, 2), at[0]),
        Cue(done[1], start_b, round(start_b + b, 2), at[1]),
    ]
    for act, place, start, seconds in zip(distractors, at, starts, lasting, strict=True):
        if act:
            cues.append(Cue(act, round(start, 2), round(start + seconds, 2), place))
    carry = Cue(held, round(begin, 2), round(end, 2)) if held else None
    return tuple(sorted(cues, key=lambda cue: cue.start)), carry, length


def _other_cue(rng: np.random.Generator, done: str, at: str, cues: Sequence[Cue], moment: int, length: float) -> Cue:
    """Choose when the other person acts: around the middle of the first action, of the video, or of the second."""
    seconds = float(rng.uniform(*OTHER_S))
    lasting = sorted(cues, key=lambda cue: cue.start - cue.end)[:2]
    first, second = sorted((cue.start + cue.end) / 2 for cue in lasting)
    middle = (first, (first + second) / 2, second)[moment]
    start = min(max(middle - seconds / 2, 0.2), length - seconds - 0.2)
    return Cue(done, round(start, 2), round(start + seconds, 2), at)

"""Write the built-in CausalChaos sample: invented questions, and videos of a cat and a mouse that run through scenes.

The videos do not show what the questions ask about, so the sample can test a build but not a model. No two clips look
the same.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import sin, tau
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ...core.documents import package_table
from ...core.files import write_atomic
from ...video.encode import write_video
from .paint import WIDTH, Brush, Colour, box, canvas, colour, finish, oval

COLUMNS = ("QID", "Filename", "Start Frame", "End Frame", "Question", "Answer", "Explanation")
ANNOTATIONS = "Annotations.csv"
HOLD = 2  # frames per drawing, as in traditional animation
WALLS = ("#cfe4f2", "#f0dfc0", "#d7ead0", "#e3d6ec", "#f6e6a8", "#d9d9e6")
FLOORS = ("#7fae6d", "#b98d5e", "#5f9a58", "#8d7aa0", "#dfc27a", "#8a8fa3")
CAT, MOUSE, DARK = colour("#6d7b8f"), colour("#b9793f"), colour("#2b2b33")
README = """\
The built-in CausalChaos sample of stressreel
=============================================

Sixty why-questions about six invented cartoons, with answers and explanations, in the layout of the annotations of
CausalChaos (Parmar et al., 2024), and an animated video for each cartoon. Nothing here is taken from the real dataset:
no video, no sentence, no name.

The videos show a cat chasing a mouse; they do not show what the questions ask about. Scores on this sample say nothing
about models; they only show that the tools work.

Licence: CC0 1.0 (public domain).
"""


class SampleRow(NamedTuple):
    """A question about part of an episode, from `start_frame` up to but not including `end_frame`."""

    start_frame: int
    end_frame: int
    question: str
    answer: str
    explanation: str


@dataclass(frozen=True)
class Episode:
    """An invented cartoon with its questions in temporal order. The season in its id does not occur in the release."""

    id: str
    title: str
    frames: int
    fps: Fraction
    rows: tuple[SampleRow, ...]


@cache
def sample_episodes() -> tuple[Episode, ...]:
    """Return all episodes of the sample."""
    episodes = package_table(Path(__file__).with_suffix(".yaml"))["episodes"]
    return tuple(
        Episode(**row | {"fps": Fraction(row["fps"]), "rows": tuple(SampleRow(*question) for question in row["rows"])})
        for row in episodes
    )


def annotation_table() -> str:
    """Format the questions of the sample as `Annotations.csv`."""
    return question_table((episode.id, row) for episode in sample_episodes() for row in episode.rows)


def question_table(rows: Iterable[tuple[str, SampleRow]]) -> str:
    """Format questions with their videos as `Annotations.csv`, with a byte order mark as in the release."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows((number, video, *row) for number, (video, row) in enumerate(rows, 1))
    return "\ufeff" + text.getvalue()


def write_causal_annotations(directory: Path) -> Path:
    """Write `Annotations.csv` to a directory, creating it if necessary, and return its path."""
    path = directory / ANNOTATIONS
    write_atomic(path, annotation_table())
    return path


def write_causal_texts(directory: Path) -> None:
    """Write `Annotations.csv` and `README.txt`."""
    write_causal_annotations(directory)
    write_atomic(directory / "README.txt", README)


def write_causal_sample(directory: Path) -> None:
    """Write `Annotations.csv`, `README.txt` and a video for each episode, `videos/<episode>.mp4`."""
    write_causal_texts(directory)
    for number, episode in enumerate(sample_episodes()):
        write_video(directory / "videos" / f"{episode.id}.mp4", frames(episode, number), rate=episode.fps)


def frames(episode: Episode, number: int) -> Iterator[NDArray[np.uint8]]:
    """Draw the frames of an episode one by one, as uint8 RGB arrays of shape (240, 320, 3)."""
    for first in range(0, episode.frames, HOLD):
        picture = _picture(number, first / float(episode.fps))
        for _ in range(min(HOLD, episode.frames - first)):
            yield picture


def _picture(number: int, seconds: float) -> NDArray[np.uint8]:
    paper = _scene(number).copy()
    beat = seconds * tau
    run = 0.11 * beat + number
    mouse = WIDTH / 2 + 0.42 * WIDTH * sin(run)
    cat = WIDTH / 2 + 0.42 * WIDTH * sin(run - 0.55 - 0.2 * sin(0.07 * beat))
    way = 1.0 if sin(run + tau / 4) > 0 else -1.0
    _animal(Brush(paper, cat, way), 1.0, CAT, beat)
    _animal(Brush(paper, mouse, way), 0.45, MOUSE, 1.5 * beat)
    return finish(paper)


@cache
def _scene(number: int) -> Image.Image:
    paper = canvas(colour(WALLS[number % len(WALLS)]))
    brush = Brush(paper)
    brush.fill(box(-10 - 40j, WIDTH + 10 + 30j), colour(FLOORS[number % len(FLOORS)]))
    brush.disc(complex(40 + 45 * number, 180), 16, colour("#fff3c4"))  # the sun
    for tree in range(3):
        trunk = complex(50 + 105 * tree + 9 * number, 30)
        brush.fill(box(trunk - 4, trunk + 4 + 50j), colour("#7a5a3c"))
        brush.fill(oval(trunk + 62j, 24, 26), colour(FLOORS[(number + tree + 1) % len(FLOORS)]))
    return paper


def _animal(brush: Brush, size: float, fur: Colour, beat: float) -> None:
    lift = 4 * size * abs(sin(beat))
    body = complex(0, 30 * size + lift)
    tail = [body - 26 * size, body + size * complex(-44, 14 + 6 * sin(beat)), body + size * complex(-50, 34)]
    brush.line(tail, fur, 5 * size)
    for leg, phase in ((-16, 0.0), (-8, 2.0), (10, 3.1), (18, 1.0)):
        brush.line([body + leg * size, complex(leg * size + 7 * size * sin(beat + phase), 0)], fur, 7 * size)
    brush.fill(oval(body, 28 * size, 15 * size), fur)
    head = body + size * complex(30, 18)
    for ear in (-9, 7):
        brush.fill(oval(head + size * complex(ear, 13), 6 * size, 9 * size), fur)
    brush.disc(head, 14 * size, fur)
    brush.disc(head + size * complex(6, 3), 3.4 * size, (255, 255, 255))
    brush.disc(head + size * complex(7, 3), 1.7 * size, DARK)
    brush.disc(head + size * complex(14, -3), 2.4 * size, DARK)

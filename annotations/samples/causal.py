"""Write the annotations of the built-in CausalChaos sample: invented questions in the layout of the release."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from ...core.files import write_atomic

COLUMNS = ("QID", "Filename", "Start Frame", "End Frame", "Question", "Answer", "Explanation")
ANNOTATIONS = "Annotations.csv"


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
    table = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    return tuple(
        Episode(
            episode["id"],
            episode["title"],
            episode["frames"],
            Fraction(episode["fps"]),
            tuple(SampleRow(*row) for row in episode["rows"]),
        )
        for episode in table["episodes"]
    )


def annotation_table() -> str:
    """Format the questions as `Annotations.csv`, with a byte order mark as in the release."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    rows = ((episode.id, *row) for episode in sample_episodes() for row in episode.rows)
    table.writerows((number, *row) for number, row in enumerate(rows, 1))
    return "\ufeff" + text.getvalue()


def write_causal_annotations(directory: Path) -> Path:
    """Write `Annotations.csv` to a directory, creating it if necessary, and return its path."""
    path = directory / ANNOTATIONS
    write_atomic(path, annotation_table())
    return path

"""The built-in CausalChaos sample: why-questions about invented cartoons, in the layout of the released annotations."""

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
    """A question about the frames from `start_frame` up to `end_frame` of an episode."""

    start_frame: int
    end_frame: int
    question: str
    answer: str
    explanation: str


@dataclass(frozen=True)
class Episode:
    """An invented cartoon; its id has a season that the release lacks, and its rows are in frame order."""

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
    """Return the questions as `Annotations.csv`, with a byte order mark as in the release."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    rows = ((episode.id, *row) for episode in sample_episodes() for row in episode.rows)
    table.writerows((number, *row) for number, row in enumerate(rows, 1))
    return "\ufeff" + text.getvalue()


def write_causal_annotations(directory: Path) -> Path:
    """Write `Annotations.csv` into a directory, which is created if missing, and return its path."""
    path = directory / ANNOTATIONS
    write_atomic(path, annotation_table())
    return path

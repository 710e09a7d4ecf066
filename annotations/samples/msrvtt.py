"""Write the built-in MSR-VTT sample: a CSV like JSFusion's, and short clips animated from `msrvtt.yaml`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.documents import package_table
from ...core.files import write_atomic
from ...video.encode import write_video
from .charades import SOUND_RATE, stage, tones
from .stage import Stage, picture_at

COLUMNS = ("key", "vid_key", "video_id", "sentence")
README = """\
The built-in MSR-VTT sample of stressreel
=========================================

Twelve short animated clips of a cartoon figure performing an everyday action. The table has the format of the 1,000
MSR-VTT test clips (Xu et al., 2016) selected by JSFusion (Yu et al., 2018), so that every loader for the real dataset
can be tried without downloading it.

Nothing here is taken from the real dataset: no video, no sentence, no id. Scores on this sample say nothing about
models; they only show that the tools work.

Licence: CC0 1.0 (public domain).
"""


class Shot(NamedTuple):
    """A shot of a stage, with start and end in seconds."""

    stage: Stage
    start_s: float
    end_s: float


@dataclass(frozen=True)
class SampleClip:
    """A clip of the sample. Its id is "video" followed by a number that is higher than any in MSR-VTT."""

    id: str
    caption: str
    fps: Fraction
    has_sound: bool
    shots: tuple[Shot, ...]

    def frames_of(self, shot: Shot) -> int:
        """Return the number of frames of a shot."""
        return round((shot.end_s - shot.start_s) * self.fps)


@cache
def sample_clips() -> tuple[SampleClip, ...]:
    """Return all clips of the sample in table order."""
    table = package_table(Path(__file__).with_suffix(".yaml"))
    stages = {
        name: stage(row["scene"], row["subject"], row["stations"], [row["action"]], row["action"][2])
        for name, row in table["performances"].items()
    }
    return tuple(
        SampleClip(
            row["id"],
            row["caption"],
            Fraction(row["fps"]),
            row["sound"],
            tuple(Shot(stages[name], start, end) for name, start, end in row["shots"]),
        )
        for row in table["clips"]
    )


def frames(clip: SampleClip) -> Iterator[NDArray[np.uint8]]:
    """Draw the frames of a clip one by one, as uint8 RGB arrays of shape (240, 320, 3)."""
    for shot in clip.shots:
        for frame in range(clip.frames_of(shot)):
            yield picture_at(shot.stage, shot.start_s + float(frame / clip.fps))


def sound(clip: SampleClip, rate: int = SOUND_RATE) -> NDArray[np.float32]:
    """Synthesize the soundtrack of a clip: float32 of shape (num_samples,), in [-1, 1]."""
    pieces = []
    for shot in clip.shots:
        start, length = round(shot.start_s * rate), round(clip.frames_of(shot) / clip.fps * rate)
        whole = tones(shot.stage.cues, round(shot.stage.length_s * rate), rate)
        pieces.append(whole[start : start + length])
    return np.concatenate(pieces)


def write_msrvtt_sample(directory: Path, clips: Sequence[SampleClip] | None = None) -> None:
    """Write all clips of the sample, or only the given ones, in the layout of MSR-VTT's retrieval test."""
    clips = sample_clips() if clips is None else clips
    write_atomic(directory / "MSRVTT_JSFUSION_test.csv", caption_table(clips))
    write_atomic(directory / "README.txt", README)
    for clip in clips:
        path = directory / "videos" / "all" / f"{clip.id}.mp4"
        track = sound(clip) if clip.has_sound else None
        write_video(path, frames(clip), rate=clip.fps, sound=track, sound_rate=SOUND_RATE)


def caption_table(clips: Sequence[SampleClip]) -> str:
    """Format clips as a CSV like JSFusion's."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for number, clip in enumerate(clips):
        table.writerow([f"ret{number}", clip.id.replace("video", "msr"), clip.id, clip.caption])
    return text.getvalue()

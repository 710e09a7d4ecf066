"""Write the built-in Charades sample: annotations in the original formats, and videos drawn from `charades.yaml`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.documents import package_table
from ...core.files import write_atomic
from ...templates import load_classes
from ...video.encode import write_video
from ..charades import COLUMNS, class_files
from .figure import Look
from .stage import Actor, Cue, Stage, Station, picture_at

SOUND_RATE = 16000
TONES_HZ = (261.63, 329.63, 392.00, 523.25, 659.26)  # one pitch for each action of a video
RATINGS = ("7", "7", "Yes")  # quality, relevance and verified
LOUDNESS, FADE_S = 0.25, 0.2
README = """\
The built-in Charades sample of stressreel
==========================================

Ten short animated videos in which a cartoon figure performs one everyday action after another. The annotations have the
formats of Charades (Sigurdsson et al., 2016) and Charades-STA (Gao et al., 2017), and the action classes are those of
Charades, so that every loader for the real datasets can be tried without downloading them.

Nothing here is taken from the real datasets: no video, no sentence, no time, no id. Scores on this sample say nothing
about models; they only show that the tools work.

Licence: CC0 1.0 (public domain).
"""
TABLE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class SampleVideo:
    """A video of the sample.

    Attributes:
        script: Script of one or two sentences.
        descriptions: Viewers' paraphrases of the script.
        objects: Charades object names.
        sentences: Charades-STA sentences of each action.
        subject: Four-character id of the person.
    """

    id: str
    split: str
    subject: str
    scene: str
    script: str
    descriptions: tuple[str, ...]
    objects: tuple[str, ...]
    fps: Fraction
    stage: Stage
    sentences: tuple[tuple[str, ...], ...]

    @property
    def actions(self) -> tuple[Cue, ...]:
        """Return all actions in temporal order."""
        return self.stage.actors[0].cues

    @property
    def length_s(self) -> float:
        """Return the length in seconds."""
        return self.stage.length_s

    @property
    def num_frames(self) -> int:
        """Return the number of frames."""
        return round(self.length_s * self.fps)


@cache
def sample_videos() -> tuple[SampleVideo, ...]:
    """Return all videos of the sample in table order."""
    return tuple(_video(row) for row in package_table(TABLE)["videos"])


def stage(
    scene: str, subject: str, stations: Mapping[str, Sequence[float]], actions: Sequence[Sequence[Any]], length_s: float
) -> Stage:
    """Set up the stage for a scene and a person listed in `charades.yaml`.

    `stations` maps each piece of furniture to a pixel column and a facing direction. Each item of `actions` starts with
    a class, a start and an end.
    """
    return Stage(
        **package_table(TABLE)["scenes"][scene],
        stations=tuple((name, Station(*position)) for name, position in stations.items()),
        actors=(Actor(Look(**package_table(TABLE)["looks"][subject]), tuple(Cue(*action[:3]) for action in actions)),),
        length_s=length_s,
    )


def _video(row: dict[str, Any]) -> SampleVideo:
    return SampleVideo(
        **{name: row[name] for name in ("id", "split", "subject", "scene", "script")},
        descriptions=tuple(row["descriptions"]),
        objects=tuple(row["objects"]),
        fps=Fraction(row["fps"]),
        stage=stage(row["scene"], row["subject"], row["stations"], row["actions"], row["length_s"]),
        sentences=tuple(tuple(action[3:]) for action in row["actions"]),
    )


def frames(video: SampleVideo) -> Iterator[NDArray[np.uint8]]:
    """Draw the frames of a video one by one, as uint8 RGB arrays of shape (240, 320, 3)."""
    for frame in range(video.num_frames):
        yield picture_at(video.stage, float(frame / video.fps))


def sound(video: SampleVideo, rate: int = SOUND_RATE) -> NDArray[np.float32]:
    """Synthesize the soundtrack of a video with `tones`."""
    return tones(video.actions, round(video.num_frames / video.fps * rate), rate)


def tones(cues: Sequence[Cue], num_samples: int, rate: int = SOUND_RATE) -> NDArray[np.float32]:
    """Synthesize a soft tone of a different pitch for each action: float32 of shape (num_samples,), in [-1, 1]."""
    samples = np.zeros(num_samples, np.float32)
    t = np.arange(len(samples)) / rate
    for action, pitch in zip(cues, TONES_HZ[: len(cues)], strict=True):
        inside = (t >= action.start) & (t < action.end)
        to_edge = np.minimum(t[inside] - action.start, action.end - t[inside])
        wave = np.sin(2 * np.pi * pitch * t[inside]) + 0.3 * np.sin(4 * np.pi * pitch * t[inside])
        samples[inside] = LOUDNESS * np.clip(to_edge / FADE_S, 0, 1) * wave
    return samples


def write_charades_sample(directory: Path) -> None:
    """Write the sample in the layout of Charades and Charades-STA, together with `segments.csv` and the videos."""
    for split in ("train", "test"):
        videos = [video for video in sample_videos() if video.split == split]
        write_atomic(directory / f"Charades_v1_{split}.csv", annotation_table(videos))
        write_atomic(directory / f"charades_sta_{split}.txt", sentence_list(videos))
    for name, text in class_tables().items():
        write_atomic(directory / name, text)
    write_atomic(directory / "segments.csv", segment_table())
    write_atomic(directory / "README.txt", README)
    for video in sample_videos():
        path = directory / "Charades_v1_480" / f"{video.id}.mp4"
        write_video(path, frames(video), rate=video.fps, sound=sound(video), sound_rate=SOUND_RATE)


def annotation_table(videos: list[SampleVideo]) -> str:
    """Format videos as a Charades CSV."""
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(COLUMNS)
    for video in videos:
        actions = ";".join(f"{a.action} {a.start:.2f} {a.end:.2f}" for a in video.actions)
        row = [video.id, video.subject, video.scene, *RATINGS, video.script, ";".join(video.objects)]
        table.writerow([*row, ";".join(video.descriptions), actions, f"{video.length_s:.2f}"])
    return text.getvalue()


def sentence_list(videos: list[SampleVideo]) -> str:
    """Format videos as a Charades-STA list in which no time exceeds the length of the video."""
    return "".join(
        f"{video.id} {action.start:.1f} {min(action.end, video.length_s):.1f}##{sentence}\n"
        for video in videos
        for action, sentences in zip(video.actions, video.sentences, strict=True)
        for sentence in sentences
    )


def segment_table() -> str:
    """Format the actions of all videos as a CSV of segments and phrases, like a user's own annotations."""
    text, phrases = io.StringIO(), {entry.id: entry.phrase for entry in load_classes().classes.values()}
    table = csv.writer(text, lineterminator="\n")
    table.writerow(("video", "start", "end", "phrase", "split"))
    for video in sample_videos():
        for cue in video.actions:
            table.writerow((video.id, f"{cue.start:.2f}", f"{cue.end:.2f}", phrases[cue.action], video.split))
    return text.getvalue()


def class_tables() -> dict[str, str]:
    """Return the contents of the four Charades class files, by file name."""
    return {name: "\n".join(lines) + "\n" for name, lines in class_files(load_classes()).items()}

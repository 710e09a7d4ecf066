"""Create a larger synthetic Charades for CLAVI, with the figures and rooms of the built-in sample.

    python examples/drawn_world.py out/world
    build-clavi --charades out/world --rules paper --out out/clavi

Rooms, people, furniture, actions and times are sampled by seed and video. Results on this dataset say nothing about
performance on real videos.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from frames import run
from stressreel.annotations.samples.charades import SampleVideo, annotation_table, class_tables, frames, sample_videos
from stressreel.annotations.samples.movements import ACTS
from stressreel.annotations.samples.stage import Cue, Stage, Station
from stressreel.core.files import write_atomic
from stressreel.core.numerics import rng_for
from stressreel.video.encode import EncodeSettings, write_video

FPS = Fraction(4)
PLACES = (Station(90, -1), Station(146, 1), Station(230, 1))  # to the left, in the middle and to the right
UNDER = {"pillow": "sofa", "blanket": "bed"}  # the furniture on which an object lies
TEST_EVERY = 4


def drawn_video(seed: int, number: int) -> SampleVideo:
    """Sample a video with three actions of 4 to 5 s, each in a different place."""
    rng = rng_for(seed, "drawn world", number)
    known = [video for video in sample_videos() if video.actions]
    room, person = (known[rng.integers(len(known))] for _ in range(2))
    places = [PLACES[place] for place in rng.permutation(len(PLACES))]
    actions: list[str] = []
    for each in rng.permutation(sorted(ACTS)):
        if len(actions) < len(places) and ACTS[each].furniture not in [ACTS[one].furniture for one in actions]:
            actions.append(str(each))
    cues, now = [], float(rng.uniform(0.5, 1.5))
    for action in actions:
        end = now + float(rng.uniform(4.1, 5.0))
        cues.append(Cue(action, round(now, 2), round(end, 2)))
        now = end + float(rng.uniform(1.5, 2.5))
    furniture = {ACTS[action].furniture: place for action, place in zip(actions, places, strict=True)}
    standing = {UNDER[name]: place for name, place in furniture.items() if name in UNDER}
    look = person.stage.look
    stage = Stage(
        room.stage.wall, room.stage.floor, tuple({**standing, **furniture}.items()), look, tuple(cues), round(now, 2)
    )
    return SampleVideo(
        id=f"W{number:04}",
        split="test" if number % TEST_EVERY == TEST_EVERY - 1 else "train",
        subject=f"D{number:03}",
        scene=room.scene,
        script="A person does one thing after another.",
        descriptions=("A person does one thing after another.",),
        objects=tuple(sorted(furniture)),
        fps=FPS,
        stage=stage,
        sentences=((),) * len(cues),
    )


def write_video_of(seed: int, folder: Path, number: int) -> None:
    """Render one video into the folder."""
    video = drawn_video(seed, number)
    path = folder / "Charades_v1_480" / f"{video.id}.mp4"
    write_video(path, frames(video), rate=video.fps, settings=EncodeSettings(preset="ultrafast"))


def write_world(folder: Path, seed: int, sources: int, workers: int) -> None:
    """Write annotations and videos in the layout of Charades. Every fourth video is in the test split."""
    videos = [drawn_video(seed, number) for number in range(sources)]
    for split in ("train", "test"):
        table = annotation_table([video for video in videos if video.split == split])
        write_atomic(folder / f"Charades_v1_{split}.csv", table)
    for name, text in class_tables().items():
        write_atomic(folder / name, text)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        list(pool.map(partial(write_video_of, seed, folder), range(sources), chunksize=8))


def main() -> None:
    """Write the dataset to the given folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder in which to save the videos")
    parser.add_argument("--sources", type=int, default=320, help="number of videos")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    write_world(given.folder, given.seed, given.sources, given.workers)
    print(f"wrote {given.sources} videos to {given.folder}")


if __name__ == "__main__":
    run(main)

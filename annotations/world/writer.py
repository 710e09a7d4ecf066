"""Write any number of drawn videos, annotations in the formats of datasets, and a table of what each frame shows.

A video depends only on the seed and its number, so the files do not depend on the number of workers, or on whether the
work was interrupted.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ...core.documents import parse_own, read_own, shortened
from ...core.errors import InputError, StressreelError
from ...core.files import (
    atomic,
    canonical_json,
    output_error,
    remove_temporaries,
    sha256_file,
    write_atomic,
    write_json,
)
from ...core.progress import Progress, keep
from ...core.version import tool_versions
from ...core.workers import on_processes
from ...video.encode import write_video
from .. import samples
from ..charades import COLUMNS
from ..samples import source_hash
from ..samples.causal import ANNOTATIONS
from ..samples.charades import RATINGS, class_tables
from ..samples.stage import ROLES, Cue
from . import RECORD
from .action_genome import action_genome_files
from .causes import LETTER as CAUSAL_LETTER
from .causes import USED as CAUSAL_FACTORS
from .causes import CausalScene, annotation_table, compose_causal
from .factors import factors, video_id
from .factors import world as world_table
from .scenes import LETTER, Scene, compose
from .truth import SCHEMA, frames

PARTS = ".world"  # folder with a table for each video, while videos are drawn
SCENES, TABLE = "scenes.jsonl", "world.parquet"
SPLITS = ("train", "test")
SUBJECTS = ("A person", "Someone", "One person", "The person", "A character")
OTHERS = ("Another person", "Someone else", "A second person", "The other person", "Another character")
WAYS = len(SUBJECTS)
by_start = attrgetter("start")
README = """\
A drawn world of stressreel
===========================

{count:,} animated videos, drawn by stressreel with --kind {kind} --seed {seed}. The annotations have the
format of {format}. Nothing is taken from that dataset: no video, no sentence, no time, no id.

world.json     how this folder was made, and hashes of the annotations
scenes.jsonl   a line for each video: who does what, where and when, and the value of every factor
world.parquet  a row for each frame: visible pixels and box of every object, the people, and the phase of every action
videos         in {videos}

Drawing it again with the same version gives the same bytes.

Licence: CC BY 4.0. Credit "drawn with stressreel".
"""


@dataclass(frozen=True)
class World:
    """What determines the content of a folder.

    Attributes:
        kind: A key of `KINDS`.
        count: Number of videos.
        fixed: Indices of the values that are allowed, by factor.
    """

    kind: str
    count: int
    seed: int
    fixed: Mapping[str, Sequence[int]]

    def scene(self, number: int) -> Scene:
        """Compose the video with this number."""
        return KINDS[self.kind].compose(self.seed, number, self.fixed)

    def scenes(self) -> Iterator[Scene]:
        """Compose all videos one by one."""
        return map(self.scene, range(self.count))

    def as_json(self) -> dict[str, Any]:
        """Return the settings for `world.json`."""
        return asdict(self) | {"fixed": {name: list(values) for name, values in self.fixed.items()}}


@dataclass(frozen=True)
class Kind:
    """A format of annotations: its name, the folder of the videos, and a function that returns its files by name.

    `annotate` also gets the table of what each frame shows. `compose` composes a video from seed, number and fixed
    factors. `fixed` are factors that are fixed by default, and `used` those that have an effect, if not all. `letter`
    is that of the video ids.
    """

    format: str
    videos: str
    annotate: Callable[[World, Path], Mapping[str, str | bytes]]
    compose: Callable[[int, int, Mapping[str, Sequence[int]]], Scene] = compose
    fixed: Mapping[str, Sequence[int]] = field(default_factory=dict)
    used: Collection[str] = ()
    letter: str = LETTER


def write_world(folder: Path, world: World, workers: int = 1) -> None:
    """Draw the videos that a folder lacks, then write the annotations and tables.

    Raises:
        InputError: The folder is not empty, and was not made with these settings and this version.
        OutputError: The folder cannot be written.
    """
    try:
        _write(folder, world, workers)
    except OSError as error:
        if isinstance(error, StressreelError):
            raise
        raise output_error(error, folder) from error


def _write(folder: Path, world: World, workers: int) -> None:
    made = {
        "world": world.as_json(),
        "versions": tool_versions(render=True),
        "code": source_hash(Path(samples.__file__).parent, Path(__file__).parent),
    }
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        if _same_made(folder, made):
            return
    else:
        write_json(folder / RECORD, made)
    remove_temporaries(folder)
    missing = [n for n in range(world.count) if not all(path.is_file() for path in _paths(folder, world, n))]
    with Progress("drawing videos", len(missing), "video") as progress:
        for _ in on_processes(draw, ((folder, world, number) for number in missing), workers):
            progress.advance()
            keep("video")
    with atomic(folder / TABLE) as temporary, pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as table:
        for number in range(world.count):
            table.write_table(pq.read_table(_paths(folder, world, number)[1]))
    with atomic(folder / SCENES) as temporary, temporary.open("w", encoding="utf-8") as lines:
        lines.writelines(canonical_json(scene_as_json(scene)) + "\n" for scene in world.scenes())
    files = KINDS[world.kind].annotate(world, folder / TABLE)
    for name, content in files.items():
        write_atomic(folder / name, content)
    write_atomic(folder / "README.txt", _readme(world))
    write_json(folder / RECORD, made | {"annotations": {name: sha256_file(folder / name) for name in sorted(files)}})
    shutil.rmtree(folder / PARTS, ignore_errors=True)


def _same_made(folder: Path, made: Mapping[str, Any]) -> bool:
    """Return whether a folder is complete. Raise InputError if it was not made in the same way."""
    path = folder / RECORD
    known = parse_own(read_own(path)) if path.is_file() else None
    if not isinstance(known, dict):
        raise InputError(f"{folder} is not empty. Choose a new or empty folder.")
    for name, value in made.items():
        if known.get(name) != value:
            raise InputError(
                f"{folder} contains videos that were drawn with another {name}: {shortened(known.get(name))}, not "
                f"{shortened(value)}. Use the same options and version to complete it, or choose a new folder."
            )
    return "annotations" in known


def _paths(folder: Path, world: World, number: int) -> tuple[Path, Path]:
    """Return the paths of a video and of its part of the table."""
    name = video_id(world.seed, KINDS[world.kind].letter, number)
    return folder / KINDS[world.kind].videos / f"{name}.mp4", folder / PARTS / f"{name}.parquet"


def draw(folder: Path, world: World, number: int) -> None:
    """Draw a video, and write what its frames show."""
    scene, rows = world.scene(number), list[dict[str, Any]]()
    video, table = _paths(folder, world, number)
    write_video(video, frames(scene, rows), rate=scene.rate)
    with atomic(table) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), temporary, compression="zstd")


def scene_as_json(scene: Scene) -> dict[str, Any]:
    """Return the line of a video in `scenes.jsonl`."""
    people = zip(ROLES, (scene.person, scene.other), scene.stage.actors, strict=False)
    return {
        "video_id": scene.id,
        "split": scene.split,
        "fps": str(scene.rate),
        "length_s": scene.stage.length_s,
        "num_frames": scene.num_frames,
        "factors": {name: factor.values[scene.indices[name]] for name, factor in factors().items()},
        "stations": {name: station._asdict() for name, station in scene.stage.stations},
        "actions": [
            {"role": role, "name": name, "action": cue.action, "start_s": cue.start, "end_s": cue.end, "at": cue.at}
            for role, name, actor in people
            for cue in actor.all_cues
        ],
    }


def _readme(world: World) -> str:
    kind = KINDS[world.kind]
    return README.format(count=world.count, kind=world.kind, seed=world.seed, format=kind.format, videos=kind.videos)


def said(cue: Cue, way: int, *, finite: bool = False) -> str:
    """Return one of the ways to say what a person does, such as "opens the door"; "is opening" only if not `finite`."""
    ways = world_table()["actions"][cue.action]["said"]
    ways = [each for each in ways if not (finite and each.startswith("is "))]
    return str(ways[way % len(ways)])


def story(scene: Scene, way: int) -> str:
    """Describe what happens in a video, in one of `WAYS` wordings."""
    first, *others = (said(cue, way, finite=True) for cue in scene.cues)
    text = f"{SUBJECTS[way]} {', then '.join([first, *others])}."
    if scene.other:
        text += f" {OTHERS[way]} {said(scene.stage.actors[1].cues[0], way, finite=True)}."
    return text


def charades_texts(world: World, _: Path) -> dict[str, str | bytes]:
    """Return the files of Charades and Charades-STA."""
    tables = {split: io.StringIO(newline="") for split in SPLITS}
    sentences = {split: io.StringIO() for split in SPLITS}
    writers = {split: csv.writer(table) for split, table in tables.items()}
    for writer in writers.values():
        writer.writerow(COLUMNS)
    known = world_table()["actions"]
    for scene in world.scenes():
        cues = sorted((*scene.cues, *(cue for actor in scene.stage.actors[1:] for cue in actor.cues)), key=by_start)
        objects = ";".join(sorted({thing for cue in cues for thing in known[cue.action]["objects"]}))
        actions = ";".join(f"{cue.action} {cue.start:.2f} {cue.end:.2f}" for cue in cues)
        stories = [story(scene, way) for way in range(WAYS)]
        room = world_table()["rooms"][scene.room]["scene"]
        row = [scene.id, scene.person, room, *RATINGS, stories[0], objects, ";".join(stories), actions]
        writers[scene.split].writerow([*row, f"{scene.stage.length_s:.2f}"])
        for cue in scene.cues:
            start, end = f"{cue.start:.1f}", f"{min(cue.end, scene.stage.length_s):.1f}"
            for way in range(WAYS):
                sentences[scene.split].write(f"{scene.id} {start} {end}##{SUBJECTS[way].lower()} {said(cue, way)}.\n")
    return {
        **class_tables(),
        **{f"Charades_v1_{split}.csv": table.getvalue() for split, table in tables.items()},
        **{f"charades_sta_{split}.txt": text.getvalue() for split, text in sentences.items()},
    }


def msrvtt_texts(world: World, _: Path) -> dict[str, str | bytes]:
    """Return `MSRVTT_data.json`, with five captions of each video."""
    videos, sentences = [], []
    for scene in world.scenes():
        videos.append({"video_id": scene.id, "split": scene.split, "category": 0})
        sentences += [{"video_id": scene.id, "caption": story(scene, way).rstrip(".").lower()} for way in range(WAYS)]
    return {"MSRVTT_data.json": json.dumps({"videos": videos, "sentences": sentences}, indent=1) + "\n"}


def causal_texts(world: World, _: Path) -> dict[str, str | bytes]:
    """Return `Annotations.csv` of CausalChaos."""
    return {ANNOTATIONS: annotation_table(scene for scene in world.scenes() if isinstance(scene, CausalScene))}


def agqa_files(world: World, table: Path) -> dict[str, str | bytes]:
    """Return the files of Charades, Charades-STA and Action Genome."""
    return {**charades_texts(world, table), **action_genome_files(world.scenes(), table)}


AGQA_FACTORS = [name for name in factors() if name != "people"]  # Action Genome annotates one person
KINDS = {
    "charades": Kind("Charades and Charades-STA", "Charades_v1_480", charades_texts),
    "causal": Kind("CausalChaos", "videos", causal_texts, compose_causal, used=CAUSAL_FACTORS, letter=CAUSAL_LETTER),
    "msrvtt": Kind("MSR-VTT", "videos/all", msrvtt_texts),
    "agqa": Kind(
        "Charades, Charades-STA and Action Genome",
        "Charades_v1_480",
        agqa_files,
        fixed={"people": (0,)},
        used=AGQA_FACTORS,
    ),
}

"""From annotation files to the plan of a build of question graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...annotations.action_genome import genome_hashes, read_action_genome, with_action_genome
from ...annotations.agqa import AGQA, find_question_files, index_rows
from ...annotations.agqa_graphs import find_graph_files, open_graphs
from ...annotations.agqa_hierarchies import AGQA_DECOMP, SPLITS, find_hierarchies, folder_hashes, read_isolated
from ...annotations.charades import CHARADES, read_charades
from ...annotations.charades import SAMPLE as CHARADES_SAMPLE
from ...annotations.charades_graphs import charades_graph
from ...annotations.samples.cache import cached_sample
from ...annotations.samples.charades import sample_videos
from ...annotations.scene_graphs import SceneGraph, graph_as_json
from ...core.errors import UsageError
from ...core.files import sha256_file
from ...core.plan import Plan, Unit
from ...core.source import Source
from ...core.version import tool_versions
from ...video.estimate import look
from ...video.source_files import find_videos, video_folder
from .drawn_graphs import drawn_graph
from .making import Making, make_split
from .plan import plan_decomp, unit_of
from .programs.questions import TEMPLATES
from .readers import AgqaReader, MadeReader, PublishedReader, root_as_json, root_of_row
from .render import Reader
from .settings import SAMPLE, DecompSettings

USUAL_RATE = 30.0  # frames per second of most of Charades' videos
EVERY = 4  # questions of a template and video, at most
AMONG = 200  # videos, at least, that questions are balanced among: of a few, none has the other answer


@dataclass(frozen=True)
class Inputs:
    """What a build starts from.

    Attributes:
        plan: Its plan.
        reader: Reads what a unit is about.
        source: Whose videos and questions they are.
        places: Where videos may lie.
        warnings: What the user has to know before work starts.
    """

    plan: Plan
    reader: Reader
    source: Source
    places: Sequence[Path]
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class _Found:
    """What was read of a collection."""

    units: Sequence[Unit]
    reader: Reader
    source: Source
    places: Sequence[Path]
    hashes: Mapping[str, str]
    notes: Mapping[str, int]
    warnings: Sequence[str] = ()
    more: Mapping[str, Any] = field(default_factory=dict)


def read_inputs(settings: DecompSettings, tools: Mapping[str, str] | None = None) -> Inputs:
    """Read questions and annotations, and plan a build.

    Args:
        settings: As `decided`.
        tools: Versions of the tools, as an earlier build's `build.json` has them; by default those that are here.

    Raises:
        UsageError: There is no such split.
        InputError: Something is missing or malformed.
    """
    found = _READERS[settings.collection](settings)
    plan = plan_decomp(
        found.units,
        settings,
        limit=settings.limit,
        identity={
            "dataset_version": settings.version,
            "tools": dict(tools or tool_versions(render=settings.embed == "yes")),
            "inputs": dict(found.hashes),
            "source": found.source.as_json(),
            "split": settings.split,
        },
        notes=found.notes,
    )
    return Inputs(plan, found.reader, found.source, found.places, found.warnings)


def source_named(settings: DecompSettings) -> Source:
    """Return whose questions and videos settings name."""
    if settings.collection == "charades":
        return CHARADES_SAMPLE if settings.charades == SAMPLE else CHARADES
    return AGQA if settings.collection == "agqa" else AGQA_DECOMP


def splits_of(settings: DecompSettings) -> tuple[str, ...]:
    """Return the splits to build."""
    return SPLITS if settings.split == "all" else (settings.split,)


def _of_charades(settings: DecompSettings) -> _Found:
    sample = settings.charades == SAMPLE
    folder = cached_sample("charades") if sample else Path(str(settings.charades))
    annotations = read_charades(folder, splits_of(settings))
    notes = Counter(annotations.counts)
    drawn = {video.id: video for video in sample_videos()} if sample else {}
    genome = read_action_genome(settings.action_genome) if settings.action_genome else {}
    rates = _rates(settings, genome)
    hashes = dict(annotations.hashes)
    if settings.action_genome:
        hashes |= genome_hashes(settings.action_genome)
    graphs: dict[str, list[SceneGraph]] = {}
    videos = sorted(annotations.videos, key=lambda video: video.id)
    if settings.limit is not None:
        videos = videos[: max(settings.limit, AMONG)]
    for video in videos:
        graph = drawn_graph(drawn[video.id]) if sample else charades_graph(video, notes)
        if frames := genome.get(video.id):
            graph = with_action_genome(graph, frames, rates.get(video.id, USUAL_RATE))
        graphs.setdefault(video.split, []).append(graph)
    making = Making(seed=settings.seed, per_video=settings.most_per_video or len(TEMPLATES) * EVERY, paired=not sample)
    units = []
    for split, members in graphs.items():
        made = make_split(split, members, making)
        notes.update({f"questions_{reason}": count for reason, count in made.lost.items()})
        for graph in members:
            if questions := made.questions[graph.video_id]:
                payload = {"roots": [root_as_json(each) for each in questions], "graph": graph_as_json(graph)}
                units.append(unit_of(graph.video_id, split, payload, settings, float(len(questions))))
    notes["videos_without_questions"] = len(videos) - len(units)
    return _Found(units, MadeReader(settings.wording), source_named(settings), [folder], hashes, notes)


def _of_agqa(settings: DecompSettings) -> _Found:
    splits = splits_of(settings)
    path = Path(settings.agqa or "")
    files = {split: file for split, file in find_question_files(path, splits).items() if split in splits}
    if not files:
        raise UsageError(f"--split {settings.split}: {path} holds no questions of that split.")
    found = find_graph_files(settings.graphs, splits) if settings.graphs else {}
    pickles = {split: file for split, file in found.items() if split in files}
    graphs = {split: open_graphs(file) for split, file in pickles.items()}
    hashes = {file.name: sha256_file(file) for file in (*files.values(), *pickles.values())}
    notes = Counter[str]()
    units, stamps = [], {}
    for split, file in files.items():
        index = index_rows(file, root_of_row)
        stamps[split] = index.stamp
        for video, count in index.counts.items():
            units.append(unit_of(video, split, {"spans": index.of(video)}, settings, float(count)))
            notes["questions"] += count
            notes["videos_without_scene_graph"] += split in graphs and video not in graphs[split].spans
    places = [path.parent if path.is_file() else path]
    reader = AgqaReader({split: str(file) for split, file in files.items()}, stamps, graphs, settings.wording)
    missing = [f"there are no scene graphs of {split}" for split in files if settings.graphs and split not in graphs]
    return _Found(units, reader, AGQA, places, hashes, notes, missing)


def _rates(settings: DecompSettings, wanted: Collection[str]) -> dict[str, float]:
    """Return the frames per second of the videos that are there, for Action Genome counts frames."""
    if not wanted or not settings.videos:
        return {}
    found = find_videos([video_folder(settings.videos)], set(wanted), CHARADES.video_folders)
    shapes = {name: look(path) for name, path in found.items()}
    return {name: shape.fps for name, shape in shapes.items() if shape}


def _of_hierarchies(settings: DecompSettings) -> _Found:
    folder = Path(settings.release_hierarchies or "")
    hashes: dict[str, str] = {}
    files: dict[str, str] = {}
    units, notes = [], Counter[str]()
    for found in find_hierarchies(folder):
        if found.split not in splits_of(settings):
            continue
        hashes |= folder_hashes(found)
        isolated: dict[str, list[Mapping[str, Any]]] = {}
        for row in read_isolated(found.isolated) if found.isolated else []:
            isolated.setdefault(str(row.get("video_id") or str(row["key"]).rpartition("-")[0]), []).append(row)
        files |= {f"{found.split}/{video}": str(path) for video, path in found.files.items()}
        for video in sorted({*found.files, *isolated}):
            alone = isolated.get(video, [])
            notes["isolated_roots"] += len(alone)
            units.append(unit_of(video, found.split, {"isolated": alone}, settings, 1.0))
    if not units:
        raise UsageError(f"--split {settings.split}: {folder} holds no hierarchies of that split.")
    return _Found(units, PublishedReader(files), AGQA_DECOMP, [folder], hashes, notes)


_READERS = {"charades": _of_charades, "agqa": _of_agqa, "release_hierarchies": _of_hierarchies}

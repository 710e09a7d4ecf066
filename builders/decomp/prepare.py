"""Prepare a build of question graphs: load questions and annotations, plan the build, and find the videos."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from ...annotations.action_genome import genome_hashes, read_action_genome, with_action_genome
from ...annotations.actions import AnnotatedVideo
from ...annotations.agqa import AGQA, find_question_files, index_rows
from ...annotations.agqa_graphs import find_graph_files, open_graphs
from ...annotations.agqa_hierarchies import AGQA_DECOMP, SPLITS, find_hierarchies, folder_hashes, read_isolated
from ...annotations.charades import CHARADES, read_charades
from ...annotations.charades import SAMPLE as CHARADES_SAMPLE
from ...annotations.samples import cached_sample
from ...annotations.samples.charades import SampleVideo, sample_videos
from ...annotations.samples.stage import held_at
from ...annotations.scene_graphs import (
    ActionSpan,
    Frames,
    SceneGraph,
    charades_graph,
    frame_times,
    frames_of,
    graph_as_json,
    graph_of,
)
from ...annotations.world.source import drawn_or
from ...core.build_settings import content
from ...core.disputed import DISPUTED, refuse_unknown
from ...core.errors import UsageError, VideoError
from ...core.files import sha256_file
from ...core.plan import LeftOut, Part, Plan, Unit, bounded, counts_of, noted, origin_of
from ...core.settings import SAMPLE
from ...core.source import Source
from ...core.version import tool_versions
from ...templates import read_table, table_hashes
from ...templates.agqa import load_agqa
from ...video.index import open_video
from ...video.source_files import find_videos, video_folder
from ..base import Prepared
from ..runtime.pack import without_units
from ..runtime.source_videos import find_sources
from .generation import MakingOptions, make_split
from .questions import TEMPLATES
from .render import AgqaReader, DecompBuilder, MadeReader, PublishedReader, Reader, root_as_json, root_of_row
from .settings import DecompSettings, decided
from .tables import decomp_configs

USUAL_RATE = 30.0  # frames per second of most Charades videos
EVERY = 4  # maximum number of questions per template and video
AMONG = 200  # minimum number of videos for balancing; if there are fewer, they rarely differ in an answer
TABLES = ("agqa", "agqa_drawn", "agqa_frames", "agqa_ids", "agqa_making")
REMEDIES = {
    "intervals_not_named": "",
    "videos_without_actions": "",
    "questions_held_out": "",
    "questions_no_partner": "more videos",
    "questions_thinned": "more videos",
    "questions_over_most_per_video": "--max-questions-per-video",
    "videos_without_questions": "",
}
"""Reasons why questions and videos are omitted, and the options that change their number."""
LOST = {
    "intervals_not_named": "AGQA's words for these actions are false on screen; they count, but no question names them",
    "empty_intervals": "the intervals end at or before their start",
    "questions_held_out": "their composition or number of steps is held out from train",
    "questions_no_partner": "no other video has the other answer",
    "questions_thinned": "their answer is too frequent",
    "questions_over_most_per_video": "the video has enough questions",
    "videos_without_questions": "no question about the video remains",
}
"""The reasons in words."""


@dataclass(frozen=True)
class Collection:
    """The questions and annotations that were loaded for a build.

    Attributes:
        source: Source of the videos and questions.
        places: Folders that may contain the videos.
        hashes: SHA-256 of the input files by name.
        notes: Counts for the report.
        warnings: Messages to show before work starts.
        left_out: Intervals, questions and videos that were left out.
    """

    units: Sequence[Unit]
    reader: Reader
    source: Source
    places: Sequence[Path]
    hashes: Mapping[str, str]
    notes: Mapping[str, int]
    warnings: Sequence[str] = ()
    left_out: Sequence[LeftOut] = ()


def read_inputs(settings: DecompSettings) -> tuple[Plan, Collection]:
    """Load questions and annotations, and plan a build. `settings` must have been returned by `decided`.

    Raises:
        UsageError: The dataset does not have the requested split.
        InputError: A file is missing or malformed.
    """
    disputed = settings.disputed()
    collection = _READERS[settings.collection](settings)
    identity = {
        "dataset_version": settings.version,
        "tools": tool_versions(render=settings.embed == "yes"),
        "inputs": {**collection.hashes, **settings.disputed_hashes()},
        "source": collection.source.as_json(),
        "split": settings.split,
        "settings": content(settings),
        "limit": settings.limit,
        "tables": table_hashes(*TABLES),
    }
    plan = Plan(
        builder="decomp",
        identity=identity,
        units=tuple(sorted(collection.units, key=lambda unit: unit.id))[: settings.limit],
        configs=decomp_configs(settings),
        noun="video",
        advice="Check the inputs and --split.",
        notes=dict(sorted(collection.notes.items())),
        remedies=REMEDIES,
        left_out=bounded(collection.left_out),
    )
    for questions in disputed:
        plan = without_disputed(plan, collection.reader, questions)
    return plan, collection


def without_disputed(plan: Plan, reader: Reader, disputed: Mapping[str, str]) -> Plan:
    """Return a plan without the roots whose graphs contain a question that people disputed."""
    units, unknown, empty = {unit.id: unit for unit in plan.units}, {*disputed}, dict[str, str]()
    lost = [*plan.left_out]
    for unit in sorted(plan.units, key=lambda unit: not any(name.startswith(unit.id) for name in disputed)):
        if not unknown:
            break
        graphs, part = {row["root"]: row["nodes"] for row in reader.read(unit).graphs()}, unit.items[0]
        gone = {root: name for root, nodes in graphs.items() for name in nodes if name in disputed}
        unknown -= {name for nodes in graphs.values() for name in nodes}
        for root, name in gone.items():
            line, why = origin_of(part.lines, disputed[name])
            lost.append(LeftOut("selection", "question", root, DISPUTED, why, unit.id, part.file, line))
        if gone:
            payload = {**unit.payload, DISPUTED: [*unit.payload.get(DISPUTED, ()), *gone]}
            units[unit.id] = replace(unit, payload=payload)
        if gone and len(gone) == len(graphs):
            empty[unit.id] = "people disputed questions of all its graphs"
    refuse_unknown(unknown)
    return without_units(replace(plan, units=tuple(units.values()), left_out=bounded(lost)), empty)


def _unit(part: Part, split: str, payload: Mapping[str, Any], settings: DecompSettings, cost: float) -> Unit:
    """Return the unit of a video. It has a source video only if videos are embedded."""
    source = part.name if settings.embed == "yes" else ""
    return Unit(part.name, split, source, dict(payload), cost, parts=(part,))


def _splits(settings: DecompSettings) -> tuple[str, ...]:
    return SPLITS if settings.split == "all" else (settings.split,)


def _frame_rate(path: Path) -> float | None:
    """Return the frame rate in the header of a video, or None if the file cannot be opened or states none."""
    with suppress(VideoError), open_video(path) as (_, stream):
        return float(stream.average_rate or stream.guessed_rate or 0) or None
    return None


def _of_charades(settings: DecompSettings) -> Collection:
    sample = settings.charades == SAMPLE
    folder = cached_sample("charades") if sample else Path(str(settings.charades))
    annotations = read_charades(folder, _splits(settings))
    notes = Counter(annotations.counts)
    animated = {video.id: video for video in sample_videos()} if sample else {}
    genome = read_action_genome(Path(settings.action_genome)) if settings.action_genome else {}
    rates: dict[str, float] = {}
    if genome:  # Action Genome uses frame numbers
        places = [video_folder(Path(settings.videos))] if settings.videos else [folder]
        paths = find_videos(places, set(genome), CHARADES.video_folders)
        rates = {name: rate for name, path in paths.items() if (rate := _frame_rate(path))}
    if settings.action_genome and not any(video.id in genome for video in annotations.videos):
        raise UsageError(
            f"--action-genome has no effect because {settings.action_genome} annotates none of these "
            f"{len(annotations.videos):,} videos. Leave it out, or use the annotations of the same videos."
        )
    hashes = dict(annotations.hashes)
    if settings.action_genome:
        hashes |= genome_hashes(Path(settings.action_genome))
    source = CHARADES_SAMPLE if sample else drawn_or(CHARADES, folder, hashes)
    graphs: dict[str, list[SceneGraph]] = {}
    left_out: list[LeftOut] = []
    videos = sorted(annotations.videos, key=lambda video: video.id)
    if settings.limit is not None:
        videos = videos[: max(settings.limit, AMONG)]
    for video in videos:
        omitted = Counter[str]()
        graph = drawn_graph(animated[video.id]) if sample else charades_graph(video, omitted)
        left_out += [_lost(video, "intervals", reason, count) for reason, count in sorted(omitted.items())]
        if frames := genome.get(video.id):
            graph = with_action_genome(graph, frames, rates.get(video.id, USUAL_RATE), drawn=source.drawn)
        graphs.setdefault(video.split, []).append(graph)
    per_video = settings.max_questions_per_video or len(TEMPLATES) * EVERY
    options = MakingOptions(seed=settings.seed, per_video=per_video, paired=not sample)
    units = []
    by_id = {video.id: video for video in videos}
    for split, members in graphs.items():
        generated = make_split(split, members, options)
        excluded = (
            (by_id[name], f"questions_{reason}", count) for (name, reason), count in sorted(generated.lost.items())
        )
        left_out += [_lost(video, "questions", reason, count) for video, reason, count in excluded if count]
        for graph in members:
            if questions := generated.questions[graph.video_id]:
                payload = {"roots": [root_as_json(root) for root in questions], "graph": graph_as_json(graph)}
                video = by_id[graph.video_id]
                part = Part(video.id, video.file, (video.line,) if video.line else ())
                units.append(_unit(part, split, payload, settings, float(len(questions))))
    with_questions = {unit.id for unit in units}
    left_out += [
        _lost(video, "video", "videos_without_questions") for video in videos if video.id not in with_questions
    ]
    notes.update(counts_of(left_out))
    return Collection(units, MadeReader(settings.wording), source, [folder], hashes, notes, left_out=left_out)


def _lost(video: AnnotatedVideo, kind: str, reason: str, count: int = 1) -> LeftOut:
    """Return the record of a video that has no questions, or of a number of its intervals or questions."""
    return LeftOut("selection", kind, video.id, reason, LOST[reason], video.id, video.file, video.line, count)


def _of_agqa(settings: DecompSettings) -> Collection:
    splits = _splits(settings)
    path = Path(settings.agqa or "")
    files = {split: file for split, file in find_question_files(path, splits).items() if split in splits}
    if not files:
        raise UsageError(f"--split {settings.split}: {path} contains no questions of that split.")
    graph_files = find_graph_files(Path(settings.graphs), splits) if settings.graphs else {}
    pickles = {split: file for split, file in graph_files.items() if split in files}
    graphs = {split: open_graphs(file) for split, file in pickles.items()}
    hashes = {file.name: sha256_file(file) for file in (*files.values(), *pickles.values())}
    notes = Counter[str]()
    units, stamps = [], {}
    for split, file in files.items():
        index = index_rows(file, root_of_row)
        stamps[split] = index.stamp
        for video, count in index.counts.items():
            units.append(_unit(Part(video, file.name), split, {"spans": index.of(video)}, settings, float(count)))
            notes["questions"] += count
            notes["videos_without_scene_graph"] += split in graphs and video not in graphs[split].spans
    folders = [path.parent if path.is_file() else path]
    reader = AgqaReader({split: str(file) for split, file in files.items()}, stamps, graphs, settings.wording)
    missing = [f"there are no scene graphs of {split}" for split in files if settings.graphs and split not in graphs]
    return Collection(units, reader, AGQA, folders, hashes, notes, missing)


def _of_hierarchies(settings: DecompSettings) -> Collection:
    folder = Path(settings.release_hierarchies or "")
    hashes: dict[str, str] = {}
    files: dict[str, str] = {}
    units, notes = [], Counter[str]()
    for release in find_hierarchies(folder):
        if release.split not in _splits(settings):
            continue
        hashes |= folder_hashes(release)
        isolated: dict[str, list[Mapping[str, Any]]] = {}
        for row in read_isolated(release.isolated) if release.isolated else []:
            isolated.setdefault(str(row.get("video_id") or str(row["key"]).rpartition("-")[0]), []).append(row)
        files |= {f"{release.split}/{video}": str(path) for video, path in release.files.items()}
        for video in sorted({*release.files, *isolated}):
            alone = isolated.get(video, [])
            notes["isolated_roots"] += len(alone)
            file = release.files.get(video) or release.isolated
            part = Part(video, file.name if file else "")
            units.append(_unit(part, release.split, {"isolated": alone}, settings, 1.0))
    if not units:
        raise UsageError(f"--split {settings.split}: {folder} contains no hierarchies of that split.")
    return Collection(units, PublishedReader(files), AGQA_DECOMP, [folder], hashes, notes)


_READERS = {"charades": _of_charades, "agqa": _of_agqa, "release_hierarchies": _of_hierarchies}


def drawn_graph(video: SampleVideo) -> SceneGraph:
    """Return the complete scene graph of a sample video, with a frame every half second."""
    times = frame_times(video.length_s)
    shown_classes = {cue.action for cue in video.actions}
    spans = []
    for cue in video.actions:
        if action := load_agqa().event(cue.action, shown_classes):
            spans.append(ActionSpan(action.phrase, cue.start, cue.end, frames_of(times, cue.start, cue.end)))
    furniture = {thing for name, _ in video.stage.stations for thing in _table()["furniture"][name]}
    shown = {*furniture, *_table()["always"]}
    graph = graph_of(video.id, times, spans, "drawn", shown)
    relations: dict[str, dict[str, Frames]] = defaultdict(dict)
    for relation, things in graph.relations.items():
        relations[relation] = dict(things)
    contacts = defaultdict(int, graph.contacts)
    for relation, thing, frame in _facts(video, times):
        relations[relation][thing] = relations[relation].get(thing, 0) | 1 << frame
        contacts[thing] |= 1 << frame
    plain = {name: dict(sorted(things.items())) for name, things in sorted(relations.items())}
    return replace(
        graph,
        relations=plain,
        contacts=dict(sorted(contacts.items())),
        seen=graph.seen | {*contacts},
        visible=dict.fromkeys(sorted(shown), (1 << len(times)) - 1),
    )


def _facts(video: SampleVideo, times: tuple[float, ...]) -> Iterator[tuple[str, str, int]]:
    """Yield additional relations as triples of relation, object and frame number."""
    table = _table()
    for frame, time in enumerate(times):
        for name in sorted(held_at(video.actions, time)):
            yield "holding", table["things"][name], frame
            yield "touching", table["things"][name], frame
        for cue in video.actions:
            share = (time - cue.start) / (cue.end - cue.start)
            for relation, thing, begin, end in table["during"].get(cue.action, ()):
                if begin <= share <= end:
                    yield relation, thing, frame


@cache
def _table() -> dict[str, Any]:
    return read_table("agqa_drawn")


@dataclass(frozen=True)
class PreparedDecomp(Prepared):
    """A planned build of question graphs, which `reader` reads from units."""

    reader: Reader = field(kw_only=True)

    def describe(self) -> str:
        """Return the text of a dry run. This requires decomposing every question."""
        plan = self.plan
        lines = ["Plan (nothing was written):"]
        width = max(map(len, [*plan.splits, "all"])) + 1
        roots, below = Counter[str](), Counter[str]()
        for split in plan.splits:
            units, before = [unit for unit in plan.units if unit.split == split], roots.total()
            for graph in (graph for unit in units for graph in self.reader.read(unit).graphs()):
                roots[graph["template"]] += 1
                below[graph["template"]] += len(graph["nodes"]) - 1
            lines.append(f"  {split:<{width}}{len(units):>7,} videos, {roots.total() - before:,} questions")
        lines.append("  sub-questions for each question (the paper has 11.49):")
        rows = [(name, roots[name], below[name]) for name in sorted(roots)]
        for name, count, total in (*rows, ("all", roots.total(), below.total())):
            lines.append(f"    {name:<26}{count:>10,}  {total / max(1, count):6.2f}")
        lines += [f"  {line}" for line in noted(plan)]
        if self.settings.embed == "no":
            return "\n".join([*lines, "  the dataset contains the videos' ids, not the videos (--embed no)"])
        return "\n".join([*lines, *self.videos()])


def prepare(settings: DecompSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Load or generate the questions, plan the build and find the videos.

    Raises:
        UsageError: Options are incompatible.
        InputError: Questions or annotations cannot be read.
    """
    settings = decided(settings)
    plan, collection = read_inputs(settings)
    source_paths: Mapping[str, Path] = {}
    places = [video_folder(Path(settings.videos))] if settings.videos else collection.places
    if settings.embed == "yes":
        source_paths = find_sources(plan, places, collection.source.video_folders)

    videos = {name: str(path) for name, path in source_paths.items()}
    builder = DecompBuilder(settings, collection.reader, videos)
    folders = collection.source.video_folders
    return PreparedDecomp(
        plan, builder, settings, source_paths, places, folders, warnings=collection.warnings, reader=collection.reader
    )

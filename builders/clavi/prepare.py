"""Prepare a CLAVI build: load the annotations, find the videos, and plan the build."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...annotations.actions import Action, AnnotatedVideo, Annotations
from ...annotations.causalchaos import read_causalchaos
from ...annotations.charades import class_actions
from ...annotations.clavi import read_released
from ...annotations.layouts import videos_in_pieces
from ...annotations.segments import segment_columns
from ...core.disputed import refuse_unknown
from ...core.errors import InputError, UsageError
from ...core.files import sha256_file
from ...core.plan import BuildEstimate, Plan, Unit, noted
from ...core.settings import optional_path
from ...core.tabular import columns_of
from ...core.version import tool_versions
from ...language.embeddings import embed, sbert_files
from ...templates import load_classes
from ...video.encode import EncodeSettings
from ...video.estimate import build_estimate, sampled
from ...video.source_files import find_file, find_videos, video_folder
from ..base import Prepared
from ..runtime.pack import without_units
from ..runtime.source_videos import FrameTiming, find_sources, many, piece_timing, read_timing
from .meaning import Sameness, embedded
from .plan import WITHOUT_CONTROL, plan_clavi
from .questions import asked_of, is_natural, question_rows
from .render import ClaviBuilder, pair_footage
from .settings import ALL_SPLITS, ClaviSettings, decided
from .sources import (
    OF_CHARADES,
    USUAL_RATE,
    AnnotationInput,
    annotation_path,
    as_rate,
    collection_of,
    folders_in,
    source_named,
)
from .tables import VARIANTS


@dataclass(frozen=True)
class PreparedClavi(Prepared):
    """A planned build of CLAVI."""

    def describe(self) -> str:
        """Return the text of a dry run: the numbers of pairs, videos and questions."""
        plan, settings = self.plan, self.settings
        lines = ["Plan (nothing was written):"]
        width = max(map(len, [*plan.splits, "train"])) + 1
        for split in plan.splits:
            units = [unit for unit in plan.units if unit.split == split]
            sources = len({unit.source_id for unit in units})
            videos, questions = 2 * len(units), question_count(units, settings)
            lines.append(
                f"  {split:<{width}}{many(len(units), 'pair'):>13} from {many(sources, 'source video')}, "
                f"{videos:,} videos, {questions:,} questions"
            )
        total = len(plan.units)
        questions = question_count(plan.units, settings)
        lines.append(f"  {'all':<{width}}{many(total, 'pair'):>13}, {2 * total:,} videos, {questions:,} questions")
        if not total:
            lines.append("  no pairs: each needs two actions in the same video, neither too short nor too long")
        lines += [f"  {line}" for line in noted(plan)]
        if not settings.render:
            return "\n".join([*lines, "  no videos are made (--no-render)"])
        return "\n".join([*lines, *self.videos()])

    def estimate(self, workers: int, *, probe: bool) -> BuildEstimate | None:
        """Estimate the build from the length of the pairs, and from frames of their videos."""
        if not self.settings.render:
            return None
        footage, encoding = pair_footage(self.plan), EncodeSettings(self.settings.crf, self.settings.preset)
        clean, basis = sampled(footage, self.source_paths, encoding, self.plan.builder, probe=probe)
        return build_estimate(footage, {("videos", 0): clean}, basis, sound=self.settings.audio == "keep")


def prepare(settings: ClaviSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Load the annotations, plan the build and find the videos.

    Raises:
        UsageError: Options contradict each other.
        InputError: The annotations cannot be read.
    """
    settings = decided(settings)
    collection, path = collection_of(settings), annotation_path(settings)
    splits = splits_of(settings)
    roots = [video_folder(Path(settings.videos))] if settings.videos else annotation_folders(path)
    timing = timing_of(settings, path, roots)
    same_by = sameness_by(settings)
    plan = read_plan(
        AnnotationInput(path, settings, splits, optional_path(settings.charades_sta), timing),
        pairs=[Path(pair) for pair in settings.pairs],
        limit=settings.limit,
        version=settings.version,
        tools=tool_versions(render=settings.render),
        same_by=same_by,
    )
    folders = folders_in(roots, collection)
    source_paths = find_sources(plan, folders, (".",)) if settings.render else {}
    return PreparedClavi(
        plan,
        ClaviBuilder(settings, {name: str(path) for name, path in source_paths.items()}),
        settings,
        source_paths,
        folders,
        recorded={} if settings.charades is not None else {"same_by": same_by},
        warnings=warnings_of(plan, settings, splits, timing),
    )


def read_plan(
    annotation_input: AnnotationInput,
    *,
    pairs: Sequence[Path],
    limit: int | None,
    version: str,
    tools: Mapping[str, str],
    same_by: str = "lemmas",
) -> Plan:
    """Load the annotations and plan a build.

    Args:
        annotation_input: The annotations to load.
        pairs: Files of released pairs to rebuild; empty to select pairs.
        limit: Maximum number of pairs, which are the first by id.
        version: Version of the dataset.
        tools: Versions of the tools, for `build.json`.
        same_by: "lemmas" or "sbert"; see `builders.clavi.meaning`.

    Raises:
        InputError: Annotations are missing or malformed.
    """
    settings, collection = annotation_input.settings, collection_of(annotation_input.settings)
    disputed = settings.disputed()
    annotations = collection.read(annotation_input)
    inputs = dict(annotations.hashes)
    released = None
    if pairs:
        released = [pair for path in pairs for pair in read_released(path)]
        inputs |= {path.name: sha256_file(path) for path in pairs}
    source = source_named(settings, inputs)
    inputs |= settings.detail_hashes() | settings.disputed_hashes()
    identity = {"dataset_version": version, "tools": dict(tools), "inputs": inputs, "source": source.as_json()}
    sameness = None
    if settings.collection != "charades":
        annotations = replace(
            annotations, videos=tuple(v for v in annotations.videos if v.split in annotation_input.splits)
        )
        if not annotations.videos:
            own = " Without a column split and --split-shares, all videos are in test." if settings.segments else ""
            raise InputError(f"the annotations have no videos of split {settings.split!r}.{own}")
        sameness = Sameness()
        if same_by != "lemmas":
            phrases = [segment.action.phrase for video in annotations.videos for segment in video.segments]
            sameness = embedded(phrases, embed, sbert_files().name)
        identity["sameness"] = sameness.identity()
    if collection.framed or annotation_input.timing.lengths:
        identity["timing"] = annotation_input.timing.as_json()
    actions = class_actions(load_classes()) if not collection.free or pairs else {}
    controls = _control_pools(annotations, actions, free=collection.free)
    if settings.wording == "natural" and settings.source == "sta":
        controls = {split: [a for a in pool if is_natural(a.phrase)] for split, pool in controls.items()}
    plan = plan_clavi(
        annotations.videos,
        controls,
        settings,
        released=released,
        actions=actions,
        limit=limit,
        identity=identity,
        notes={**annotations.counts, **({"read": list(annotations.remarks)} if annotations.remarks else {})},
        sameness=sameness,
        left_out=annotations.left_out,
    )
    plan = without_disputed(plan, settings, ChainMap(*disputed))
    return replace(plan, names=annotations.names)


def without_disputed(plan: Plan, settings: ClaviSettings, disputed: Mapping[str, str]) -> Plan:
    """Return a plan without the pairs about which people disputed a question."""
    units, dropped, unknown = {unit.id: unit for unit in plan.units}, dict[str, str](), {*disputed}
    for name, why in disputed.items():
        if unit := units.get(name.partition("_")[0]):
            for variant in range(len(VARIANTS)):
                unknown -= {row["question_id"] for row in question_rows(unit.payload, variant, settings)}
            dropped.setdefault(unit.id, why)
    refuse_unknown(unknown)
    return without_units(plan, dropped)


def _control_pools(annotations: Annotations, actions: Mapping[str, Action], *, free: bool) -> dict[str, list[Action]]:
    """Return the possible controls by split: the classes, or the split's own phrases, so that style is not a cue."""
    if not free:
        usable = [action for action in actions.values() if action.usable]
        return dict.fromkeys(ALL_SPLITS, usable)
    return {split: _distinct(video for video in annotations.videos if video.split == split) for split in ALL_SPLITS}


def _distinct(videos: Iterable[AnnotatedVideo]) -> list[Action]:
    actions: dict[str, Action] = {}
    for video in videos:
        for segment in video.segments:
            actions.setdefault(segment.action.key, segment.action)
    return [actions[key] for key in sorted(actions)]


def sameness_by(settings: ClaviSettings) -> str:
    """Return "lemmas" or "sbert". `auto` becomes "sbert" if sentence-transformers and its model are installed."""
    if settings.same_by != "auto":
        return settings.same_by
    try:
        sbert_files()
    except InputError:
        return "lemmas"
    return "sbert"


def splits_of(settings: ClaviSettings) -> tuple[str, ...]:
    """Return the splits to build.

    Raises:
        UsageError: The dataset does not have the requested split.
    """
    splits = collection_of(settings).splits
    if settings.split == "all":
        return splits
    if settings.split not in splits:
        raise UsageError(f"--split {settings.split}: unknown split. Choose from {', '.join(splits)}, all.")
    return (settings.split,)


def warnings_of(plan: Plan, settings: ClaviSettings, splits: Sequence[str], timing: FrameTiming) -> list[str]:
    """Return warnings about missing annotations, splits without controls, and frame rates that were assumed."""
    if settings.collection == "charades":
        return [
            f"there is no {name}, so its split is left out"
            for name in (f"Charades_v1_{split}.csv" for split in splits)
            if name not in plan.identity["inputs"]
        ]
    warnings: list[str] = list(plan.notes.get("read", ()))
    warnings += [
        f"the split {split} is left out: none of its {count:,} pairs has a negative control, a phrase of the split "
        "that shares no word with the annotations around the pair; larger splits have more phrases"
        + (", and without --split-shares all videos are in one split" if settings.split_shares else "")
        for split in splits
        if (count := plan.notes.get(f"{WITHOUT_CONTROL}_in_{split}", 0))
    ]
    warnings += timing.warnings(unit.source_id for unit in plan.units)
    if collection_of(settings).framed and not settings.fps:
        unknown = {unit.source_id for unit in plan.units} - timing.rates.keys()
        if unknown:
            warnings.append(
                f"the frame rate of {len(unknown):,} videos is unknown because they are missing; {USUAL_RATE} frames "
                "per second are assumed; set another rate with --fps"
            )
    return warnings


def timing_of(settings: ClaviSettings, path: Path, roots: Sequence[Path]) -> FrameTiming:
    """Return what the videos found add to the annotations.

    These are the rates at which frames were counted (or that of `--fps`) and the ends of last pieces.
    """
    collection = collection_of(settings)
    if not collection.framed:
        own = settings.collection == "segments"
        pieces = videos_in_pieces(path, segment_columns(columns_of(settings.columns))) if own else {}
        return piece_timing(pieces, folders_in(roots, collection))
    names = {row.episode for row in read_causalchaos(path).rows}
    timing = read_timing(find_videos(folders_in(roots, collection), names))
    if settings.fps is None:
        return timing
    return FrameTiming(dict.fromkeys(sorted(names), as_rate(settings.fps)), timing.lengths)


def annotation_folders(path: Path) -> list[Path]:
    """Return the folders that contain the annotations, starting with the user's folder."""
    if path.is_file():
        return [path.parent]
    files = (find_file(path, f"Charades_v1_{split}.csv") for split in OF_CHARADES)
    return list(dict.fromkeys([path, *(file.parent for file in files if file)]))


def question_count(units: Sequence[Unit], settings: ClaviSettings) -> int:
    """Return the number of questions about the videos of all pairs."""
    return 2 * settings.paraphrases * sum(len(asked_of(unit.payload, settings)) for unit in units)

"""From what `build-clavi` is told to a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ...annotations.causalchaos import read_causalchaos
from ...core.errors import UsageError
from ...core.plan import Plan, noted
from ...core.version import tool_versions
from ...templates import load_questions
from ...video.encode import EncodeSettings
from ...video.estimate import Estimate, estimate_cuts, survey
from ...video.source_files import find_file, searched, video_folder
from ..base import Prepared
from ..source_videos import describe_found
from .inputs import read_plan, sameness_by, splits_of
from .plan import WITHOUT_CONTROL
from .render import ClaviBuilder, pair_footage
from .settings import ClaviSettings, decided
from .sources import (
    OF_CHARADES,
    USUAL_RATE,
    Given,
    Timing,
    annotation_path,
    as_rate,
    collection_of,
    read_timing,
    video_shelves,
    videos_in,
)


def prepare(settings: ClaviSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Read the annotations, plan the build and find the videos.

    Raises:
        UsageError: Options do not go together.
        InputError: The annotations cannot be read.
    """
    if settings.pairs and settings.source == "sta":
        raise UsageError("--pairs holds pairs of action classes; it cannot be used with --source sta.")
    settings = decided(settings)
    collection, path = collection_of(settings), annotation_path(settings)
    splits = splits_of(settings)
    places = [video_folder(settings.videos)] if settings.videos else annotation_folders(path)
    timing = timing_of(settings, places) if collection.framed else Timing()
    same_by = sameness_by(settings)
    plan = read_plan(
        Given(path, settings, splits, settings.charades_sta, timing),
        pairs=settings.pairs,
        limit=settings.limit,
        version=settings.version,
        tools=tool_versions(render=settings.render),
        same_by=same_by,
    )
    wanted = {unit.source_id for unit in plan.units}
    found = videos_in(places, wanted, collection) if settings.render else {}

    def looked() -> list[str]:
        return [folder for place in places for folder in searched([place], video_shelves(place, collection))]

    def estimate(workers: int, probe: bool) -> Estimate:
        return estimate_cuts(
            survey(pair_footage(plan), found, plan.builder),
            EncodeSettings(settings.crf, settings.preset),
            table="videos",
            copies=2,
            keep_sound=settings.audio == "keep",
            workers=workers,
            probe=probe,
        )

    return Prepared(
        plan,
        ClaviBuilder(settings, {name: str(path) for name, path in found.items()}),
        describe=lambda: describe(plan, settings, found, looked),
        estimate=estimate if settings.render else None,
        recorded={"same-by": same_by if settings.collection != "charades" else None},
        warnings=warnings_of(plan, settings, splits, timing),
        searched=looked,
    )


def warnings_of(plan: Plan, settings: ClaviSettings, splits: Sequence[str], timing: Timing) -> list[str]:
    """Return warnings of annotations that are not there, and of what was taken for granted."""
    if settings.collection == "charades":
        return [
            f"there is no {name}, so its split is left out"
            for name in (f"Charades_v1_{split}.csv" for split in splits)
            if name not in plan.identity["inputs"]
        ]
    found = [
        f"the split {split} is left out: for none of its {count:,} pairs is there a negative control, a phrase of the "
        "split that shares no word with what is annotated around the pair; larger splits have more phrases"
        for split in splits
        if (count := plan.notes.get(f"{WITHOUT_CONTROL}_in_{split}", 0))
    ]
    if not collection_of(settings).framed or settings.fps:
        return found
    usual = {unit.source_id for unit in plan.units} - timing.rates.keys()
    words = f"{len(usual):,} videos are not there to tell their frame rate, so their frames are taken at {USUAL_RATE}"
    return found + [f"{words} a second; --fps says another rate"] * bool(usual)


def timing_of(settings: ClaviSettings, places: Sequence[Path]) -> Timing:
    """Find out at which rates frames were counted: as `--fps` says, or as the videos that are there run."""
    rows = read_causalchaos(annotation_path(settings)).rows
    names = {row.episode for row in rows}
    timing = read_timing(videos_in(places, names, collection_of(settings)))
    if settings.fps is None:
        return timing
    rate = as_rate(settings.fps)
    return Timing(dict.fromkeys(sorted(names), rate), timing.lengths)


def annotation_folders(path: Path) -> list[Path]:
    """List the folders in which the annotations are found, that which was given first."""
    if path.is_file():
        return [path.parent]
    found = (find_file(path, f"Charades_v1_{split}.csv") for split in OF_CHARADES)
    return list(dict.fromkeys([path, *(file.parent for file in found if file)]))


def describe(
    plan: Plan, settings: ClaviSettings, found: Mapping[str, Path], looked: Callable[[], Sequence[str]] = tuple
) -> str:
    """Write what a build would do: pairs, videos, questions."""
    lines = ["Plan (nothing was written):"]
    per_video = len(load_questions())
    width = max(map(len, [*plan.splits, "train"])) + 1
    for split in plan.splits:
        units = [unit for unit in plan.units if unit.split == split]
        sources = len({unit.source_id for unit in units})
        videos = 2 * len(units)
        lines.append(
            f"  {split:<{width}}{len(units):>7,} pairs from {sources:,} source videos, {videos:,} videos, "
            f"{videos * per_video:,} questions"
        )
    total = len(plan.units)
    lines.append(f"  {'all':<{width}}{total:>7,} pairs, {2 * total:,} videos, {2 * total * per_video:,} questions")
    lines += [f"  {line}" for line in noted(plan)]
    if not settings.render:
        return "\n".join([*lines, "  no videos are made (--no-render)"])
    needed = {unit.source_id for unit in plan.units}
    return "\n".join([*lines, *describe_found(needed, found, looked)])

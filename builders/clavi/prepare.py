"""From what `build-clavi` is told to a plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...benchmark import Prepared
from ...errors import UsageError
from ...records.plan import Plan
from ...records.versions import tool_versions
from ...samples.cache import cached_sample
from ...sources.charades import CHARADES
from ...sources.files import find_file, find_videos, video_folder
from ...templates import load_questions
from ...video.encode import EncodeSettings
from ...video.estimate import Estimate, estimate_cuts, survey
from .inputs import read_plan, source_named
from .render import ClaviBuilder, pair_footage
from .settings import ClaviSettings, decided

SPLITS = ("train", "test")


def prepare(settings: ClaviSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Read the annotations, plan the build and find the videos.

    Raises:
        UsageError: Options do not go together.
        InputError: The annotations cannot be read.
    """
    if settings.pairs and settings.source == "sta":
        raise UsageError("--pairs holds pairs of action classes; it cannot be used with --source sta.")
    settings = decided(settings)
    folder = cached_sample("charades") if settings.charades == "sample" else Path(settings.charades)
    plan = read_plan(
        folder,
        settings.charades_sta or folder,
        settings,
        splits=splits_of(settings),
        pairs=settings.pairs,
        limit=settings.limit,
        version=settings.version,
        tools=tool_versions(render=settings.render),
        source=source_named(settings),
    )
    wanted = {unit.source_id for unit in plan.units}
    places = [video_folder(settings.videos)] if settings.videos else [folder, *annotation_folders(folder)]
    found = find_videos(places, wanted, CHARADES.video_folders) if settings.render else {}

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
        describe=lambda: describe(plan, settings, found),
        estimate=estimate if settings.render else None,
        warnings=[
            f"there is no {name}, so its split is left out"
            for name in (f"Charades_v1_{split}.csv" for split in splits_of(settings))
            if name not in plan.identity["inputs"]
        ],
    )


def splits_of(settings: ClaviSettings) -> tuple[str, ...]:
    """Return the splits to build."""
    return SPLITS if settings.split == "all" else (settings.split,)


def annotation_folders(folder: Path) -> list[Path]:
    """List the folders in which the annotations are found."""
    found = (find_file(folder, f"Charades_v1_{split}.csv") for split in SPLITS)
    return [path.parent for path in found if path]


def describe(plan: Plan, settings: ClaviSettings, found: Mapping[str, Path]) -> str:
    """Write what a build would do: pairs, videos, questions."""
    lines = ["Plan (nothing was written):"]
    per_video = len(load_questions())
    for split in plan.splits:
        units = [unit for unit in plan.units if unit.split == split]
        sources = len({unit.source_id for unit in units})
        videos = 2 * len(units)
        lines.append(
            f"  {split:<6}{len(units):>7,} pairs from {sources:,} source videos, {videos:,} videos, "
            f"{videos * per_video:,} questions"
        )
    total = len(plan.units)
    lines.append(f"  all   {total:>7,} pairs, {2 * total:,} videos, {2 * total * per_video:,} questions")
    lines += [f"  {name.replace('_', ' ')}: {count:,}" for name, count in plan.notes.items() if count]
    if not settings.render:
        return "\n".join([*lines, "  no videos are made (--no-render)"])
    needed = {unit.source_id for unit in plan.units}
    return "\n".join([*lines, f"  source videos found: {len(found):,} of {len(needed):,}"])

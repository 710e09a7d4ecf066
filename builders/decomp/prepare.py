"""From what `build-decomp` is told to a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ...core.plan import Plan, Unit
from ...video.source_files import find_videos, searched, video_folder
from ..base import Prepared
from ..source_videos import describe_found
from .inputs import Inputs, read_inputs
from .plan import described
from .render import DecompBuilder
from .settings import DecompSettings, decided
from .video_graphs import sub_questions


def prepare(settings: DecompSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Read the questions, or make them, plan the build and find the videos.

    Raises:
        UsageError: Options do not go together.
        InputError: Questions or annotations cannot be read.
    """
    settings = decided(settings)
    inputs = read_inputs(settings)
    found: Mapping[str, Path] = {}
    places = [video_folder(settings.videos)] if settings.videos else inputs.places
    if settings.embed == "yes":
        found = find_videos(places, {unit.source_id for unit in inputs.plan.units}, inputs.source.video_folders)
    videos = {name: str(path) for name, path in found.items()}
    builder = DecompBuilder(settings, inputs.reader, videos)

    def looked() -> list[str]:
        return searched(places, inputs.source.video_folders)

    return Prepared(
        inputs.plan,
        builder,
        lambda: describe(inputs.plan, settings, inputs, found, looked),
        warnings=inputs.warnings,
        searched=looked,
    )


def describe(
    plan: Plan,
    settings: DecompSettings,
    inputs: Inputs,
    found: Mapping[str, Path],
    looked: Callable[[], Sequence[str]],
) -> str:
    """Write what a build would do; every question is taken apart for it."""

    def count(unit: Unit) -> Counter[str]:
        return sub_questions(inputs.reader.read(unit).graphs())

    text = described(plan, count)
    if settings.embed == "no":
        return f"{text}\n  the dataset has the videos' ids, not the videos (--embed no)"
    needed = {unit.source_id for unit in plan.units}
    return "\n".join([text, *describe_found(needed, found, looked)])

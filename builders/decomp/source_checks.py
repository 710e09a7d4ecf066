"""Checks of question graphs against what they were built from: questions and annotations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ...errors import InputError
from ...records.checks import Finding, NotChecked, VerifyOptions, draw_sample
from ...records.command import read_command
from ...records.output import FinishedOutput
from ...records.source import differing_source, source_of
from ..remade import differing_rows
from ..replanned import annotation_folder, differing_plan
from .inputs import Inputs, read_inputs, source_named
from .settings import SAMPLE, DecompSettings, decided, settings_of
from .video_rows import by_video

LOOKED_AT = 50  # videos for each that --sample names: they are read again, not decoded


def check_source(output: FinishedOutput) -> Iterator[str]:
    """The source in `build.json` is the one that the command names."""
    given, _ = read_command(output.info, DecompSettings)
    return differing_source(output.info, source_named(decided(given)))


def read_again(output: FinishedOutput, options: VerifyOptions) -> Inputs | NotChecked:
    """Read the questions and annotations that an output was built from.

    Raises:
        InputError: They are malformed, or not there.
    """
    info, settings = output.info, settings_of(output.info)
    place: Path | None
    if source_of(info).drawn:
        settings = replace(settings, charades=SAMPLE)
    else:
        place = options.annotations or annotation_folder(options)
        if place is None:
            return NotChecked("roots, answers and missing videos: give --annotations")
        pickles = any(name.endswith(".pkl") for name in info["inputs"])
        settings = replace(from_place(settings, place, pickles=pickles), videos=options.sources if pickles else None)
    settings = replace(settings, split=info["split"], limit=info["limit"], version=info["dataset_version"])
    return read_inputs(settings, info["tools"])


def from_place(settings: DecompSettings, place: Path, *, pickles: bool) -> DecompSettings:
    """Return settings that name a folder or file as where their collection is, and scene graphs if it had any."""
    folder = place.parent if place.is_file() else place
    graphs = folder if pickles else None
    if settings.collection == "charades":
        return replace(settings, charades=str(folder), action_genome=graphs)
    if settings.collection == "agqa":
        return replace(settings, agqa=place, graphs=graphs)
    return replace(settings, release_hierarchies=folder)


def check_annotations(output: FinishedOutput, options: VerifyOptions) -> Iterator[Finding]:
    """Planned again, the plan is the same; and of a drawn sample of videos, every row is."""
    try:
        inputs = read_again(output, options)
    except InputError as error:
        yield f"the build cannot be planned again: {error}"
        return
    if isinstance(inputs, NotChecked):
        yield inputs
        return
    hashes = inputs.plan.identity["inputs"]
    for name in sorted({*hashes, *output.info["inputs"]}):
        if hashes.get(name) != output.info["inputs"].get(name):
            yield f"{name} is not the file that build.json names: its SHA-256 differs"
    yield from differing_plan(output.info, inputs.plan)
    skipped = {skip["unit_id"] for skip in output.info["skips"]["list"]}
    units = {unit.id: unit for unit in inputs.plan.units}
    wanted = set(draw_sample(output, sorted(units), LOOKED_AT * max(1, options.sample)))
    seen = set()
    for video in by_video(output):
        seen.add(video.video_id)
        unit = units.get(video.video_id)
        if unit is None:
            yield f"{video.video_id} should not be there"
        elif unit.id in wanted:
            found = inputs.reader.read(unit)
            yield from differing_rows("questions", list(video.questions.values()), list(found.rows()), "key")
            yield from differing_rows("graphs", video.graphs, list(found.graphs()), "root")
    yield from (f"{name} is said to be skipped, and is not" for name in sorted(skipped - (units.keys() - seen)))
    yield from (f"{name} is missing" for name in sorted(units.keys() - seen - skipped))

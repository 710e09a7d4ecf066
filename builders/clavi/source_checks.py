"""Checks of a CLAVI output against what it was built from: the annotations, and the source videos."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import InputError, VideoError
from ...records.checks import Finding, NotChecked, VerifyOptions, draw_sample
from ...records.command import read_command
from ...records.files import sha256_file
from ...records.output import FinishedOutput
from ...records.plan import Plan, Unit
from ...records.schema import Row
from ...records.source import differing_source, source_of
from ...runtime.processes import on_processes
from ...video.index import index_frames
from ..remade import chosen_videos, differing_rows, same_encoder, unlike_again
from ..replanned import annotation_folder, differing_plan, input_files, plan_or_findings
from .inputs import read_plan, sameness_by
from .render import FRAMES, SHARED, ClaviBuilder, edits, pieces
from .row_checks import settings_of
from .settings import SAMPLE, ClaviSettings, decided
from .sources import ALL_SPLITS, OF_CHARADES, Given, Timing, collection_of, read_timing, source_named, videos_in
from .tables import VARIANTS

FILES = ("1.mp4", "2.mp4")


def plan_again(output: FinishedOutput, folder: Path) -> Plan | NotChecked:
    """Plan a build once more from its annotations.

    Args:
        output: The output.
        folder: Where the annotations are.

    Raises:
        InputError: They are malformed, or not those of the output.
    """
    files = input_files(output.info, folder)
    if isinstance(files, NotChecked):
        return files
    info, settings = output.info, settings_of(output)
    same_by = info["sameness"]["by"] if "sameness" in info else "lemmas"
    if same_by == "sbert" and sameness_by(settings) != "sbert":
        return NotChecked(
            "what follows from the annotations: this was built with sentence embeddings, which are not here"
        )
    path, sentences = next(iter(files.values())), None
    splits: tuple[str, ...] = ALL_SPLITS if info["split"] == "all" else (info["split"],)
    if settings.collection == "charades":
        tables = {name: f for name, f in files.items() if name.startswith("Charades_v1_") and f.suffix == ".csv"}
        sentences = next((f.parent for name, f in files.items() if name.startswith("charades_sta_")), folder)
        path = next(iter(tables.values()), folder / "none").parent
        splits = tuple(split for split in OF_CHARADES if f"Charades_v1_{split}.csv" in tables)
    if source_of(info).drawn:
        own = settings.collection == "segments"
        settings = replace(settings, segments=SAMPLE) if own else replace(settings, charades=SAMPLE)
    return read_plan(
        Given(path, settings, splits, sentences, Timing.of(info.get("timing", {}))),
        pairs=[path for path in files.values() if path.suffix == ".json"] if settings.collection == "charades" else [],
        limit=info["limit"],
        version=info["dataset_version"],
        tools=info["tools"],
        same_by=same_by,
    )


def check_source(output: FinishedOutput) -> Iterator[str]:
    """The source in `build.json` is the one that the command names."""
    given, _ = read_command(output.info, ClaviSettings)
    return differing_source(output.info, source_named(decided(given), output.info["inputs"]))


def check_annotations(output: FinishedOutput, options: VerifyOptions) -> Iterator[Finding]:
    """Planned again from the annotations, every pair is there or listed as skipped, in its split, with its columns."""
    left_open = "splits, segments, subjects, other actions, and whether pairs are missing"
    if output.info["settings"].get("collection", "charades") != "charades":
        left_open = "phrases, " + left_open
    plan = plan_or_findings(output, options, plan_again, left_open)
    if isinstance(plan, list):
        yield from plan
        return
    compared = [name for name in ("sameness", "timing") if name in output.info or name in plan.identity]
    yield from differing_plan(output.info, plan, compared=compared, taken=["inputs"])
    skipped = {skip["unit_id"] for skip in output.info["skips"]["list"]}
    yield from (f"{name} is listed as skipped, but was not planned" for name in skipped - {u.id for u in plan.units})
    for split in dict.fromkeys((*plan.splits, *output.splits("pairs"))):
        expected = [unit.payload for unit in plan.units if unit.split == split and unit.id not in skipped]
        yield from differing_rows(f"pairs/{split}", list(output.rows("pairs", None, split)), expected, "pair_id")


def check_sources(output: FinishedOutput, options: VerifyOptions) -> Iterator[Finding]:
    """Every source is the file that its pairs name, cut where they say; a sample of pairs is cut and encoded again."""
    if options.sources is None:
        yield NotChecked(
            "that the videos show what their source shows, sound, cut frames and source_sha256: give --sources"
        )
        return
    settings = settings_of(output)
    splits = output.splits("pairs")
    units = {
        row["pair_id"]: Unit(row["pair_id"], split, row["source_id"], row)
        for split in splits
        for row in output.rows("pairs", None, split)
    }
    folders = [options.sources, *{path.parent for path in _tables(output, options)}]
    found = videos_in(folders, {unit.source_id for unit in units.values()}, collection_of(settings))
    absent = sorted({unit.source_id for unit in units.values()} - found.keys())
    if absent:
        yield NotChecked(f"{len(absent)} source videos that are not in {options.sources}: {', '.join(absent[:5])}, …")
    by_source: dict[str, list[Unit]] = {}
    for unit in units.values():
        if unit.source_id in found:
            by_source.setdefault(unit.source_id, []).append(unit)
    calls = ((found[name], members) for name, members in by_source.items())
    for problems in on_processes(source_problems, calls, options.workers):
        yield from problems
    yield from _rates_again(output, found)
    builder = ClaviBuilder(settings, {name: str(path) for name, path in found.items()})
    yield from _skips_again(output, options, builder)
    if not options.decode:
        yield NotChecked("that the videos show what their source shows: --no-decode")
        return
    sample = draw_sample(output, [unit.id for unit in units.values() if unit.source_id in found], options.sample)
    if len(sample) < len(units):
        yield NotChecked(
            f"{len(units) - len(sample)} of {len(units)} pairs, which were not cut again: --sample takes more"
        )
    same = same_encoder(output.info)
    for problems in on_processes(pair_again, _sampled(output, builder, units, set(sample), same), options.workers):
        yield from problems


def _rates_again(output: FinishedOutput, found: Mapping[str, Path]) -> Iterator[Finding]:
    """Frames were turned into times at the rate of their video, if no other rate was asked for."""
    if "timing" not in output.info:
        return
    recorded, again = Timing.of(output.info["timing"]), read_timing(found)
    own_rate = output.info["settings"]["fps"] is None
    for name in sorted(found):
        if name not in recorded.lengths:
            yield NotChecked(f"{name} was not there when this was planned; its frames were taken at the usual rate")
        elif recorded.lengths[name] != again.lengths.get(name):
            yield f"build.json: {name} lasts {recorded.lengths[name]} s, its file {again.lengths.get(name)} s"
        elif own_rate and recorded.rates.get(name) != again.rates.get(name):
            yield f"build.json: {name} has {recorded.rates.get(name)} frames a second, its file {again.rates.get(name)}"


def _tables(output: FinishedOutput, options: VerifyOptions) -> list[Path]:
    folder = annotation_folder(options)
    files = input_files(output.info, folder) if folder else {}
    return [] if isinstance(files, NotChecked) else list(files.values())


def _sampled(
    output: FinishedOutput, builder: ClaviBuilder, units: Mapping[str, Unit], sample: set[str], same: bool
) -> Iterator[tuple[ClaviBuilder, Unit, list[Row], bool]]:
    waiting: dict[str, list[Row]] = {}
    for row in chosen_videos(output, "videos", "pair_id", sample):
        both = waiting.setdefault(row["pair_id"], [])
        both.append(row)
        if len(both) == len(VARIANTS):
            yield builder, units[row["pair_id"]], waiting.pop(row["pair_id"]), same


def source_problems(path: Path, units: Sequence[Unit]) -> list[str]:
    """Compare a source with the rows of its pairs: its hash, and which of its frames the cuts begin with."""
    digest = sha256_file(path)
    problems = [
        f"{unit.id}: source_sha256 is not that of {path.name}"
        for unit in units
        if unit.payload["source_sha256"] != digest
    ]
    return problems + [
        f"{unit.id}: cut at the frames {recorded}, the times say {frames}"
        for unit in units
        for recorded, frames in [([unit.payload[name] for name in FRAMES], _frames(path, unit))]
        if recorded != frames
    ]


def _frames(path: Path, unit: Unit) -> list[int] | str:
    """Find the frames that a pair is cut at; by decoding, should the packets say otherwise than its row."""
    found: list[int] | str = []
    for decode in (False, True):
        try:
            a, filler, b = pieces(index_frames(path, decode=decode), unit)
        except VideoError as error:
            found = f"nothing ({error.detail})"
            continue
        found = [a.start, filler.start, b.start, b.stop]
        if found == [unit.payload[name] for name in FRAMES]:
            break
    return found


def pair_again(builder: ClaviBuilder, unit: Unit, rows: Sequence[Row], same: bool) -> list[str]:
    """Cut and encode a pair again and compare it with its rows and its videos.

    Args:
        builder: Knows the settings and the source.
        unit: The pair.
        rows: Its two rows of `videos`, V first.
        same: Whether `build.json` names the encoder that runs here.

    Returns:
        Problems, one line each.
    """
    path = builder.source(unit)
    try:
        with tempfile.TemporaryDirectory(prefix="stressreel-") as name:
            facts = builder.render(unit, Path(name))
            again = [(Path(name) / file).read_bytes() for file in FILES]
        found = [row["video"]["bytes"] or b"" for row in rows]
        unlike = unlike_again(
            path, lambda index: edits(index, unit), builder.settings.audio == "keep", found, again, same
        )
    except VideoError as error:
        return [f"{unit.id}: it cannot be cut from {path.name} again ({error.detail})"]
    problems = [
        f"{row['video_id']}: {name} is {row[name]}, cut again {facts[name]}"
        for row in rows
        for name in SHARED
        if row[name] != facts[name]
    ]
    return problems + [f"{row['video_id']}: {problem}" for row, problem in zip(rows, unlike, strict=True) if problem]


def _skips_again(output: FinishedOutput, options: VerifyOptions, builder: ClaviBuilder) -> Iterator[Finding]:
    """Pairs that are listed as skipped for their video's faults cannot be cut now either."""
    listed = {skip["unit_id"]: skip["reason"] for skip in output.info["skips"]["list"]}
    folder = annotation_folder(options)
    if not listed or folder is None:
        return
    try:
        plan = plan_again(output, folder)
    except InputError:
        return  # the check of the annotations says so
    if isinstance(plan, NotChecked):
        return
    units = [unit for unit in plan.units if unit.id in listed]
    folders = [path for path in (options.sources,) if path]
    found = videos_in(folders, {u.source_id for u in units}, collection_of(settings_of(output)))
    builder = replace(builder, videos={name: str(path) for name, path in found.items()})
    there = [unit.id for unit in units if builder.missing(unit) is None]
    missing = [name for name in there if listed[name] in ("missing_video", "unreadable_video")]
    if missing:
        yield NotChecked(
            f"{len(missing)} pairs whose video was missing when this was built, and is there now: "
            f"{', '.join(missing[:5])}"
        )
    for unit in units:
        if unit.id in there and unit.id not in missing and _cuts(builder, unit):
            yield f"{unit.id} is listed as skipped ({listed[unit.id]}), but can be cut"


def _cuts(builder: ClaviBuilder, unit: Unit) -> bool:
    try:
        with tempfile.TemporaryDirectory(prefix="stressreel-") as name:
            builder.render(unit, Path(name))
    except VideoError:
        return False
    return True

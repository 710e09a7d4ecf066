"""Checks of a suite against what it was built from: the annotations, and the source videos."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, cast

from ...corruptions.registry import check_name
from ...errors import InputError, VideoError
from ...records.checks import Finding, NotChecked, VerifyOptions
from ...records.command import read_command
from ...records.output import FinishedOutput
from ...records.plan import Plan, Unit
from ...records.schema import Row
from ...records.source import differing_source, source_of
from ...records.versions import tool_versions
from ...runtime.processes import on_processes
from ...sources.files import find_videos
from ...video.encode import EncodeSettings
from ...video.ffmpeg import ffmpeg_version
from ...video.fidelity import measure_loss, unlike
from ...video.index import index_frames
from ...video.thumbnails import UNDECODABLE
from ..remade import WITHOUT_LOSS, chosen_videos, differing_rows
from ..replanned import annotation_folder, differing_plan, input_files, plan_or_findings
from .captions import is_text
from .decided import source_named
from .inputs import Kind, read_clips
from .plan import plan_perturbed
from .render import PerturbedBuilder, clip_frames
from .settings import PerturbedSettings, settings_of
from .tables import CLEAN, visual_tables

ANNOTATED = ("clip_id", "captions", "source_id", "start_s", "end_s")
PLACED = ("num_frames", "fps", "source_frames", "first_frame")
MISSING = ("missing_video", "unreadable_video")

Triple = tuple[str, int, str]
"""A perturbation, its severity and a clip."""


def plan_again(output: FinishedOutput, folder: Path) -> Plan | NotChecked:
    """Plan a suite once more from its annotations.

    Args:
        output: The output.
        folder: Where the annotations are.

    Raises:
        InputError: They are malformed.
    """
    info = output.info
    files = input_files(info, folder)
    if isinstance(files, NotChecked):
        return files
    if not files:
        return NotChecked("what follows from the annotations: build.json does not name any")
    source = source_of(info)
    path = next(iter(files.values())) if len(files) == 1 else folder
    clips = read_clips(cast(Kind, "msrvtt" if source.drawn else source.key), path, info["split"])
    return plan_perturbed(
        clips.clips,
        settings_of(info),
        limit=info["limit"],
        identity={
            "dataset_version": info["dataset_version"],
            "tools": info["tools"],
            "inputs": clips.hashes,
            "source": info["source"],
            "video_folders": list(clips.subfolders),
        },
        notes=clips.counts,
    )


def check_source(output: FinishedOutput) -> Iterator[str]:
    """The source in `build.json` is the one that the command names, which it does once."""
    given, _ = read_command(output.info, PerturbedSettings)
    named = [name for name in ("msrvtt", "youcook2", "captions") if getattr(given, name)]
    if len(named) != 1:
        yield f"build.json: the command names {len(named)} sources, not one"
        return
    yield from differing_source(output.info, source_named(given))


def check_annotations(output: FinishedOutput, options: VerifyOptions) -> Iterator[Finding]:
    """Read again from the annotations, every clip is there or listed as skipped, with its captions and times."""
    left_open = "that captions, times and splits are those of the annotations, and that no clip is missing"
    plan = plan_or_findings(output, options, plan_again, left_open)
    if isinstance(plan, list):
        yield from plan
        return
    yield from differing_plan(output.info, plan, compared=["inputs", "video_folders"])
    skips = {skip["unit_id"] for skip in output.info["skips"]["list"]}
    units = [unit for unit in plan.units if not is_text(unit)]
    known = {unit.id for unit in units} | {clip["clip_id"] for unit in units for clip in unit.payload["clips"]}
    yield from (f"{name} is listed as skipped, but was not planned" for name in sorted(skips - known))
    for split in dict.fromkeys((*plan.splits, *output.splits(CLEAN))):
        expected = [
            {column: clip[column] for column in ANNOTATED if column != "source_id"} | {"source_id": unit.source_id}
            for unit in units
            if unit.split == split and CLEAN in unit.payload["perturbations"] and unit.id not in skips
            for clip in unit.payload["clips"]
            if clip["clip_id"] not in skips
        ]
        found = list(output.rows(CLEAN, list(ANNOTATED), split))
        yield from differing_rows(f"{CLEAN}/{split}", found, expected, "clip_id")


def check_sources(output: FinishedOutput, options: VerifyOptions) -> Iterator[Finding]:
    """Every clip lies where it says in its source; a sample of them is perturbed and encoded again from there."""
    if options.sources is None:
        yield NotChecked(
            "that the clean clips show their sources, and the others what their recipes make of these, in all frames "
            "and exactly (`pictures` compares some with the clean ones): give --sources"
        )
        return
    settings = settings_of(output.info)
    skipped = {skip["source_id"] for skip in output.info["skips"]["list"]}
    columns = ["clip_id", "source_id", "start_s", "end_s", *PLACED]
    clean = {row["clip_id"]: row for row in output.rows(CLEAN, columns)}
    wanted = {row["source_id"] for row in clean.values()}
    found = find_videos([options.sources], wanted | skipped, output.info["video_folders"])
    absent = sorted(wanted - found.keys())
    if absent:
        yield NotChecked(f"{len(absent)} source videos that are not in {options.sources}: {', '.join(absent[:5])}")
    by_source: dict[str, list[Row]] = {}
    for row in clean.values():
        if row["source_id"] in found:
            by_source.setdefault(row["source_id"], []).append(row)
    places = ((found[name], rows, settings.clip_first) for name, rows in by_source.items())
    for problems in on_processes(misplaced_clips, places, options.workers):
        yield from problems
    if not options.decode:
        yield NotChecked("that the clips show what their recipes make of their sources: --no-decode")
        return
    builder = PerturbedBuilder(settings, {name: str(path) for name, path in found.items()})
    yield from _skips_again(output, options, builder)
    triples = [
        (name, row["severity"], row["clip_id"])
        for name in visual_tables(output.info)
        for row in output.rows(name, ["severity", "clip_id"])
        if row["clip_id"] in clean and clean[row["clip_id"]]["source_id"] in found
    ]
    sample = draw_spread(triples, str(output.info["fingerprint"]), options.sample)
    if len(sample) < len(triples):
        yield NotChecked(
            f"{len(triples) - len(sample):,} of {len(triples):,} videos, which were not perturbed again: --sample "
            "takes more"
        )
    other = other_tools(output.info)
    if other:
        yield NotChecked(f"that the files are those of the same tools, bit for bit: {'; '.join(other)}")
    for problems in on_processes(clip_again, _sampled(output, builder, sample, same=not other), options.workers):
        yield from problems


def draw_spread(triples: Sequence[Triple], fingerprint: str, count: int) -> list[Triple]:
    """Draw videos so that every perturbation comes before one comes twice, and then every severity of it.

    The draw is keyed by the fingerprint of the output, so whoever changes a row changes what is looked at.
    """

    def drawn(*key: object) -> bytes:
        return hashlib.sha256(repr((fingerprint, *key)).encode()).digest()

    severities: dict[str, list[int]] = {}
    for name, severity, _ in triples:
        if severity not in severities.setdefault(name, []):
            severities[name].append(severity)
    turns = {
        (name, severity): turn
        for name, found in severities.items()
        for turn, severity in enumerate(sorted(found, key=lambda severity: drawn(name, severity)))
    }
    times: Counter[tuple[str, int]] = Counter()
    ranked: list[tuple[int, int, int, tuple[str, int, str]]] = []
    for name, severity, clip in sorted(triples, key=lambda triple: drawn(*triple)):
        ranked.append((times[name, severity], turns[name, severity], len(ranked), (name, severity, clip)))
        times[name, severity] += 1
    return [triple for *_, triple in sorted(ranked)[:count]]


def misplaced_clips(path: Path, rows: Sequence[Row], clip_first: bool) -> list[str]:
    """Compare the places of the clips of a source with their rows; by decoding, should the packets say otherwise."""
    problems: list[str] = []
    for decode in (False, True):
        try:
            index = index_frames(path, decode=decode)
            problems = []
            for row in rows:
                frames = clip_frames(index, row)
                seconds = index.seconds(frames.stop) - index.seconds(frames.start)
                whole = frames if clip_first else range(index.num_frames)
                expected = (len(frames), float(len(frames) / seconds), len(whole), frames.start - whole.start)
                for column, value in zip(PLACED, expected, strict=True):
                    if row[column] != value:
                        problems.append(f"clip {row['clip_id']}: {column} is {row[column]}, {path.name} gives {value}")
        except VideoError as error:
            problems = [f"{path.name} cannot be read ({error.detail})"]
        if not problems:
            break
    return problems


def other_tools(info: Mapping[str, Any]) -> list[str]:
    """Name the tools that decide pixels and are another version here than `build.json` names."""
    here = tool_versions(render=True, packages=("numpy", "opencv-python-headless"))
    if any(check_name(name).scope == "file" for name in info["settings"]["perturbations"]):
        here["ffmpeg"] = ffmpeg_version()
    recorded = info["tools"]
    return [
        f"{name} is {version} here and was {recorded.get(name, 'unknown')}"
        for name, version in here.items()
        if recorded.get(name) != version
    ]


def _sampled(
    output: FinishedOutput, builder: PerturbedBuilder, sample: Sequence[Triple], *, same: bool
) -> Iterator[tuple[PerturbedBuilder, str, Row, bool]]:
    wanted: dict[str, set[tuple[int, str]]] = {}
    for name, severity, clip in sample:
        wanted.setdefault(name, set()).add((severity, clip))
    for name, places in wanted.items():
        for row in chosen_videos(output, name, "clip_id", {clip for _, clip in places}):
            if (row["severity"], row["clip_id"]) in places:
                yield builder, name, row, same


def clip_again(builder: PerturbedBuilder, name: str, row: Row, same: bool) -> list[str]:
    """Perturb and encode a clip again from its source and compare it with its row and its video.

    Args:
        builder: Knows the settings and the source.
        name: The perturbation, or "clean".
        row: The row of its table, with the video.
        same: Whether `build.json` names the tools that run here, which then give the same file.

    Returns:
        Problems, one line each.
    """
    title = f"{name}: clip {row['clip_id']}, severity {row['severity']}"
    found = row["video"]["bytes"] or b""
    try:
        facts, again = _render(builder, name, row)
        problems = [
            f"{title}: {column} is {row[column]}, made again {value}"
            for column, value in facts.items()
            if row[column] != value
        ]
        if found == again:
            return problems
        lossless = EncodeSettings(builder.settings.crf, builder.settings.preset, builder.settings.lossless)
        _, exact = _render(builder, name, row, lossless if lossless.lossless else WITHOUT_LOSS)
    except VideoError as error:
        return [f"{title}: it cannot be made from {row['source_id']} again ({error.detail})"]
    try:
        problem = unlike(measure_loss(found, exact), measure_loss(again, exact))
    except UNDECODABLE as error:
        problem = str(error)
    if not problem and same:
        problem = (
            "it is not the file that the same tools make of the source, though what it shows is close to it; on "
            "another kind of processor that can be"
        )
    return problems + ([f"{title}: {problem}"] if problem else [])


def _render(
    builder: PerturbedBuilder, name: str, row: Row, encode: EncodeSettings | None = None
) -> tuple[dict[str, Any], bytes]:
    """Make one video; return what its row must say of it, and the file."""
    settings = builder.settings
    if name != CLEAN:
        settings = replace(settings, severities=(row["severity"],))
    if encode:
        settings = replace(settings, **asdict(encode))
    clip = {column: row[column] for column in ANNOTATED if column != "source_id"}
    unit = Unit(row["clip_id"], "", row["source_id"], {"clips": [clip], "perturbations": [name]})
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        facts = replace(builder, settings=settings).render(unit, Path(folder))
        (file,) = facts["files"]
        return facts["clips"][row["clip_id"]], (Path(folder) / file).read_bytes()


def _skips_again(output: FinishedOutput, options: VerifyOptions, builder: PerturbedBuilder) -> Iterator[Finding]:
    """Clips that are listed as skipped for their videos' faults cannot be made now either."""
    listed = {skip["unit_id"]: skip for skip in output.info["skips"]["list"]}
    folder = annotation_folder(options)
    if not listed or folder is None:
        return
    try:
        plan = plan_again(output, folder)
    except InputError:
        return  # the check of the annotations says so
    if isinstance(plan, NotChecked):
        return
    there = [unit for unit in plan.units if not is_text(unit) and builder.missing(unit) is None]
    missing = [unit.id for unit in there if listed.get(unit.id, {}).get("reason") in MISSING]
    if missing:
        yield NotChecked(
            f"{len(missing)} units whose video was missing when this was built, and is there now: "
            f"{', '.join(missing[:5])}"
        )
    for unit in there:
        parts = [clip for clip in unit.payload["clips"] if clip["clip_id"] in listed]
        if unit.id in listed and unit.id not in missing and _renders(builder, unit):
            yield f"{unit.id} is listed as skipped ({listed[unit.id]['reason']}), but can be made"
        for clip in parts:
            if _renders(builder, replace(unit, payload={"clips": [clip], "perturbations": [CLEAN]})):
                reason = listed[clip["clip_id"]]["reason"]
                yield f"{clip['clip_id']} is listed as skipped ({reason}), but can be made"


def _renders(builder: PerturbedBuilder, unit: Unit) -> bool:
    try:
        with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
            builder.render(unit, Path(folder))
    except VideoError:
        return False
    return True

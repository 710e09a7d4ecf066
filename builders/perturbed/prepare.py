"""Prepare a suite: load the annotations, plan the build, find the videos, and estimate size and time.

Every clip has 18 visual perturbations at five severities. Source: Schiappa et al. 2022 (arXiv 2207.02159), section 3.1
and appendix A.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from ...annotations.captions import CAPTIONS, CaptionedClip, CaptionedClips, caption_columns, read_captions
from ...annotations.layouts import videos_in_pieces
from ...annotations.msrvtt import MSRVTT, SAMPLE, read_msrvtt
from ...annotations.samples import cached_sample
from ...annotations.world.source import drawn_or
from ...annotations.youcook2 import YOUCOOK2, read_youcook2
from ...core.build_settings import content
from ...core.documents import package_table
from ...core.errors import InputError, UsageError
from ...core.files import sha256_text
from ...core.output_files import TEXT_SHIFT
from ...core.plan import BuildEstimate, Part, Plan, Unit, bounded, noted
from ...core.settings import Need, refuse_unused
from ...core.source import Source, described
from ...core.tabular import columns_of
from ...core.version import tool_versions
from ...corruptions.registry import check_name, check_text_name, visual_corruptions
from ...corruptions.text.tools import Tools
from ...video.encode import EncodeSettings, ffmpeg_version
from ...video.estimate import Content, Footage, Level, build_estimate, costs, kinds, sampled, typical
from ...video.source_files import video_folder
from ...video.store import MEMORY_BYTES
from ..base import Prepared
from ..runtime.source_videos import FrameTiming, find_sources, piece_timing
from .captions import text_tables, text_tools, text_units
from .render import PerturbedBuilder
from .selection import Pair, choose_texts, combinations, has_bias, selected, tools_named
from .settings import PerturbedSettings
from .tables import CLEAN, MULTIMODAL, suite_configs

OPENCV = "opencv-python-headless"
INTERPOLATED = frozenset({"static_rotate", "rotation", "zoom_blur"})
FLAGS = {"mlm": "--mlm", "translation": "--translate"}


@dataclass(frozen=True)
class PreparedPerturbed(Prepared):
    """A planned build of a suite. `stated` are the settings before names and families were expanded."""

    stated: PerturbedSettings = field(kw_only=True)
    tools: Tools = field(kw_only=True)

    def describe(self) -> str:
        """Return the text of a dry run."""
        plan, settings = self.plan, self.settings
        clips = {clip["clip_id"]: clip for unit in plan.units for clip in unit.payload.get("clips", ())}
        recipes = len(settings.perturbations) * len(settings.severities)
        num_sources = len({unit.source_id for unit in plan.units if unit.source_id})
        lines = [f"{len(clips):,} clips of {num_sources:,} source videos"]
        if recipes:
            lines += [
                f"{len(settings.perturbations)} perturbations x {len(settings.severities)} severities = {recipes}",
                f"{len(clips) * recipes:,} perturbed clips, and {len(clips):,} clean ones",
            ]
        if settings.worded:
            captions = sum(len(clip["captions"]) for clip in clips.values())
            lines += describe_texts(captions, self.stated, settings, self.tools)
        lines += noted(plan)
        if not settings.render:
            lines.append("no videos are made" + (" (--no-render)" if recipes else ""))
        lines = ["Plan (nothing was written):", *(f"  {line}" for line in lines)]
        return "\n".join([*lines, *(self.videos() if settings.render else ())])

    def estimate(self, workers: int, *, probe: bool) -> BuildEstimate | None:
        """Estimate the build from the length of the clips, and from frames of their videos."""
        if not self.settings.render:
            return None
        return estimate_suite(self.plan, self.settings, self.source_paths, workers=workers, probe=probe)


def prepare(settings: PerturbedSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Load the annotations, select perturbations, plan the build and find the videos.

    Raises:
        UsageError: Options contradict each other.
        InputError: The annotations cannot be read, or a perturbation is unknown.
    """
    check_together(settings)
    path = Path(settings.captions or settings.youcook2 or settings.msrvtt or "")
    if settings.msrvtt == "sample":
        path = cached_sample("msrvtt")
    folder = path if path.is_dir() else path.parent
    folders = [video_folder(Path(settings.videos))] if settings.videos else [folder, folder.parent]
    pieces = videos_in_pieces(path, caption_columns(columns_of(settings.columns))) if settings.captions else {}
    timing = piece_timing(pieces, folders, CAPTIONS.video_folders)
    clips = read_named(settings, path, timing)
    if settings.split != "all" and not clips.clips:
        raise InputError(f"the annotations have no clips of split {settings.split!r}.")
    cut = any(clip.start_s is not None or clip.id != clip.source_id for clip in clips.clips)
    parts = Need(lambda _: cut, "because every clip is an entire video", "use clips that are parts of videos")
    refuse_unused(settings, {"clip_first": (parts,)})
    tools = tools_named(settings)
    stated, settings = settings, decided(settings)
    texts = [check_text_name(name) for name in settings.text_perturbations]
    packages = ["numpy"]
    if settings.shows:
        packages.append(OPENCV)
    versions = tool_versions(render=settings.render, packages=packages)
    if settings.render and any(check_name(name).scope == "file" for name in settings.perturbations):
        versions["ffmpeg"] = ffmpeg_version()
    if texts and not dry_run:
        versions |= text_tools(tools, texts, settings.text_mode)
    plan = plan_perturbed(
        clips.clips,
        settings,
        limit=settings.limit,
        identity={
            "dataset_version": settings.version,
            "tools": versions,
            "inputs": {**clips.hashes, **settings.detail_hashes()},
            "source": described(drawn_or(source_named(settings), path, clips.hashes), settings).as_json(),
            "video_folders": list(clips.subfolders),
            **({"timing": timing.as_json()} if timing.lengths else {}),
        },
        notes=clips.counts,
    )
    plan = replace(plan, names=clips.names, left_out=bounded(clips.left_out))
    source_paths = find_sources(plan, folders, clips.subfolders) if settings.render else {}
    return PreparedPerturbed(
        plan,
        PerturbedBuilder(settings, {name: str(path) for name, path in source_paths.items()}, tools),
        settings,
        source_paths,
        folders,
        clips.subfolders,
        recorded={"caption_style": str(settings.caption_style)} if texts else {},
        warnings=[*clips.remarks, *timing.warnings(plan.sources), *interpolation_warnings(settings, versions)],
        stated=stated,
        tools=tools,
    )


def interpolation_warnings(settings: PerturbedSettings, versions: Mapping[str, str]) -> list[str]:
    """Warn of perturbations that an OpenCV before 5 interpolates less exactly."""
    version, names = versions.get(OPENCV, ""), sorted({*settings.perturbations} & INTERPOLATED)
    if not names or not version.startswith("4."):
        return []
    return [
        f"{OPENCV} {version} interpolates {', '.join(names)} less exactly than OpenCV 5: some pixel values differ by "
        "up to 5. The version is recorded, and `verify --sources` needs the same one."
    ]


def check_together(settings: PerturbedSettings) -> None:
    """Raise UsageError if options contradict each other."""
    annotations = {"--msrvtt": settings.msrvtt, "--youcook2": settings.youcook2, "--captions": settings.captions}
    if sum(value is not None for value in annotations.values()) != 1:
        raise UsageError(f"Specify exactly one of {', '.join(annotations)}.")
    if settings.modality == "all" and combinations()[0] not in settings.severities:
        raise UsageError("combinations use clips at severity 3, so --severity must include 3.")


def read_named(settings: PerturbedSettings, path: Path, timing: FrameTiming) -> CaptionedClips:
    """Load the annotations, and return the clips of the requested split.

    "all" selects the benchmark's own split or, for `captions`, all splits.

    Raises:
        InputError: Annotations are missing or malformed.
    """
    split = settings.split
    if settings.captions:
        clips = read_captions(path, columns=columns_of(settings.columns), length_of=timing.lengths)
    elif settings.youcook2:
        clips = read_youcook2(path, ("validation" if split == "all" else split,))
    else:
        clips = read_msrvtt(path, ("test" if split == "all" else split,))
    if split != "all":
        clips = replace(clips, clips=tuple(clip for clip in clips.clips if clip.split == split))
    return clips


def describe_texts(
    captions: int, stated: PerturbedSettings, settings: PerturbedSettings, tools: Tools
) -> Iterator[str]:
    """Yield the lines of a dry run about perturbed captions and combinations."""

    def product(count: int, noun: str, what: str = "perturbed captions") -> str:
        return f"{count}{noun} x {captions:,} captions = {count * captions:,} {what}"

    names = settings.text_perturbations
    yield product(len(names), " text perturbations")
    if not stated.text_perturbations and settings.modality != "multimodal":
        every = choose_texts(["all"], tools, bias=has_bias(settings))
        lacking = [check_text_name(name) for name in every if name not in names]
        if lacking:
            words = " and ".join(f"{c.name} ({', '.join(FLAGS[need] for need in c.needs)})" for c in lacking)
            yield f"with {words}: {product(len(every), '')}"
    if settings.pairs:
        yield product(len(settings.pairs), " combinations", "rows")


def source_named(settings: PerturbedSettings) -> Source:
    """Return which dataset the annotations come from, without what the user says about it."""
    if settings.captions:
        return CAPTIONS
    if settings.youcook2:
        return YOUCOOK2
    return SAMPLE if settings.msrvtt == "sample" else MSRVTT


def decided(settings: PerturbedSettings) -> PerturbedSettings:
    """Expand names and families to perturbations in the paper's order. Raise UsageError if a name is unknown."""
    selection = selected(settings)
    style = settings.caption_style or ("imperative" if source_named(settings).style == "imperative" else "declarative")
    return replace(
        settings,
        perturbations=selection.visual,
        severity=selection.severities,
        text_perturbations=selection.texts,
        pairs=selection.pairs,
        caption_style=style if settings.worded else "declarative",
        render=settings.render and settings.shows,
    )


def plan_perturbed(
    clips: Sequence[CaptionedClip],
    settings: PerturbedSettings,
    *,
    limit: int | None = None,
    identity: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a suite before any video is opened, for the first `limit` clips by id.

    If clips are entire videos, a unit is a video with all its clips and perturbations. Videos that are cut into clips
    may be long, so they have one unit per perturbation: an interruption loses less work, although the video is decoded
    once per unit. Captions have separate units, as they need no video. A combination belongs to its clip.

    `identity` holds further inputs that determine the content (dataset version, tool versions, hashes of inputs), and
    `notes` the counts from loading.

    Raises:
        InputError: The names of two videos lead to the same unit id.
    """
    chosen = sorted(clips, key=lambda clip: clip.id)[:limit]
    sources: dict[tuple[str, str], list[CaptionedClip]] = {}
    for clip in chosen:
        sources.setdefault((clip.split, clip.source_id), []).append(clip)
    units = list(text_units(chosen, settings.text_perturbations))
    splits_of = Counter(source for _, source in sources)
    combined = {Pair.read(pair).visual for pair in settings.pairs}
    for (split, source), members in sorted(sources.items()):
        rows = [
            {"clip_id": c.id, "captions": list(c.captions), "start_s": c.start_s, "end_s": c.end_s} for c in members
        ]
        names = [CLEAN, *settings.perturbations]
        whole = all(clip.start_s is None for clip in members)
        for group in [names] if whole else [[name] for name in names]:
            ending = f".{split}" if splits_of[source] > 1 else ""
            unit_id = (source if whole else f"{source}.{group[0]}") + ending
            base = "" if CLEAN in group else f"{source}.{CLEAN}{ending}"
            filled = (*group, *([MULTIMODAL] if combined & set(group) else []))
            cost = 0.0 if whole else _cost(rows, group[0], settings.severities)
            renders = len(rows) * sum(1 if name == CLEAN else len(settings.severities) for name in group)
            payload = {"clips": rows, "perturbations": group}
            parts = tuple(Part(clip.id, clip.file, clip.lines) for clip in members)
            units.append(Unit(unit_id, split, source, payload, cost, filled, renders, base, parts))
    for unit_id, times in Counter(unit.id for unit in units).items():
        if times > 1:
            raise InputError(
                f"two units would have the same id {unit_id!r}, because the name of one video is that of another "
                f"plus a perturbation or split. Rename the video {unit_id}."
            )
    tables = text_tables(settings.text_perturbations)
    if settings.perturbations:
        table = sha256_text(repr([visual_corruptions()[name] for name in settings.perturbations]))
        tables = {"visual.yaml": table, **tables}
    return Plan(
        builder="perturbed",
        identity={**(identity or {}), "settings": content(settings), "limit": limit, "tables": tables},
        units=tuple(sorted(units, key=lambda unit: unit.id)),
        configs=suite_configs(settings),
        noun="source video" if all(unit.id == unit.source_id for unit in units) else "unit",
        piece="render",
        part="clip",
        reports=(TEXT_SHIFT,),
        notes=dict(notes or {}),
    )


def _cost(clips: Sequence[Mapping[str, Any]], name: str, severities: Sequence[int]) -> float:
    """Estimate the relative cost of clips from their lengths, so that the longest units start first."""
    seconds = sum(max(0.0, (clip["end_s"] or 0.0) - (clip["start_s"] or 0.0)) for clip in clips)
    if name == CLEAN:
        return seconds * float(costs()["clean"]["encode_ns"])
    row = factors()[name]
    spent = [row["perturb_ns"][severity - 1] + row["encode_ns"][severity - 1] for severity in severities]
    return seconds * float(sum(spent))


def factors() -> Any:
    """Return the measured costs of each perturbation."""
    return package_table(Path(__file__).with_name("costs.yaml"))


def estimate_suite(
    plan: Plan, settings: PerturbedSettings, sources: Mapping[str, Path], *, workers: int, probe: bool = True
) -> BuildEstimate:
    """Estimate the size of a suite's videos and the time to render them.

    Perturbations differ in size and time by up to a factor of 100, depending on content. Therefore samples are encoded
    unperturbed, and measured factors convert their cost to that of each perturbation. Without `probe`, nothing is
    encoded and typical content is assumed.
    """
    footage = [
        Footage(unit.source_id, clip["start_s"], clip["end_s"])
        for unit in plan.units
        if CLEAN in unit.payload.get("perturbations", ())
        for clip in unit.payload["clips"]
    ]
    assumed = "perturbed" if all(part.stop is None for part in footage) else "perturbed_parts"
    encoding = EncodeSettings(settings.crf, settings.preset, settings.lossless)
    clean, basis = sampled(footage, sources, encoding, assumed, probe=probe)
    levels = product(settings.perturbations, settings.severities)
    parts = {(CLEAN, 0): clean} | {level: perturbed(clean, level, encoding) for level in levels}
    stored = clean.pixels * clean.num_frames * 1.5  # bytes
    spool = stored * min(workers, len(plan.units)) if stored > MEMORY_BYTES else 0.0
    return build_estimate(footage, parts, basis, spool=spool)


def perturbed(clean: Content, level: Level, encoding: EncodeSettings) -> Content:
    """Return the estimated content after a perturbation, given the clean content."""
    row, table, at = factors()[level[0]], costs()["clean"], level[1] - 1
    usual = typical(encoding, clean.pixels, clean.fps, clean.num_frames)
    key, later = (row[kind][at] / table[kind] for kind in kinds(encoding))
    return replace(
        clean,
        key=usual.key * key * (clean.key / usual.key) ** row["contents"],
        later=usual.later * later * (clean.later / usual.later) ** row["contents"],
        cpu_s=clean.cpu_s * row["encode_ns"][at] / table["encode_ns"] + clean.pixels * row["perturb_ns"][at] * 1e-9,
    )

"""Prepare a suite: load the annotations, plan the build, and find the videos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...annotations.captions import CAPTIONS, CaptionedClip, CaptionedClips, caption_columns, read_captions
from ...annotations.layouts import videos_in_pieces
from ...annotations.msrvtt import MSRVTT, SAMPLE, read_msrvtt
from ...annotations.samples.cache import cached_sample
from ...annotations.youcook2 import YOUCOOK2, read_youcook2
from ...core.errors import InputError, UsageError
from ...core.plan import Plan, bounded, noted
from ...core.settings import Need, refuse_unused
from ...core.source import Source, described
from ...core.tabular import columns_of
from ...core.version import tool_versions
from ...corruptions.registry import check_name, check_text_name
from ...corruptions.text.tools import Tools
from ...video.estimate import BuildEstimate
from ...video.source_files import video_folder
from ...video.transcode import ffmpeg_version
from ..base import Prepared
from ..runtime.source_videos import FrameTiming, find_sources, piece_timing
from .captions import text_tools
from .combinations import combinations
from .estimate import estimate_suite
from .plan import plan_perturbed
from .render import PerturbedBuilder
from .selection import choose_texts, has_bias, selected, tools_named
from .settings import PerturbedSettings

FLAGS = {"mlm": "--mlm", "translation": "--translate"}


@dataclass(frozen=True)
class PreparedPerturbed(Prepared):
    """A planned build of a suite. `unresolved` are the options with names of families."""

    unresolved: PerturbedSettings = field(kw_only=True)
    tools: Tools = field(kw_only=True)
    bias: bool = field(kw_only=True)

    def describe(self) -> str:
        """Return the text of a dry run."""
        plan, settings = self.plan, self.settings
        clips = {clip["clip_id"]: clip for unit in plan.units for clip in unit.payload.get("clips", ())}
        recipes = len(settings.perturbations) * len(settings.severities)
        needed = {unit.source_id for unit in plan.units if unit.source_id}
        lines = ["Plan (nothing was written):", f"  {len(clips):,} clips of {len(needed):,} source videos"]
        if recipes:
            lines += [
                f"  {len(settings.perturbations)} perturbations x {len(settings.severities)} severities = {recipes}",
                f"  {len(clips) * recipes:,} perturbed clips, and {len(clips):,} clean ones",
            ]
        lines += describe_texts(plan, settings, self.unresolved, self.tools, bias=self.bias)
        lines += [f"  {line}" for line in noted(plan)]
        if not settings.render:
            return "\n".join([*lines, "  no videos are made" + (" (--no-render)" if recipes else "")])
        return "\n".join([*lines, *self.videos()])

    def estimate(self, workers: int, *, probe: bool) -> BuildEstimate | None:
        """Estimate the build from the length of the clips, and from frames of their videos."""
        if not self.settings.render:
            return None
        return estimate_suite(self.plan, self.settings, self.found, workers=workers, probe=probe)


def prepare(settings: PerturbedSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Load the annotations, select perturbations, plan the build and find the videos.

    Raises:
        UsageError: Options contradict each other.
        InputError: The annotations cannot be read, or a perturbation is unknown.
    """
    check_together(settings)
    path = annotation_path(settings)
    folder = path if path.is_dir() else path.parent
    places = [video_folder(Path(settings.videos))] if settings.videos else [folder, folder.parent]
    timing = timing_of(settings, path, places)
    clips = read_named(settings, path, timing)
    if settings.split != "all" and not clips.clips:
        raise InputError(f"the annotations have no clips of split {settings.split!r}.")
    refuse_unused(settings, {"clip_first": (cut_from_sources(clips.clips),)})
    bias, tools = has_bias(settings), tools_named(settings)
    given, settings = settings, decided(settings)
    texts = [check_text_name(name) for name in settings.text_perturbations]
    packages = ["numpy"]
    if settings.shows:
        packages.append("opencv-python-headless")
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
            "source": described(source_named(settings), settings).as_json(),
            "video_folders": list(clips.subfolders),
            **({"timing": timing.as_json()} if timing.lengths else {}),
        },
        notes=clips.counts,
    )
    plan = replace(plan, names=clips.names, left_out=bounded(clips.left_out))
    found = find_sources(plan, places, clips.subfolders) if settings.render else {}
    return PreparedPerturbed(
        plan,
        PerturbedBuilder(settings, {name: str(path) for name, path in found.items()}, tools),
        settings,
        found,
        places,
        clips.subfolders,
        recorded={"caption_style": str(settings.caption_style)} if texts else {},
        warnings=[*clips.remarks, *timing.warnings(plan.sources)],
        unresolved=given,
        tools=tools,
        bias=bias,
    )


def check_together(settings: PerturbedSettings) -> None:
    """Raise UsageError if options contradict each other."""
    given = {"--msrvtt": settings.msrvtt, "--youcook2": settings.youcook2, "--captions": settings.captions}
    if sum(value is not None for value in given.values()) != 1:
        raise UsageError(f"Specify exactly one of {', '.join(given)}.")
    if settings.modality == "all" and combinations()[0] not in settings.severities:
        raise UsageError("combinations use clips at severity 3, so --severity must include 3.")


def cut_from_sources(clips: Sequence[CaptionedClip]) -> Need:
    """Return the condition that some clips are parts of their source videos."""
    return Need(
        lambda settings: any(clip.start_s is not None or clip.id != clip.source_id for clip in clips),
        "because every clip is an entire video",
        "use clips that are parts of videos",
    )


def annotation_path(settings: PerturbedSettings) -> Path:
    """Return the path of the annotations, which is a file or a folder."""
    if settings.msrvtt == "sample":
        return cached_sample("msrvtt")
    return Path(settings.captions or settings.youcook2 or settings.msrvtt or "")


def timing_of(settings: PerturbedSettings, path: Path, places: Sequence[Path]) -> FrameTiming:
    """Return the lengths of the videos that are annotated in pieces, of which the last one ends with its video."""
    pieces = videos_in_pieces(path, caption_columns(columns_of(settings.columns))) if settings.captions else {}
    return piece_timing(pieces, places, CAPTIONS.video_folders)


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
    plan: Plan, settings: PerturbedSettings, given: PerturbedSettings, tools: Tools, *, bias: bool
) -> list[str]:
    """Return the lines of a dry run about captions and combinations."""
    if not settings.worded:
        return []
    clips = {clip["clip_id"]: clip for unit in plan.units for clip in unit.payload.get("clips", ())}
    captions = sum(len(clip["captions"]) for clip in clips.values())

    def product(count: int, noun: str, what: str) -> str:
        return f"{count} {noun} x {captions:,} captions = {count * captions:,} {what}"

    names = settings.text_perturbations
    lines = [product(len(names), "text perturbations", "perturbed captions")]
    if not given.text_perturbations and settings.modality != "multimodal":
        every = choose_texts(["all"], tools, bias=bias)
        lacking = [check_text_name(name) for name in every if name not in names]
        if lacking:
            words = " and ".join(f"{c.name} ({', '.join(FLAGS[need] for need in c.needs)})" for c in lacking)
            lines.append(f"with {words}: " + product(len(every), "", "perturbed captions").replace("  ", " "))
    if settings.pairs:
        lines.append(product(len(settings.pairs), "combinations", "rows"))
    return [f"  {line}" for line in lines]


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

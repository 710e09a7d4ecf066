"""`build-perturbed`: from captioned clips to MSRVTT-P and YouCook2-P."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..runtime.estimates import in_words
from .build_clavi import PRESETS
from .carry_out import carry_out
from .options import DEFAULT_MAX_SKIP, build_options, exact_command
from .text_options import chosen, describe_texts, read_text_options, text_options

if TYPE_CHECKING:
    from ..builders.perturbed.settings import PerturbedSettings
    from ..records.plan import Plan
    from ..sources.captions import CaptionedClips
    from ..video.estimate import Estimate


def read_severities(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:
    """Read "3", "1-5" or "1,3,5"."""
    chosen: set[int] = set()
    for part in str(value).split(","):
        match = re.fullmatch(r"\s*([1-5])(?:\s*-\s*([1-5]))?\s*", part)
        if not match or int(match[2] or match[1]) < int(match[1]):
            raise click.BadParameter(f"{value!r} is no set of severities. Severities are 1 to 5: 3, 1-5 or 1,3,5.")
        chosen.update(range(int(match[1]), int(match[2] or match[1]) + 1))
    return tuple(sorted(chosen))


@click.command("build-perturbed", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--msrvtt", help="MSR-VTT: folder or file of its annotations, or the word `sample`.")
@click.option("--youcook2", type=click.Path(path_type=Path), help="YouCook2: folder of its annotations.")
@click.option(
    "--captions",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Any data set: CSV or JSON lines with video, caption and optional start, end, id, split.",
)
@click.option("--videos", type=click.Path(path_type=Path), help="Folder of the videos, if not beside the annotations.")
@click.option(
    "--perturbations",
    default="all",
    show_default=True,
    help="Names, families (noise, blur, camera, digital, temporal) or all, separated by commas.",
)
@click.option(
    "--severity",
    "severities",
    default="1-5",
    show_default=True,
    callback=read_severities,
    help="Such as 3, 1-5 or 1,3,5.",
)
@click.option(
    "--clip-first",
    is_flag=True,
    help="Cut clips out of their source before they are perturbed. By default the whole source is perturbed first.",
)
@click.option("--render/--no-render", default=True, show_default=True, help="Make the videos, or only the recipes.")
@click.option("--lossless", is_flag=True, help="Keep the perturbed RGB frames bit for bit (large).")
@click.option("--crf", type=click.IntRange(0, 51), default=23, show_default=True, help="x264's rate factor.")
@click.option("--preset", type=click.Choice(PRESETS), default="veryfast", show_default=True, help="x264's preset.")
@text_options
@build_options("train", "validation", "test")
def command(
    msrvtt: str | None,
    youcook2: Path | None,
    captions: Path | None,
    videos: Path | None,
    perturbations: str,
    severities: tuple[int, ...],
    clip_first: bool,
    render: bool,
    lossless: bool,
    crf: int,
    preset: str,
    out: Path | None,
    seed: int,
    split: str,
    limit: int | None,
    workers: int,
    dataset_version: str,
    resume: bool,
    dry_run: bool,
    check_space: bool,
    progress: bool,
    max_skip: float,
    allow_missing: bool,
    debug: bool,
    **others: Any,
) -> None:
    """Build MSRVTT-P or YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations.

    Every perturbation becomes a config of a Parquet dataset that datasets.load_dataset opens, beside the config
    `clean`; combinations are rows of the config `multimodal`, which name a clip and a caption of the others. By default
    the visual half is built; see --modality. --split all means the benchmark's own split: test of MSR-VTT, validation
    of YouCook2.

    \b
    Examples:
      build-perturbed --msrvtt sample --severity 3 --out out/perturbed
      build-perturbed --msrvtt ~/MSRVTT --modality all --out out/msrvtt-p --workers 8
      build-perturbed --msrvtt ~/MSRVTT --modality text --text-perturbations change_char,typos --out out/msrvtt-text
      build-perturbed --youcook2 ~/YouCook2 --no-render --out out/youcook2-p
      build-perturbed --captions mine.csv --videos ~/clips --perturbations noise,jpeg --out out/mine-p
    """  # noqa: D301
    given = {"--msrvtt": msrvtt, "--youcook2": youcook2, "--captions": captions}
    if sum(value is not None for value in given.values()) != 1:
        raise click.UsageError(f"Give exactly one of {', '.join(given)}.")
    if out is None and not dry_run:
        raise click.UsageError("Missing option '--out': the folder to build in.")
    if videos and not videos.is_dir():
        raise click.BadParameter(f"there is no folder {videos}", param_hint="--videos")
    options = read_text_options(others, severities)
    from ..builders.perturbed.captions import text_tools
    from ..builders.perturbed.estimate import estimate_suite
    from ..builders.perturbed.plan import plan_perturbed
    from ..builders.perturbed.render import PerturbedBuilder
    from ..builders.perturbed.settings import PerturbedSettings
    from ..corruptions.registry import check_name, check_text_name, select_corruptions
    from ..errors import InputError
    from ..records.versions import tool_versions
    from ..sources.files import find_videos
    from ..video.ffmpeg import ffmpeg_version

    folder, clips = read_clips(msrvtt, youcook2, captions, split)
    names = tuple(c.name for c in select_corruptions([name.strip() for name in perturbations.split(",")]))
    render = render and options.videos
    made: dict[str, Any] = chosen(options, names, severities, bias=youcook2 is None)
    if render:  # else nothing depends on them
        made |= {"crf": crf, "preset": preset, "lossless": lossless}
    if options.texts:
        style = options.caption_style or ("imperative" if youcook2 else "declarative")
        made |= {"caption_style": style, "text_mode": options.text_mode}
    settings = PerturbedSettings(seed=seed, clip_first=clip_first, render=render, **made)
    if split != "all" and not clips.clips:
        raise InputError(f"the annotations have no clips of split {split!r}.")
    packages = ("numpy", *(["opencv-python-headless"] if options.videos else []))
    versions = tool_versions(render=render, packages=packages)
    if render and any(check_name(name).scope == "file" for name in settings.perturbations):
        versions["ffmpeg"] = ffmpeg_version()
    tools = options.tools()
    texts = [check_text_name(name) for name in settings.text_perturbations]
    if texts and not dry_run:
        tools.check(texts)
        versions |= text_tools(tools, texts)
    plan = plan_perturbed(
        clips.clips,
        settings,
        limit=limit,
        identity={
            "dataset_version": dataset_version,
            "tools": versions,
            "inputs": clips.hashes,
            "video_folders": list(clips.subfolders),
        },
        notes=clips.counts,
    )
    wanted = {unit.source_id for unit in plan.units if unit.source_id}
    found = find_videos([videos] if videos else [folder, folder.parent], wanted, clips.subfolders) if render else {}
    builder = PerturbedBuilder(settings, {name: str(path) for name, path in found.items()}, tools)
    estimate = partial(estimate_suite, plan, settings, found, workers=workers)
    if dry_run:
        words = describe_texts(plan, settings, options, bias=youcook2 is None)
        click.echo(describe(plan, settings, found, estimate, workers, out, words))
        return
    source = next(option for option, value in given.items() if value is not None)
    carry_out(
        plan,
        builder,
        out or Path(),
        command=exact_command(
            "build-perturbed",
            {
                source.lstrip("-"): "sample" if msrvtt == "sample" else captions.name if captions else "DIR",
                **options.exact(tools.tagger.name if texts else ""),
                "caption-style": settings.caption_style if texts else None,
                "perturbations": perturbations if options.videos else None,
                "severity": ",".join(map(str, settings.severities)) if options.videos else None,
                "split": split,
                "limit": limit,
                "seed": seed,
                "clip-first": clip_first,
                "no-render": options.videos and not render,
                "lossless": lossless,
                "crf": crf if render and not lossless else None,
                "preset": preset if render else None,
                "allow-missing": allow_missing,
                "max-skip": max_skip if max_skip != DEFAULT_MAX_SKIP else None,
                "version": dataset_version,
                "out": "OUT",
            },
        ),
        workers=workers,
        resume=resume,
        progress=progress,
        max_skip=max_skip,
        allow_missing=allow_missing,
        dataset_version=dataset_version,
        needs=(lambda probe: estimate(probe=probe).disk) if check_space and render else None,
    )


def read_clips(
    msrvtt: str | None, youcook2: Path | None, captions: Path | None, split: str
) -> tuple[Path, CaptionedClips]:
    """Read the annotations that were named; give their folder too."""
    from ..builders.perturbed.inputs import read_clips as read

    if captions:
        return captions.parent, read("captions", captions, split)
    if youcook2:
        return youcook2, read("youcook2", youcook2, split)
    if msrvtt == "sample":
        from ..samples.cache import cached_sample

        path = cached_sample("msrvtt")
    else:
        path = Path(msrvtt or "")
    return path if path.is_dir() else path.parent, read("msrvtt", path, split)


def describe(
    plan: Plan,
    settings: PerturbedSettings,
    found: Mapping[str, Path],
    estimate: Callable[[], Estimate],
    workers: int,
    out: Path | None,
    texts: Sequence[str] = (),
) -> str:
    """Say what a build would do; `texts` are the lines about captions."""
    clips = {clip["clip_id"]: clip for unit in plan.units for clip in unit.payload.get("clips", ())}
    recipes = len(settings.perturbations) * len(settings.severities)
    needed = {unit.source_id for unit in plan.units if unit.source_id}
    lines = [
        "Plan (nothing was written):",
        f"  {len(clips):,} clips of {len(needed):,} source videos",
    ]
    if recipes:
        lines += [
            f"  {len(settings.perturbations)} perturbations x {len(settings.severities)} severities = {recipes}",
            f"  {len(clips) * recipes:,} perturbed clips, and {len(clips):,} clean ones",
        ]
    lines += texts
    lines += [f"  {name.replace('_', ' ')}: {count:,}" for name, count in plan.notes.items() if count]
    if not settings.render:
        return "\n".join([*lines, "  no videos are made" + (" (--no-render)" if recipes else "")])
    lines.append(f"  source videos found: {len(found):,} of {len(needed):,}")
    return "\n".join([*lines, *in_words(estimate(), workers, out)])

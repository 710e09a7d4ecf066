"""`build-clavi`: from Charades to the CLAVI benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..runtime.estimates import in_words
from .carry_out import carry_out
from .options import DEFAULT_MAX_SKIP, build_options, exact_command

if TYPE_CHECKING:
    from ..builders.clavi.settings import ClaviSettings
    from ..records.plan import Plan
    from ..video.estimate import Estimate

PRESETS = ["ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"]


@click.command("build-clavi", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--charades", required=True, help="Folder of the Charades annotations, or the word `sample`.")
@click.option("--videos", type=click.Path(path_type=Path), help="Folder of the videos, if not beside the annotations.")
@click.option(
    "--charades-sta",
    type=click.Path(path_type=Path),
    help="Folder of charades_sta_train.txt and _test.txt, if not beside the annotations (for --source sta).",
)
@click.option(
    "--source",
    type=click.Choice(["actions", "sta"]),
    default="actions",
    show_default=True,
    help="Segments: Charades' action classes, or Charades-STA's sentences.",
)
@click.option(
    "--rules",
    type=click.Choice(["released", "paper"]),
    default="released",
    show_default=True,
    help="Which pairs qualify: as in the released benchmark, or the paper's text read literally.",
)
@click.option(
    "--pairs",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    help="Released train_annotations.json or test_annotations.json: rebuild exactly these pairs. May be given twice.",
)
@click.option(
    "--render/--no-render", default=True, show_default=True, help="Make the videos, or only questions and pairs."
)
@click.option(
    "--crf", type=click.IntRange(0, 51), default=23, show_default=True, help="x264's rate factor, lower is better."
)
@click.option("--preset", type=click.Choice(PRESETS), default="veryfast", show_default=True, help="x264's preset.")
@click.option(
    "--audio",
    type=click.Choice(["drop", "keep"]),
    default="drop",
    show_default=True,
    help="Drop the sound, or cut and swap it with the picture.",
)
@build_options("train", "test")
def command(
    charades: str,
    videos: Path | None,
    charades_sta: Path | None,
    source: str,
    rules: str,
    pairs: tuple[Path, ...],
    render: bool,
    crf: int,
    preset: str,
    audio: str,
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
) -> None:
    """Build the CLAVI benchmark from Charades.

    Every pair of actions becomes two videos, the original segment and its complement with the two actions exchanged,
    and 19 yes/no questions a video, as a Parquet dataset that datasets.load_dataset opens.

    \b
    Examples:
      build-clavi --charades sample --out out/clavi
      build-clavi --charades ~/Charades --dry-run
      build-clavi --charades ~/Charades --out out/clavi --workers 8
      build-clavi --charades ~/Charades --pairs test_annotations.json --out out/clavi-test
    """  # noqa: D301
    if out is None and not dry_run:
        raise click.UsageError("Missing option '--out': the folder to build in.")
    if pairs and source == "sta":
        raise click.UsageError("--pairs holds pairs of action classes; it cannot be used with --source sta.")
    from ..builders.clavi.inputs import read_plan
    from ..builders.clavi.render import ClaviBuilder, pair_footage
    from ..builders.clavi.settings import ClaviSettings
    from ..records.versions import tool_versions
    from ..sources.charades import VIDEO_FOLDERS
    from ..sources.files import find_videos
    from ..video.encode import EncodeSettings
    from ..video.estimate import estimate_cuts, survey

    chosen: dict[str, Any] = (
        {"crf": crf, "preset": preset, "audio": audio} if render else {}
    )  # else nothing depends on them
    settings = ClaviSettings(seed, source, None if pairs else rules, render, **chosen)
    folder = _annotation_folder(charades)
    splits = ("train", "test") if split == "all" else (split,)
    plan = read_plan(
        folder,
        charades_sta or folder,
        settings,
        splits=splits,
        pairs=pairs,
        limit=limit,
        version=dataset_version,
        tools=tool_versions(render=render),
    )
    for name in (f"Charades_v1_{name}.csv" for name in splits):
        if name not in plan.identity["inputs"]:
            click.echo(f"note: there is no {name}, so its split is left out", err=True)
    places = [videos] if videos else [folder, *(path.parent for path in _annotation_files(folder))]
    if videos and not videos.is_dir():
        raise click.BadParameter(f"there is no folder {videos}", param_hint="--videos")
    found = find_videos(places, {unit.source_id for unit in plan.units}, VIDEO_FOLDERS) if render else {}
    builder = ClaviBuilder(settings, {name: str(path) for name, path in found.items()})

    def estimate(probe: bool = True) -> Estimate:
        return estimate_cuts(
            survey(pair_footage(plan), found, "clavi"),
            EncodeSettings(settings.crf, settings.preset),
            table="videos",
            copies=2,
            keep_sound=settings.audio == "keep",
            workers=workers,
            probe=probe,
        )

    if dry_run:
        click.echo(describe(plan, settings, found, estimate, workers, out))
        return
    carry_out(
        plan,
        builder,
        out or Path(),
        command=exact_command(
            "build-clavi",
            {
                "charades": "sample" if charades == "sample" else "CHARADES_DIR",
                "source": source,
                "charades-sta": "STA_DIR" if charades_sta else None,
                "pairs": " --pairs ".join(path.name for path in pairs) or None,
                "rules": settings.rules,
                "split": split,
                "limit": limit,
                "seed": seed,
                "no-render": not render,
                "crf": crf if render else None,
                "preset": preset if render else None,
                "audio": audio if render else None,
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
        needs=(lambda probe: estimate(probe).disk) if check_space and render else None,
    )


def _annotation_folder(charades: str) -> Path:
    if charades == "sample":
        from ..samples.cache import cached_sample

        return cached_sample("charades")
    return Path(charades)


def _annotation_files(folder: Path) -> list[Path]:
    from ..sources.files import find_file

    found = (find_file(folder, f"Charades_v1_{split}.csv") for split in ("train", "test"))
    return [path for path in found if path]


def describe(
    plan: Plan,
    settings: ClaviSettings,
    found: Mapping[str, Path],
    estimate: Callable[[], Estimate],
    workers: int,
    out: Path | None,
) -> str:
    """Say what a build would do: pairs, videos, questions, size and time."""
    from ..templates import load_questions

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
    for name, count in plan.notes.items():
        if count:
            lines.append(f"  {name.replace('_', ' ')}: {count:,}")
    if not settings.render:
        return "\n".join([*lines, "  no videos are made (--no-render)"])
    needed = {unit.source_id for unit in plan.units}
    lines.append(f"  source videos found: {len(found):,} of {len(needed):,}")
    return "\n".join([*lines, *in_words(estimate(), workers, out)])

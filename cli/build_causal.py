"""`build-causal`: from why-questions about video episodes to CausalChaos."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..runtime.estimates import in_words
from .build_clavi import PRESETS
from .carry_out import carry_out
from .mine import read_columns
from .mining_options import advice, bar, mining_options, read_choice
from .options import DEFAULT_MAX_SKIP, build_options, exact_command
from .text_options import TAGGERS

if TYPE_CHECKING:
    from ..builders.causal.plan import Made
    from ..builders.causal.settings import CausalSettings
    from ..negatives.cast import Cast
    from ..negatives.llm import Generator
    from ..records.plan import Plan
    from ..sources.causalchaos import CausalRow
    from ..video.estimate import Estimate

SCHEMES = ("UD", "PS", "UN")


def read_schemes(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[str, ...]:
    """Read "UD,PS", "UD PS" or both; the order is always UD, PS, UN."""
    named = {part.strip().upper() for value in values for part in value.split(",") if part.strip()}
    unknown = sorted(named - set(SCHEMES))
    if unknown:
        raise click.BadParameter(f"{', '.join(unknown)} is no division. Divisions: {', '.join(SCHEMES)}.")
    return tuple(scheme.lower() for scheme in SCHEMES if scheme in named)


@click.command("build-causal", context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--annotations",
    required=True,
    help="CausalChaos' Annotations.csv, or CSV or JSON lines of the same kind; or the word `sample`.",
)
@click.option(
    "--columns",
    multiple=True,
    callback=read_columns,
    help="Columns that are called otherwise, such as question=Q,answer=A.",
)
@click.option(
    "--videos", type=click.Path(path_type=Path), help="Folder of the episodes, if not beside the annotations."
)
@click.option(
    "--fps-map",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Frames per second that annotated frames were counted at, by episode: S01E01=23.976 on each line, or JSON. "
    "Frames are then found by time; by default a frame's number is that of the frame in the file.",
)
@click.option(
    "--offsets",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="CSV with Episode and Offset (frames to add for your copies), or your own frames in the layout of "
    "Video_synchonization_frames.csv.",
)
@click.option(
    "--released-offsets",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The released Video_synchonization_frames.csv, which --offsets is compared with.",
)
@click.option(
    "--splits",
    multiple=True,
    default=("UD,PS,UN",),
    show_default=True,
    callback=read_schemes,
    help="Divisions 70:15:15: UD at random, PS by place in the episode, UN by episodes; `--splits UD PS` works too.",
)
@click.argument("more_splits", nargs=-1, metavar="", callback=read_schemes)
@click.option(
    "--ps-by",
    type=click.Choice(["frames", "rows"]),
    default="frames",
    show_default=True,
    help="PS by the middle of a clip, or by a row's place in the file as released.",
)
@mining_options
@click.option(
    "--confuse",
    type=click.IntRange(0, 2),
    default=2,
    show_default=True,
    help="Wrong options that causal_confusion replaces at most; 0 leaves that config out.",
)
@click.option(
    "--cast",
    "cast_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Names besides those found in the annotations: one on each line, with `, female` or `, male` if wanted.",
)
@click.option(
    "--tagger",
    type=click.Choice(TAGGERS),
    default="auto",
    show_default=True,
    help="Parts of speech: NLTK's tagger, Pattern's, or NLTK's where its data is found.",
)
@click.option("--llm-base-url", help="Let a language model confuse: URL of an OpenAI-compatible endpoint.")
@click.option("--llm-model", help="Its model; without --llm-base-url the folder of a model of transformers.")
@click.option("--render/--no-render", default=True, show_default=True, help="Cut the clips, or write the rest only.")
@click.option("--crf", type=click.IntRange(0, 51), default=23, show_default=True, help="x264's rate factor.")
@click.option("--preset", type=click.Choice(PRESETS), default="veryfast", show_default=True, help="x264's preset.")
@click.option(
    "--audio", type=click.Choice(["drop", "keep"]), default="drop", show_default=True, help="Drop or keep the sound."
)
@build_options("train", "validation", "test")
def command(
    annotations: str,
    columns: dict[str, str] | None,
    videos: Path | None,
    fps_map: Path | None,
    offsets: Path | None,
    released_offsets: Path | None,
    splits: tuple[str, ...],
    more_splits: tuple[str, ...],
    ps_by: str,
    confuse: int,
    cast_file: Path | None,
    tagger: str,
    llm_base_url: str | None,
    llm_model: str | None,
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
    **mining: Any,
) -> None:
    """Build CausalChaos: why-questions with five answers and five explanations to choose from, and the clips.

    Every division becomes a config (`ud`, `ps`, `un`) of a Parquet dataset that datasets.load_dataset opens, beside
    `causal_confusion`, `open_ended` and `clips`. Wrong options are right ones of similar questions.

    \b
    Examples:
      build-causal --annotations sample --out out/causal
      build-causal --annotations Annotations.csv --no-render --out out/causalchaos
      build-causal --annotations Annotations.csv --videos ~/episodes --splits UD --out out/ud --workers 8
      build-causal --annotations Annotations.csv --no-render --ps-by rows --pool all --tau .75 \\
        --rank-by explanation --no-keep-apart --same-text 2 --max-lend 0 --ties id --out out/as-released
    """  # noqa: D301
    if out is None and not dry_run:
        raise click.UsageError("Missing option '--out': the folder to build in.")
    if llm_base_url and not llm_model:
        raise click.UsageError("--llm-base-url needs --llm-model: the model's name at that endpoint.")
    if llm_model and not confuse:
        raise click.UsageError("--llm-model makes confusions, and --confuse 0 wants none.")
    if released_offsets and not offsets:
        raise click.UsageError("--released-offsets is what --offsets is compared with; give --offsets too.")
    if videos and not videos.is_dir():
        raise click.BadParameter(f"there is no folder {videos}", param_hint="--videos")
    schemes = splits_of(splits, more_splits)
    if not schemes:
        raise click.UsageError(f"--splits names no division. Divisions: {', '.join(SCHEMES)}.")
    from ..builders.causal.inputs import (
        VIDEO_FOLDERS,
        CausalFiles,
        causal_identity,
        encoder_name,
        make_confuser,
        read_inputs,
    )
    from ..builders.causal.plan import plan_causal
    from ..builders.causal.render import CausalBuilder, clip_footage
    from ..builders.causal.settings import CausalSettings
    from ..errors import InputError
    from ..negatives.embeddings_cache import embed
    from ..records.versions import tool_versions
    from ..sources.files import find_videos
    from ..video.encode import EncodeSettings
    from ..video.estimate import estimate_cuts, survey

    chosen: dict[str, Any] = {"crf": crf, "preset": preset, "audio": audio} if render else {}  # else nothing depends
    chosen |= {"places": ps_by} if "ps" in schemes else {}
    choice = read_choice(mining)
    settings = CausalSettings(
        seed=seed,
        splits=schemes,  # type: ignore[arg-type]
        mining=choice.settings,
        pool=choice.pool,
        rank_by=choice.rank_by,
        keep_apart=choice.keep_apart,
        apart_frames=choice.apart_frames if choice.keep_apart else 0,
        confuse=confuse if split in ("test", "all") else 0,
        render=render,
        only=split,
        **chosen,
    )
    file = _annotations(annotations, render)
    files = CausalFiles(file, columns or {}, offsets, released_offsets, fps_map, cast_file)
    read = read_inputs(files, settings, limit)
    rows = read.rows
    versions = tool_versions(render=render, packages=("numpy",))
    versions["encoder"] = encoder_name(choice.model)
    confuser, generator, made = None, None, None
    if settings.confuse:
        confuser = make_confuser(read.everything, cast_file, tagger)  # type: ignore[arg-type]
        versions["tagger"] = confuser.tagger.name
        generator = _generator(llm_base_url, llm_model)
        if generator:
            versions["language model"] = generator.model_name
    if dry_run and generator:
        click.echo(f"Language model: {_cost(rows, settings)}")
    elif generator and confuser:
        made = _ask(rows, settings, generator, confuser.cast, progress)
    with ExitStack() as stack:

        def vectors(texts: Sequence[str]) -> Any:
            return embed(texts, choice.model, progress=bar(stack, f"embedding {len(texts):,} texts", progress))

        plan = plan_causal(
            rows,
            settings,
            embed=vectors,
            confuser=confuser,
            made=made,
            timing=read.timing,
            limit=limit,
            identity=causal_identity(dataset_version, versions, read.hashes, columns),
            notes=read.counts,
        )
    if not plan.units:
        raise InputError(f"the annotations have no question of split {split!r}.")
    for target in ("answer", "explanation"):
        if fewer := plan.notes[f"{target}s_with_fewer_options"]:
            click.echo(
                f"warning: {fewer:,} questions (over all divisions) have fewer than {settings.mining.num_options} "
                f"{target} options, because their split is too small. {advice(choice)}",
                err=True,
            )
    wanted = {unit.source_id for unit in plan.units if unit.source_id}
    found = find_videos([videos] if videos else [file.parent], wanted, VIDEO_FOLDERS) if render else {}
    builder = CausalBuilder(settings, {name: str(path) for name, path in found.items()})

    def estimate(probe: bool = True) -> Estimate:
        return estimate_cuts(
            survey(clip_footage(plan), found, "causal"),
            EncodeSettings(settings.crf, settings.preset),
            table="clips",
            copies=1,
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
            "build-causal",
            {
                "annotations": "sample" if annotations == "sample" else file.name,
                "columns": ",".join(f"{name}={column}" for name, column in (columns or {}).items()) or None,
                "fps-map": fps_map.name if fps_map and render else None,
                "offsets": offsets.name if offsets and render else None,
                "released-offsets": released_offsets.name if released_offsets and render else None,
                "splits": ",".join(scheme.upper() for scheme in schemes),
                "ps-by": settings.places if "ps" in schemes else None,
                **choice.command_line(),
                "confuse": settings.confuse,
                "cast": cast_file.name if cast_file and settings.confuse else None,
                "tagger": confuser.tagger.name.split()[0].rstrip(",") if confuser else None,
                "llm-base-url": "URL" if generator and llm_base_url else None,
                "llm-model": Path(llm_model or "").name if generator else None,
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


def splits_of(named: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """Put the divisions of `--splits UD PS` together: click hands over the first as the option, the rest after it."""
    default = tuple(scheme.lower() for scheme in SCHEMES)
    if more and tuple(named) == default:
        raise click.UsageError(
            f"{' '.join(more).upper()} stands alone. Give divisions behind --splits: --splits UD,PS."
        )
    return tuple(scheme for scheme in default if scheme in {*named, *more})


def _annotations(annotations: str, render: bool) -> Path:
    """Find the annotations; the sample's videos are drawn only if they are needed."""
    from ..errors import UsageError

    if annotations == "sample":
        from ..samples.cache import cached_sample
        from ..samples.causal import ANNOTATIONS

        return cached_sample("causal" if render else "causal-annotations") / ANNOTATIONS
    path = Path(annotations)
    if path.is_dir():
        path = path / "Annotations.csv"
    if not path.is_file():
        raise UsageError(f"there is no file {path}. --annotations takes CausalChaos' Annotations.csv, or `sample`.")
    return path


def _generator(base_url: str | None, model: str | None) -> Generator | None:
    from ..negatives.llm import ChatEndpoint, LocalModel

    if model is None:
        return None
    return ChatEndpoint(base_url, model) if base_url else LocalModel(model)


def _texts(rows: Sequence[CausalRow], settings: CausalSettings) -> list[str]:
    """Give what is confused: the right options of the test."""
    from ..builders.causal.divisions import divide
    from ..builders.causal.plan import text_of
    from ..builders.causal.tables import TARGETS

    split_of = divide(settings.splits[0], rows, settings.seed, settings.places)
    tested = [row for row in rows if split_of[row.qid] == "test"]
    return list(dict.fromkeys(text_of(row, target) for target in TARGETS for row in tested))


def _cost(rows: Sequence[CausalRow], settings: CausalSettings) -> str:
    from ..negatives.llm import estimate

    return estimate(_texts(rows, settings))


def _ask(rows: Sequence[CausalRow], settings: CausalSettings, generator: Generator, cast: Cast, progress: bool) -> Made:
    from ..negatives.llm import ask_all
    from ..records.files import user_cache

    texts = _texts(rows, settings)
    made = {}
    with ExitStack() as stack:
        show = bar(stack, "asking the language model", progress)
        for text, found in ask_all(texts, generator, cast, user_cache() / "llm"):
            made[text] = found
            if show:
                show(len(made), len(texts))
    return made


def describe(
    plan: Plan,
    settings: CausalSettings,
    found: Mapping[str, Path],
    estimate: Callable[[], Estimate],
    workers: int,
    out: Path | None,
) -> str:
    """Say what a build would do."""
    sizes: dict[str, dict[str, int]] = {}
    for unit in plan.units:
        if "config" in unit.payload:
            sizes.setdefault(unit.payload["config"], {})[unit.split] = len(unit.payload["rows"])
    lines = ["Plan (nothing was written):"]
    for config in (config.name for config in plan.configs if config.name in sizes):
        parts = [f"{sizes[config][split]:,} {split}" for split in plan.splits if split in sizes[config]]
        lines.append(f"  {config:<17}{sum(sizes[config].values()):>7,} questions: {', '.join(parts)}")
    for scheme, parts_of in plan.notes["leaks"].items():
        for split, leak in parts_of.items():
            lines.append(
                f"  {scheme} {split}: {leak['overlapping']:,} of {leak['rows']:,} clips share a frame with one of train"
            )
    plain = {name: count for name, count in plan.notes.items() if isinstance(count, int) and count}
    lines += [f"  {name.replace('_', ' ')}: {count:,}" for name, count in plain.items()]
    if not settings.render:
        return "\n".join([*lines, "  no clips are cut (--no-render)"])
    clips = [unit for unit in plan.units if unit.source_id]
    needed = {unit.source_id for unit in clips}
    lines.append(f"  {len(clips):,} clips of {len(needed):,} episodes; videos found: {len(found):,}")
    return "\n".join([*lines, *in_words(estimate(), workers, out)])

"""Prepare a CausalChaos build: load the files, plan the build, and find the episodes."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from ...annotations.causalchaos import (
    CAUSALCHAOS,
    CausalRow,
    first_by_id,
    read_causalchaos,
    read_fps_map,
    read_offsets,
    source_of_rows,
)
from ...annotations.samples import cached_sample
from ...annotations.samples.causal import ANNOTATIONS
from ...annotations.world.source import drawn_or
from ...core.errors import InputError, UsageError
from ...core.files import sha256_file, user_cache
from ...core.output import FinishedOutput
from ...core.plan import BuildEstimate, Plan, noted
from ...core.progress import Progress, keep
from ...core.settings import SAMPLE, optional_path
from ...core.source import described
from ...core.tabular import columns_of
from ...core.version import ENGINE, engine, tool_versions
from ...language.embeddings import Embeddings, sbert_files
from ...language.parse import load_parser
from ...language.people import Cast, derive_cast, join_casts, read_cast
from ...negatives.confusion import Confuser
from ...negatives.llm import ChatEndpoint, Generator, LocalModel, ask_all
from ...negatives.llm import estimate as estimate_cost
from ...negatives.mining import VERSION
from ...negatives.settings import advice, strict
from ...video.encode import EncodeSettings
from ...video.estimate import build_estimate, sampled
from ...video.source_files import video_folder
from ..base import Prepared
from ..runtime.source_videos import find_sources
from .divisions import Timing, divide, plan_causal, table_hashes
from .options import EarlierTables, Generated
from .render import CausalBuilder, clip_footage
from .settings import CausalSettings, decided
from .tables import TARGETS, text_of


@dataclass(frozen=True)
class PreparedCausal(Prepared):
    """A planned build of CausalChaos.

    Attributes:
        planned: `plan_causal` with the arguments that led to the plan.
        cost: Cost of the language model, for a dry run.
    """

    planned: Callable[..., Plan] = field(kw_only=True)
    cost: str = field(kw_only=True)

    def describe(self) -> str:
        """Return the text of a dry run."""
        plan, settings = self.plan, self.settings
        sizes: dict[str, dict[str, int]] = {}
        for unit in plan.units:
            if "config" in unit.payload:
                sizes.setdefault(unit.payload["config"], {})[unit.split] = len(unit.payload["rows"])
        lines = [f"Language model: {self.cost}"] * bool(self.cost) + ["Plan (nothing was written):"]
        for config in (config.name for config in plan.configs if config.name in sizes):
            parts = [f"{sizes[config][split]:,} {split}" for split in plan.splits if split in sizes[config]]
            lines.append(f"  {config:<17}{sum(sizes[config].values()):>7,} questions: {', '.join(parts)}")
        for scheme, parts_of in plan.notes["leaks"].items():
            for split, leak in parts_of.items():
                overlap = f"{leak['overlapping']:,} of {leak['rows']:,} clips"
                lines.append(f"  {scheme} {split}: {overlap} share a frame with one of train")
        lines += [f"  {line}" for line in [*noted(plan), *confusions(plan)]]
        if not settings.render:
            return "\n".join([*lines, "  no clips are cut (--no-render)"])
        clips = [unit for unit in plan.units if unit.source_id]
        needed = {unit.source_id for unit in clips}
        lines.append(f"  {len(clips):,} clips of {len(needed):,} episodes")
        return "\n".join([*lines, *self.videos()])

    def estimate(self, workers: int, *, probe: bool) -> BuildEstimate | None:
        """Estimate the build from the length of the clips, and from frames of their episodes."""
        if not self.settings.render:
            return None
        footage, encoding = clip_footage(self.plan), EncodeSettings(self.settings.crf, self.settings.preset)
        clean, basis = sampled(footage, self.source_paths, encoding, self.plan.builder, probe=probe)
        return build_estimate(footage, {("clips", 0): clean}, basis, sound=self.settings.audio == "keep")

    def as_chosen(self, output: FinishedOutput) -> Plan:
        """Plan a build with the options and cosines of an output, where another machine can have produced them."""
        earlier = EarlierTables.read(output, self.settings)
        plan = self.planned(earlier=earlier)
        units = []
        for unit in plan.units:
            table = unit.payload.get("config", "")
            if table in earlier.tables:
                rows = [earlier.rounded(table, row) for row in unit.payload["rows"]]
                unit = replace(unit, payload={**unit.payload, "rows": rows})
            units.append(unit)
        return replace(plan, units=tuple(units))


def prepare(settings: CausalSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
    """Load the annotations, mine and confuse options, plan the build and find the episodes.

    Raises:
        UsageError: Options are incompatible.
        InputError: The annotations cannot be read, or contain too few questions.
    """
    roots = [video_folder(Path(settings.videos))] if settings.videos else []
    settings, disputed = decided(settings), settings.disputed()
    reads_texts = bool(settings.confuse) or strict(settings)
    file = annotation_file(settings)
    columns = columns_of(settings.columns)
    read = read_causalchaos(file, columns)
    rows = first_by_id(read.rows, settings.limit)
    timing = Timing()
    cast = optional_path(settings.cast)
    files = [cast] if reads_texts else []
    if settings.render:
        offsets, released, fps_map = map(optional_path, (settings.offsets, settings.released_offsets, settings.fps_map))
        files = [offsets, released, fps_map, *files]
        timing = Timing(
            read_offsets(offsets, released) if offsets else {},
            read_fps_map(fps_map) if fps_map else {},
        )
        check_episodes(rows, timing)
    hashes = {**read.hashes, **{path.name: sha256_file(path) for path in files if path}}
    source = source_of_rows(hashes, sample=settings.annotations == SAMPLE)
    if settings.annotations != SAMPLE:
        source = drawn_or(source, Path(settings.annotations), read.hashes)
    source = described(source, settings)
    hashes |= settings.detail_hashes() | settings.disputed_hashes()
    encoder = sbert_files(settings.model).identity()
    versions = {**tool_versions(render=settings.render), ENGINE: engine()}
    versions["encoder"] = f"weights {encoder['weights'][:12]} settings {encoder['settings'][:12]}"
    confuser, generator, generated = None, None, None
    if reads_texts:
        confuser = make_confuser(read.rows, cast)
        versions["parser"] = load_parser().name
    if settings.confuse and settings.llm_model is not None:
        generator = generator_of(settings.llm_model, settings.llm_base_url)
    if generator and confuser and not dry_run:  # a dry run neither downloads nor asks the model
        versions["language model"] = generator.model_name
        generated = ask(rows, settings, generator, confuser.cast)
    planned = partial(
        plan_causal,
        rows,
        settings,
        embed=Embeddings(settings.model),
        confuser=confuser,
        generated=generated,
        timing=timing,
        limit=settings.limit,
        identity={
            "dataset_version": settings.version,
            "tools": versions,
            "balancing": VERSION,
            "inputs": hashes,
            "tables": table_hashes(),
            "columns": columns,
            "source": source.as_json(),
            "video_folders": list(CAUSALCHAOS.video_folders),
        },
        notes=read.counts,
        left_out=read.left_out,
        disputed=dict(ChainMap(*disputed)),
    )
    plan = planned()
    if not plan.units:
        raise InputError(f"the annotations have no questions of split {settings.split!r}.")
    cost = estimate_cost(confused_texts(rows, settings)) if generator and dry_run else ""
    roots = roots or [file.parent]
    source_paths = find_sources(plan, roots, source.video_folders) if settings.render else {}
    return PreparedCausal(
        plan,
        CausalBuilder(settings, {name: str(path) for name, path in source_paths.items()}),
        settings,
        source_paths,
        roots,
        source.video_folders,
        warnings=[
            f"{fewer:,} questions (over all divisions) have fewer than {settings.num_options} {target} options, "
            f"because their split is too small. {advice(settings)}"
            for target in TARGETS
            if (fewer := plan.notes[f"{target}s_with_fewer_options"])
        ],
        planned=planned,
        cost=cost,
    )


def check_episodes(rows: Sequence[CausalRow], timing: Timing) -> None:
    """Raise UsageError if offsets or frame rates were given for other episodes only."""
    episodes = {row.episode for row in rows}
    for flag, named in (("--offsets", timing.offsets), ("--fps-map", timing.rates)):
        if named and not episodes & named.keys():
            raise UsageError(
                f"{flag} has no effect because it names none of the annotated episodes, such as {min(episodes)}. Leave "
                "it out, or correct the names."
            )


def annotation_file(settings: CausalSettings) -> Path:
    """Return the path of the annotations. The sample's videos are rendered only if they are needed."""
    if settings.annotations == SAMPLE:
        return cached_sample("causal" if settings.render else "causal-annotations") / ANNOTATIONS
    path = Path(settings.annotations)
    if path.is_dir():
        path = path / ANNOTATIONS
    if not path.is_file():
        raise UsageError(
            f"there is no file {path}. Use --annotations to specify Annotations.csv of CausalChaos, or --annotations "
            "sample to use the built-in sample."
        )
    return path


def make_confuser(rows: Sequence[CausalRow], cast_file: Path | None) -> Confuser:
    """Create a confuser whose cast comes from the annotations and the cast file."""
    cast = derive_cast(text for row in rows for text in (row.question, row.answer, row.explanation))
    if cast_file:
        cast = join_casts(cast, read_cast(cast_file))
    return Confuser(cast)


def generator_of(model: str, base_url: str | None) -> Generator:
    """Return the language model that is to generate confusions."""
    return ChatEndpoint(base_url, model) if base_url else LocalModel(model)


def confused_texts(rows: Sequence[CausalRow], settings: CausalSettings) -> list[str]:
    """Return the texts to confuse, which are the correct options of the test split."""
    split_of = divide(settings.schemes[0], rows, settings.seed, settings.ps_by)
    tested = [row for row in rows if split_of[row.qid] == "test"]
    return list(dict.fromkeys(text_of(row, target) for target in TARGETS for row in tested))


def ask(rows: Sequence[CausalRow], settings: CausalSettings, generator: Generator, cast: Cast) -> Generated:
    """Ask the language model to confuse every correct option of the test split."""
    texts = confused_texts(rows, settings)
    results = {}
    with Progress("asking the language model", len(texts), "text", brief=True) as progress:
        for text, confused in ask_all(texts, generator, cast, user_cache() / "llm"):
            results[text] = confused
            keep("asked text")
            progress.advance()
    return results


def confusions(plan: Plan) -> list[str]:
    """Report how many confusions of each kind there are, and why others are missing."""
    return [
        f"{target}s confused by {kind}: {counts['placed']:,}; not "
        + (", ".join(f"{count:,} ({why})" for why, count in counts["not_placed"].items()) or "0")
        for target, kinds in plan.notes.get("confusion", {}).items()
        for kind, counts in kinds.items()
    ]

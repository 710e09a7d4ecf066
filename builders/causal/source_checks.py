"""Checks of a CausalChaos output against what it was built from: texts, sentence encoder, annotations, episodes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...errors import InputError, VideoError
from ...language.tagger import load_tagger
from ...negatives.embeddings_cache import embed
from ...negatives.settings import strict
from ...records.checks import Finding, NotChecked, VerifyOptions, draw_sample
from ...records.command import read_command
from ...records.files import sha256_file
from ...records.output import FinishedOutput
from ...records.plan import Plan, Unit
from ...records.schema import Row
from ...records.source import differing_source
from ...runtime.processes import on_processes
from ...sources.causalchaos import VIDEO_FOLDERS, CausalRow, source_of_rows
from ...sources.files import find_videos
from ...video.index import index_frames
from ..remade import (
    chosen_videos,
    differing_rows,
    same_encoder,
    unlike_again,
)
from ..replanned import annotation_folder, differing_hash, differing_inputs, differing_tables, input_files
from .inputs import (
    CausalFiles,
    CausalInputs,
    causal_identity,
    encoder_name,
    make_confuser,
    read_inputs,
    read_timing,
)
from .plan import Timing, causal_row, plan_causal
from .render import CLIP_FILE, CausalBuilder, clip_frames
from .settings import SAMPLE, CausalSettings, settings_of
from .tables import CLIPS, CONFUSED, OPEN

COSINE_ROOM = 1.5e-4  # how far apart another processor's cosines may be
ROLES = ("offsets", "released_offsets", "fps_map", "cast")
CUT = ("first_frame", "num_frames", "fps", "width", "height", "duration_s")


def read_again(output: FinishedOutput, options: VerifyOptions) -> tuple[CausalInputs, CausalFiles] | NotChecked:
    """Read the annotations that an output was built from.

    Raises:
        InputError: They are malformed, or not those of the output.
    """
    info = output.info
    folder = annotation_folder(options)
    if folder is None:
        return NotChecked("texts, frames and the rows' number: give --annotations, or --sources with them in it")
    found = input_files(info, folder)
    if isinstance(found, NotChecked):
        return found
    problems = list(differing_inputs(info, found))
    if problems:
        raise InputError("; ".join(problems))
    roles = {role: path for role in ROLES for name, path in found.items() if name in info["files"].get(role, [])}
    rest = [path for path in found.values() if path not in roles.values()]
    if len(rest) != 1:
        return NotChecked(f"texts and frames: build.json does not say which of {', '.join(found)} is what")
    files = CausalFiles(rest[0], info["columns"], **roles)
    return read_inputs(files, settings_of(info), info["limit"]), files


@dataclass(frozen=True)
class Again:
    """An output planned once more.

    Attributes:
        plan: The plan.
        ordered: Whether the rows are in the order of the annotations.
        confused: Whether the confusions could be made again.
    """

    plan: Plan
    ordered: bool
    confused: bool

    @property
    def complete(self) -> bool:
        """Whether nothing is left out, so that the plans must be equal."""
        return self.ordered and self.confused


def plan_again(output: FinishedOutput, options: VerifyOptions) -> tuple[Again | None, list[NotChecked]]:
    """Plan an output once more: from its annotations, or else from its own open-ended questions.

    Returns:
        The plan, None if it cannot be made; and what had to be left open.

    Raises:
        InputError: The annotations are malformed, or not those of the output, or give no plan.
    """
    info, open_points = output.info, []
    settings, tools = settings_of(info), info.get("tools", {})
    try:
        here = encoder_name()
    except InputError as error:
        here = str(error)
    if tools.get("encoder") != here:
        return None, [NotChecked("which options were chosen: the sentence encoder that build.json names is not here")]
    read = read_again(output, options)
    if isinstance(read, NotChecked):
        open_points.append(read)
        if settings.only != "all" or (settings.places == "rows" and "ps" in settings.splits):
            return None, [NotChecked("which options were chosen: not all questions are here, or not in their order")]
        rows: Sequence[CausalRow] = [causal_row(row) for row in output.rows(OPEN)]
        inputs = CausalInputs(rows, rows, Timing(), {}, {})
        cast = None
    else:
        inputs, files = read
        cast = files.cast
    confuser = None
    if settings.confuse or strict(settings):
        kinds: tuple[Literal["pattern", "auto"], ...] = ("pattern", "auto")
        taggers = [kind for kind in kinds if load_tagger(kind).name == tools.get("tagger")]
        whole = not isinstance(read, NotChecked) or (info["limit"] is None and "cast" not in info["files"])
        if not taggers or not whole:
            if strict(settings):
                return None, [NotChecked("which options were chosen: tagger or cast are not here")]
            open_points.append(NotChecked("the confusions: tagger or cast are not here"))
        else:
            confuser = make_confuser(inputs.everything, cast, taggers[0])
    by_model = bool(settings.confuse) and "language model" in tools
    if by_model:
        open_points.append(NotChecked("the confusions: a language model made them"))
    plan = plan_causal(
        inputs.rows,
        settings,
        embed=embed,
        confuser=confuser,
        timing=inputs.timing,
        limit=info["limit"],
        identity=causal_identity(info["dataset_version"], tools, info["inputs"], info["columns"], info["source"]),
        notes=inputs.counts,
    )
    again = not settings.confuse or (confuser is not None and not by_model)
    return Again(plan, not isinstance(read, NotChecked), again), open_points


def check_mined(output: FinishedOutput, options: VerifyOptions) -> Iterator[Finding]:
    """Divided, mined, put in order and confused again by the same encoder, every row of every table is the same."""
    try:
        again, open_points = plan_again(output, options)
    except InputError as error:
        yield f"the build cannot be planned again: {error}"
        return
    yield from open_points
    if again is None:
        return
    expected = {
        (unit.payload["config"], unit.split): unit.payload["rows"]
        for unit in again.plan.units
        if unit.tables != (CLIPS,)
    }
    exact = True
    for table in output.info["counts"]:
        if table == CLIPS or (table == CONFUSED and not again.confused):
            continue
        for split in dict.fromkeys((*output.splits(table), *(s for t, s in expected if t == table))):
            found, rows = list(output.rows(table, None, split)), expected.get((table, split), [])
            if not again.ordered:
                found, rows = (sorted(some, key=lambda row: str(row["qid"])) for some in (found, rows))
            exact = exact and found == rows
            yield from differing_rows(f"{table}/{split}", found, rows, "qid", COSINE_ROOM)
    if again.complete:
        yield from _differing_plan(output, again.plan, exact)


def check_source(output: FinishedOutput) -> Iterator[str]:
    """The source in `build.json` is the one that the command and the inputs stand for."""
    given, _ = read_command(output.info, CausalSettings)
    source = source_of_rows(output.info["inputs"], sample=given.annotations == SAMPLE)
    return differing_source(output.info, source)


def _differing_plan(output: FinishedOutput, plan: Plan, exact: bool) -> Iterator[str]:
    """Compare what `build.json` says of the plan; the hash only where no cosine was rounded otherwise."""
    info = output.info
    yield from differing_tables(info, plan)
    problems = list(differing_rows("build.json", [_plain(info["notes"])], [_plain(plan.notes)], "_", COSINE_ROOM))
    yield from (problem.replace("build.json: notes: ", "build.json, notes: ") for problem in problems)
    if exact and info["tables"] == plan.identity["tables"]:
        yield from differing_hash(info, plan)
    wanted = {unit.id for unit in plan.units if unit.source_id}
    for skip in info["skips"]["list"]:
        if skip["unit_id"] not in wanted:
            yield f"{skip['unit_id']} is listed as skipped, but was not planned"


def _plain(notes: Mapping[str, Any]) -> Row:
    return {**notes, "_": "notes"}


def check_sources(output: FinishedOutput, options: VerifyOptions) -> Iterator[Finding]:
    """Every episode is the file that its clips name; a sample of clips is cut and encoded again."""
    if options.sources is None:
        yield NotChecked(
            "that the clips show what their episodes show, sound, first_frame, source_sha256: give --sources"
        )
        return
    try:
        timing = _timing(output, options)
    except InputError as error:
        yield f"the annotations cannot be read again: {error}"
        return
    if isinstance(timing, NotChecked):
        yield timing
        return
    rows = {row["clip_id"]: row for row in output.rows(CLIPS, [*CLIP_COLUMNS])}
    units = {name: _unit(row, timing) for name, row in rows.items()}
    folders = [options.sources, annotation_folder(options) or options.sources]
    found = find_videos(folders, {unit.source_id for unit in units.values()}, VIDEO_FOLDERS)
    absent = sorted({unit.source_id for unit in units.values()} - found.keys())
    if absent:
        yield NotChecked(f"{len(absent)} episodes that are not in {options.sources}: {', '.join(absent[:5])}, …")
    by_episode: dict[str, list[tuple[Unit, Row]]] = {}
    for name, unit in units.items():
        if unit.source_id in found:
            by_episode.setdefault(unit.source_id, []).append((unit, rows[name]))
    calls = ((found[name], members) for name, members in by_episode.items())
    for problems in on_processes(episode_problems, calls, options.workers):
        yield from problems
    settings = settings_of(output.info)
    builder = CausalBuilder(settings, {name: str(path) for name, path in found.items()})
    if not options.decode:
        yield NotChecked("that the clips show what their episodes show: --no-decode")
        return
    sample = draw_sample(output, [name for name, unit in units.items() if unit.source_id in found], options.sample)
    if len(sample) < len(units):
        yield NotChecked(
            f"{len(units) - len(sample)} of {len(units)} clips, which were not cut again: --sample takes more"
        )
    same = same_encoder(output.info)
    again = (
        (builder, units[row["clip_id"]], row, same) for row in chosen_videos(output, CLIPS, "clip_id", set(sample))
    )
    for problems in on_processes(clip_again, again, options.workers):
        yield from problems


CLIP_COLUMNS = ("clip_id", "episode", "start_frame", "end_frame", "source_sha256", *CUT)


def _timing(output: FinishedOutput, options: VerifyOptions) -> Timing | NotChecked:
    """Read where annotated frames are in the episodes, if the build was told."""
    if not {"offsets", "fps_map"} & set(output.info["files"]):
        return Timing()
    read = read_again(output, options)
    return read if isinstance(read, NotChecked) else read_timing(read[1])


def _unit(row: Row, timing: Timing) -> Unit:
    rate = timing.rates.get(row["episode"])
    payload = {
        "start_frame": row["start_frame"],
        "end_frame": row["end_frame"],
        "offset": timing.offsets.get(row["episode"], 0),
        "rate": str(rate) if rate else None,
    }
    return Unit(row["clip_id"], CLIPS, row["episode"], payload)


def episode_problems(path: Path, clips: Sequence[tuple[Unit, Row]]) -> list[str]:
    """Compare an episode with the rows of its clips: its hash, and with which of its frames they begin."""
    digest = sha256_file(path)
    problems = [
        f"{unit.id}: source_sha256 is not that of {path.name}" for unit, row in clips if row["source_sha256"] != digest
    ]
    index = index_frames(path)
    for unit, row in clips:
        try:
            first = clip_frames(index, unit).start
            if first != row["first_frame"]:
                index = index_frames(path, decode=True)
                first = clip_frames(index, unit).start
        except VideoError as error:
            problems.append(f"{unit.id}: it cannot be cut from {path.name} again ({error.detail})")
            continue
        if first != row["first_frame"]:
            problems.append(f"{unit.id}: first_frame is {row['first_frame']}, found again {first}")
    return problems


def clip_again(builder: CausalBuilder, unit: Unit, row: Row, same: bool) -> list[str]:
    """Cut and encode a clip again and compare it with its row and its video.

    Args:
        builder: Knows the settings and the episode.
        unit: The clip.
        row: Its row of `clips`.
        same: Whether `build.json` names the encoder that runs here.

    Returns:
        Problems, one line each.
    """
    path = builder.source(unit)
    keep_sound = builder.settings.audio == "keep"
    try:
        with tempfile.TemporaryDirectory(prefix="stressreel-") as name:
            facts = builder.render(unit, Path(name))
            again = (Path(name) / CLIP_FILE).read_bytes()
        (unlike,) = unlike_again(
            path,
            lambda index: [(clip_frames(index, unit),)],
            keep_sound,
            [row["video"]["bytes"] or b""],
            [again],
            same,
        )
    except VideoError as error:
        return [f"{unit.id}: it cannot be cut from {path.name} again ({error.detail})"]
    problems = [
        f"{unit.id}: {name} is {row[name]}, cut again {facts[name]}" for name in CUT if row[name] != facts[name]
    ]
    return [*problems, *([f"{unit.id}: {unlike}"] if unlike else [])]

"""MSRVTT-P and YouCook2-P: every clip under 18 visual perturbations at five severities; captions: `perturbed_text`.

Schiappa et al. 2022, "Robustness Analysis of Video-Language Models Against Visual and Language Perturbations" (arXiv
2207.02159), section 3.1 and appendix A.1.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from ..corruptions.registry import check_name, check_severity, visual_corruptions
from ..corruptions.text.engine import Mode
from ..corruptions.text.tools import Tools
from ..corruptions.visual.engine import Recipe
from ..errors import InputError, UsageError, VideoError
from ..language.words import StyleOption
from ..records.files import sha256_file, sha256_text
from ..records.output import open_output
from ..records.plan import Facts, Plan, Skip, Unit
from ..records.schema import Column, Config, Row
from ..sources.captions import CaptionedClip
from ..sources.files import find_videos
from ..video.decode import with_index
from ..video.encode import EncodeSettings, Mp4Writer
from ..video.index import FrameIndex, index_frames, open_video
from ..video.pyav import Frame, rgb_frame, to_rgb
from ..video.store import FrameStore
from ..video.transcode import through_codec
from .perturbed_text import (
    MULTIMODAL,
    MULTIMODAL_CONFIG,
    Pair,
    is_text,
    pair_rows,
    perturb_texts,
    text_configs,
    text_rows,
    text_tables,
    text_units,
)
from .source_videos import missing_source, source_stamp

CLEAN = "clean"

Cut = list[tuple[dict[str, Any], range]]
"""Clips, each with its frames in the source."""

COLUMNS = (
    Column("clip_id", "string", "the clip"),
    Column("severity", "int32", "1 to 5; 0 in `clean`"),
    Column("level", "string", "the paper's values of the severity"),
    Column("written_quantiser", "int32", "what FFmpeg writes for the level of mpeg1 and mpeg2, at most 31; else null"),
    Column("captions", "strings", "what the clip shows, by its annotators"),
    Column("source_id", "string", "the source video"),
    Column("start_s", "float64", "where the clip starts in the source, seconds; null: the whole video"),
    Column("end_s", "float64", "where it ends"),
    Column("num_frames", "int32", "frames"),
    Column("fps", "float64", "frames divided by seconds"),
    Column("source_frames", "int32", "frames of what was perturbed as a whole: the source, or the clip if cut first"),
    Column("first_frame", "int32", "number in these of the clip's first frame"),
    Column("sha256", "string", "of the file in `video`"),
)
VIDEO = Column("video", "video", "MP4, H.264")


@dataclass(frozen=True)
class PerturbedSettings:
    """What decides a build of perturbed clips and captions besides its inputs.

    Attributes:
        seed: Seed of every draw.
        perturbations: Names, in the paper's order.
        severities: Of 1 to 5.
        clip_first: Cut the clips out of their source before they are perturbed; by default the whole source is
            perturbed and then cut, as the paper does, so that temporal perturbations can move content across borders.
        render: Whether videos are made; if not, the recipes are written alone.
        crf: x264's constant rate factor.
        preset: x264's preset.
        lossless: Keep the perturbed RGB frames bit for bit.
        text_perturbations: Names, in the paper's order.
        caption_style: What the captions are; see `language.tagger.Tagger.analyse`.
        text_mode: "released" repeats the word tables of the released code in the family `bias`.
        pairs: Combinations, as visual:text.
    """

    seed: int = 0
    perturbations: tuple[str, ...] = ()
    severities: tuple[int, ...] = (1, 2, 3, 4, 5)
    clip_first: bool = False
    render: bool = True
    crf: int = EncodeSettings.crf
    preset: str = EncodeSettings.preset
    lossless: bool = False
    text_perturbations: tuple[str, ...] = ()
    caption_style: StyleOption = "declarative"
    text_mode: Mode = "stressreel"
    pairs: tuple[str, ...] = ()


def perturbed_configs(names: Sequence[str], *, videos: bool) -> tuple[Config, ...]:
    """Give the visual tables of a suite: `clean` and one for each perturbation."""
    columns = (*COLUMNS, VIDEO) if videos else COLUMNS
    configs = [Config(CLEAN, "the clips as they are, encoded like the others", columns, default=True, key_columns=2)]
    for name in names:
        corruption = check_name(name)
        meaning = f"{corruption.family}; levels are {corruption.unit}"
        configs.append(Config(name, meaning, columns, key_columns=2))
    return tuple(configs)


def suite_configs(settings: PerturbedSettings) -> tuple[Config, ...]:
    """Give all tables of a suite."""
    return (
        *perturbed_configs(settings.perturbations, videos=settings.render),
        *text_configs(settings.text_perturbations),
        *([MULTIMODAL_CONFIG] if settings.pairs else []),
    )


def visual_tables(info: Mapping[str, Any]) -> list[str]:
    """Name the visual tables of a finished suite, `clean` first."""
    return [name for name in (CLEAN, *info["settings"]["perturbations"]) if name in info["counts"]]


def plan_perturbed(
    clips: Sequence[CaptionedClip],
    settings: PerturbedSettings,
    *,
    limit: int | None = None,
    identity: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a suite, before any video is touched.

    A unit is a source video with all its clips, and all perturbations if its clips are whole videos. A source of which
    clips are cut may be long, so it gets one unit for each perturbation: a kill loses less, and the source is decoded
    once for each. Captions have units of their own, as they need no video; a combination belongs to its clip.

    Args:
        clips: The captioned clips.
        settings: See `PerturbedSettings`.
        limit: Plan only the first so many clips by id.
        identity: What else decides the content: dataset version, tool versions, hashes of inputs.
        notes: Counts from reading.

    Raises:
        InputError: The name of a video makes two units one.
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
            unit_id = source if whole else f"{source}.{group[0]}"
            if splits_of[source] > 1:
                unit_id += f".{split}"
            filled = (*group, *([MULTIMODAL] if combined & set(group) else []))
            units.append(Unit(unit_id, split, source, {"clips": rows, "perturbations": group}, tables=filled))
    for unit_id, times in Counter(unit.id for unit in units).items():
        if times > 1:
            raise InputError(
                f"two pieces of work would both be named {unit_id!r}, as one video is named like a part of another "
                f"(video, perturbation or split, with dots between). Rename the video {unit_id}."
            )
    tables = text_tables(settings.text_perturbations)
    if settings.perturbations:
        table = sha256_text(repr([visual_corruptions()[name] for name in settings.perturbations]))
        tables = {"visual.yaml": table, **tables}
    return Plan(
        builder="perturbed",
        identity={**(identity or {}), "settings": asdict(settings), "limit": limit, "tables": tables},
        units=tuple(sorted(units, key=lambda unit: unit.id)),
        configs=suite_configs(settings),
        noun="source video" if all(unit.id == unit.source_id for unit in units) else "unit",
        notes=dict(notes or {}),
    )


@dataclass(frozen=True)
class PerturbedBuilder:
    """Renders and describes the units of a plan.

    Attributes:
        settings: See `PerturbedSettings`.
        videos: Path of each source video by id, as text.
        tools: What text perturbations use.
    """

    settings: PerturbedSettings
    videos: Mapping[str, str] = field(default_factory=dict)
    tools: Tools = field(default_factory=Tools)

    def renders(self, unit: Unit) -> bool:
        """Whether videos are made, or captions perturbed."""
        return is_text(unit) or self.settings.render

    def missing(self, unit: Unit) -> Skip | None:
        """Look whether the source video is there and opens."""
        return None if is_text(unit) else missing_source(unit, self.videos)

    def stamp(self, unit: Unit) -> str:
        """Give the source file's size and time of change."""
        return source_stamp(unit, self.videos)

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Write every clip under every perturbation, or perturb captions; see `records.plan.Builder`."""
        if is_text(unit):
            return perturb_texts(unit, self.settings, self.tools)
        path = Path(self.videos[unit.source_id])
        facts = with_index(path, lambda index: self._render(unit, index, folder))
        return facts | {"files": {file.name: file.stat().st_size for file in sorted(folder.iterdir())}}

    def _render(self, unit: Unit, index: FrameIndex, folder: Path) -> Facts:
        with open_video(index.path) as (_, stream):
            aspect = stream.sample_aspect_ratio
        facts: Facts = {"clips": {}, "sha256": {}, "skips": []}
        cut: Cut = []
        for clip in unit.payload["clips"]:
            try:
                cut.append((clip, clip_frames(index, clip)))
            except VideoError as error:
                skip = Skip(clip["clip_id"], unit.source_id, error.reason, error.detail)
                facts["skips"].append(asdict(skip))
        if not cut:
            raise VideoError("too_short", "; ".join(skip["detail"] for skip in facts["skips"]))
        for stretch, members in self._stretches(cut, index):
            key = members[0][0]["clip_id"] if self.settings.clip_first else unit.source_id
            with FrameStore(index, stretch, folder) as store:
                pixel = 1 / aspect if aspect and store.turned else aspect
                for clip, frames in members:
                    seconds = index.seconds(frames.stop) - index.seconds(frames.start)
                    facts["clips"][clip["clip_id"]] = {
                        "num_frames": len(frames),
                        "fps": float(len(frames) / seconds),
                        "source_frames": len(stretch),
                        "first_frame": frames.start - stretch.start,
                    }
                for name in unit.payload["perturbations"]:
                    for severity in self._severities(name):
                        files = [folder / _file(name, severity, clip["clip_id"]) for clip, _ in members]
                        recipe = recipe_for(name, severity, self.settings.seed, key)
                        self._write(store, recipe, index, stretch, [frames for _, frames in members], files, pixel)
                        facts["sha256"] |= {file.name: sha256_file(file) for file in files}
        return facts

    def _stretches(self, cut: Cut, index: FrameIndex) -> Iterator[tuple[range, Cut]]:
        """Give each stretch of the source that is perturbed as a whole, with the clips in it and their frames."""
        if self.settings.clip_first:
            yield from ((frames, [(clip, frames)]) for clip, frames in cut)
        else:
            yield range(index.num_frames), cut

    def _severities(self, name: str) -> tuple[int, ...]:
        return (0,) if name == CLEAN else self.settings.severities

    def _write(
        self,
        store: FrameStore,
        recipe: Recipe | None,
        index: FrameIndex,
        stretch: range,
        clips: Sequence[range],
        files: Sequence[Path],
        aspect: Fraction | None,
    ) -> None:
        """Write the clips of one recipe, each frame perturbed once even if clips overlap."""
        settings = EncodeSettings(self.settings.crf, self.settings.preset, self.settings.lossless)
        wanted = sorted(set().union(*clips))
        with ExitStack() as stack:
            writers: dict[int, Mp4Writer] = {}
            for position, picture in zip(wanted, perturbed_frames(store, recipe, wanted, stretch), strict=True):
                frame = as_encoded(picture, store, lossless=settings.lossless)
                for number, clip in enumerate(clips):
                    if position not in clip:
                        continue
                    if position == clip.start:
                        seconds = index.seconds(clip.stop) - index.seconds(clip.start)
                        writers[number] = stack.enter_context(
                            Mp4Writer(
                                files[number],
                                time_base=index.time_base,
                                rate=(len(clip) / seconds).limit_denominator(1001),
                                settings=settings,
                                sample_aspect_ratio=aspect or None,
                            )
                        )
                    writers[number].write(frame, index.boundary(position + 1) - index.boundary(position))
                    if position == clip.stop - 1:
                        writers.pop(number).close()

    def rows(self, unit: Unit, facts: Facts) -> Iterator[tuple[str, Row]]:
        """Give one row for every clip, perturbation and severity, and for its combinations; or for every caption."""
        if is_text(unit):
            yield from text_rows(unit, facts)
            return
        for name in unit.payload["perturbations"]:
            for clip in unit.payload["clips"]:
                if facts and clip["clip_id"] not in facts["clips"]:
                    continue
                for severity in self._severities(name):
                    row = {
                        "clip_id": clip["clip_id"],
                        "severity": severity,
                        **level_of(name, severity),
                        "captions": clip["captions"],
                        "source_id": unit.source_id,
                        "start_s": clip["start_s"],
                        "end_s": clip["end_s"],
                        "num_frames": None,
                        "fps": None,
                        "source_frames": None,
                        "first_frame": None,
                        "sha256": None,
                    }
                    if facts:
                        file = _file(name, severity, clip["clip_id"])
                        row |= facts["clips"][clip["clip_id"]]
                        row |= {"sha256": facts["sha256"][file], "video": file}
                    yield name, row
                yield from pair_rows(name, clip, self.settings.pairs)


def clip_frames(index: FrameIndex, clip: Mapping[str, Any]) -> range:
    """Find the frames of a clip in its source.

    Raises:
        VideoError: The source shows none of them (`too_short`).
    """
    if clip["start_s"] is None:
        return range(index.num_frames)
    start, stop = (index.first_at(Fraction(round(clip[edge] * 1000), 1000)) for edge in ("start_s", "end_s"))
    if start >= stop:
        raise VideoError(
            "too_short",
            f"{index.path.name}: it shows {float(index.seconds(index.num_frames)):.2f} s; clip {clip['clip_id']} is "
            f"{clip['start_s']} to {clip['end_s']} s",
        )
    return range(start, stop)


def recipe_for(name: str, severity: int, seed: int, key: str) -> Recipe | None:
    """Give the recipe of a row; None for `clean`."""
    return None if name == CLEAN else Recipe(check_name(name), severity, seed, key)


def level_of(name: str, severity: int) -> Row:
    """Give the columns of a row that the registry decides, null in `clean`."""
    if name == CLEAN:
        return {"level": None, "written_quantiser": None}
    corruption = check_name(name)
    return {"level": corruption.level(severity), "written_quantiser": corruption.written_quantiser(severity)}


Picture = Frame | NDArray[np.uint8]


def perturbed_frames(
    store: FrameStore, recipe: Recipe | None, wanted: Sequence[int], stretch: range
) -> Iterator[Picture]:
    """Perturb frames of a stretch of video.

    Pixels are computed in RGB; temporal perturbations and codecs never leave yuv420p. What is drawn for a frame is
    keyed by its number in the stretch, so any frame can be made alone.

    Args:
        store: At least the frames that `source_frames` names.
        recipe: What to do; None to change nothing.
        wanted: Numbers of frames, increasing.
        stretch: What is perturbed as a whole.

    Yields:
        One picture for each number.
    """
    scope = recipe.corruption.scope if recipe else "index"
    sources = source_frames(recipe, wanted, stretch)
    if scope == "index":
        yield from (store.yuv(number) for number in sources)
    elif scope == "file" and recipe:
        keep = set(wanted)
        sent = (store.yuv(number) for number in sources)
        decoded = through_codec(sent, recipe.corruption.codec, int(recipe.level[0]))
        yield from (frame for number, frame in zip(sources, decoded, strict=True) if number in keep)
    elif recipe:
        yield from (recipe.frame(store.rgb(number), number - stretch.start) for number in wanted)


def source_frames(recipe: Recipe | None, wanted: Sequence[int], stretch: range) -> Sequence[int]:
    """Find the frames of the source that frames of a recipe are made from.

    A codec predicts frames from earlier ones, so it needs all of these; and no later ones, as it is fed frame by frame.

    Args:
        recipe: What is done; None for nothing.
        wanted: Numbers of frames, increasing.
        stretch: What is perturbed as a whole.

    Returns:
        What is shown at each of the wanted ones, or for a codec all from the beginning on.
    """
    if recipe and recipe.corruption.scope == "index":
        first = stretch.start
        return [first + int(number) for number in recipe.index_map(len(stretch))[[n - first for n in wanted]]]
    if recipe and recipe.corruption.scope == "file":
        return range(stretch.start, wanted[-1] + 1)
    return wanted


def as_encoded(picture: Picture, store: FrameStore, *, lossless: bool) -> Frame:
    """Bring a picture into the form that is encoded."""
    if lossless:
        return rgb_frame(picture if isinstance(picture, np.ndarray) else to_rgb(picture))
    return store.from_rgb(picture) if isinstance(picture, np.ndarray) else picture


def _file(name: str, severity: int, clip_id: str) -> str:
    return f"{name}-{severity}-{clip_id}.mp4"


Frames = int | slice | Sequence[int] | NDArray[np.integer[Any]] | None
"""Which frames of a clip: all; as many at equal distances; a slice; or positions."""


@dataclass(frozen=True)
class PerturbedClip:
    """One row of a suite with the frames that its recipe gives.

    Attributes:
        row: The row of the table, without its video.
        frames: uint8 RGB of shape (frames, height, width, 3): what a render encodes.
        positions: int64 of shape (frames,): where in the clip each of them is, from 0 on.
    """

    row: Row
    frames: NDArray[np.uint8]
    positions: NDArray[np.int64]


class PerturbedClips(Sequence[PerturbedClip]):
    """The rows of one table of a suite; frames are made from the source videos when a row is taken.

    Attributes:
        rows: The rows.
        missing: Source videos that are not in the folder, whose rows are left out.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        name: str,
        settings: PerturbedSettings,
        videos: Mapping[str, Path],
        frames: Frames = None,
        missing: Sequence[str] = (),
    ):
        """See `load`, which makes these."""
        self.rows, self.missing = rows, tuple(missing)
        self._name, self._settings, self._videos, self._chosen = name, settings, videos, frames

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> PerturbedClip: ...
    @overload
    def __getitem__(self, number: slice) -> PerturbedClips: ...
    def __getitem__(self, number: int | slice) -> PerturbedClip | PerturbedClips:
        """Make one row's frames, or take a part of the rows."""
        if isinstance(number, slice):
            rows = self.rows[number]
            return PerturbedClips(rows, self._name, self._settings, self._videos, self._chosen, self.missing)
        row = self.rows[number]
        path = self._videos[row["source_id"]]
        return with_index(path, lambda index: self._made(row, index), remembered_index)

    def _made(self, row: Row, index: FrameIndex) -> PerturbedClip:
        first = self._settings.clip_first
        key = row["clip_id"] if first else row["source_id"]
        recipe = recipe_for(self._name, row["severity"], self._settings.seed, key)
        clip = clip_frames(index, row)
        stretch = clip if first else range(index.num_frames)
        positions = positions_of(self._chosen, len(clip), row["clip_id"])
        places, order = np.unique(positions, return_inverse=True)
        wanted = clip if len(places) == len(clip) else [clip.start + int(place) for place in places]
        needed = source_frames(recipe, wanted, stretch)
        stored = needed if isinstance(needed, range) else sorted(set(needed))
        with FrameStore(index, stored, Path(tempfile.gettempdir())) as store:
            pictures = perturbed_frames(store, recipe, wanted, stretch)
            frames = np.stack([p if isinstance(p, np.ndarray) else to_rgb(p) for p in pictures])
        in_order = np.array_equal(order, np.arange(len(frames)))
        return PerturbedClip(row, frames if in_order else frames[order], positions)


def positions_of(frames: Frames, count: int, clip_id: str) -> NDArray[np.int64]:
    """Find the frames that are chosen of a clip.

    Args:
        frames: See `load`.
        count: Frames of the clip, at least 1.
        clip_id: The clip.

    Returns:
        int64, shape (frames chosen,), from 0 to count - 1, as ordered.

    Raises:
        InputError: The clip has no such frame, or a slice has none.
    """
    every = np.arange(count, dtype=np.int64)
    if frames is None:
        return every
    if isinstance(frames, int):
        return np.arange(frames, dtype=np.int64) * (count - 1) // max(frames - 1, 1)
    if isinstance(frames, slice):
        if not len(every[frames]):
            raise InputError(f"frames={frames} chooses none of the {count} frames of clip {clip_id}.")
        return every[frames]
    positions = np.array(frames, np.int64)
    outside = positions[(positions < -count) | (positions >= count)]
    if len(outside):
        raise InputError(
            f"clip {clip_id} has no frame {outside[0]}: it has {count}, 0 to {count - 1} (or -{count} to -1, from the "
            "end). Give a number of frames, as frames=8, to choose them by the clip's length."
        )
    return positions % count


def check_frames(frames: Any) -> Frames:
    """Return a choice of frames that is one: NumPy's integers as Python's.

    Raises:
        InputError: It is no number from 1 on, slice, or positions.
    """
    if frames is None or (isinstance(frames, slice) and _is_sound(frames)):
        return cast(Frames, frames)
    if isinstance(frames, (int, np.integer)) and not isinstance(frames, bool) and frames > 0:
        return int(frames)
    if isinstance(frames, (Sequence, np.ndarray)) and not isinstance(frames, (str, bytes)):
        with suppress(ValueError):  # lists of different lengths
            positions = np.asarray(frames)
            if positions.ndim == 1 and len(positions) and np.issubdtype(positions.dtype, np.integer):
                return positions.astype(np.int64)
    raise InputError(
        f"frames must be a number of frames from 1 on, a slice, or a list of positions, at least one; got {frames!r}"
    )


def _is_sound(chosen: slice) -> bool:
    try:
        chosen.indices(1)
    except (TypeError, ValueError):
        return False
    return True


@lru_cache(maxsize=256)
def _index_of(path: Path, size: int, changed_ns: int, decode: bool) -> FrameIndex:
    return index_frames(path, decode=decode)


def remembered_index(path: Path, *, decode: bool = False) -> FrameIndex:
    """List the frames of a video as `index_frames` does, once while the file does not change."""
    try:
        stat = path.stat()
    except OSError:
        return index_frames(path, decode=decode)
    return _index_of(path, stat.st_size, stat.st_mtime_ns, decode)


def load(
    out: str | Path,
    name: str,
    *,
    videos: str | Path,
    severity: int | None = None,
    split: str | None = None,
    frames: Frames = None,
    allow_missing: bool = False,
) -> PerturbedClips:
    """Open one table of a suite and make its frames on the fly, bit for bit those that a render encodes.

    With `frames`, only what these need is decoded and perturbed: from the nearest keyframe on, without frames that no
    other refers to; by mpeg1 and mpeg2 all from the beginning to the last one.

    Args:
        out: The output of `build-perturbed`, with or without videos.
        name: A perturbation, or "clean".
        videos: Folder of the source videos.
        severity: Only rows of this severity.
        split: Only rows of this split.
        frames: Which frames of each clip: all (None); a number n of frames at equal distances from the first to the
            last, floor(k (length - 1) / (n - 1)), some more than once if the clip has fewer; a slice; or positions in
            any order (a list, a range, an array of integers), negative ones from the end.
        allow_missing: Leave out rows whose source video is not in the folder; the result's `missing` names them.

    Raises:
        InputError: No such output, table, severity, split or folder; the folder lacks videos; no such choice of frames.
    """
    output = open_output(Path(out))
    known = visual_tables(output.info) if output.info["builder"] == "perturbed" else []
    if name not in known:
        tables = ", ".join(known) or "none"
        raise InputError(f"{out} has no perturbation {name!r}. It has: {tables}.")
    if severity is not None:
        check_severity(severity, name)
    if split is not None and split not in output.splits(name):
        raise InputError(f"{out} has no split {split!r} of {name}. It has: {', '.join(output.splits(name))}.")
    chosen = check_frames(frames)
    if not Path(videos).is_dir():
        raise UsageError(f"there is no folder {videos}. Give the folder of the source videos as videos=.")
    settings = PerturbedSettings(**output.info["settings"])
    rows = [
        row
        for row in output.rows(name, [column.name for column in COLUMNS], split)
        if severity is None or row["severity"] == severity
    ]
    if not rows:
        raise InputError(f"{out} has no {name} of severity {severity}. Its rows have others, or none were built.")
    sources = sorted({row["source_id"] for row in rows})
    found = find_videos([Path(videos)], sources, output.info["video_folders"])
    missing = [source for source in sources if source not in found]
    if missing and not (found and allow_missing):
        hint = ", or leave their rows out with allow_missing=True" if found else ""
        raise InputError(
            f"{len(missing)} of {len(sources)} source videos are not in {videos}, the first of them {missing[0]}. Give "
            f"the folder that has them as videos={hint}."
        )
    rows = [row for row in rows if row["source_id"] in found]
    for row in rows:
        if row["num_frames"] is not None:  # recipes alone do not know it yet
            positions_of(chosen, row["num_frames"], row["clip_id"])
    return PerturbedClips(rows, name, settings, found, chosen, missing)

"""Render the perturbed clips of a suite and generate their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...annotations.captions import caption_id
from ...core.errors import VideoError
from ...core.files import sha256_file
from ...core.plan import UNSEEN, Facts, Skip, Unit
from ...core.progress import tick
from ...core.schema import Row
from ...corruptions.registry import check_name
from ...corruptions.text.tools import Tools
from ...corruptions.visual.engine import Recipe
from ...video.decode import with_index
from ...video.encode import EncodeSettings, Mp4Writer, through_codec
from ...video.frames import exact, frames_between, shown_times
from ...video.index import FrameIndex, open_video
from ...video.pyav import Frame, rgb_frame, to_rgb
from ...video.store import FrameStore
from ..runtime.source_videos import SourceVideos, timing_facts
from .captions import is_text, perturb_texts, text_rows
from .selection import combinations
from .settings import PerturbedSettings
from .tables import CLEAN, MULTIMODAL, level_of

PLACE = ("num_frames", "fps", "source_frames", "first_frame")
"""Columns that locate a clip in its source."""
TIMES = ("start_s", "end_s")
Cut = list[tuple[dict[str, Any], range]]
"""Clips with their frames in the source."""


@dataclass(frozen=True)
class PerturbedBuilder(SourceVideos):
    """Renders the units of a plan and generates their rows. `videos` contains the path of each source video by id."""

    settings: PerturbedSettings
    videos: Mapping[str, str] = field(default_factory=dict)
    tools: Tools = field(default_factory=Tools)

    def renders(self, unit: Unit) -> bool:
        """Return whether the unit has videos to render or captions to perturb."""
        return is_text(unit) or self.settings.render

    def missing(self, unit: Unit) -> Skip | None:
        """Return a Skip if the source video is missing or cannot be opened. Captions need no video."""
        return None if is_text(unit) else super().missing(unit)

    def render(self, unit: Unit, folder: Path) -> Facts:
        """Write every clip under every perturbation, or perturb captions; see `core.plan.Builder`."""
        if is_text(unit):
            return perturb_texts(unit, self.settings, self.tools)
        path = self.source(unit)
        facts = with_index(path, lambda index: self._render(unit, index, folder))
        return facts | {"files": {file.name: file.stat().st_size for file in sorted(folder.iterdir())}}

    def look(self, unit: Unit) -> Facts:
        """Find clips in their source without rendering them, or perturb captions; see `core.plan.Builder`."""
        if is_text(unit):
            return perturb_texts(unit, self.settings, self.tools)
        return with_index(self.source(unit), lambda index: self._cut(unit, index)[0] | {"sha256": UNSEEN})

    def part(self, unit: Unit, file: str) -> tuple[PerturbedBuilder, Unit]:
        """Return a builder and a unit for a single clip, perturbation and severity."""
        for name in unit.payload.get("perturbations", ()):
            for severity in self._severities(name):
                for clip in unit.payload["clips"]:
                    if file == _file(name, severity, clip["clip_id"]):
                        payload = {**unit.payload, "perturbations": [name], "clips": [clip]}
                        severities = self.settings.severities if name == CLEAN else (severity,)
                        settings = replace(self.settings, severity=severities)
                        return replace(self, settings=settings), replace(unit, payload=payload)
        return self, unit

    def _cut(self, unit: Unit, index: FrameIndex) -> tuple[Facts, Cut]:
        facts: Facts = {"clips": {}, "sha256": {}, "skips": [], **timing_facts(index)}
        cut: Cut = []
        for clip in unit.payload["clips"]:
            try:
                cut.append((clip, clip_frames(index, clip)))
            except VideoError as error:
                skip = Skip(clip["clip_id"], unit.source_id, error.reason, error.detail, "part")
                facts["skips"].append(asdict(skip))
        for stretch, members in self._stretches(cut, index):
            for clip, frames in members:
                seconds = index.seconds(frames.stop) - index.seconds(frames.start)
                times = clip["start_s"], clip["end_s"]
                if clip["start_s"] is not None:
                    times = shown_times(index, *times)
                facts["clips"][clip["clip_id"]] = {
                    **dict(zip(TIMES, times, strict=True)),
                    "num_frames": len(frames),
                    "fps": float(len(frames) / seconds),
                    "source_frames": len(stretch),
                    "first_frame": frames.start - stretch.start,
                }
        return facts, cut

    def _render(self, unit: Unit, index: FrameIndex, folder: Path) -> Facts:
        with open_video(index.path) as (_, stream):
            aspect = stream.sample_aspect_ratio
        facts, cut = self._cut(unit, index)
        for stretch, members in self._stretches(cut, index):
            key = members[0][0]["clip_id"] if self.settings.clip_first else unit.source_id
            with FrameStore(index, stretch, folder) as store:
                pixel = 1 / aspect if aspect and store.turned else aspect
                for name in unit.payload["perturbations"]:
                    for severity in self._severities(name):
                        files = [folder / _file(name, severity, clip["clip_id"]) for clip, _ in members]
                        recipe = recipe_for(name, severity, self.settings.seed, key)
                        self._write(store, recipe, index, stretch, [frames for _, frames in members], files, pixel)
                        for file in files:
                            facts["sha256"][file.name] = sha256_file(file)
                            tick()
        return facts

    def _stretches(self, cut: Cut, index: FrameIndex) -> Iterator[tuple[range, Cut]]:
        """Yield each part of the source that is perturbed as a whole, with its clips and their frames."""
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
        """Write all clips of a recipe. Each frame is perturbed once, even if clips overlap."""
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
        """Yield a row for each clip, perturbation and severity, for each combination, or for each caption."""
        if is_text(unit):
            yield from text_rows(unit, facts)
            return
        hashes = facts.get("sha256")
        clean = hashes if CLEAN in unit.payload["perturbations"] else facts.get("base", {}).get("sha256")
        for name in unit.payload["perturbations"]:
            for clip in unit.payload["clips"]:
                if facts and clip["clip_id"] not in facts["clips"]:
                    continue
                for severity in self._severities(name):
                    named = {"severity": severity, **level_of(name, severity), "source_id": unit.source_id}
                    row = {**clip, **named, **dict.fromkeys((*PLACE, "sha256", "changed"))}
                    if hashes is not None:
                        file = _file(name, severity, clip["clip_id"])
                        row |= facts["clips"][clip["clip_id"]]
                        row |= {"sha256": hashes[file], "video": file}
                        if clean is not None:
                            row["changed"] = hashes[file] != clean[_file(CLEAN, 0, clip["clip_id"])]
                    yield name, row
                yield from pair_rows(name, clip, self.settings.pairs)


def pair_rows(visual: str, clip: Mapping[str, Any], pairs: Sequence[str]) -> Iterator[tuple[str, Row]]:
    """Yield one row for each caption of a clip and each combination with a visual perturbation."""
    severity, _ = combinations()
    for pair in pairs:
        name, _, text = pair.partition(":")
        for number in range(len(clip["captions"])) if name == visual else ():
            yield (
                MULTIMODAL,
                {
                    "perturbation": pair,
                    "visual": visual,
                    "severity": severity,
                    "text": text,
                    "clip_id": clip["clip_id"],
                    "caption_id": caption_id(clip["clip_id"], number),
                },
            )


def clip_frames(index: FrameIndex, clip: Mapping[str, Any]) -> range:
    """Return the frames of a clip in its source. Raise VideoError (`too_short`) if they are not those annotated."""
    if clip["start_s"] is None:
        return range(index.num_frames)
    wanted = f"the clip {clip['clip_id']} spans {clip['start_s']:g} to {clip['end_s']:g} s"
    return frames_between(index, exact(clip["start_s"]), exact(clip["end_s"]), wanted)


def recipe_for(name: str, severity: int, seed: int, key: str) -> Recipe | None:
    """Return the recipe of a perturbation, or None for `clean`."""
    return None if name == CLEAN else Recipe(check_name(name), severity, seed, key)


def recipe_of(name: str, severity: int, row: Mapping[str, Any], settings: PerturbedSettings) -> Recipe | None:
    """Return the recipe of a row, or None for `clean`.

    The key of the recipe is the clip if clips are cut before they are perturbed, else the source.
    """
    return recipe_for(name, severity, settings.seed, row["clip_id"] if settings.clip_first else row["source_id"])


def index_map_of(name: str, severity: int, row: Row, settings: PerturbedSettings) -> NDArray[np.int64]:
    """Return which frame is displayed at each position of the source, or of the clip if clips are cut first."""
    recipe, count = recipe_of(name, severity, row, settings), row["source_frames"]
    return recipe.index_map(count) if recipe else np.arange(count, dtype=np.int64)


Picture = Frame | NDArray[np.uint8]


def source_frames(recipe: Recipe | None, wanted: Sequence[int], stretch: range) -> Sequence[int]:
    """Return the source frames needed to compute the `wanted` frames of a recipe, whose numbers must increase.

    These are the frames displayed at the wanted positions. A codec needs all frames from the start of `stretch`, the
    range that is perturbed as a whole. `recipe` is None for `clean`.
    """
    if recipe and recipe.corruption.scope == "index":
        first = stretch.start
        return [first + int(number) for number in recipe.index_map(len(stretch))[[n - first for n in wanted]]]
    if recipe and recipe.corruption.scope == "file":
        return range(stretch.start, wanted[-1] + 1)
    return wanted


def perturbed_frames(
    store: FrameStore, recipe: Recipe | None, wanted: Sequence[int], stretch: range
) -> Iterator[Picture]:
    """Yield the `wanted` frames after perturbing them. The store must contain the frames listed by `source_frames`.

    Pixels are perturbed in RGB, while temporal perturbations and codecs remain in yuv420p. Random numbers depend on the
    number of a frame in the stretch, so any frame can be generated separately.
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


def as_encoded(picture: Picture, store: FrameStore, *, lossless: bool) -> Frame:
    """Convert a picture to the pixel format of the encoder."""
    if lossless:
        return rgb_frame(picture if isinstance(picture, np.ndarray) else to_rgb(picture))
    return store.from_rgb(picture) if isinstance(picture, np.ndarray) else picture


def _file(name: str, severity: int, clip_id: str) -> str:
    return f"{name}-{severity}-{clip_id}.mp4"

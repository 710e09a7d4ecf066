"""Find, check and watch the source videos of a build, and read from them what annotations leave open."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...core.errors import BuildError, InputError, StressreelError, VideoError
from ...core.files import file_stamp, sha256_file, write_atomic
from ...core.objects import address, local_copy, stamp_of
from ...core.plan import Builder, Facts, Plan, Skip, Unit
from ...core.progress import tracked
from ...video.edit import Rendition
from ...video.index import FrameIndex, check_opens, index_frames
from ...video.source_files import find_videos

SHOWN = 10
AT_ONCE = 16  # source videos whose stamps are requested in parallel


def preflight(builder: Builder, units: Sequence[Unit]) -> list[Skip]:
    """Return a Skip for each unit whose source video is missing or unreadable."""
    seen: dict[str, Skip | None] = {}
    absent = []
    for unit in tracked(units, "checking the source videos", "unit"):
        if unit.source_id not in seen:
            seen[unit.source_id] = builder.missing(unit)
        first = seen[unit.source_id]
        if first is not None:
            absent.append(Skip(unit.id, unit.source_id, first.reason, first.detail))
    return absent


def stamps_of(builder: Builder, units: Iterable[Unit]) -> dict[str, str]:
    """Return the stamp of each source video; see `Builder.stamp`."""
    by_source = {unit.source_id: unit for unit in units}
    if len(by_source) < 2:
        return {source: builder.stamp(unit) for source, unit in by_source.items()}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(by_source, pool.map(builder.stamp, by_source.values()), strict=True))


class SourceWatch:
    """Notices source videos that vanish or are replaced while a build runs."""

    def __init__(self, builder: Builder, units: Iterable[Unit]):
        """Note the stamps of all source videos of the units."""
        self.builder, self.stamps = builder, stamps_of(builder, units)

    def check(self, units: Iterable[Unit]) -> None:
        """Raise BuildError if source videos of the units have vanished or changed since the build started."""
        now = stamps_of(self.builder, units)
        if vanished := sorted(source for source, stamp in now.items() if not stamp and self.stamps[source]):
            raise BuildError(
                f"{many(len(vanished), 'source video')} vanished while the build ran: {first_of(vanished)}. Was a "
                "folder renamed, or a disk unmounted? Finished work is kept: restore the videos, and run the same "
                "command again to continue."
            )
        if replaced := [source for source, stamp in now.items() if stamp != self.stamps[source]]:
            raise replaced_error(replaced)


def replaced_error(sources: Iterable[str]) -> BuildError:
    """Return the error for source videos of which parts of a build may show different versions."""
    names = sorted(sources)
    return BuildError(
        f"{many(len(names), 'source video')} replaced while the build ran: {first_of(names)}. The dataset must not "
        "show different versions of a video. Finished work is kept: run the same command again (with --shard, for "
        "every share); what was made from an earlier version is made again."
    )


def describe_missing(absent: Sequence[Skip], noun: str, searched: Sequence[str], file: Path | None) -> str:
    """Describe which videos are missing or unreadable, and which folders were searched.

    If not all videos are mentioned, the complete list is written to `file`, unless it is None.
    """
    by_source = {skip.source_id: skip for skip in absent}
    missing = sorted(name for name, skip in by_source.items() if skip.reason == "missing_video")
    unreadable = sorted(skip.detail for skip in by_source.values() if skip.reason.startswith("unreadable"))
    parts = []
    if missing:
        parts.append(f"{many(len(missing), 'source video')} missing: {first_of(missing)}")
        parts += [f"  {line}" for line in searched]
    if unreadable:
        lines = [*unreadable[:SHOWN], *([f"and {len(unreadable) - SHOWN:,} more"] if len(unreadable) > SHOWN else [])]
        parts.append(f"{many(len(unreadable), 'source video')} cannot be read:\n  " + "\n  ".join(lines))
    if file is not None and max(len(missing), len(unreadable)) > SHOWN and _listed(by_source, file):
        parts.append(f"All of them are listed in {file}.")
    needs, them = "needs" if len(absent) == 1 else "need", "it" if len(by_source) == 1 else "them"
    action = " and ".join(
        ["set their folder with --videos"] * bool(missing) + ["replace the damaged files"] * bool(unreadable)
    )
    parts.append(
        f"{many(len(absent), noun)} of the plan {needs} {them}. {action.capitalize()}, or build without {them} "
        "(--allow-missing; each is counted as skipped)."
    )
    return "\n".join(parts)


def list_beside(out: Path) -> Path:
    """Return where to write the list of missing videos: next to a local output, or in the current folder."""
    url = address(out)
    name = (url.rstrip("/") if url else str(out.absolute())).rpartition("/")[2]
    return (Path() if url else out.parent) / f"{name}.missing.tsv"


def first_of(names: Sequence[str]) -> str:
    """Join the first ten names and add how many others there are."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def many(count: int, noun: str) -> str:
    """Format a count with its noun, in the plural if needed."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _listed(by_source: dict[str, Skip], file: Path) -> bool:
    """Write a list of videos, one per line. Return whether the file could be written."""
    rows = ["source_id\treason\tdetail"]
    rows += ["\t".join([name, skip.reason, " ".join(skip.detail.split())]) for name, skip in sorted(by_source.items())]
    with suppress(OSError, StressreelError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, "\n".join(rows) + "\n")
        return True
    return False


def timing_facts(index: FrameIndex) -> Facts:
    """Return the facts that say that a video stores no times. See `core.plan.Builder.render`."""
    return {} if index.timed else {"untimed": True}


def clip_facts(index: FrameIndex, clip: Rendition) -> Facts:
    """Return the length, rate and size of a clip that is cut from a video, and `timing_facts`."""
    duration = clip.ticks * index.time_base
    return {
        "num_frames": clip.num_frames,
        "fps": float(clip.num_frames / duration),
        "width": clip.width,
        "height": clip.height,
        "duration_s": float(duration),
        **timing_facts(index),
    }


def source_sha256(path: Path) -> str:
    """Return the hash of a source video. It is cached until the file changes, as a video may have a hundred clips."""
    return _sha256_of(path, file_stamp(path))


@lru_cache(maxsize=16)
def _sha256_of(path: Path, stamp: str) -> str:
    return sha256_file(path)


def find_sources(plan: Plan, folders: Iterable[Path], subfolders: Sequence[str]) -> dict[str, Path]:
    """Find the source videos of a plan by id; see `video.source_files.find_videos`.

    Raises:
        InputError: Several files fit a name, or two names mean the same file.
    """
    paths = find_videos(folders, plan.sources, subfolders)
    ids: dict[Path, str] = {}
    for source, path in paths.items():
        if ids.setdefault(path, source) != source:
            raise InputError(
                f"{ids[path]!r} and {source!r} are two videos in the annotations, but both mean {path}. Use one name "
                "for each video, or add the file that is missing."
            )
    return paths


class SourceVideos:
    """Base class of builders that render source videos. `videos` contains the path of each video by id."""

    videos: Mapping[str, str]

    def renders(self, unit: Unit) -> bool:
        """Return whether a unit has a source video that must be rendered."""
        return bool(unit.source_id)

    def source(self, unit: Unit) -> Path:
        """Return the source video of a unit as a local file. Videos in object storage are copied once.

        Raises:
            InputError: The video cannot be copied. This ends the build, as the video itself may be intact.
            VideoError: The copy cannot be opened (`unreadable_object`), which `missing` does not check.
        """
        path = Path(self.videos[unit.source_id])
        copy = local_copy(path)
        if copy != path:
            try:
                check_opens(copy)
            except VideoError as error:
                raise VideoError("unreadable_object", error.detail.replace(copy.name, path.name)) from error
        return copy

    def part(self, unit: Unit, file: str) -> tuple[Builder, Unit]:
        """Return the unit itself, since all its files are rendered together."""
        return self, unit  # type: ignore[return-value]

    def missing(self, unit: Unit) -> Skip | None:
        """Return a Skip if the source of a unit is missing or cannot be opened."""
        path = self.videos.get(unit.source_id)
        if path is None:
            return Skip(
                unit.id, unit.source_id, "missing_video", f"there is no video file of the name {unit.source_id}"
            )
        if address(path):
            return None  # the store lists it, so any error appears when it is copied
        try:
            check_opens(Path(path))
        except VideoError as error:
            return Skip(unit.id, unit.source_id, "unreadable_video", error.detail)
        return None

    def stamp(self, unit: Unit) -> str:
        """Return the size and modification time of a unit's source file as text, or "" if it does not exist."""
        path = self.videos.get(unit.source_id)
        if not path:
            return ""
        return stamp_of(Path(path)) if address(path) else file_stamp(Path(path))


@dataclass(frozen=True)
class FrameTiming:
    """Frame rates and lengths of videos whose annotations use frame numbers, or pieces that end with the video.

    Attributes:
        rates: Frames per second by video, for those that differ from the usual 25.
        lengths: Seconds by video, where known.
        unknown: Videos whose lengths are needed, but not known.
    """

    rates: Mapping[str, Fraction] = field(default_factory=dict)
    lengths: Mapping[str, float] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()

    def as_json(self) -> dict[str, dict[str, Any]]:
        """Return the entry for `build.json`."""
        rates = {name: str(rate) for name, rate in sorted(self.rates.items())}
        return {"rates": rates, "lengths": dict(sorted(self.lengths.items()))}

    def warnings(self, needed: Iterable[str]) -> list[str]:
        """Return a warning if lengths of needed videos are unknown."""
        unmeasured = self.unknown.intersection(needed)
        if not unmeasured:
            return []
        return [
            f"the length of {len(unmeasured):,} videos is unknown because they are missing or unreadable; their last "
            "pieces, which end with the video, are assumed to last 5 s"
        ]


def read_timing(videos: Mapping[str, Path]) -> FrameTiming:
    """Read frame rates and lengths from videos. Unreadable ones are omitted, as the build will skip them."""
    rates, lengths = {}, {}
    for name, path in sorted(videos.items()):
        try:
            index = index_frames(path)
        except VideoError:
            continue
        length = index.seconds(index.num_frames)
        rates[name] = Fraction(index.num_frames / length).limit_denominator(1001)
        lengths[name] = float(length)
    return FrameTiming(rates, lengths)


def piece_timing(pieces: Mapping[str, str], folders: Iterable[Path], subfolders: Sequence[str] = (".",)) -> FrameTiming:
    """Read the lengths of the videos that `annotations.layouts.videos_in_pieces` returns, where they are found."""
    lengths = read_timing(find_videos(folders, pieces, subfolders)).lengths if pieces else {}
    return FrameTiming(lengths=lengths, unknown=frozenset(pieces.keys() - lengths.keys()))

"""Find and check the source videos of a build, for all builders that render videos."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from ..core.errors import InputError, VideoError
from ..core.files import file_stamp
from ..core.objects import address, local_copy, stamp_of
from ..core.plan import Builder, Facts, Plan, Skip, Unit
from ..video.index import FrameIndex, check_opens
from ..video.source_files import find_videos
from .runtime.missing import first_of


def describe_found(needed: Collection[str], found: Collection[str], searched: Callable[[], Sequence[str]]) -> list[str]:
    """Describe how many source videos were found, which ones are missing, and which folders were searched."""
    lines = [f"  source videos found: {len(found):,} of {len(needed):,}"]
    if missing := sorted(set(needed) - set(found)):
        lines.append(f"    missing: {first_of(missing)}")
        lines += [f"    {line}" for line in searched()]
    return lines


def timing_of(index: FrameIndex) -> Facts:
    """Return the facts that say that a video stores no times. See `core.plan.Builder.render`."""
    return {} if index.timed else {"untimed": True}


def find_sources(plan: Plan, folders: Iterable[Path], subfolders: Sequence[str]) -> dict[str, Path]:
    """Find the source videos of a plan by id; see `video.source_files.find_videos`.

    Raises:
        InputError: Several files fit a name, or two names mean the same file.
    """
    found = find_videos(folders, plan.sources, subfolders)
    ids: dict[Path, str] = {}
    for source, path in found.items():
        if ids.setdefault(path, source) != source:
            raise InputError(
                f"{ids[path]!r} and {source!r} are two videos in the annotations, but both mean {path}. Use one name "
                "for each video, or add the file that is missing."
            )
    return found


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

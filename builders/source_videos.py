"""The source videos that a build was given, as every builder that renders looks at them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from ..core.errors import VideoError
from ..core.files import file_stamp
from ..core.objects import address, local_copy, stamp_of
from ..core.plan import Builder, Skip, Unit
from ..video.index import check_opens
from .runtime.missing import first_of


def describe_found(needed: Collection[str], found: Collection[str], searched: Callable[[], Sequence[str]]) -> list[str]:
    """Write how many source videos were found, and if not all, which are missing and where they were looked for."""
    lines = [f"  source videos found: {len(found):,} of {len(needed):,}"]
    if missing := sorted(set(needed) - set(found)):
        lines.append(f"    missing: {first_of(missing)}")
        lines += [f"    searched: {folder}" for folder in searched()]
    return lines


class SourceVideos:
    """What a `core.plan.Builder` says of the source videos of its units; builders inherit it.

    Attributes:
        videos: Path of each source video by id, as text; a field of the builder.
    """

    videos: Mapping[str, str]

    def renders(self, unit: Unit) -> bool:
        """Whether a unit has a source video to render from."""
        return bool(unit.source_id)

    def source(self, unit: Unit) -> Path:
        """Return the source video of a unit as a file of this machine; from object storage it is copied once.

        Raises:
            InputError: It cannot be fetched. That ends the build, as it says nothing of the video.
        """
        return local_copy(Path(self.videos[unit.source_id]))

    def part(self, unit: Unit, file: str) -> tuple[Builder, Unit]:
        """Return the unit itself: its files are rendered together."""
        return self, unit  # type: ignore[return-value]

    def missing(self, unit: Unit) -> Skip | None:
        """Look whether the source of a unit is there and opens, without decoding it."""
        path = self.videos.get(unit.source_id)
        if path is None:
            return Skip(unit.id, unit.source_id, "missing_video", f"there is no file {unit.source_id}.mp4")
        if address(path):
            return None  # it was listed; that it cannot be read shows when it is fetched
        try:
            check_opens(Path(path))
        except VideoError as error:
            return Skip(unit.id, unit.source_id, "unreadable_video", error.detail)
        return None

    def stamp(self, unit: Unit) -> str:
        """Return the size and the time of change of a unit's source file; empty if there is none."""
        path = self.videos.get(unit.source_id)
        if not path:
            return ""
        return stamp_of(Path(path)) if address(path) else file_stamp(Path(path))

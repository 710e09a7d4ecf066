"""Read from videos what annotations leave open: the rates at which frames were counted, and when videos end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..core.errors import VideoError
from ..video.index import index_frames
from ..video.source_files import find_videos


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

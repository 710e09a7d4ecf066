"""Read the names of videos in annotation files that name them by file."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..video.source_files import file_stem
from .tables import Entry


@dataclass
class VideoNames:
    """The names of the videos in an annotation file, by id. The id is the stem, so each stem has only one name."""

    _names: dict[str, str] = field(default_factory=dict)

    def read(self, entry: Entry, key: str) -> str:
        """Return the id of the video that an entry names. Report an invalid or a second name, and return ""."""
        name = entry.name(key)
        stem = file_stem(name)[0]
        first = self._names.setdefault(stem, name) if name else name
        if name != first:
            entry.wrong(key, f"one name for each video, as ids have no suffix (another row has {first!r})", name)
            return ""
        return stem

    def in_full(self) -> dict[str, str]:
        """Return the names that include a suffix, by id."""
        return {stem: name for stem, name in self._names.items() if name != stem}

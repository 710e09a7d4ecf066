"""Where a benchmark's videos and annotations come from: whose they are, and what may be done with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Source:
    """A collection of videos with annotations, as `build.json` and the card name it.

    Attributes:
        key: Its name in code, such as "charades"; "sample" for drawn ones.
        name: Its name for readers.
        license: What the dataset card's YAML head says of the licence: `license`, `license_name`, `license_link`.
        terms: The licence's own words, where they forbid something.
        citation: How to cite it.
        link: Where it is found.
        redistributable: Whether cut videos may be passed on; None if stressreel does not know.
        video_folders: Where people keep its videos, seen from the annotations.
        style: What its captions are: "declarative" or "imperative"; empty where it has none.
    """

    key: str
    name: str
    license: Mapping[str, str]
    terms: str = ""
    citation: str = ""
    link: str = ""
    redistributable: bool | None = None
    video_folders: tuple[str, ...] = (".", "videos")
    style: str = ""

    @property
    def drawn(self) -> bool:
        """Whether stressreel drew it."""
        return self.key == "sample"

    def as_json(self) -> dict[str, Any]:
        """Return what `build.json` keeps of it."""
        return {
            each.name: list(value) if isinstance(value := getattr(self, each.name), tuple) else value
            for each in fields(self)
        }


def source_of(info: Mapping[str, Any]) -> Source:
    """Return the source that `build.json` names."""
    stored = info["source"]
    return Source(**{**stored, "video_folders": tuple(stored["video_folders"])})


def sample_source(name: str, video_folders: tuple[str, ...] = (".",), style: str = "") -> Source:
    """Describe a built-in sample: drawn by stressreel and in the public domain."""
    return Source(
        "sample", name, {"license": "cc0-1.0"}, redistributable=True, video_folders=video_folders, style=style
    )

"""The source of a benchmark's videos and annotations: licence, citation and link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Source:
    """A collection of annotated videos, as recorded in `build.json` and the card.

    Attributes:
        key: Identifier in code, such as "charades"; "sample" for built-in samples.
        license: Licence entries of the card's YAML header: `license`, `license_name`, `license_link`.
        terms: Wording of the licence, if it restricts use.
        redistributable: Whether derived videos may be redistributed; None if unknown.
        video_folders: Usual folders of the videos, relative to the annotations.
        style: Style of the captions, "declarative" or "imperative"; empty if the source has no captions.
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
        """Whether the source is a built-in sample."""
        return self.key == "sample"

    def as_json(self) -> dict[str, Any]:
        """Return the source's entry for `build.json`."""
        return {
            each.name: list(value) if isinstance(value := getattr(self, each.name), tuple) else value
            for each in fields(self)
        }


def source_of(info: Mapping[str, Any]) -> Source:
    """Return the source recorded in `build.json`."""
    stored = info["source"]
    return Source(**{**stored, "video_folders": tuple(stored["video_folders"])})


def sample_source(name: str, video_folders: tuple[str, ...] = (".",), style: str = "") -> Source:
    """Return the source of a built-in sample, which stressreel generates and dedicates to the public domain."""
    return Source(
        "sample", name, {"license": "cc0-1.0"}, redistributable=True, video_folders=video_folders, style=style
    )

"""What a CLAVI build is told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ...records.options import BuildSettings, option
from ...video.presets import CRF, PRESET, Preset


def rendered(settings: Any) -> bool:
    """Whether videos are made."""
    return bool(settings.render)


@dataclass(frozen=True, kw_only=True)
class ClaviSettings(BuildSettings):
    """What a CLAVI build is told.

    Attributes:
        charades: Folder of the Charades annotations, or the word `sample`.
        videos: Folder of the videos.
        charades_sta: Folder of Charades-STA's files.
        source: "actions" (Charades' classes) or "sta" (Charades-STA's sentences).
        rules: "released" or "paper"; see `builders.clavi.pairs`. None if the pairs are given.
        pairs: Files with released pairs.
        render: Whether videos are made; if not, `questions` and `pairs` are written alone.
        crf: x264's constant rate factor.
        preset: x264's preset.
        audio: "drop" or "keep".
    """

    charades: str = option(
        "",
        "Folder of the Charades annotations, or the word `sample`.",
        required=True,
        content=False,
        write=lambda given: "sample" if given == "sample" else "CHARADES_DIR",
    )
    videos: Path | None = option(
        None, "Folder of the videos, if not beside the annotations.", content=False, record="never"
    )
    charades_sta: Path | None = option(
        None,
        "Folder of charades_sta_train.txt and _test.txt, if not beside the annotations (for --source sta).",
        content=False,
        write=lambda given: "STA_DIR",
    )
    source: Literal["actions", "sta"] = option(
        "actions", "Segments: Charades' action classes, or Charades-STA's sentences."
    )
    rules: Literal["released", "paper"] | None = option(
        "released",
        "Which pairs qualify: as in the released benchmark, or the paper's text read literally.",
        counts=lambda settings: not settings.pairs,
    )
    pairs: tuple[Path, ...] = option(
        (),
        "Released train_annotations.json or test_annotations.json: rebuild exactly these pairs. May be given twice.",
        exists=True,
        content=False,
    )
    render: bool = option(True, "Make the videos, or only questions and pairs.")
    crf: int = option(CRF, "x264's rate factor, lower is better.", minimum=0, maximum=51, counts=rendered)
    preset: Preset = option(PRESET, "x264's preset.", counts=rendered)
    audio: Literal["drop", "keep"] = option(
        "drop", "Drop the sound, or cut and swap it with the picture.", counts=rendered
    )
    split: Literal["train", "test", "all"] = option("all", "Splits to build.", content=False)


def decided(settings: ClaviSettings) -> ClaviSettings:
    """Return the settings that a plan keeps: where the pairs are given, no rules chose them."""
    return replace(settings, rules=None) if settings.pairs else settings

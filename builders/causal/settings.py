"""What decides a CausalChaos build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ...negatives.mining import MiningSettings
from ...video.encode import EncodeSettings
from .divisions import SCHEMES, Places, Scheme


@dataclass(frozen=True)
class CausalSettings:
    """What decides a build of CausalChaos besides its inputs.

    Attributes:
        seed: Seed of every draw.
        splits: Divisions to build.
        places: What PS goes by; see `causal_splits.by_place`.
        mining: How wrong options are chosen.
        pool: "split": wrong options come from right ones of the same split, and in validation and test never from one
            that is also right in train. "all": from everywhere, as in the release.
        rank_by: "own", or "explanation": answers are scored by their explanations' cosine, as in the release.
        keep_apart: Whether questions about the same moment lend each other nothing.
        apart_frames: Two clips show the same moment if fewer frames lie between them.
        confuse: How many wrong options a question of `causal_confusion` has replaced at most; 0: no such config.
        render: Whether clips are cut.
        audio: "drop" or "keep".
        crf: x264's constant rate factor.
        preset: x264's preset.
        only: The split that is written, or "all".
    """

    seed: int = 0
    splits: tuple[Scheme, ...] = SCHEMES
    places: Places = "frames"
    mining: MiningSettings = field(default_factory=MiningSettings)
    pool: Literal["split", "all"] = "split"
    rank_by: Literal["own", "explanation"] = "own"
    keep_apart: bool = True
    apart_frames: int = 50
    confuse: int = 2
    render: bool = True
    audio: str = "drop"
    crf: int = EncodeSettings.crf
    preset: str = EncodeSettings.preset
    only: str = "all"


def settings_of(info: Mapping[str, Any]) -> CausalSettings:
    """Read the settings of a finished build out of `build.json`."""
    given = info["settings"]
    return CausalSettings(**{**given, "splits": tuple(given["splits"]), "mining": MiningSettings(**given["mining"])})

"""What decides a CLAVI build."""

from __future__ import annotations

from dataclasses import dataclass

from ...video.encode import EncodeSettings


@dataclass(frozen=True)
class ClaviSettings:
    """What decides a CLAVI build besides its inputs.

    Attributes:
        seed: Seed of extensions and negative controls.
        source: "actions" (Charades' classes) or "sta" (Charades-STA's sentences).
        rules: "released" or "paper"; see `builders.pairs`. None if the pairs are given.
        render: Whether videos are made; if not, `questions` and `pairs` are written alone.
        crf: x264's constant rate factor.
        preset: x264's preset.
        audio: "drop" or "keep".
    """

    seed: int = 0
    source: str = "actions"
    rules: str | None = "released"
    render: bool = True
    crf: int = EncodeSettings.crf
    preset: str = EncodeSettings.preset
    audio: str = "drop"

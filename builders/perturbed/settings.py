"""What decides a suite."""

from __future__ import annotations

from dataclasses import dataclass

from ...corruptions.text.engine import Mode
from ...language.words import StyleOption
from ...video.encode import EncodeSettings


@dataclass(frozen=True)
class PerturbedSettings:
    """What decides a build of perturbed clips and captions besides its inputs.

    Attributes:
        seed: Seed of every draw.
        perturbations: Names, in the paper's order.
        severities: Of 1 to 5.
        clip_first: Cut the clips out of their source before they are perturbed; by default the whole source is
            perturbed and then cut, as the paper does, so that temporal perturbations can move content across borders.
        render: Whether videos are made; if not, the recipes are written alone.
        crf: x264's constant rate factor.
        preset: x264's preset.
        lossless: Keep the perturbed RGB frames bit for bit.
        text_perturbations: Names, in the paper's order.
        caption_style: What the captions are; see `language.tagger.Tagger.analyse`.
        text_mode: "released" repeats the word tables of the released code in the family `bias`.
        pairs: Combinations, as visual:text.
    """

    seed: int = 0
    perturbations: tuple[str, ...] = ()
    severities: tuple[int, ...] = (1, 2, 3, 4, 5)
    clip_first: bool = False
    render: bool = True
    crf: int = EncodeSettings.crf
    preset: str = EncodeSettings.preset
    lossless: bool = False
    text_perturbations: tuple[str, ...] = ()
    caption_style: StyleOption = "declarative"
    text_mode: Mode = "stressreel"
    pairs: tuple[str, ...] = ()

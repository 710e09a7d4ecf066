"""Change the gender of the people in a caption: nouns, adjectives, titles and pronouns, with agreement.

Names of people and animals do not change. `mode="released"` applies the word tables of the released code in the same
way as that code, including its errors. Each function returns the new caption, or the reason why it is unchanged.

Source: Schiappa et al. 2022 (arXiv 2207.02159), section 3.2 and appendix A.2.
"""

from __future__ import annotations

from typing import Literal

from ...language.words import Caption
from .gender_rewriting import with_gender
from .released import released_gender, released_swap
from .result import Unchanged

Mode = Literal["stressreel", "released"]


def all_female(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Make every person in a caption female: "a man and his son" becomes "a woman and her daughter".

    Reference:
        Appendix A.2, "AllFemale". Two people who would be described by the same words are merged or distinguished: "a
        man and a woman" becomes "two women", "a woman talks to a man" becomes "a woman talks to another woman".
    """
    return released_gender(caption, "female") if mode == "released" else with_gender(caption, "female")


def all_male(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Make every person in a caption male. In the released mode, "male" becomes female and "him hair" can occur."""
    return released_gender(caption, "male") if mode == "released" else with_gender(caption, "male")


def gender_neutral(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Replace gendered words for people with neutral ones: "she washes her hair" becomes "they wash their hair".

    Reference:
        Appendix A.2, "Neutral", which turns "a man and a woman" into "a person and a person". Here they become "two
        people", or the second of them "another person". The released mode does not restore agreement.
    """
    return released_gender(caption, "neutral") if mode == "released" else with_gender(caption, "neutral")


def gender_swap(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Swap male and female words. If every word has a counterpart, swapping twice restores the caption.

    Reference:
        Appendix A.2, "GenderSwap", after Reynolds 2022. The released mode uses the word list of gender_bender 0.1.3.
    """
    return released_swap(caption) if mode == "released" else with_gender(caption, "swap")

"""Change the gender of the people in a caption: nouns, adjectives, titles and pronouns, and what must agree with them.

The source is Schiappa et al. 2022 (arXiv 2207.02159), section 3.2 and appendix A.2. Names of people and animals stay.
With `mode="released"` the word tables of the released code are applied as it applies them, faults included.
"""

from __future__ import annotations

from typing import Literal

from ...language.words import Caption
from .gender_rewriting import with_gender
from .released_gender import released_gender, released_swap
from .result import Unchanged

Mode = Literal["stressreel", "released"]


def all_female(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Make every person of a caption female: "a man and his son" gives "a woman and her daughter".

    Args:
        caption: The caption, tagged.
        mode: "released" repeats the released code's table.

    Returns:
        The new caption, or why there is none.

    Reference:
        Appendix A.2, "AllFemale". Two people who become alike are written as such: "a man and a woman" gives "two
        women", "a woman talks to a man" gives "a woman talks to another woman".
    """
    return released_gender(caption, "female") if mode == "released" else with_gender(caption, "female")


def all_male(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Make every person of a caption male; see `all_female`.

    Args:
        caption: The caption, tagged.
        mode: "released" repeats the released code's table, which makes "male" female and writes "him hair".

    Returns:
        The new caption, or why there is none.
    """
    return released_gender(caption, "male") if mode == "released" else with_gender(caption, "male")


def gender_neutral(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Take the gender from every word for a person: "she is brushing her hair" gives "they are brushing their hair".

    Args:
        caption: The caption, tagged.
        mode: "released" repeats the released code's table, without agreement.

    Returns:
        The new caption, or why there is none.

    Reference:
        Appendix A.2, "Neutral". The paper gives "a person" for "a man" and for "a woman"; a man and a woman named
        together are "two people" here, and the second of two persons is "another person".
    """
    return released_gender(caption, "neutral") if mode == "released" else with_gender(caption, "neutral")


def gender_swap(caption: Caption, mode: Mode = "stressreel") -> str | Unchanged:
    """Exchange female and male words for people; twice gives the caption back where the words are pairs.

    Args:
        caption: The caption, tagged.
        mode: "released" repeats the word list of gender_bender 0.1.3, which the released code calls.

    Returns:
        The new caption, or why there is none.

    Reference:
        Appendix A.2, "GenderSwap", after Reynolds 2022.
    """
    return released_swap(caption) if mode == "released" else with_gender(caption, "swap")

"""Causal confusion: the right answer turned into a wrong one, by negation or by exchange of who does it to whom.

Source: Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal
Chains Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), section 3.3: options with the opposite effect ("Tom was
hitting Jerry", "Tom was not hitting Jerry") or with swapped agents ("Jerry was hitting Tom"). Where we differ from the
released options: an option keeps the capitals, the apostrophes, the final stop and the "because" of the right answer,
so that none of these gives it away, and no option only reorders "Tom and Jerry", which is a second right answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["negation", "swap"]
KINDS: tuple[Kind, ...] = ("negation", "swap")


@dataclass(frozen=True)
class Confusion:
    """A wrong option made from the right one.

    Attributes:
        text: The option.
        kind: "negation" or "swap".
        ambiguous: Why it might be read as right or as another thing; empty if it is plain.
    """

    text: str
    kind: Kind
    ambiguous: str = ""


@dataclass(frozen=True)
class Unconfused:
    """A text that cannot be confused in one way.

    Attributes:
        kind: The way.
        reason: Why, in a few words.
    """

    kind: Kind
    reason: str

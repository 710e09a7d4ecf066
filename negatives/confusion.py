"""Represent causal confusion, which makes a correct answer incorrect by negation or by swapping agent and patient.

Source: Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal
Chains Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), section 3.3: options with the opposite effect ("Tom was
hitting Jerry", "Tom was not hitting Jerry") or with swapped agents ("Jerry was hitting Tom"). Unlike the released
options, an option keeps the capitals, apostrophes, final stop and "because" of the correct answer, so that none of
these reveal it. No option merely reorders "Tom and Jerry", which would be a second correct answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ConfusionKind = Literal["negation", "swap"]
KINDS: tuple[ConfusionKind, ...] = ("negation", "swap")


@dataclass(frozen=True)
class Confusion:
    """A distractor made by confusing the correct option.

    Attributes:
        kind: "negation" or "swap".
        ambiguous: Reason why it may be understood as correct or in another way; "" if it is unambiguous.
    """

    text: str
    kind: ConfusionKind
    ambiguous: str = ""


@dataclass(frozen=True)
class Unconfused:
    """The reason why a text cannot be confused in a given way.

    Attributes:
        kind: "negation" or "swap".
    """

    kind: ConfusionKind
    reason: str

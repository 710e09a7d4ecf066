"""Causal confusion: a correct answer made wrong by negating it or by swapping the roles of agent and patient.

Source: Parmar et al. 2024, "CausalChaos! Dataset for Comprehensive Causal Action Question Answering Over Longer Causal
Chains Grounded in Dynamic Visual Scenes" (arXiv 2404.01299), section 3.3: options with the opposite effect ("Tom was
hitting Jerry", "Tom was not hitting Jerry") or with swapped agents ("Jerry was hitting Tom"). Where we differ from the
released options: an option keeps the capitals, apostrophes, final stop and "because" of the correct answer, so that
none of these reveals it, and no option merely reorders "Tom and Jerry", which would be a second correct answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ConfusionKind = Literal["negation", "swap"]
KINDS: tuple[ConfusionKind, ...] = ("negation", "swap")


@dataclass(frozen=True)
class Confusion:
    """A distractor made from the correct option.

    Attributes:
        text: The option.
        kind: "negation" or "swap".
        ambiguous: Why it might be read as correct or otherwise; empty if it is clear.
    """

    text: str
    kind: ConfusionKind
    ambiguous: str = ""


@dataclass(frozen=True)
class Unconfused:
    """A text that cannot be confused in some way.

    Attributes:
        kind: "negation" or "swap".
        reason: The reason.
    """

    kind: ConfusionKind
    reason: str

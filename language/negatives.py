"""The negations of a caption wherever they stand, and the caption without one."""

from __future__ import annotations

from .clauses import Clause, clauses
from .lexicon import words
from .negation import POSITIVE, is_negated, remove_negation
from .noun_phrases import read_noun_phrase
from .words import Caption, like

NEGATIVES = frozenset(("not", "n't", "never", "cannot", "without", "nor", *POSITIVE)) - {"some"}
_POLAR = {"any": "some", "anything": "something", "anyone": "someone", "anybody": "somebody", "anywhere": "somewhere"}
_ONLY_NEGATED = frozenset(("anymore", "either", "yet", "ever", "nor", "until", "longer", "necessarily"))


def negative_words(caption: Caption) -> list[int]:
    """Return the tokens that deny something; "no" before an article is a slip for "on"."""
    tokens, found = caption.tokens, []
    for number, token in enumerate(tokens):
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        slip = token.lower == "no" and after is not None and after.tag in ("DT", "PRP$", "PRP")
        phrase = token.lower == "nowhere" and number > 0 and tokens[number - 1].lower == "of"  # "out of nowhere"
        if token.lower in NEGATIVES and not slip and not phrase:
            found.append(number)
    return found


def remove_negative(caption: Caption, number: int) -> str | None:
    """Return a caption without its only negation.

    Args:
        caption: The tagged caption.
        number: The token that denies.

    Returns:
        The caption, with "some" for an "any" behind the negation; None where what is left would be no English ("not
        only", "or not", "not either") or say something else.
    """
    tokens = caption.tokens
    word = tokens[number].lower
    before = tokens[number - 1].lower if number else ""
    after = tokens[number + 1].lower if number + 1 < len(tokens) else ""
    behind = [token.lower for token in tokens[number + 1 :]]
    if before in ("or", "if", "but", "why") or after in (
        "only",
        "just",
        "even",
        "so",
        "all",
        "every",
        "much",
        "many",
        "sure",
    ):
        return None
    if (
        _ONLY_NEGATED & set(behind) - ({"longer"} if word == "no" else set())
        or behind[:2] == ["at", "all"]
        or "at all" in " ".join(behind)
    ):
        return None
    if word == "without":
        return _with(caption, number)
    if word == "not" and after == "to":
        return _edited(caption, number, caption.edit({number: ""}))
    found = [c for c in clauses(caption) if is_negated(caption, c)]
    texts = {text for clause in found if (text := _removed(caption, clause, number)) is not None}
    if len(texts) != 1:
        return None
    return _edited(caption, number, texts.pop())


def _removed(caption: Caption, clause: Clause, number: int) -> str | None:
    near = clause.start <= number < clause.stop or number in clause.verb.tokens
    return remove_negation(caption, clause) if near else None


def _edited(caption: Caption, number: int, text: str) -> str:
    """Write "some" for the first "any" behind what was removed."""
    for token in caption.tokens[number + 1 :]:
        if token.lower in _POLAR:
            place = text.lower().rfind(caption.text[token.start :].lower())
            if place >= 0 and "but" not in (other.lower for other in caption.tokens[number:]):
                return text[:place] + like(_POLAR[token.lower], token.text) + text[place + len(token.text) :]
    return text


def _with(caption: Caption, number: int) -> str | None:
    """Write "with" for "without" before a noun phrase; "without looking" has no such opposite."""
    tokens = caption.tokens
    phrase = read_noun_phrase(tokens, number + 1, len(tokens), tails=False)
    if phrase is None or tokens[number + 1].tag in ("VBG", "VB") or tokens[phrase.head].lower.endswith("ing"):
        return None
    changes = {number: like("with", tokens[number].text)}
    polar = tokens[number + 1]
    if polar.lower in _POLAR:
        changes[number + 1] = _POLAR[polar.lower]
    elif phrase.stop - phrase.first == 1 and tokens[phrase.head].tag == "NN" and polar.lower not in words("uncounted"):
        changes[number + 1] = f"a {tokens[number + 1].text}"
    return caption.edit(changes)

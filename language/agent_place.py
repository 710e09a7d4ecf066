"""Find where the agent ("by the man") of a passive clause goes when a phrase of place also follows the verb."""

from __future__ import annotations

from .clauses import Clause
from .closed_classes import FINITE
from .inflection import can_be_verb
from .lexicon import words
from .noun_phrases import read_noun_phrase
from .words import Caption

CLAUSE_OPENERS = frozenset(
    ("where", "whose", "which", "who", "that", "whom", "why", "how", "what", "about", "of", "well")
)


def agent_place(caption: Caption, clause: Clause) -> int:
    """Return the index of the token before which to insert the agent."""
    last = clause.second_object or clause.object
    stop = last.stop if last is not None else clause.verb.main + 1
    if clause.verb.particle == stop:
        stop += 1
    place, free = phrases_behind(caption, clause, stop)
    if free:
        return place
    while stop < clause.stop and _is_verb_adverb(caption, stop):
        stop += 1
    return stop


def phrases_behind(caption: Caption, clause: Clause, stop: int) -> tuple[int, bool]:
    """Return where the phrases of place after an object end, and whether the agent may follow them.

    It may in "is put on a dog by a woman" and "is put in his bag by a man", but not after "with his phone" in "is taken
    by a man with his phone".
    """
    tokens, place = caption.tokens, stop
    while place < clause.stop and _is_verb_adverb(caption, place):
        place += 1
    adverbs = place
    own, subject = False, clause.subject
    names_later = clause.role != "coordinate" and subject is not None and tokens[subject.head].tag != "PRP"
    while place + 1 < clause.stop and _opens_place(caption, place):
        double = tokens[place + 1].lower in ("of", "to") and place + 2 < clause.stop  # "inside of", "next to"
        phrase = read_noun_phrase(tokens, place + 1 + double, clause.stop)
        bare_infinitive = (
            tokens[place].lower == "to"
            and tokens[place + 1].tag in ("NN", "JJ")
            and can_be_verb(tokens[place + 1].lower)
        )
        if phrase is None or bare_infinitive:
            break
        owned = ("PRP", "PRP$") if tokens[place].lower == "with" else ("PRP",)
        own = own or (names_later and any(tokens[n].tag in owned for n in range(phrase.first, phrase.stop)))
        place = phrase.stop
    if place < clause.stop and _is_verb_adverb(caption, place):
        place += 1
    return place, not own and not (place > adverbs and is_held(caption, place))


def _opens_place(caption: Caption, place: int) -> bool:
    token, follows = caption.tokens[place], caption.tokens[place + 1].lower
    if follows == "order":
        return False  # "in order to drop it"
    return (token.tag in ("IN", "TO", "RP") and token.lower in words("places")) or (
        (token.lower in ("next", "close") and follows == "to")
        or (token.lower in ("inside", "outside") and follows == "of")
    )


def is_held(caption: Caption, place: int) -> bool:
    """Return whether the words after the phrases of place may belong to the last phrase rather than to the verb."""
    follows = caption.tokens[place] if place < len(caption.tokens) else None
    return follows is not None and (
        follows.tag in ("VBN", "VBG", "VB", "DT", "CD", "PRP", "PRP$", *FINITE)
        or follows.tag.startswith(("NN", "JJ"))
        or follows.lower in CLAUSE_OPENERS
        or (follows.lower in words("places") and follows.lower != "to")
    )


def _is_verb_adverb(caption: Caption, place: int) -> bool:
    """Return whether "off" belongs to the verb, instead of starting a phrase such as "off the couch"."""
    tokens = caption.tokens
    follows = tokens[place + 1].tag if place + 1 < len(tokens) else ""
    phrase = follows.startswith(("DT", "PRP", "NN", "JJ", "CD"))
    word = tokens[place].lower
    if follows and tokens[place + 1].lower == "of":
        return False  # "out of a box"
    adverb = word in words("verb_adverbs") or (word in ("on", "in", "open", "inside", "outside") and not phrase)
    return adverb and (not phrase or word in ("back", "away", "together"))

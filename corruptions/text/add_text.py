"""Add words that carry no new information: adverbs, an irrelevant opening, or a proverb.

Source: Schiappa et al. 2022 (arXiv 2207.02159), section 3.2, appendix A.2 and Table 6.
"""

from __future__ import annotations

import numpy as np

from ...language.grammar import takes_who
from ...language.lexicon import is_verb_form
from ...language.words import Caption, with_capital, without_capital
from ..registry import Unchanged
from .lexical import draw_one, read_table, word_class

GENERAL_SHARE = 0.4  # share of verbs that receive an adverb which is compatible with any verb
LONG = 10  # minimum number of tokens for appending a proverb


def insert_adv(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Insert an adverb before every verb: "a little girl specifically does gymnastics".

    Reference:
        Appendix A.2, "InsertAdv". Unlike there, adverbs follow auxiliaries ("is calmly riding") and the main verb "be"
        ("is clearly in the kitchen"). No adverb is added to verbs that have one, to a verb that follows another one
        ("starts singing"), or to participles that precede their noun ("chopped onions", "frying pan").
    """
    table = read_table("add_text")
    general, action = list(table["general"]["rows"]), list(table["action"]["rows"])
    rng.shuffle(general)
    rng.shuffle(action)
    adverbs: dict[int, str] = {}
    for index in caption.words:
        position = _place(caption, index)
        if position is None:
            continue
        state = _is_state(caption, index)
        ordered = _is_bare(caption, index)  # "calmly eat" and "to calmly eat", not "clearly eat"
        somebody = caption.style == "imperative" or _is_somebody(caption, index)
        if ordered and (state or not somebody):
            continue
        acts = ordered or (not state and somebody and rng.random() >= GENERAL_SHARE)
        pool = action if acts else general
        if not pool:
            break
        adverbs[position] = pool.pop()
    if not adverbs:
        return Unchanged("no verb that can take an adverb" if caption.tagged("VB") else "no verb")
    return caption.edit({}, adverbs)


def append_irr(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Prepend an irrelevant opening to a caption. If the caption has 10 or more tokens, also append a proverb.

    Reference:
        Appendix A.2, "AppendIrr"; "On this occasion, a little girl does gymnastics" in Table 6. As in the paper, the
        opening is capitalized even before a lower-case caption. The proverb is a separate sentence, so a missing full
        stop is added.
    """
    if not caption.words:
        return Unchanged("no word")
    table = read_table("add_text")
    opening, proverb = (draw_one(table[part]["rows"], rng) for part in ("openings", "proverbs"))
    text = opened(caption, f"{opening},").rstrip()
    if len(caption.tokens) < LONG:
        return text
    ended = text.rstrip("\"'”’)]").endswith((".", "!", "?", "…"))
    stopped = text if ended else text.rstrip(" ,;:-–—") + "."
    return f"{stopped} {proverb}."


def opened(caption: Caption, opening: str) -> str:
    """Return the caption after an opening."""
    first = caption.tokens[0]
    opening = with_capital(opening) if first.text[:1].isupper() else opening
    return f"{opening} {without_capital(first)}{caption.text[first.end :]}"


def _place(caption: Caption, index: int) -> int | None:
    """Return the token before which the adverb of a verb stands, or None if the token is not a verb that takes one."""
    token, head = caption.tokens[index], caption.tokens[caption.tokens[index].head]
    if word_class(caption, index) != "verb" or token.arc in ("aux", "auxpass", "acomp", "amod", "compound", "prt"):
        return None
    verb = caption.child(index, "xcomp", "ccomp")
    helps = token.lemma in ("go", "use", "suppose", "let", "have")
    if helps and verb is not None and caption.child(verb, "aux", "nsubj") is not None:
        return None  # "is going to skin": the other verb takes it
    if any(caption.lower_at(n).endswith("ly") for n in caption.children(index, "advmod")):
        return None
    if token.lemma == "be":
        return _behind_be(caption, index)
    if head.lemma == "let" or (token.arc == "xcomp" and token.tag == "VBG" and head.tag.startswith("VB")):
        return None  # "let it cool", "starts singing": the other verb has it
    being = next((n for n in caption.children(index, "auxpass") if caption.tokens[n].lower == "being"), index)
    named = token.rival.startswith("NN") and caption.child(index, "det", "poss", "compound") is not None
    adverb = token.tag == "VBN" and token.rival == "JJ" and token.head == index - 1  # "is turning left"
    return None if named or adverb else being


def _behind_be(caption: Caption, index: int) -> int | None:
    """Return the place of an adverb behind the main verb "be", or None if no complement follows it."""
    position = index + 1 + (caption.child(index, "neg") == index + 1)
    complements = caption.children(index, "attr", "acomp", "prep", "advmod")
    follows = any(min(caption.subtree(n)) == position for n in complements)
    finite = caption.tokens[index].tag in ("VBZ", "VBP", "VBD") and caption.child(index, "nsubj", "expl") is not None
    return position if finite and follows else None


def _is_state(caption: Caption, index: int) -> bool:
    """Return whether a verb tells a state, or what is done to its subject."""
    token = caption.tokens[index]
    passive = token.tag == "VBN" and caption.child(index, "aux") is None
    return passive or token.lemma in read_table("add_text")["states"]["rows"]


def _is_bare(caption: Caption, index: int) -> bool:
    """Return whether a verb is an instruction or an infinitive."""
    token = caption.tokens[index]
    while caption.tokens[index].arc == "conj" and caption.child(index, "nsubj") is None:
        index = caption.tokens[index].head
    auxiliaries = [caption.tokens[n].lemma for n in caption.children(index, "aux") if caption.tokens[n].lower != "to"]
    has_subject = caption.child(index, "nsubj") is not None and (bool(auxiliaries) or token.tag == "VBP")
    is_order = caption.style == "imperative" and (token.tag == "VBG" or is_verb_form(token.lower, "VB"))
    return (is_order or token.tag in ("VB", "VBP")) and not has_subject and set(auxiliaries) <= {"do"}


def _is_somebody(caption: Caption, index: int) -> bool:
    """Return whether the subject of a verb is a person, as adverbs such as "calmly" only describe people."""
    token, subject = caption.tokens[index], caption.child(index, "nsubj")
    if subject is None and token.arc in ("acl", "relcl"):
        subject = token.head
    if subject is None:
        above = token.head != index and caption.tag_at(token.head).startswith("VB")
        return above and _is_somebody(caption, token.head)
    return takes_who(caption, subject)

"""Change the style of a caption: voice, negation, tense, or a formal or casual register."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ...language.check import Refused
from ...language.inflection import is_plural_noun
from ...language.lexicon import words
from ...language.negation import reverse_negation
from ...language.tense import change_tense
from ...language.verbs import full_form
from ...language.voice import passive
from ...language.words import Caption, like, sentence_ranges, tokenize, with_capital
from .add_text import opened
from .lexical import draw_one
from .registers import exchange
from .result import Unchanged
from .tables import read_table


def active_to_passive(caption: Caption) -> str | Unchanged:
    """Convert one clause to the passive: the main clause or, if that is impossible, the first clause that allows it.

    Tense and aspect are preserved, pronouns change case, and the agent is the entire noun phrase. "man riding a horse"
    becomes "a horse being ridden by man". Imperatives do not change.

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Passive"). The released code returns None on failure.
    """
    return _rewritten(passive, caption)


def reverse_neg(caption: Caption) -> str | Unchanged:
    """Negate the main verb, or remove an existing negation.

    "does gymnastics" becomes "does not do gymnastics", and "man riding a horse" becomes "man not riding a horse". Verbs
    joined by "and" are negated together ("does not ride and wave"). "without" becomes "with". In captions without a
    verb, "with" becomes "without".

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Neg").
    """
    return _rewritten(reverse_negation, caption)


def tense(caption: Caption) -> str | Unchanged:
    """Change the tense of a caption from present to past, or from past to present.

    All verbs in the tense of the main clause change: "a man sings while a boy plays" becomes "a man sang while a boy
    played". An imperative becomes a statement ("added the oil"), and a participle after a noun becomes a relative
    clause in the past ("man who was riding a horse").

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Tense"). The released code changes only
        clamp(int(.1 x words), 1, 10) verbs, which mixes tenses.
    """
    return _rewritten(change_tense, caption)


def _rewritten(rewrite: Callable[[Caption], str], caption: Caption) -> str | Unchanged:
    try:
        return rewrite(caption)
    except Refused as refusal:
        return Unchanged(str(refusal))


# Formal and casual register


def formal(caption: Caption) -> str | Unchanged:
    """Make a caption formal: full forms, formal words, capitals, a full stop, and "Please" before an imperative.

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Formal"). The paper uses a model instead of rules.
    """
    changes, before = exchange(caption, "formal"), dict[int, str]()
    tokens = caption.tokens
    for number, token in enumerate(tokens):
        word, after = token.lower, caption.lower_at(number + 1)
        if after == "n't" and token.tag in ("MD", "VBZ", "VBP", "VBD", "VB"):
            changes[number] = like(full_form(word), token.text)
        elif word == "n't":
            changes[number] = " not"
        elif word == "'s" and caption.lower_at(number - 1) == "let":
            changes[number] = " us"
        elif word == "'s" and token.tag == "VBZ" and after in ("been", "got"):
            changes[number] = " has"
        elif word in ("'s", "'re", "'m", "'ve", "'ll") and token.tag in ("VBZ", "VBP", "MD"):
            changes[number] = " " + full_form(word)
        elif word == "i" and token.tag == "PRP":
            changes[number] = "I"
    for number, token in enumerate(tokens):
        if changes.get(number, "").startswith(" ") and caption.text[token.start - 1 : token.start].isspace():
            changes[number] = changes[number].strip()
    if not caption.words:
        return Unchanged("no word")
    start = caption.words[0]
    if caption.style == "imperative" and tokens[start].lower != "please":
        before[start] = f"please {before.get(start, '')}".strip()
    elif _bare_noun(caption, start):
        before[start] = "a" if changes.get(start, tokens[start].text)[0].lower() not in "aeiou" else "an"
    text = _finished(caption.edit(changes, before).replace("can not", "cannot"))
    return text if text != caption.text else Unchanged("formal already")


def _bare_noun(caption: Caption, start: int) -> bool:
    """Return whether a caption starts with a single person without an article, as in "man riding a horse"."""
    while caption.tag_at(start) == "JJ":
        start += 1
    word, after = caption.lower_at(start), caption.tag_at(start + 1)
    single = word in words("people") - {"someone", "somebody", "people"} and not is_plural_noun(word)
    return single and caption.tag_at(start) == "NN" and not after.startswith(("NN", "POS"))


def _finished(text: str) -> str:
    text = text.rstrip()
    tokens = tokenize(text)
    starts = [sentence.start for sentence in sentence_ranges(tokens)]
    for token in (tokens[n] for n in starts if n == 0 or tokens[n - 1].end < tokens[n].start):  # not inside "x.com"
        text = text[: token.start] + with_capital(token.text) + text[token.end :]
    ended = text[-1:] in (".", "!", "?", '"', "”", ")")
    return text if ended else text.rstrip(" ,;:-") + "."


def casual(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Make a caption casual: contractions and casual words or, if there are none, an opening such as "ok, so".

    Reference:
        Schiappa et al. 2022, appendix A.2 and Table 6 ("Casual"). The paper uses a model instead of rules.
    """
    changes = exchange(caption, "casual") | {
        n: "can't" for n, token in enumerate(caption.tokens) if token.lower == "cannot"
    }
    for number, clitic in list(_contractions(caption, changes)):
        changes[number - 1] = changes.get(number - 1, caption.tokens[number - 1].text) + clitic
        changes[number] = ""
    if changes:
        return caption.edit(changes)
    if not caption.words:
        return Unchanged("no word")
    openings = read_table("text_style")["casual"]["openings"][caption.style]
    return opened(caption, draw_one(openings, rng))


def _contractions(caption: Caption, changes: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """Find contractions such as "isn't", "they're" and "a guy's riding"."""
    tokens = caption.tokens
    negative = ("is", "are", "was", "were", "do", "does", "did", "has", "have", "had", "could", "would", "should")
    clitics = {"is": "'s", "are": "'re", "am": "'m", "have": "'ve", "will": "'ll"}
    for number, token in list(enumerate(tokens))[1:]:
        before, after = tokens[number - 1], caption.tag_at(number + 1)
        joined = caption.text[before.end : token.start] == " " and changes.get(number - 1) != ""
        if number in changes or not joined:
            continue
        if token.lower == "not" and before.lower in negative:
            yield number, "n't"
        elif token.lower in clitics and after[:1].isalpha() and caption.lower_at(number + 1) != "not":
            pronoun = before.lower in ("it", "he", "she", "they", "we", "you", "i", "there", "that", "who")
            pronoun = pronoun and (token.lower == "is" or before.lower not in ("there", "that", "who"))
            noun = token.lower == "is" and before.tag == "NN" and after == "VBG" and number >= 2
            noun = noun and before.lower in words("people") and not before.lower.endswith("s")
            if (pronoun or noun) and (token.lower != "have" or after == "VBN"):
                yield number, clitics[token.lower]

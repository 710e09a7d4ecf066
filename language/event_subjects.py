"""Where the subject of a why-question ends, and the verb behind it: "did the toy train | move"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .agreement import full_form
from .closed_classes import BE, CLOSED, DO
from .event_words import Word, is_adverb, is_base, is_plural
from .inflection import is_verb_form, readings
from .lexicon import WordLists, word_lists
from .plain_captions import Refused
from .tag_repairs.clipped_words import is_act

# A name N, a determiner D, any other noun or adjective M, "'s" S, "and" C, a preposition I, an adverb R.
_UNIT = r"(?:D+NM*|D*(?:N|M+|D))(?:SM*[MN])*"
_SUBJECT = re.compile(rf"{_UNIT}(?:C{_UNIT})*(?:I{_UNIT}I?)?R?")


def _class(words: Sequence[Word], number: int, lists: WordLists) -> str:
    """Return what a word can be in a subject, as a letter of `_SUBJECT`."""
    word = words[number]
    if word.name:
        return "" if number and words[number - 1].name else "N"
    if word.lower == "'s" or (word.text == "'" and word.joined):
        return "S"
    if word.lower in ("and", "or", ","):
        return "C"
    if word.lower in lists.subject_prepositions or word.lower == "to":
        return "I"
    if word.lower in lists.subject_determiners or word.text.isdigit():
        return "D"
    if is_adverb(word):
        return "R"
    known = readings(word.text)
    if word.lower in CLOSED and CLOSED[word.lower] != "PRP":
        return "X"
    if CLOSED.get(word.lower) == "PRP":
        return "N"
    return "M" if {"NOUN", "ADJ", "VERB"} & set(known) or not known else "X"


def subject_stop(words: Sequence[Word], auxiliary: str, lists: WordLists) -> tuple[int, str]:
    """Find the main verb, and the form in which it stands: "base", "ing" or "participle".

    Raises:
        Refused: There is no subject or verb, two readings differ, or what is asked about is no event.
    """
    classes = [_class(words, number, lists) for number in range(len(words))]
    fitting = [
        n for n in range(1, len(words)) if _SUBJECT.fullmatch("".join(classes[:n])) and _ends_noun(words, n, lists)
    ]
    if not fitting:
        raise Refused("no_subject")
    if auxiliary in DO:
        return _base_verb(words, [n for n in fitting if is_base(words[n])], lists), "base"
    for number in fitting:
        word = words[number]
        if word.name:
            continue
        if word.lower in lists.intended or [w.lower for w in words[number : number + 2]] == ["going", "to"]:
            raise Refused("negated")
        active = auxiliary in BE and word.lower.endswith("ing") and is_verb_form(word.text, "VBG")
        if active and word.lower not in {"being", *word_lists("clipped").ing_nouns}:
            return number, "ing"
        after = words[number + 1].text if number + 1 < len(words) else ""
        if word.lower == "being" and is_verb_form(after, "VBN"):
            return number, "participle"
        if is_verb_form(word.text, "VBN") and not _more_nouns(words, number):
            if auxiliary in BE and not any(later.lower == "by" for later in words[number:]):
                raise Refused("state")
            return number, "participle"
    if auxiliary in BE:
        raise Refused("state")
    raise Refused("no_verb")


def _ends_noun(words: Sequence[Word], stop: int, lists: WordLists) -> bool:
    """Return whether a subject can end before a word: behind a name, a noun or a pronoun, and not bare as "cat ran"."""
    last = stop - 1
    while last > 0 and is_adverb(words[last]):
        last -= 1
    word = words[last]
    if word.name or CLOSED.get(word.lower) == "PRP":
        return True
    if word.lower in lists.subject_determiners:
        return word.lower in ("both", "all", "one", "two", "three", "another", "this", "that")
    noun = "NOUN" in readings(word.text) or not readings(word.text) or word.lower == "inside"
    start = max((n + 1 for n in range(last) if words[n].lower in ("and", "or", ",")), default=0)
    held = any(w.name or w.lower in lists.subject_determiners or w.text.isdigit() for w in words[:last])
    bare = not held and start == 0 and not is_plural(word)
    return noun and not bare


def _more_nouns(words: Sequence[Word], number: int) -> bool:
    """Return whether a participle belongs to a noun of the subject: "the baked duck fall"."""
    return number + 1 < len(words) and words[number - 1].lower in CLOSED and "NOUN" in readings(words[number + 1].text)


def _base_verb(words: Sequence[Word], fitting: Sequence[int], lists: WordLists) -> int:
    """Choose among words that can be the verb of "did": "the toy train move" has two."""
    if not fitting:
        raise Refused("no_verb")
    for number in fitting:
        before = words[number - 1]
        if words[number].lower in lists.animate and number != fitting[-1]:
            continue
        if before.name or is_plural(before) or is_adverb(before) or CLOSED.get(before.lower) == "PRP":
            return number
        if words[number].lower in lists.animate or not is_act(words[number].lower):
            continue
        rival = number + 1 in fitting and is_act(words[number + 1].lower)
        if rival and words[number].lower not in lists.leading:
            raise Refused("unclear")
        return number
    governing = [n for n in fitting if n + 1 == len(words) or words[n + 1].name or words[n + 1].lower in CLOSED]
    if len(governing) != 1:
        raise Refused("unclear")
    return governing[0]


def agreeing(auxiliary: str, subject: Sequence[Word]) -> str:
    """Let the auxiliary agree with a subject whose number is certain: "was Tom and Butch" becomes "were"."""
    together = any(word.lower == "and" for word in subject)
    plural = together or (is_plural(subject[-1]) and not any(word.lower in ("of", "with", "in") for word in subject))
    single = all(word.name for word in subject)
    full = full_form(auxiliary)
    if plural:
        return {"was": "were", "is": "are", "has": "have", "does": "do"}.get(full, full)
    if single:
        return {"were": "was", "are": "is", "have": "has", "do": "does"}.get(full, full)
    return full

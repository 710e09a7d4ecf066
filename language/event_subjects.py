"""Split why-questions into words and names, and find where the subject ends: "did the toy train | move"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .agreement import full_form
from .closed_classes import BE, CLOSED, DO, PLURALS
from .inflection import is_plural_noun, is_verb_form, readings
from .lexicon import WordLists, word_lists
from .plain_captions import Refused
from .tag_repairs.clipped_words import is_act
from .words import Token, indefinite_article, name_pattern, tokenize, with_capital

MODALS = frozenset(("will", "would", "can", "could", "shall", "should", "may", "might", "must", "cannot"))


@dataclass(frozen=True)
class Word:
    """A word of a question as written in the phrase, and whether it belongs to a name."""

    text: str
    name: bool = False
    joined: bool = False  # attached to the previous word: "'s"

    @property
    def lower(self) -> str:
        """Return the text in lower case."""
        return self.text.lower()


def with_names(text: str, tokens: Sequence[Token], names: tuple[str, ...]) -> list[Word]:
    """Capitalize names, and convert all other words to lower case.

    A name that is also a word ("Lightning") must be capitalized, or not follow an article or adjective. A word outside
    the dictionary is a name if it is capitalized, or if it is the first word and has no article.
    """
    lists = word_lists("stories")
    pattern, written = name_pattern(names), {name.lower(): name for name in names}
    canonical: dict[int, str] = {}
    for match in pattern.finditer(text) if pattern else ():
        name = written.get(match[0].lower(), match[0])
        inside = [n for n, token in enumerate(tokens) if match.start() <= token.start and token.end <= match.end()]
        common = len(inside) == 1 and bool(readings(match[0])) and match[0][:1].islower() and inside != [1]
        before = tokens[inside[0] - 1].lower if common else ""
        if not common or not (before in lists.subject_determiners or "ADJ" in readings(before)):
            canonical.update(zip(inside, [token.text for token in tokenize(name)], strict=False))
    words: list[Word] = []
    for number, token in enumerate(tokens):
        joined = number > 0 and tokens[number - 1].end == token.start
        strange = token.text.isalpha() and not readings(token.text) and token.lower not in CLOSED
        strange = strange and token.lower not in lists.subject_determiners
        if number in canonical:
            words.append(Word(canonical[number], True, joined))
        elif strange and token.lower not in MODALS and (token.text[:1].isupper() or number == 1):
            words.append(Word(with_capital(token.text), True, joined))
        elif token.lower in lists.proper:
            words.append(Word(with_capital(token.lower), joined=joined))
        else:
            words.append(Word(token.lower, joined=joined))
    return words


def is_adverb(word: Word) -> bool:
    """Return whether a word can be an adverb of manner, time or frequency before a verb."""
    if word.lower in word_lists("stories").loose_adverbs:
        return not word.name
    known = readings(word.text)
    return not word.name and word.lower.endswith("ly") and "ADV" in known and "NOUN" not in known


def is_pronoun(word: Word) -> bool:
    """Return whether a word is a pronoun."""
    return CLOSED.get(word.lower) == "PRP" or word.lower in ("this", "that", "these", "those", "one", "both", "all")


def is_base(word: Word) -> bool:
    """Return whether a word can be the base form of a verb."""
    return not word.name and word.lower not in CLOSED and is_verb_form(word.text, "VB")


def is_plural(word: Word) -> bool:
    """Return whether a word is a plural noun."""
    return not word.name and (is_plural_noun(word.text) or word.lower in PLURALS or word.lower == "mice")


def written(words: Sequence[Word]) -> str:
    """Join words with their original spacing and the correct form of "a" or "an"."""
    text = ""
    for place, word in enumerate(words):
        if word.lower in ("a", "an") and place + 1 < len(words):
            word = replace(word, text=indefinite_article(words[place + 1].text))
        text += word.text if word.joined or not text else f" {word.text}"
    return text


# Letters: N name, D determiner, M any other noun or adjective, S "'s", C "and", I preposition, R adverb.
_UNIT = r"(?:D+NM*|D*(?:N|M+|D))(?:SM*[MN])*"
_SUBJECT = re.compile(rf"{_UNIT}(?:C{_UNIT})*(?:I{_UNIT}I?)?R?")


def _class(words: Sequence[Word], number: int, lists: WordLists) -> str:
    """Return the letter that stands for a word in the pattern `_SUBJECT`."""
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
    """Return the position of the main verb and its form, which is "base", "ing" or "participle".

    Raises:
        Refused: There is no subject or verb, the two parses differ, or the question is not about an event.
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
    """Return whether a subject can end here: after a name, pronoun or noun with a determiner (not "cat ran")."""
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
    """Return whether a participle modifies a noun of the subject, as in "the baked duck fall"."""
    return number + 1 < len(words) and words[number - 1].lower in CLOSED and "NOUN" in readings(words[number + 1].text)


def _base_verb(words: Sequence[Word], fitting: Sequence[int], lists: WordLists) -> int:
    """Choose the verb that belongs to "did" if there are several candidates, as in "the toy train move"."""
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
    """Make the auxiliary agree with its subject if its number is known: "was" before "Tom and Butch" becomes "were"."""
    together = any(word.lower == "and" for word in subject)
    plural = together or (is_plural(subject[-1]) and not any(word.lower in ("of", "with", "in") for word in subject))
    single = all(word.name for word in subject)
    full = full_form(auxiliary)
    if plural:
        return {"was": "were", "is": "are", "has": "have", "does": "do"}.get(full, full)
    if single:
        return {"were": "was", "are": "is", "have": "has", "do": "does"}.get(full, full)
    return full

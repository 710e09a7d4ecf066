"""Why-questions as the events that they take for granted: "Why was Jerry running?" -> "Jerry was running".

The question itself, "Was Jerry running", stands in the why-question already; the statement needs to know where its
subject ends. Two readings must agree on that: one from the dictionary and the names, from left to right, and that of
`language.clauses` on the statement. The tags are those of the tagger that is always there, so that phrases are the same
on every machine.

What is kept is what happens at a time. "Why was Tom happy?", "Why did Tom look shocked?" and "Why did Jerry have a
scared expression?" tell of states: a face that somebody makes is hardly ever annotated each time it is to be seen.
Clauses that tell the time or the cause of an event ("when …", "while …", "after …", "because …", "as …") are cut off:
what is asked is whether an event came before another, and a second "before" or "when" would make that two questions. A
pronoun is kept where the phrase says whom it can stand for.

What cannot be turned with confidence is refused with a code of `REASONS`, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .agreement import full_form
from .cast import Cast
from .clauses import main_clause
from .closed_classes import BE, CLOSED, DO, HAVE, NEGATED, PLURALS
from .gerund_wording import Part, nouns_of
from .inflection import inflect, is_plural_noun, is_verb_form, readings, verb_lemma
from .lexicon import WordLists, lexicon_hashes, word_lists
from .plain_captions import Refused
from .tag_repairs.clipped_words import folded, is_act
from .tagger import load_tagger
from .words import Token, indefinite_article, name_pattern, tokenize, with_capital

REASONS = {
    "empty": "no words",
    "not_why": "no why-question about something that happened",
    "several_sentences": "more than one sentence, or an endless one",
    "quoted": "somebody's words are quoted",
    "negated": "the event is denied, intended or only possible",
    "state": "a state, a look or a possession: nothing that happens at a time",
    "pronoun": "a pronoun, and nothing in the phrase that it certainly stands for",
    "no_subject": "no subject was recognised",
    "no_verb": "no verb in the form that the question asks for stands behind the subject",
    "unclear": "two readings of the question differ",
    "cut_off": "the question breaks off, or its verb lacks an object",
}
LONGEST = 24  # words; longer ones make questions about two events that nobody reads
_LONGEST_TEXT = 2000  # characters; no question has as many
_CLOSING = re.compile(r"[\s?.!…,;:]+$")
_ONE_WORD = re.compile(r"\binfront\b", re.IGNORECASE)
_INSIDE = re.compile(r"[?!;…\n]|\.\s|\.$|\.\.")
_QUOTES = re.compile(r"[\"“”«»()\[\]]|(?<!\w)['‘]|(?<![sS])'(?!\w)")
_OPENER = re.compile(r"(?:so |and |but )?why(?: exactly)? ", re.IGNORECASE)
_ASKING = {*BE, *HAVE, *DO} - {"be", "been", "being", "having", "'s", "'d", "'m", "'ve", "'re"}
_MODALS = frozenset(("will", "would", "can", "could", "shall", "should", "may", "might", "must", "cannot"))
# A name N, a determiner D, any other noun or adjective M, "'s" S, "and" C, a preposition I, an adverb R.
_UNIT = r"(?:D+NM*|D*(?:N|M+|D))(?:SM*[MN])*"
_SUBJECT = re.compile(rf"{_UNIT}(?:C{_UNIT})*(?:I{_UNIT}I?)?R?")
_SINGULAR = {"he": "male", "him": "male", "his": "male", "himself": "male"} | {
    "she": "female",
    "her": "female",
    "hers": "female",
    "herself": "female",
}
_THINGS = frozenset(("it", "its", "itself"))
_SEVERAL = frozenset(("they", "them", "their", "theirs", "themselves"))
_NEVER = frozenset(("i", "me", "my", "you", "your", "we", "us", "our", "mine", "yours", "ours", "myself", "yourself"))
_REFLEXIVE = frozenset(("himself", "herself", "itself", "themselves"))
_POSSESSIVE = frozenset(("his", "her", "its", "their"))


@dataclass(frozen=True)
class Event:
    """What a why-question takes for granted.

    Attributes:
        phrase: The statement, in small letters but for names, without a stop: "Tom dipped his fingers in the ink".
        asked: The words of its yes/no question: "Did Tom dip his fingers in the ink".
        subject: Who or what it is about, as in the phrase.
        verb: Lemma of the verb that says what happens: "run" in "started to run".
        words: Lemmas of all verbs and nouns, synonyms folded; names, which say who and not what, are none of them.
        objects: The nouns among them that are not in the subject.
    """

    phrase: str
    asked: str
    subject: str
    verb: str
    words: frozenset[str]
    objects: frozenset[str]


def event(question: str, cast: Cast | None = None) -> Event | str:
    """Turn a why-question into the event that it takes for granted.

    Never raises; whatever is not certain is refused.

    Args:
        question: One question, such as "Why was Jerry running?".
        cast: The names of the collection, however they are written in the question.

    Returns:
        The event, or a reason code, one of `REASONS`.
    """
    cast = cast or Cast()
    if len(question) > _LONGEST_TEXT:
        return "several_sentences"
    return _event(question, cast.names, tuple(sorted(cast.genders.items())))


def event_identity() -> dict[str, str]:
    """Return what decides events besides the questions and the code: the word lists by hash, and the tagger."""
    return {**lexicon_hashes("clipped", "lexicon", "stories"), "tagger": load_tagger("pattern").name}


@lru_cache(maxsize=1 << 14)
def _event(question: str, names: tuple[str, ...], genders: tuple[tuple[str, str], ...]) -> Event | str:
    try:
        return _read(question, names, dict(genders))
    except Refused as refusal:
        return str(refusal)


@dataclass(frozen=True)
class _Word:
    """A word of the question: as it is to be written, and whether it is a name, or a part of one."""

    text: str
    name: bool = False
    joined: bool = False  # to the word before: "'s"

    @property
    def lower(self) -> str:
        return self.text.lower()


def _read(question: str, names: tuple[str, ...], genders: dict[str, str]) -> Event:
    lists = word_lists("stories")
    auxiliary, words = _words(question, names)
    if any(word.lower in lists.denied for word in words):
        raise Refused("negated")
    if words and words[0].lower == "there":
        raise Refused("state")
    stop, form = _subject_stop(words, auxiliary, lists)
    subject, adverbs = words[:stop], 0
    while subject and _is_adverb(subject[-1]):
        subject, adverbs = subject[:-1], adverbs + 1
    if not subject or (len(subject) == 1 and _is_pronoun(subject[0])):
        raise Refused("pronoun" if subject else "no_subject")
    auxiliary = _agreeing(auxiliary, subject)
    being = words[stop].lower == "being"
    verb = words[stop + being]
    lemma = verb.lower if form == "base" else verb_lemma(verb.text)
    stated, place = _statement(words, stop, adverbs, auxiliary, lemma)
    place += being
    caption = load_tagger("pattern").analyse_story(_written(stated), names, lists.animate)
    tokens = caption.tokens
    if len(tokens) != len(stated):
        raise Refused("unclear")
    if not all(word.name or word.lower in ("and", ",") for word in subject):
        _check_reading(stated, place, form, names)
    end = _main_end(tokens, place, lists)
    while end > place + 1 and (
        tokens[end - 1].tag in ("CC", ",") or tokens[end - 1].lower in ("even", "right", "just")
    ):
        end -= 1
    _check_state(tokens, place, end, lemma, auxiliary, lists)
    if form == "base":
        stated = _joined_in_past(stated, tokens, place, end)
    _check_end(stated, place, end, "" if form == "participle" else lemma, lists)
    _check_pronouns(stated[:end], tokens, len(subject), genders)
    if end > LONGEST:
        raise Refused("several_sentences")
    cut = len(stated) - end
    asked = [_Word(with_capital(auxiliary)), *words[: len(words) - cut]]
    return _indexed(stated[:end], asked, tokens, len(subject), place, lemma)


# The words of the question


def _words(question: str, names: tuple[str, ...]) -> tuple[str, list[_Word]]:
    """Return the auxiliary of a why-question and the words behind it."""
    text = " ".join(question.replace("`", "'").replace("’", "'").split())
    text = _ONE_WORD.sub("in front", _CLOSING.sub("", text))
    if not text:
        raise Refused("empty")
    if _INSIDE.search(text):
        raise Refused("several_sentences")
    opener = _OPENER.match(text)
    if opener is None:
        raise Refused("not_why")
    text = text[opener.end() :]
    if _QUOTES.search(text):
        raise Refused("quoted")
    tokens = tokenize(text)
    auxiliary = tokens[0].lower if tokens else ""
    if auxiliary in _MODALS or auxiliary in NEGATED or auxiliary in ("ca", "wo") or auxiliary.endswith("n't"):
        raise Refused("negated")
    if auxiliary not in _ASKING or len(tokens) < 2:
        raise Refused("not_why")
    if any(not token.is_word and token.text not in (",", "'", "&") for token in tokens) or len(tokens) > 2 * LONGEST:
        raise Refused("several_sentences")
    found = _named(text, tokens, names)
    return auxiliary, [replace(word, text="and") if word.text == "&" else word for word in found[1:]]


def _named(text: str, tokens: Sequence[Token], names: tuple[str, ...]) -> list[_Word]:
    """Write names with their capitals and all else in small letters.

    A name that is a word too ("Lightning") must have its capital, or no article or adjective before it. A word that no
    dictionary has is a name where it stands without an article at the beginning, or has a capital.
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
    words: list[_Word] = []
    for number, token in enumerate(tokens):
        joined = number > 0 and tokens[number - 1].end == token.start
        strange = token.text.isalpha() and not readings(token.text) and token.lower not in CLOSED
        strange = strange and token.lower not in lists.subject_determiners
        if number in canonical:
            words.append(_Word(canonical[number], True, joined))
        elif strange and token.lower not in _MODALS and (token.text[:1].isupper() or number == 1):
            words.append(_Word(with_capital(token.text), True, joined))
        elif token.lower in lists.proper:
            words.append(_Word(with_capital(token.lower), joined=joined))
        else:
            words.append(_Word(token.lower, joined=joined))
    return words


def _is_adverb(word: _Word) -> bool:
    if word.lower in word_lists("stories").loose_adverbs:
        return not word.name
    known = readings(word.text)
    return not word.name and word.lower.endswith("ly") and "ADV" in known and "NOUN" not in known


def _is_pronoun(word: _Word) -> bool:
    return CLOSED.get(word.lower) == "PRP" or word.lower in ("this", "that", "these", "those", "one", "both", "all")


# The subject and the verb behind it


def _class(words: Sequence[_Word], number: int, lists: WordLists) -> str:
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
    if _is_adverb(word):
        return "R"
    known = readings(word.text)
    if word.lower in CLOSED and CLOSED[word.lower] != "PRP":
        return "X"
    if CLOSED.get(word.lower) == "PRP":
        return "N"
    return "M" if {"NOUN", "ADJ", "VERB"} & set(known) or not known else "X"


def _subject_stop(words: Sequence[_Word], auxiliary: str, lists: WordLists) -> tuple[int, str]:
    """Find the main verb, and the form in which it stands: "base", "ing" or "participle"."""
    classes = [_class(words, number, lists) for number in range(len(words))]
    fitting = [
        n for n in range(1, len(words)) if _SUBJECT.fullmatch("".join(classes[:n])) and _ends_noun(words, n, lists)
    ]
    if not fitting:
        raise Refused("no_subject")
    if auxiliary in DO:
        return _base_verb(words, [n for n in fitting if _is_base(words[n])], lists), "base"
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


def _ends_noun(words: Sequence[_Word], stop: int, lists: WordLists) -> bool:
    """Return whether a subject can end before a word: behind a name, a noun or a pronoun, and not bare as "cat ran"."""
    last = stop - 1
    while last > 0 and _is_adverb(words[last]):
        last -= 1
    word = words[last]
    if word.name or CLOSED.get(word.lower) == "PRP":
        return True
    if word.lower in lists.subject_determiners:
        return word.lower in ("both", "all", "one", "two", "three", "another", "this", "that")
    noun = "NOUN" in readings(word.text) or not readings(word.text) or word.lower == "inside"
    start = max((n + 1 for n in range(last) if words[n].lower in ("and", "or", ",")), default=0)
    held = any(w.name or w.lower in lists.subject_determiners or w.text.isdigit() for w in words[:last])
    bare = not held and start == 0 and not _is_plural(word)
    return noun and not bare


def _more_nouns(words: Sequence[_Word], number: int) -> bool:
    """Return whether a participle belongs to a noun of the subject: "the baked duck fall"."""
    return number + 1 < len(words) and words[number - 1].lower in CLOSED and "NOUN" in readings(words[number + 1].text)


def _is_base(word: _Word) -> bool:
    return not word.name and word.lower not in CLOSED and is_verb_form(word.text, "VB")


def _is_plural(word: _Word) -> bool:
    return not word.name and (is_plural_noun(word.text) or word.lower in PLURALS or word.lower == "mice")


def _base_verb(words: Sequence[_Word], fitting: Sequence[int], lists: WordLists) -> int:
    """Choose among words that can be the verb of "did": "the toy train move" has two."""
    if not fitting:
        raise Refused("no_verb")
    for number in fitting:
        before = words[number - 1]
        if words[number].lower in lists.animate and number != fitting[-1]:
            continue
        if before.name or _is_plural(before) or _is_adverb(before) or CLOSED.get(before.lower) == "PRP":
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


def _agreeing(auxiliary: str, subject: Sequence[_Word]) -> str:
    """Let the auxiliary agree with a subject whose number is certain: "was Tom and Butch" becomes "were"."""
    together = any(word.lower == "and" for word in subject)
    plural = together or (_is_plural(subject[-1]) and not any(word.lower in ("of", "with", "in") for word in subject))
    single = all(word.name for word in subject)
    full = full_form(auxiliary)
    if plural:
        return {"was": "were", "is": "are", "has": "have", "does": "do"}.get(full, full)
    if single:
        return {"were": "was", "are": "is", "have": "has", "do": "does"}.get(full, full)
    return full


# The statement


def _statement(words: Sequence[_Word], stop: int, adverbs: int, auxiliary: str, lemma: str) -> tuple[list[_Word], int]:
    """Put the verb into the statement; return its words and the place of the main verb."""
    subject, rest = [*words[: stop - adverbs]], [*words[stop - adverbs : stop], *words[stop:]]
    if auxiliary in DO:
        past = auxiliary == "did"
        verb = inflect(lemma, "VBD") if past else inflect(lemma, "VBZ") if auxiliary == "does" else lemma
        rest[adverbs] = _Word(verb)
        return [*subject, *rest], stop
    return [*subject, _Word(auxiliary), *rest], stop + 1


def _written(words: Sequence[_Word]) -> str:
    """Write words with the spaces between them, and "a" or "an" as they sound."""
    text = ""
    for place, word in enumerate(words):
        if word.lower in ("a", "an") and place + 1 < len(words):
            word = replace(word, text=indefinite_article(words[place + 1].text))
        text += word.text if word.joined or not text else f" {word.text}"
    return text


def _check_reading(stated: Sequence[_Word], place: int, form: str, names: tuple[str, ...]) -> None:
    """Refuse where the reader of clauses takes another word for the main verb of the statement."""
    words = list(stated)
    if form == "base" and _is_base(words[place]):
        words[place] = _Word("took")  # "put" and "split" are past and base form, and taken for nouns
    caption = load_tagger("pattern").analyse_story(_written(words), names, word_lists("stories").animate)
    main = main_clause(caption)
    if main is None or main.verb.main not in (place, place + 1):
        raise Refused("unclear")


def _main_end(tokens: Sequence[Token], place: int, lists: WordLists) -> int:
    """Return where the main clause ends: before what tells the time or cause of the event."""
    for number in range(place + 1, len(tokens)):
        word, after = tokens[number].lower, tokens[number + 1].lower if number + 1 < len(tokens) else ""
        if word in lists.time_openers:
            return number
        if word in lists.loose_openers and after not in ("if", "though", "much"):
            finite = [t for t in tokens[number + 1 :] if t.tag.startswith(("VB", "MD"))]
            if finite and not (word == "so" and tokens[number + 1].tag.startswith(("JJ", "RB"))):
                return number
    return len(tokens)


def _check_state(tokens: Sequence[Token], place: int, end: int, lemma: str, auxiliary: str, lists: WordLists) -> None:
    """Refuse what does not happen at a time."""
    behind = [token.lower for token in tokens[place + 1 : end]]
    events = word_lists("clipped").events
    if lemma in lists.states and not any(f"{lemma}_{word}" in events for word in behind[:4]):
        raise Refused("state")
    follows = tokens[place + 1] if place + 1 < end else None
    if lemma in lists.looks and follows is not None:
        known = readings(follows.text)
        described = follows.tag.startswith(("JJ", "VBN", "VBD")) or ("ADJ" in known and not {"ADV", "ADP"} & set(known))
        if described or follows.lower in ("like", "so", "very", "as", "really", "quite"):
            raise Refused("state")


def _joined_in_past(stated: list[_Word], tokens: Sequence[Token], place: int, end: int) -> list[_Word]:
    """Put the verbs joined to the main verb into its form: "jumped up and screamed"."""
    form = tokens[place].lower
    past = not is_verb_form(form, "VB") or form == inflect(verb_lemma(form), "VBD")
    written = list(stated)
    for number in range(place + 2, end):
        joint = number - 1
        while joint > place and _is_adverb(stated[joint]):
            joint -= 1
        if not (tokens[joint].lower in ("and", "then", "but", "or") or tokens[joint].text == ","):
            continue
        if not _is_base(stated[number]):
            continue
        if not _is_verb_here(stated, tokens, number, end):
            if number + 1 == end and is_act(stated[number].lower) and tokens[number].tag != "NNS":
                raise Refused("unclear")  # "went to the front and check"
            continue
        if any(tokens[n].lower == "to" and tokens[n + 1].tag == "VB" for n in range(place, joint)):
            continue  # "used the drums to make noise and plop down"
        if verb_lemma(tokens[place].text) in ("make", "let", "help", "watch", "see", "hear"):
            continue  # "made Tom jump and fall"
        lemma = verb_lemma(stated[number].text)
        written[number] = replace(stated[number], text=inflect(lemma, "VBD") if past else inflect(lemma, "VBZ"))
    return written


def _is_verb_here(stated: Sequence[_Word], tokens: Sequence[Token], number: int, end: int) -> bool:
    """Return whether a base form behind "and" is a verb and no noun."""
    known = readings(stated[number].text)
    if not {"NOUN", "ADJ"} & set(known):
        return True
    follows = stated[number + 1] if number + 1 < end else None
    if follows is not None:
        tag = CLOSED.get(follows.lower, "")
        if follows.name or tag in ("DT", "PRP", "PRP$") or tokens[number + 1].tag in ("RP", "RB"):
            return True
        leads = tag == "TO" or follows.lower in word_lists("clipped").prepositions
        return tokens[number].tag.startswith("VB") or (is_act(stated[number].lower) and leads)
    if tokens[number - 2].tag.startswith("NN") and not tokens[number].tag.startswith("VB"):
        return False
    return tokens[number].tag.startswith("VB") or is_act(stated[number].lower)


def _check_end(stated: Sequence[_Word], place: int, end: int, lemma: str, lists: WordLists) -> None:
    """Refuse what breaks off."""
    last = stated[end - 1]
    if last.lower in lists.unended and not last.name:
        raise Refused("cut_off")
    if end == place + 1 and lemma in lists.transitive:
        raise Refused("cut_off")


def _check_pronouns(stated: Sequence[_Word], tokens: Sequence[Token], subject: int, genders: dict[str, str]) -> None:
    """Refuse a pronoun that nothing in the phrase, before it, can be meant by.

    "His" and "himself" can mean the subject; "him", "it" and "them" mean somebody or something else that stands before
    them, as "it" in "grabbed the cup and threw it".
    """
    lists = word_lists("stories")
    single = not _is_plural(stated[subject - 1]) and not any(word.lower == "and" for word in stated[:subject])
    head = stated[subject - 1]
    common = not head.name and head.lower not in lists.male | lists.female
    for number, word in enumerate(stated):
        lower = word.lower
        if word.name:
            continue
        if lower in _NEVER:
            raise Refused("pronoun")
        if lower not in {*_SINGULAR, *_THINGS, *_SEVERAL}:
            continue
        owner = lower in _REFLEXIVE or (lower in _POSSESSIVE and tokens[number].tag != "PRP")
        if owner and single and lower not in _SEVERAL and (common or lower in _THINGS):
            continue
        if number < subject and lower in _POSSESSIVE:
            raise Refused("pronoun")
        clause = lower in ("he", "she", "they")  # a clause of its own: "what Tom thought he saw"
        begins = 0 if owner or clause else subject
        before = range(begins, number)
        if lower in _SEVERAL:
            joined = any(stated[n].lower in ("and", "both") for n in before)
            fits = joined or any(_is_plural(stated[n]) for n in before)
        elif lower in _THINGS:
            fits = any(_is_thing(stated[n], tokens[n]) for n in before)
        else:
            gender = _SINGULAR[lower]
            fits = any(_is_somebody(stated[n], gender, genders, lists) for n in before)
        if not fits:
            raise Refused("pronoun")


def _is_thing(word: _Word, token: Token) -> bool:
    return not word.name and token.tag in ("NN", "NNS", "JJ", "VB") and "NOUN" in readings(word.text)


def _is_somebody(word: _Word, gender: str, genders: dict[str, str], lists: WordLists) -> bool:
    """Return whether a word can be meant by "he" or "she"."""
    if word.name:
        known = next((g for name, g in genders.items() if word.lower in name.split()), gender)
        return known == gender
    other = lists.male if gender == "female" else lists.female
    return word.lower in lists.animate and word.lower not in other and not _is_plural(word)


# What is compared


def _indexed(
    stated: Sequence[_Word], asked: Sequence[_Word], tokens: Sequence[Token], subject: int, place: int, lemma: str
) -> Event:
    """Write an event, with the lemmas of its words."""
    parts = [_part(stated, tokens, number) for number in range(len(stated))]
    parts[place] = Part(stated[place].lower, lemma)
    closed = set(CLOSED) | word_lists("clipped").prepositions | word_lists("clipped").pronouns
    objects = frozenset(nouns_of(parts[place:])) - closed
    verbs = {folded("verb_folds").get(part.lemma, part.lemma) for part in parts[place:] if part.lemma}
    about = nouns_of([Part("the"), *(Part(part.text) for part in parts[:subject])]) - closed
    action = next((part.lemma for part in parts[place + 1 : place + 3] if part.lemma), lemma)
    return Event(
        phrase=_written(stated),
        asked=_written(asked),
        subject=_written(stated[:subject]),
        verb=action if lemma in word_lists("clipped").aspect else lemma,
        words=objects | verbs | about,
        objects=objects,
    )


def _part(stated: Sequence[_Word], tokens: Sequence[Token], number: int) -> Part:
    """Return a word to be compared, with its lemma if it is a verb; names are left out."""
    word, before = stated[number], stated[number - 1].lower if number else ""
    if word.name:
        return Part("")
    if word.lower == "'s" or word.text == "'":
        return Part("the")
    verbal = tokens[number].tag.startswith("VB") or word.text != tokens[number].lower  # put into the past
    after = stated[number + 1] if number + 1 < len(stated) else None
    governs = after is not None and (after.name or CLOSED.get(after.lower) in ("DT", "PRP", "PRP$"))
    verbal = verbal or (before == "to" and governs and _is_base(word))
    verbal = verbal and "VERB" in readings(word.text) and CLOSED.get(before) not in ("DT", "PRP$")
    if not verbal or word.lower in BE | HAVE | DO:
        return Part(word.lower)
    base = tokens[number].tag in ("VB", "VBP") and word.text == tokens[number].lower and _is_base(word)
    return Part(word.lower, word.lower if base else verb_lemma(word.text))

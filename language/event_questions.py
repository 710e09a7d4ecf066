"""Extract the event that a why-question presupposes: "Why was Jerry running?" yields "Jerry was running".

The why-question contains the yes/no question "Was Jerry running". To form the statement, the end of the subject must be
found. Two parsers must agree on it: one that reads from left to right using the dictionary and the names, and
`language.clauses` applied to the statement. Both use the tagger that is always installed, so phrases are the same on
every machine.

Only events at a point in time are kept. "Why was Tom happy?", "Why did Tom look shocked?" and "Why did Jerry have a
scared expression?" describe states, which are rarely annotated each time they are visible. Clauses of time or cause
("when …", "while …", "after …", "because …", "as …") are cut off, because the benchmark asks whether one event occurred
before another, and a second "before" or "when" would turn that into two questions. A pronoun is kept if its antecedent
is in the phrase.

Uncertain cases are rejected with a code from `REASONS`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .cast import Cast
from .clauses import main_clause
from .closed_classes import BE, CLOSED, DO, HAVE
from .event_checks import check_end, check_pronouns, check_state, main_end
from .event_subjects import MODALS, Word, agreeing, is_adverb, is_base, is_pronoun, subject_stop, with_names, written
from .gerund_wording import PhraseWord, nouns_of
from .inflection import inflect, is_verb_form, readings, verb_lemma
from .lexicon import lexicon_hashes, word_lists
from .plain_captions import Refused
from .tag_repairs.clipped_words import folded, is_act
from .tagger import load_tagger
from .words import Token, tokenize, with_capital

REASONS = {
    "empty": "no words",
    "not_why": "no why-question about something that happened",
    "several_sentences": "more than one sentence, or an endless one",
    "quoted": "it contains a quotation",
    "negated": "the event is denied, intended or only possible",
    "state": "a state, a look or a possession: nothing that happens at a time",
    "pronoun": "a pronoun, and nothing in the phrase that it certainly stands for",
    "no_subject": "no subject was recognised",
    "no_verb": "no verb in the form that the question asks for stands behind the subject",
    "unclear": "two readings of the question differ",
    "cut_off": "the question breaks off, or its verb lacks an object",
}
LONGEST = 24  # maximum number of words; questions about two longer events are hard to read
_LONGEST_TEXT = 2000  # maximum number of characters, above that of any real question
_CLOSING = re.compile(r"[\s?.!…,;:]+$")
_ONE_WORD = re.compile(r"\binfront\b", re.IGNORECASE)
_INSIDE = re.compile(r"[?!;…\n]|\.\s|\.$|\.\.")
_QUOTES = re.compile(r"[\"“”«»()\[\]]|(?<!\w)['‘]|(?<![sS])'(?!\w)")
_OPENER = re.compile(r"(?:so |and |but )?why(?: exactly)? ", re.IGNORECASE)
_ASKING = {*BE, *HAVE, *DO} - {"be", "been", "being", "having", "'s", "'d", "'m", "'ve", "'re"}


@dataclass(frozen=True)
class Event:
    """The event that a why-question presupposes.

    Attributes:
        phrase: The statement, in lower case except names, without a period: "Tom dipped his fingers in the ink".
        asked: The yes/no question: "Did Tom dip his fingers in the ink".
        subject: The subject as written in the phrase.
        verb: Lemma of the verb that names the action: "run" in "started to run".
        words: Lemmas of all verbs and nouns except names, with synonyms merged.
        objects: The nouns in `words` that are not in the subject.
    """

    phrase: str
    asked: str
    subject: str
    verb: str
    words: frozenset[str]
    objects: frozenset[str]


def event(question: str, cast: Cast | None = None, *, verb_at: int | None = None) -> Event | str:
    """Return the event that a why-question presupposes or, if it is uncertain, a reason code from `REASONS`.

    The names in `cast` are matched case-insensitively. `verb_at` is the number of words between "did" or "was" and the
    verb; by default, the verb is searched for.
    """
    cast = cast or Cast()
    if len(question) > _LONGEST_TEXT:
        return "several_sentences"
    return _event(question, cast.names, tuple(sorted(cast.genders.items())), verb_at)


def event_identity() -> dict[str, str]:
    """Return everything besides the code that determines events: the hashes of the word lists, and the tagger."""
    return {**lexicon_hashes("clipped", "lexicon", "stories"), "tagger": load_tagger("pattern").name}


@lru_cache(maxsize=1 << 14)
def _event(
    question: str, names: tuple[str, ...], genders: tuple[tuple[str, str], ...], verb_at: int | None
) -> Event | str:
    try:
        return _read(question, names, dict(genders), verb_at)
    except Refused as refusal:
        return str(refusal)


def _read(question: str, names: tuple[str, ...], genders: dict[str, str], verb_at: int | None) -> Event:
    lists = word_lists("stories")
    auxiliary, words = _words(question, names)
    if any(word.lower in lists.denied for word in words):
        raise Refused("negated")
    if words and words[0].lower == "there":
        raise Refused("state")
    if verb_at is None:
        stop, form = subject_stop(words, auxiliary, lists)
    else:
        stop, form = verb_at, "base" if auxiliary in DO else "ing"
    subject, adverbs = words[:stop], 0
    while subject and is_adverb(subject[-1]):
        subject, adverbs = subject[:-1], adverbs + 1
    if not subject or (len(subject) == 1 and is_pronoun(subject[0])):
        raise Refused("pronoun" if subject else "no_subject")
    auxiliary = agreeing(auxiliary, subject)
    being = words[stop].lower == "being"
    verb = words[stop + being]
    lemma = verb.lower if form == "base" else verb_lemma(verb.text)
    stated, place = _statement(words, stop, adverbs, auxiliary, lemma)
    place += being
    caption = load_tagger("pattern").analyse_story(written(stated), names, lists.animate)
    tokens = caption.tokens
    if len(tokens) != len(stated):
        raise Refused("unclear")
    if not all(word.name or word.lower in ("and", ",") for word in subject):
        _check_reading(stated, place, form, names)
    end = main_end(tokens, place, lists)
    while end > place + 1 and (
        tokens[end - 1].tag in ("CC", ",") or tokens[end - 1].lower in ("even", "right", "just")
    ):
        end -= 1
    check_state(tokens, place, end, lemma, auxiliary, lists)
    if form == "base":
        stated = _joined_in_past(stated, tokens, place, end)
    check_end(stated, place, end, "" if form == "participle" else lemma, lists)
    check_pronouns(stated[:end], tokens, len(subject), genders)
    if end > LONGEST:
        raise Refused("several_sentences")
    cut = len(stated) - end
    asked = [Word(with_capital(auxiliary)), *words[: len(words) - cut]]
    return _indexed(stated[:end], asked, tokens, len(subject), place, lemma)


# The words of the question


def _words(question: str, names: tuple[str, ...]) -> tuple[str, list[Word]]:
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
    if auxiliary in MODALS or auxiliary in ("ca", "wo") or (len(tokens) > 1 and tokens[1].lower == "n't"):
        raise Refused("negated")
    if auxiliary not in _ASKING or len(tokens) < 2:
        raise Refused("not_why")
    if any(not token.is_word and token.text not in (",", "'", "&") for token in tokens) or len(tokens) > 2 * LONGEST:
        raise Refused("several_sentences")
    found = with_names(text, tokens, names)
    return auxiliary, [replace(word, text="and") if word.text == "&" else word for word in found[1:]]


# The statement


def _statement(words: Sequence[Word], stop: int, adverbs: int, auxiliary: str, lemma: str) -> tuple[list[Word], int]:
    subject, rest = [*words[: stop - adverbs]], [*words[stop - adverbs : stop], *words[stop:]]
    if auxiliary in DO:
        past = auxiliary == "did"
        verb = inflect(lemma, "VBD") if past else inflect(lemma, "VBZ") if auxiliary == "does" else lemma
        rest[adverbs] = Word(verb)
        return [*subject, *rest], stop
    return [*subject, Word(auxiliary), *rest], stop + 1


def _check_reading(stated: Sequence[Word], place: int, form: str, names: tuple[str, ...]) -> None:
    words = list(stated)
    if form == "base" and is_base(words[place]):
        words[place] = Word("took")  # "put" and "split" are both past and base form, and look like nouns
    caption = load_tagger("pattern").analyse_story(written(words), names, word_lists("stories").animate)
    main = main_clause(caption)
    if main is None or main.verb.main not in (place, place + 1):
        raise Refused("unclear")


def _joined_in_past(stated: list[Word], tokens: Sequence[Token], place: int, end: int) -> list[Word]:
    """Give coordinated verbs the form of the main verb, as in "jumped up and screamed"."""
    form = tokens[place].lower
    past = not is_verb_form(form, "VB") or form == inflect(verb_lemma(form), "VBD")
    turned = list(stated)
    for number in range(place + 2, end):
        joint = number - 1
        while joint > place and is_adverb(stated[joint]):
            joint -= 1
        if not (tokens[joint].lower in ("and", "then", "but", "or") or tokens[joint].text == ","):
            continue
        if not is_base(stated[number]):
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
        turned[number] = replace(stated[number], text=inflect(lemma, "VBD") if past else inflect(lemma, "VBZ"))
    return turned


def _is_verb_here(stated: Sequence[Word], tokens: Sequence[Token], number: int, end: int) -> bool:
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


# Comparison


def _indexed(
    stated: Sequence[Word], asked: Sequence[Word], tokens: Sequence[Token], subject: int, place: int, lemma: str
) -> Event:
    parts = [_part(stated, tokens, number) for number in range(len(stated))]
    parts[place] = PhraseWord(stated[place].lower, lemma)
    closed = set(CLOSED) | word_lists("clipped").prepositions | word_lists("clipped").pronouns
    objects = frozenset(nouns_of(parts[place:])) - closed
    verbs = {folded("verb_folds").get(part.lemma, part.lemma) for part in parts[place:] if part.lemma}
    about = nouns_of([PhraseWord("the"), *(PhraseWord(part.text) for part in parts[:subject])]) - closed
    action = next((part.lemma for part in parts[place + 1 : place + 3] if part.lemma), lemma)
    return Event(
        phrase=written(stated),
        asked=written(asked),
        subject=written(stated[:subject]),
        verb=action if lemma in word_lists("clipped").aspect else lemma,
        words=objects | verbs | about,
        objects=objects,
    )


def _part(stated: Sequence[Word], tokens: Sequence[Token], number: int) -> PhraseWord:
    """Return a word, with its lemma if it is a verb. The text of a name is empty."""
    word, before = stated[number], stated[number - 1].lower if number else ""
    if word.name:
        return PhraseWord("")
    if word.lower == "'s" or word.text == "'":
        return PhraseWord("the")
    verbal = tokens[number].tag.startswith("VB") or word.text != tokens[number].lower  # change it to the past
    after = stated[number + 1] if number + 1 < len(stated) else None
    governs = after is not None and (after.name or CLOSED.get(after.lower) in ("DT", "PRP", "PRP$"))
    verbal = verbal or (before == "to" and governs and is_base(word))
    verbal = verbal and "VERB" in readings(word.text) and CLOSED.get(before) not in ("DT", "PRP$")
    if not verbal or word.lower in BE | HAVE | DO:
        return PhraseWord(word.lower)
    base = tokens[number].tag in ("VB", "VBP") and word.text == tokens[number].lower and is_base(word)
    return PhraseWord(word.lower, word.lower if base else verb_lemma(word.text))

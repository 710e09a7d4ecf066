"""Turn free text about an action into a gerund phrase, or into a statement if an animal, vehicle or named person acts.

"A chef slices an onion" becomes "slicing an onion", without an actor. "The dog jumps over the fence" and "Anna opens
the door" keep their subject, like the events of `event_questions`: "the dog jumped over the fence", "Did the dog jump
over the fence". For this, the sentence must start with the subject, directly followed by its verb.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise

from .cast import Cast
from .closed_classes import AUXILIARIES, CLOSED
from .event_questions import Event, event
from .inflection import inflect, is_plural_noun, is_verb_form, readings, verb_lemma
from .lexicon import lexicon_hashes, read_lexicon, word_lists
from .lexicon import words as lexicon_words
from .order_words import opens_order
from .phrases import LONGEST_TEXT, Gerund, lemmas_in, phrase, phrase_identity
from .tag_repairs.clipped_words import is_act
from .tagger import load_tagger
from .words import Token, tokenize

_NAME = re.compile(r"[A-Z][a-z]+")
_NO_NAME = re.compile(r"\w+(?:er|ers|or|ors|ist|ists|ing|man|men|ant|ants|ed|ly)", re.IGNORECASE)
_DOUBLED = {("a", "people"), ("an", "another"), ("another", "another"), ("a", "persons"), ("another", "people")}
_LATER = re.compile(r",? (?:right |just |shortly )?(?:after|before) (\w+ing)\b", re.IGNORECASE)
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr)\.\s+(?=[A-Z])")
_TITLES = ("Mr", "Mrs", "Ms", "Dr", "Miss", "Sir")
_PRONOUNS = frozenset(("he", "she", "him", "himself", "herself", "his", "her", "hers", "they"))
_PRONOUNS |= {"male", "female", "a", "b"}
# Prepositions that connect a place or clothing with a person: "a man in a red apron".
_ATTACHED = frozenset(("in", "with", "on", "from", "at", "near", "inside", "behind", "of", "wearing", "dressed"))
_PASTS = {"saw": "see", "found": "find", "fell": "fall", "felt": "feel", "wound": "wind", "bound": "bind"}
_OWN = ("his", "her", "their")
_BEING = {"is": True, "was": True, "are": False, "were": False}  # whether the pronoun is singular


def free_phrase(text: str) -> Gerund | Event | str:
    """Return a gerund phrase, or an event if the subject is an animal, a vehicle or a name.

    `text` is anything that `phrases.phrase` accepts, or a sentence such as "the dog jumps over the fence". For
    uncertain cases, a reason code from `phrases.REASONS` or `event_questions.REASONS` is returned.
    """
    return "long" if len(text) > LONGEST_TEXT else _read(text)


def free_phrase_identity() -> dict[str, str]:
    """Return everything besides the code that determines free phrases: the hashes of the word lists, and the tagger."""
    more = lexicon_hashes("clipped", "orders", "stories")
    return {**phrase_identity(), **more, "tagger": load_tagger("pattern").name}


@dataclass(frozen=True)
class _Subject:
    """The noun phrase or name at the start of a sentence.

    Attributes:
        words: The subject as written in the question: "the dog".
        start: Index of the first token.
        stop: Index after the last token.
        kind: "person" if the phrase omits the actor, else "other".
        singular: Whether the verb is singular.
        names: The names that the subject contains.
    """

    words: str
    start: int
    stop: int
    kind: str
    singular: bool
    names: tuple[str, ...] = ()


@lru_cache(maxsize=1 << 14)
def _read(text: str) -> Gerund | Event | str:
    text = _with_apostrophes(_TITLE.sub(r"\1 ", text))
    tokens = tokenize(text)
    start = _behind_openers(tokens)
    subject = _named(tokens, start) or _known(tokens, start) or _common(tokens, start)
    if subject is not None and subject.kind == "other":
        return _stated(text, tokens, subject)
    found = _done(text, tokens, start, subject)
    if found not in ("other_subject", "no_verb"):
        return found
    subject = _somebody(tokens, start)
    if subject is None:
        return found
    again = _done(text, tokens, start, subject)
    if again not in ("other_subject", "no_verb"):
        return again
    rest = tokens[subject.stop + 1 :]
    if tokens[subject.stop].lower in _BEING or any(is_verb_form(token.lower, "VBZ") for token in rest):
        return found
    verb, behind = inflect(verb_lemma(tokens[subject.stop].text), "VBG"), text[tokens[subject.stop].end :]
    return _checked(phrase(f"{verb}{behind}"), f"people {verb}{behind}", tokens, start)


def _done(text: str, tokens: Sequence[Token], start: int, subject: _Subject | None) -> Gerund | str:
    """Return the action that the subject performs. Without a subject, find the person in the text."""
    text, later = _without_later(text)
    if subject is not None and subject.stop < len(tokens):
        text = f"{'a person' if subject.singular else 'people'} {text[tokens[subject.stop].start :]}"
    elif start < len(tokens) and tokens[start].lower.endswith("ed") and is_verb_form(tokens[start].lower, "VBN"):
        return "no_verb"  # "animated pirates sing"
    found, head = phrase(text), _head(tokens, start)
    verb_at = subject.stop if subject is not None else head[0] if head is not None else len(tokens)
    if isinstance(found, Gerund) and verb_at < len(tokens):
        verb = tokens[verb_at].lower
        doing = is_verb_form(verb, "VBG") and verb not in word_lists("clipped").ing_nouns
        inner = found.verb in {token.lower for token in tokens[verb_at + 1 :]} and found.verb != verb_lemma(verb)
        after = [(one.lower, other.lower) for one, other in pairwise(tokens[verb_at + 1 :])]
        if doing and found.verb != verb_lemma(verb) and any(one == "and" and other in _OWN for one, other in after):
            return "run_on"  # "a girl singing a song and her group were playing music"
        if doing and inner:
            be = "are" if is_plural_noun(tokens[verb_at - 1].lower) else "is"
            person = "people" if be == "are" else "a person"
            found = phrase(f"{person} {be} {text[text.lower().index(verb) :]}")  # "making | play dough"
    if later and isinstance(found, Gerund):
        found = replace(found, words=found.words | lemmas_in(later))
    return _checked(found, text, tokens, start)


def _without_later(text: str) -> tuple[str, str]:
    """Cut off phrases such as "after eating", which would make a question about order mention two orders."""
    cut = _LATER.search(text)
    before = [] if cut is None else [token.lower for token in tokenize(text[: cut.start()])]
    acts = any(is_verb_form(word, form) for word in before for form in ("VBG", "VBZ"))
    doing = cut is not None and acts and is_verb_form(cut[1].lower(), "VBG")
    return (text[: cut.start()], text[cut.end(1) - len(cut[1]) :]) if cut is not None and doing else (text, "")


def _checked(found: Gerund | str, text: str, tokens: Sequence[Token], start: int) -> Gerund | str:
    """Reject a phrase if a verb was mistaken for a noun, or if it may belong to another clause or actor."""
    if not isinstance(found, Gerund):
        return found
    given = sum(token.lower in ("and", ",", "then", "&", ";") for token in tokenize(text))
    joined = found.phrase.split().count("and") > given  # "demonstrates the small motor uses" has two verbs and no "and"
    if _is_doubtful(tokenize(text), found) or (joined and tokens[min(start, len(tokens) - 1)].lower.endswith("ing")):
        return "run_on"
    asked = is_verb_form(found.phrase.partition(" ")[0], "VBG") and not _opens_alone(tokens, start)
    return "run_on" if asked and (joined or _has_verb_left(found.phrase)) else found


def _with_apostrophes(text: str) -> str:
    tokens = tokenize(text)
    for before, token in reversed([*pairwise(tokens)]):
        if token.lacks_apostrophe and token.lower == "'s":
            text = f"{text[: before.end]}'s{text[token.end :]}"
    return text


def _is_doubtful(tokens: Sequence[Token], found: Gerund) -> bool:
    """Return whether an apostrophe is missing, or the verb may belong to another clause or actor."""
    if any(token.lacks_apostrophe for token in tokens):
        return True  # "a car s alternator"
    words = found.phrase.split()
    for first, second, third in zip(words, words[1:], [*words[2:], ""], strict=False):
        if third in ("person", "people") and "their" in (first, second):
            return True  # "practising their person and arrow tricks"
        if third == "people" and first in ("a", "an", "another") and not second.endswith("of"):
            return True  # "touching a young people back"
        if first.isdigit() and first != "1" and second == "person":
            return True  # "2 lady and 2 gents"
        if second == "that" and (not third or third.endswith("ly")):
            return True  # "speaking to that calmly"
    past = words[1] if len(words) > 1 else ""
    known = past in word_lists("clipped").ing_nouns or verb_lemma(words[0]) in word_lists("stories").led
    if past.endswith("ing") and not known and "NOUN" not in readings(past):
        return True  # "videoing conferencing"
    if is_verb_form(past, "VBD") and not (is_verb_form(past, "VBN") or is_verb_form(past, "VB") or past in CLOSED):
        return True  # "testing drove", from "cars he test drove"
    joints = {"and", ",", "while", "or", "then", "for", "start", "starting"} | word_lists("clipped").prepositions
    for number in range(2, len(words)):
        before, word = words[number - 1 : number + 1]
        if not is_verb_form(word, "VBG") or word in word_lists("clipped").ing_nouns:
            continue
        if before in ("person", "people") and {"and", ","} & set(words[max(number - 4, 0) : number]):
            return True  # "playing music and people dancing"
        if words[0] in ("wearing", "playing") and before not in joints:
            return True  # "wearing brown giving the news", "playing thor talking about the movie"
    relative = next((n for n, word in enumerate(words) if word in ("who", "which")), len(words))
    if any(one == "and" and is_verb_form(other, "VBG") for one, other in pairwise(words[relative:])):
        return True  # "introducing a girl who plays the cups and singing"
    if words[:2] == ["going", "on"] and tokens[0].lower == "there":
        return True  # "there is a match going on"
    for one, two, three in zip(tokens, tokens[1:], tokens[2:], strict=False):
        plural = is_verb_form(two.lower, "VBZ") and "NOUN" in readings(two.text) and three.lower in ("for", "of")
        if one.lower == "and" and plural and inflect(verb_lemma(two.text), "VBG") in words:
            return True  # "workout and exercises for women"
    main = next((n for n, token in enumerate(tokens) if n and verb_lemma(token.text) == found.verb), 0)
    before = tokens[main - 1].lower if main > 1 else ""
    if tokens[main].lower.endswith("ed") and before in ("and", ",", "s"):
        return True  # "a woman with long hair and dressed all in white"
    if CLOSED.get(before) == "PRP":
        return True  # "cars he test drove"
    told = is_verb_form(before, "VBZ") and "VERB" in readings(before) and before not in CLOSED
    act = is_act(before) or verb_lemma(before) in word_lists("stories").told
    return told and act and not is_verb_form(tokens[main].lower, "VBG") and before not in _BEING  # "screams shut up"


def _opens_alone(tokens: Sequence[Token], start: int) -> bool:
    word = tokens[start].lower if start < len(tokens) else ""
    return word.endswith("ing") or opens_order(word)


def _has_verb_left(text: str) -> bool:
    """Return whether a verb was mistaken for a noun, as in "painting the wall and steps back"."""
    words = text.split()
    if words[1:2] == ["of"] and "NOUN" in readings(verb_lemma(words[0])):
        return True  # "viewing of two people", from "a view of two people"
    openers, lists = word_lists("orders").clause_openers | {"as", "how", "what"}, word_lists("stories")
    for number, (before, word, behind) in enumerate(zip(words, words[1:], [*words[2:], ""], strict=False)):
        owned = (
            before in ("person", "people") and set(readings(word)) == {"NOUN"} and word not in openers
        )  # "a womans clothes"
        if owned or (before, word) in _DOUBLED:
            return True
        if "VERB" not in readings(word) or word in CLOSED:
            continue
        finite, base = is_verb_form(word, "VBZ"), is_verb_form(word, "VB")
        placed = behind in word_lists("clipped").prepositions or behind == "to"
        placed = placed or (behind == "and" and is_verb_form((*words, "", "")[number + 3], "VBG"))
        acts = is_act(word) or verb_lemma(word) in lists.told
        joined = before in ("and", "then") and (finite or base)
        if joined and (_is_governed(behind) or (placed and acts and word not in lexicon_words("order_nouns"))):
            return True
        noun = (
            ("NOUN" in readings(before) or before == "top")
            and before not in CLOSED
            and before not in word_lists("clipped").determiners
        )
        doing = (
            is_verb_form(before, "VBG") and is_verb_form(word, "VBG") and word not in word_lists("clipped").ing_nouns
        )
        if doing and verb_lemma(before) not in lists.led:
            return True  # "dancing doing salsa"
        if finite and placed and acts and noun and not openers & set(words):
            return True
    return False


def _is_governed(word: str) -> bool:
    """Return whether a word rarely follows a plural noun, like "back" in "steps back" or "it" in "levels it"."""
    return CLOSED.get(word) in ("DT", "PRP", "PRP$") or word in ("up", "down", "off", "out", "away", "back", "over")


def _behind_openers(tokens: Sequence[Token]) -> int:
    openers = word_lists("orders").openers
    return next((n for n, token in enumerate(tokens) if token.lower not in openers and token.text != ","), len(tokens))


def _named(tokens: Sequence[Token], start: int) -> _Subject | None:
    """Return a capitalized name or pair of names, such as "John and Mary", if it is followed by a verb."""
    names: list[str] = []
    at = start
    while at < len(tokens):
        titled = tokens[at].text in _TITLES and at + 1 < len(tokens) and bool(_NAME.fullmatch(tokens[at + 1].text))
        if not titled and not _is_name(tokens[at]):
            break
        end = at + 1 + titled
        while end < len(tokens) and _NAME.fullmatch(tokens[end].text):
            end += 1  # "Will Smith"
        names.append(" ".join(token.text for token in tokens[at:end]))
        at = end
        if at + 1 < len(tokens) and tokens[at].lower == "and" and _is_name(tokens[at + 1]):
            at += 1
            continue
        break
    if not names or at >= len(tokens):
        return None
    word, single = tokens[at].lower, len(names) == 1
    agrees = is_verb_form(word, "VBZ") if single else is_verb_form(word, "VB")
    if not (agrees or word in _BEING) or (word in _BEING and _BEING[word] != single):
        return None
    return _Subject(" and ".join(names), start, at, "other", single, tuple(names))


def _is_name(token: Token) -> bool:
    if token.lower in word_lists("stories").given_names and token.text[:1].isupper():
        return True
    known = set(readings(token.text))
    ordinary = token.lower in CLOSED or token.lower in word_lists("stories").subject_determiners
    made = not known and _NO_NAME.fullmatch(token.text)  # "Unboxer" is in no dictionary; "peter" counts as a verb
    return bool(_NAME.fullmatch(token.text)) and known <= {"VERB"} and not ordinary and not made


def _known(tokens: Sequence[Token], start: int) -> _Subject | None:
    """Return a lower-case name if it is followed by a verb: "mickey mouse | talking", "jeremy | is describing"."""
    lists, names, at = word_lists("stories"), list[str](), start
    while at + 1 < len(tokens):
        word, behind = tokens[at].lower, tokens[at + 1].lower
        safe, surname = word in lists.first_names, _is_surname(tokens[at + 1])
        if tokens[at].text != word or not (safe or (word in lists.given_names and surname)):
            return None
        finite = is_verb_form(behind, "VBZ") or is_verb_form(behind, "VBG") or behind in _BEING
        long = surname or (not finite and "NOUN" in readings(behind) and behind not in CLOSED)
        if long and is_plural_noun(behind):
            return None  # "squidward scenes"
        at += 1 + long
        names.append(" ".join(token.text.capitalize() for token in tokens[at - 1 - long : at]))
        if at >= len(tokens) or tokens[at].lower != "and":
            break
        at += 1
    if not names or at >= len(tokens):
        return None
    word, single = tokens[at].lower, len(names) == 1
    agrees = is_verb_form(word, "VBZ") if single else is_act(word) and is_verb_form(word, "VB")
    agrees = (agrees and "VERB" in readings(word)) or is_verb_form(word, "VBG") or _BEING.get(word) == single
    return _Subject(" and ".join(names), start, at, "other", single, tuple(names)) if agrees else None


def _is_surname(token: Token) -> bool:
    """Return whether a word after a first name is missing from the dictionary, like "letterman" but unlike "for"."""
    closed = token.lower in CLOSED or token.lower in word_lists("clipped").prepositions
    return token.is_word and not closed and not readings(token.text)


def _small_names(tokens: Sequence[Token]) -> tuple[str, ...]:
    """Return names that are written in lower case, such as "david letterman"."""
    found = []
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        if token.lower in word_lists("stories").first_names:
            long = after is not None and _is_surname(after)
            found.append(f"{token.text} {after.text}".title() if long and after is not None else token.text.title())
    return tuple(found)


@cache
def _people() -> frozenset[str]:
    neutral = {word for word, other in read_lexicon("clipped")["neutral"].items() if word not in _PRONOUNS}
    lists = word_lists("stories")
    return frozenset((lists.roles | word_lists("clipped").people | neutral | {"persons", "humans"}) - _PRONOUNS)


def _somebody(tokens: Sequence[Token], start: int) -> _Subject | None:
    """Return a person whose verb follows a phrase of place or clothing: "a man in a red apron | tastes food"."""
    at, plural, grouped, members = start, False, False, 0
    while True:
        head = _head(tokens, at)
        if head is None:
            return None
        at, many, group = head
        plural, grouped, members = plural or many, grouped or group, members + 1
        if at + 1 >= len(tokens) or tokens[at].lower not in ("and", "&", ","):
            break
        at += 1
    plural = plural or members > 1
    inside, before = False, tokens[at - 1].lower
    for number in range(at, len(tokens)):
        word = tokens[number].lower
        after = tokens[number + 1].lower if number + 1 < len(tokens) else ""
        form = _form_here(tokens, number, plural, grouped)
        if form and not (inside and (before in _ATTACHED or CLOSED.get(before) in ("DT", "PRP$", "CC"))):
            return _Subject("", start, number, "person", form == "VBZ" or not plural)
        attached = word in _ATTACHED
        if number == at and not attached:
            return None
        inside = inside or attached
        thing = {"NOUN", "ADJ"} & set(readings(word)) or not readings(word) or is_verb_form(word, "VBN")
        closed = CLOSED.get(word, "")
        if word in _people() or after == "'s" or word in word_lists("stories").animals:
            return None
        if closed not in ("DT", "PRP$", "CC") and not attached and not (thing and not closed):
            return None
        before = word
    return None


def _form_here(tokens: Sequence[Token], number: int, plural: bool, grouped: bool) -> str:
    word = tokens[number].lower
    after = tokens[number + 1].lower if number + 1 < len(tokens) else ""
    if word in _BEING:
        return "being" if grouped or _BEING[word] != plural else ""
    if word.endswith("ing"):
        return "VBG" if is_verb_form(word, "VBG") and word not in word_lists("clipped").ing_nouns else ""
    known = readings(word)
    places = word_lists("clipped").prepositions | {"to", "and", "how", "what", "about", "while"}
    governs = _is_governed(after) or after in places or ("VERB" in known and after and not after.endswith("ing"))
    certain = "VERB" in known and (not {"NOUN", "ADJ"} & set(known) or (is_act(word) and (governs or not after)))
    certain = certain or ("VERB" in known and (_is_governed(after) or after in places))
    if word in word_lists("clipped").prepositions or word in CLOSED or not certain:
        return ""
    if is_verb_form(word, "VBZ") and (grouped or not plural):
        return "VBZ"
    return "VB" if plural and is_verb_form(word, "VB") else ""


def _head(tokens: Sequence[Token], at: int) -> tuple[int, bool, bool] | None:
    """Return the token after a noun for people, whether it is plural, and whether it is a group ("a group of men")."""
    lists, people, grouped = word_lists("stories"), _people(), False
    determiners = lists.subject_determiners | {"various", "different", "few"}
    determined = False
    while at < len(tokens) and (tokens[at].lower in determiners or tokens[at].text.isdigit()):
        at, determined = at + 1, True
    if at + 2 < len(tokens) and tokens[at].lower in lists.groups and tokens[at + 1].lower == "of":
        at, grouped = at + 2, True
        at += tokens[at].lower in determiners
    for number in range(at, min(at + 5, len(tokens))):
        word = tokens[number].lower
        after = tokens[number + 1].lower if number + 1 < len(tokens) else ""
        if word in people and after not in people:
            plural = grouped or is_plural_noun(word) or word in ("people", "men", "women", "children")
            opens = number == at and not determined and not plural and opens_order(word)
            return None if after in ("'s", "'") or opens else (number + 1, plural, grouped)
        known = readings(word)
        describes = not known or {"NOUN", "ADJ"} & set(known) or is_verb_form(word, "VBN")
        finite = is_verb_form(word, "VBZ") and word != "sports"
        if not describes or finite or word in CLOSED or word.endswith("ing"):
            return None
        if word in word_lists("clipped").prepositions or word in lists.animals:
            return None
    return None


def _common(tokens: Sequence[Token], start: int) -> _Subject | None:
    """Return a common noun phrase, such as "a black dog" or "two dogs", if the noun can perform an action."""
    lists = word_lists("stories")
    at = start
    determiner = tokens[at].lower if at < len(tokens) and tokens[at].lower in lists.subject_determiners else ""
    at += bool(determiner)
    begin = at
    while at < len(tokens) and at < begin + 3:
        word = tokens[at].lower
        behind = tokens[at + 1].lower if at + 1 < len(tokens) else ""
        heads = behind in lists.animals | lists.vehicles | lists.roles | lists.animate | word_lists("clipped").people
        heads = heads and not (word in _people() and is_verb_form(behind, "VBZ"))  # "a man cooks"
        known = word in lists.animals | lists.vehicles | lists.roles
        if known and not (heads and behind not in ("man", "woman")):
            break
        describes = "ADJ" in readings(word) or (heads and ("NOUN" in readings(word) or is_verb_form(word, "VBN")))
        somebody = not heads and (word in lists.animate or word in word_lists("clipped").people)
        somebody = somebody or word.endswith("ing")
        if not describes or somebody or word in CLOSED:
            return None
        at += 1
    if at >= len(tokens) or tokens[at].lower not in lists.animals | lists.vehicles | lists.roles:
        return None
    word = tokens[at].lower
    after = tokens[at + 1].lower if at + 1 < len(tokens) else ""
    if after in ("'s", "'", "and", "of", ","):
        return None
    plural = is_plural_noun(word) or word in ("children", "mice", "people")
    article = "the" if determiner in ("", "a", "an") else determiner
    words = " ".join([article, *(token.lower for token in tokens[begin : at + 1])])
    if not determiner and at == start and not plural and opens_order(word):
        return None  # "cook the onions"
    addressed = any(_is_name(token) for token in tokens[at + 1 :])  # "the king was calling Tom"
    kind = "person" if word in lists.roles and not addressed else "other"
    return _Subject(words, start, at + 1, kind, not plural)


def _stated(text: str, tokens: Sequence[Token], subject: _Subject) -> Event | str:
    at, adverbs = subject.stop, ""
    while at < len(tokens) and tokens[at].lower.endswith("ly") and "ADV" in readings(tokens[at].text):
        adverbs += f" {tokens[at].lower}"
        at += 1
    if at >= len(tokens):
        return "no_verb"
    word, progressive = tokens[at].lower, False
    auxiliary = "did"
    if word in _BEING:
        at += 1
        while at < len(tokens) and tokens[at].lower.endswith("ly") and "ADV" in readings(tokens[at].text):
            adverbs += f" {tokens[at].lower}"
            at += 1
        progressive = True
    if at < len(tokens) and is_verb_form(tokens[at].lower, "VBG"):
        progressive = True
    if progressive:
        auxiliary = "was" if subject.singular else "were"
        if at >= len(tokens) or not is_verb_form(tokens[at].lower, "VBG"):
            return "state"
        verb = tokens[at].lower
        behind = [token.lower for token in tokens[at + 1 : at + 3]]
        past = behind and verb != "being" and (behind[0] == "wanted" or _is_past(behind[0]))
        if past or set(behind) & set(_BEING):
            return "unclear"  # "the cat drawing was running", "the cat drawing wanted to play"
    else:
        form = next((f for f in ("VBZ" if subject.singular else "VB", "VBD") if is_verb_form(word, f)), "")
        if not form or "VERB" not in readings(word):
            return "no_verb"
        verb = _PASTS.get(word, word) if form == "VB" else verb_lemma(word)
    rest = _rest(text, tokens, at + 1, subject, progressive)
    if rest is None:
        return "unclear"
    names = tuple(token.text for token in tokens[at:] if _NAME.fullmatch(token.text) and token.lower not in CLOSED)
    names += _small_names(tokens[at:])
    question = f"Why {auxiliary} {subject.words}{adverbs} {verb} {rest}".rstrip(" .!") + "?"
    return event(question, Cast((*subject.names, *names)), verb_at=len(tokenize(subject.words + adverbs)))


def _is_past(word: str) -> bool:
    return is_verb_form(word, "VBD") and not is_verb_form(word, "VB") and "NOUN" not in readings(word)


def _rest(text: str, tokens: Sequence[Token], at: int, subject: _Subject, progressive: bool) -> str | None:
    """Return the words after the verb, with coordinated verbs in their base form, or None if uncertain.

    The words end before a conjunct in another form, as in "was being chased by Tom and wanted ...".
    """
    written, place = "", tokens[at].start if at < len(tokens) else len(text)
    for number in range(at, len(tokens)):
        token, before = tokens[number], tokens[number - 1].lower
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        if is_verb_form(token.lower, "VB") and before == "then" and "VERB" in readings(token.text):
            return None  # "jumps into the water then play around"
        if token.lower in AUXILIARIES and before in ("and", "then", ",", "but") and token.lower != "'s":
            return None  # "bark and are chased away"
        clause = [other.lower for other in tokens[max(number - 4, at) : number]]
        relative = bool({"who", "which", "that"} & set(clause))
        described = "ADJ" in readings(token.text) and after is not None and "NOUN" in readings(after.lower)
        described = described and after is not None and not _NAME.fullmatch(after.text)  # "black and striped cats"
        past = _is_past(token.lower) or (before == "and" and token.lower in _PASTS)
        if "and" in clause and past and not described and (before == "and" or not relative):
            joint = number - clause[::-1].index("and") - 1
            held = tokens[joint - 1]
            whole = not relative and joint > at and ("NOUN" in readings(held.text) or not readings(held.text))
            return written + text[place : held.end] if whole and held.end > place else None
        if number == at and is_verb_form(token.lower, "VBG") and progressive:
            return None  # "is smiling talking and driving"
        finite = is_verb_form(token.lower, "VBZ") and "VERB" in readings(token.text)
        if not finite or token.lower == "'s":
            continue
        governs = after is not None and (
            _is_governed(after.lower) or after.lower in {"to"} | word_lists("clipped").prepositions
        )
        joined = before in ("and", "then", ",") or before.endswith("ly")
        thing = "NOUN" in readings(token.text)
        if before == "then" and thing and tokens[number - 2].lower not in ("and", ","):
            return None  # "jumps into water then plays around"
        if joined and not progressive and (not thing or governs):
            written += text[place : token.start] + inflect(verb_lemma(token.text), "VB")
            place = token.end
        elif joined or not thing or before in word_lists("stories").animate | word_lists("clipped").people:
            return None  # "picks up sticks and leaves"; "jumps as it runs"
    return written + text[place:]

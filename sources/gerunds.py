"""Caption sentences as gender-neutral gerund phrases: "She puts on her shoes." -> "putting on their shoes".

A shallow reader, not a parser: it strips the subject, follows auxiliaries and aspect verbs to the main verb, puts that
verb and the verbs joined to it into the -ing form and neutralises the words for people. Word tables are in
`templates/gerunds.yaml`; lemmas and inflections come from `lemminflect`, which is loaded at the first sentence.

What cannot be turned with confidence is refused with a code of `REASONS`, never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from ..extras import import_extra
from ..templates import read_table

REASONS = {
    "empty": "no words",
    "several_sentences": "more than one sentence, or an endless one",
    "other_subject": "the subject is not a person, or none was recognised",
    "no_verb": "nothing that is certainly a verb follows the subject",
    "state": "a state or a passive: nobody does anything",
    "negated": "the action is denied, intended or only just missed",
    "stopped": "the sentence says that the action ends",
    "run_on": "a second clause, or a second actor, without a connective",
    "cut_off": "the sentence breaks off",
}
_PAD = [""] * 4  # behind the last word, so that looking ahead needs no bounds
_TOKEN = re.compile(r"#?\w+(?:['/-]\w+)*|'s\b|[,&]")
_PART = re.compile(r"\w+")
_LONGEST = 80  # words; a caption is one sentence
_END = re.compile(r"[.!?;:…\n]+|\s/|/\s")
_PLURAL = {"is": "are", "was": "were", "am": "are", "has": "have", "does": "do", "'s": "are"}


@dataclass(frozen=True)
class Gerund:
    """A sentence as a gerund phrase, with what is needed to compare it to another.

    Attributes:
        phrase: Lower case, without a final stop: "putting a book on a shelf".
        verb: Lemma of the main verb, as written: "put".
        words: Lemmas of all verbs and nouns, synonyms folded ("couch" counts as "sofa", "awaken" as "wake").
        objects: The nouns among `words`.
        anaphoric: Whether the phrase leans on a sentence before it: an "it" or "them" without a noun to stand for.
    """

    phrase: str
    verb: str
    words: frozenset[str]
    objects: frozenset[str]
    anaphoric: bool


@dataclass(frozen=True)
class _Word:
    """A word of a phrase, with its lemma where it is used as a verb."""

    text: str
    lemma: str = ""


class _Refused(Exception):
    """The sentence cannot be turned; the only argument is a code of `REASONS`."""


class _Rules:
    """The word lists of `templates/gerunds.yaml` by their names there: `_rules().people`."""

    def __init__(self, table: dict[str, object]):
        """Split every list that is written as running words."""
        self.__dict__.update(
            {name: frozenset(words.split()) for name, words in table.items() if isinstance(words, str)}
        )

    def __getattr__(self, name: str) -> frozenset[str]:
        raise AttributeError(f"templates/gerunds.yaml has no list {name!r}")


@cache
def _table() -> dict[str, dict[str, str]]:
    return read_table("gerunds")


@cache
def _rules() -> _Rules:
    return _Rules(read_table("gerunds"))


@cache
def fold_noun(noun: str) -> str:
    """Fold a noun as the nouns of phrases are folded: its lemma, or the word that stands for its synonyms."""
    folds = _folds("folds")
    if noun in folds:
        return folds[noun]
    lemma = _readings(noun).get("NOUN", (noun,))[0]
    return folds.get(lemma, lemma)


def _folds(table: str) -> dict[str, str]:
    return {word: name for name, words in _table()[table].items() for word in words.split()}


@cache
def _openers() -> tuple[tuple[str, ...], ...]:
    openers = (tuple(opener.strip().split("_")) for opener in read_table("gerunds")["openers"].split("|"))
    return tuple(sorted(openers, key=len, reverse=True))


@cache
def _repairs() -> tuple[re.Pattern[str], dict[str, str]]:
    repairs = _table()["repairs"]
    ordered = "|".join(re.escape(wrong) for wrong in sorted(repairs, key=len, reverse=True))
    return re.compile(rf"(?<![\w'-])(?:{ordered})(?![\w'-])"), repairs


# ---------------------------------------------------------------------------------------------------------- words


@lru_cache(maxsize=1 << 14)
def _readings(word: str) -> dict[str, tuple[str, ...]]:
    """Dictionary lemmas of a word by part of speech: {"NOUN": ("shelf",), "VERB": ("shelve",)}."""
    lemminflect = import_extra("lemminflect", what="reading sentences as actions")
    readings: dict[str, tuple[str, ...]] = lemminflect.getAllLemmas(word)
    return readings


@lru_cache(maxsize=1 << 14)
def _inflected(lemma: str, tag: str) -> str:
    lemminflect = import_extra("lemminflect", what="reading sentences as actions")
    forms: tuple[str, ...] = lemminflect.getInflection(lemma, tag)
    return forms[0] if forms else lemma


@lru_cache(maxsize=1 << 14)
def _verb(word: str) -> tuple[str, str] | None:
    """Lemma and form of a word that can be a verb; the form is "base", "s", "past" or "ing"."""
    rules = _rules()
    lemmas = _readings(word).get("VERB", ())
    if not lemmas or word in rules.ing_nouns or word in rules.be | rules.modal:
        return None
    if word in lemmas:
        return word, "base"
    lemma = lemmas[0]
    if word.endswith("ing"):
        return lemma, "ing"
    return lemma, "s" if word.endswith("s") and word != "was" else "past"


def _form(word: str) -> str:
    return (_verb(word) or ("", ""))[1]


@lru_cache(maxsize=1 << 14)
def _is_act(word: str) -> bool:
    """Whether a word where a verb is expected can be trusted to be one."""
    verb = _verb(word)
    if verb is None:
        return False
    lemma, form = verb
    return form == "ing" or lemma in _rules().verbs or not {"NOUN", "ADJ"} & set(_readings(word))


@lru_cache(maxsize=1 << 14)
def _is_noun(word: str) -> bool:
    rules = _rules()
    closed = rules.determiners | rules.prepositions | rules.conjunctions | rules.pronouns | rules.subordinators
    if word in closed or word in rules.adverbs or not word[:1].isalpha():
        return False
    return "NOUN" in _readings(word) or word in _folds("folds") or not _readings(word)


@lru_cache(maxsize=1 << 14)
def _is_adverb(word: str) -> bool:
    rules = _rules()
    if word in rules.adverbs:
        return True
    closed = word in rules.prepositions or word in rules.subordinators or word in rules.conjunctions or word == "to"
    return not closed and not _verb(word) and (set(_readings(word)) == {"ADV"} or word.endswith("ly"))


# -------------------------------------------------------------------------------------------------------- reading


def _tokens(sentence: str) -> list[str]:
    """Lower-case words and commas of the only sentence, typos repaired, people neutralised, then padding."""
    pattern, repairs = _repairs()
    text = " ".join(sentence.lower().replace("’", "'").replace("`", "'").split())
    text = pattern.sub(lambda match: repairs[match[0]], text)
    parts = [found for part in _END.split(text) if (found := _TOKEN.findall(part))]
    if not parts:
        raise _Refused("empty")
    if len(parts) > 1 or len(parts[0]) > _LONGEST:
        raise _Refused("several_sentences")
    words = [word for before, word in pairwise(["", *parts[0]]) if word != before or _is_act(word)]  # "at at a table"
    return [*_neutralised(["and" if word == "&" else word for word in words] + _PAD), *_PAD]


def _neutralised(words: list[str]) -> Iterator[str]:
    """The words with "they", "their", "person" and so on in place of every gendered word, also inside "man's"."""
    neutral, people = _table()["neutral"], _rules().people
    for word, after in pairwise(words):
        if word == "her" and not (_is_noun(after) or after in ("own", "other")):
            yield "them"
        elif word in ("male", "female") and (after in neutral or after in people):
            continue
        elif word:
            yield from (neutral.get(word) or _PART.sub(lambda part: neutral.get(part[0], part[0]), word)).split(" ")


def _predicate_at(words: list[str]) -> tuple[int, bool]:
    """Skip openers, repeated subjects and labels: where the predicate begins, and whether a clause stands in front."""
    rules, at, before = _rules(), 0, -1
    if words[0] in ("in", "on", "at", "with"):
        at = next((place for place in range(2, min(8, len(words) - 4)) if _after_person(words, place) > place), 0)
    while at > before:
        before = at
        at = _after_person(words, _after_opener(words, at))
        at += words[at] == ","
    fronted = any(word in rules.subordinators for word in words[:at])
    if not words[at]:
        raise _Refused("cut_off" if at else "empty")
    if not any(word in rules.people or word in rules.subject_pronouns for word in words[:at]) and not (
        _is_act(words[at]) and (words[at] not in rules.noun_first or words[at + 1] in ("at", "as"))
    ):
        raise _Refused("other_subject")
    return _after_modifier(words, at), fronted or words[at] == "who"


def _after_opener(words: list[str], at: int) -> int:
    for opener in _openers():
        if tuple(words[at : at + len(opener)]) == opener:
            return at + len(opener)
    return at + (bool(words[at]) and words[at].endswith("ly") and _is_adverb(words[at]))


def _after_person(words: list[str], at: int) -> int:
    """The place after a noun phrase for a person, or `at` where there is none."""
    rules, end = _rules(), at
    while words[end] in rules.subject_determiners:
        end += 1
    noun = end
    while words[noun] in rules.subject_adjectives:
        noun += 1
    if words[noun] in rules.people:
        label, after = words[noun + 1], words[noun + 2]
        predicate = _is_predicate(after) and (label != "a" or _form(after) != "base")
        labelled = label in rules.labels and (after == "of" or predicate)
        return noun + 1 + labelled
    alone = words[end - 1] in rules.subject_pronouns or (words[at:end] == ["the"] and _is_they(words, at))
    return end if end > at and alone and _is_predicate(words[end]) else at


def _is_predicate(word: str) -> bool:
    return word in _rules().be or word in _rules().have or _is_act(word)


def _is_they(words: list[str], at: int) -> bool:
    """Whether "the" stands for "they": "person the open the door"."""
    rules, verb, after = _rules(), words[at + 1], words[at + 2]
    if not at or verb in ("are", "were"):
        return at > 0
    governs = after in rules.determiners | rules.prepositions | rules.pronouns
    governs = governs or (_is_act(after) and not verb.endswith("ing"))
    named = _form(after) != "s" or after in rules.noun_first
    takes = (_verb(verb) or ("",))[0] in rules.strong and verb not in ("open", "close") and named
    return (governs or (takes and _is_noun(after))) and verb not in rules.noun_first and after not in rules.be


def _after_modifier(words: list[str], at: int) -> int:
    """Skip "with a bag" or "who" between subject and verb."""
    rules = _rules()
    following = _verb(words[at + 1])
    if words[at] in ("who", "that") or (words[at] in ("after", "upon") and following and following[1] == "ing"):
        return at + 1
    if words[at] not in rules.prepositions or words[at] in ("after", "before", "upon", "like", "of"):
        return at
    for place in range(at + 2, len(words) - len(_PAD)):
        word, before = words[place], words[place - 1]
        if word in rules.subordinators:
            break
        if word in rules.subjects:
            return place + 1
        verb = _verb(word)
        finite = verb and (verb[1] == "ing" or (word not in rules.noun_first and verb[1] == "s"))
        if word in rules.be or (finite and _is_act(word) and before not in rules.determiners):
            return place
    raise _Refused("no_verb")


def _verb_group(words: list[str], at: int) -> tuple[str, int, bool]:
    """Follow auxiliaries and aspect verbs to the verb of action.

    Returns:
        Its lemma, the place after it, and whether an auxiliary or aspect verb came before.
    """
    rules, helper = _rules(), ""
    while word := words[at]:
        after, verb = words[at + 1], _verb(word)
        following = _verb(after)
        if word in rules.negation or (word in rules.do and after in rules.negation):
            raise _Refused("negated")
        if word in rules.be:
            helper = "be"
        elif word in rules.modal or (word == "to" and helper) or (word == "able" and after == "to"):
            helper = "to"
        elif word in rules.have and (
            after in ("to", "been") or (following and following[1] == "past" and not _is_noun(after))
        ):
            helper = "have"
        elif word in rules.do and following and following[1] == "base" and after not in rules.noun_first:
            helper = "do"
        elif helper == "be" and (word in rules.blocked_after_be or (word == "going" and _is_infinitive(words, at + 1))):
            raise _Refused("negated")
        elif (
            (_is_adverb(word) or word in ("both", "all", "each"))
            and not (verb and verb[1] == "ing")
            and ((later := words[_after_adverbs(words, at + 1)]) == "to" or _is_predicate(later))
        ):
            pass
        elif not verb or not _is_act(word):
            if helper == "be":
                return _after_state(words, at, False)
            raise _Refused("other_subject" if word in rules.determiners or _is_noun(word) else "no_verb")
        else:
            lemma, form = verb
            if form == "past" and (helper == "be" or word in ("seen", "shown")):
                if lemma not in rules.perceived or not _goes_on(words, at + 1):
                    return _after_state(words, at + 1, False)
            elif (lemma == "go" or lemma in rules.ending) and _is_infinitive(words, at + 1):
                pass
            elif lemma in rules.ending:
                raise _Refused("stopped")
            elif (lemma, _form(after)) in (("come", "ing"), ("go", "base")) and after not in rules.noun_first:
                pass
            elif lemma not in rules.aspect or not _goes_on(words, at + 1):
                if word in rules.state_participles and after not in rules.determiners:
                    return _after_state(words, at + 1, True)
                return lemma, at + 1, bool(helper)
            helper = "to"
        at += 1
    raise _Refused("cut_off")


def _after_adverbs(words: list[str], at: int) -> int:
    while words[at] and _is_adverb(words[at]) and not _is_act(words[at]):
        at += 1
    return at


def _is_infinitive(words: list[str], at: int) -> bool:
    """Whether "to" and a verb stand here: "to open", not "to work" or "to the door"."""
    rules, verb = _rules(), words[at + 1]
    acts = verb not in rules.noun_first or verb in rules.infinitives or words[at + 2] in rules.determiners
    return words[at] == "to" and (verb == "be" or (_form(verb) == "base" and _is_act(verb) and acts))


def _goes_on(words: list[str], at: int) -> bool:
    """Whether the complement of an aspect verb stands here: "to eat", "eating", or a clipped "eat"."""
    rules, at = _rules(), _after_adverbs(words, at)
    verb = _verb(words[at])
    if words[at] == "to":
        later = _verb(words[_after_adverbs(words, at + 1)])
        return words[at + 1] == "be" or bool(later and later[1] in ("base", "ing"))
    if not verb:
        return words[at] == "being"
    if verb[1] == "ing":
        return f"{words[at]}_{words[at + 1]}" not in rules.ing_attributes
    return verb[1] == "base" and _is_act(words[at]) and words[at] not in rules.noun_first


def _after_state(words: list[str], at: int, finite: bool) -> tuple[str, int, bool]:
    """Skip "in their closet" in "is in their closet tidying up", and where `finite`, "covered" in "covered awakens"."""
    rules = _rules()
    while words[at] and words[at] not in rules.subordinators | rules.be | rules.conjunctions:
        verb = _verb(words[at])
        ing = verb and verb[1] == "ing" and not _is_attribute(words, at)
        if ing or (finite and _is_finite(words, at)):
            lemma, after, _ = _verb_group(words, at)
            return lemma, after, True
        at += 1
    raise _Refused("state")


# --------------------------------------------------------------------------------------------------------- phrase


def _phrase(words: list[str], at: int, fronted: bool) -> list[_Word]:
    """The gerund of the verb at `at` and the rest of the sentence, verbs joined to it turned as well."""
    rules = _rules()
    lemma, at, helped = _verb_group(words, at)
    form = _form(words[at - 1])
    modifier = fronted or (form == "ing" and not helped)  # what a main clause may still follow
    phrase = [_gerund(lemma, words, at)]
    licensed = plural = False  # whether a subordinate clause awaits its verb, and for a plural subject
    pending = ""  # what opened it
    while word := words[at]:
        verb, after = _verb(word), words[at + 1]
        auxiliary = word in rules.finite and (licensed or words[at - 1] not in rules.determiners)
        if word in rules.conjunctions or word == ",":
            place = _joined(words, at, form, any(part.text in rules.people or part.text == "them" for part in phrase))
            if place:
                lemma, end, _ = _verb_group(words, place)
                phrase += [*_connective(words[at:place]), _gerund(lemma, words, end)]
                at = end
                continue
            phrase.append(_Word(word))
        elif word in rules.subordinators and _opens_clause(words, at):
            following = _verb(after)
            finite = _form(words[_after_adverbs(words, at + 1)]) == "s"
            if (word == "who" and _is_noun(words[at - 1]) and words[at - 1] not in rules.people) or (
                finite and word in ("as", "while", "when", "because", "until")
            ):
                raise _Refused("run_on")
            licensed, plural, pending = not (following and following[1] == "ing"), False, word
            phrase.append(_Word(word))
        elif word in rules.subjects or (licensed and word == "the" and _is_clipped_they(words, at)):
            if not after:
                break
            if not licensed and not _is_relative(words, at):
                if modifier and _is_predicate(after):
                    return _phrase(words, at + 1, False)
                raise _Refused("run_on")
            licensed = plural = True
            phrase.append(_Word("they"))
        elif licensed and (auxiliary or (verb and _is_clause_verb(words, at, plural))):
            licensed = False
            if plural:
                word = _PLURAL.get(word, verb[0] if verb and verb[1] == "s" else word)
            phrase.append(_Word(word, verb[0] if verb and not auxiliary else ""))
            if auxiliary and (following := _verb(after)) and following[1] in ("base", "past"):
                phrase.append(_Word(after, following[0]))
                at += 1
        elif word == "to" and (following := _verb(after)) and _is_infinitive(words, at):
            phrase += [_Word("to"), _Word(after, following[0])]
            at += 1
        elif auxiliary or (_is_finite(words, at) and not (phrase[-1].lemma and word in rules.noun_first)):
            chained = phrase[-1].lemma in ("go", "come") and phrase[-1].text == phrase[-1].lemma
            if verb and verb[1] == "base" and (chained or any(part.lemma in rules.perception for part in phrase)):
                phrase.append(_Word(word, verb[0]))
            elif phrase[-1] == phrase[0] and lemma in rules.never_joined:
                raise _Refused("no_verb")
            elif words[at - 1] in rules.determiners or _is_new_subject(words, at) or (auxiliary and not modifier):
                raise _Refused("run_on")
            elif modifier:
                return _phrase(words, at, False)
            else:
                lemma, end, _ = _verb_group(words, at)
                phrase += [*_connective(["and"]), _gerund(lemma, words, end)]
                at = end
                continue
        elif verb and verb[1] == "ing" and not _is_attribute(words, at):
            phrase.append(_gerund(verb[0], words, at + 1) if verb[0] == "lay" else _Word(word, verb[0]))
        else:
            phrase.append(_Word(word))
        at += 1
    if pending in rules.clause_openers and licensed:
        raise _Refused("cut_off")
    return phrase


def _opens_clause(words: list[str], at: int) -> bool:
    """Whether a subordinator is one here, not the "that" of "throwing that away" or the "because" of "because of"."""
    rules, after = _rules(), words[at + 1]
    if words[at] in ("that", "this"):
        return bool(after) and not (_is_noun(after) or _is_adverb(after) or after in rules.prepositions)
    return after != "of"


def _is_attribute(words: list[str], at: int) -> bool:
    """Whether an -ing word belongs to the noun behind it: "a drinking glass", "living room"."""
    rules, pair = _rules(), f"{words[at]}_{words[at + 1]}"
    determined = words[at - 1] in rules.determiners and words[at - 1] not in ("both", "all", "each")
    return pair in rules.ing_attributes or (words[at].endswith("ing") and determined)


def _gerund(lemma: str, words: list[str], after: int) -> _Word:
    """The -ing form; "laying on a bed" is what captions call "lying on a bed"."""
    rules, at = _rules(), after
    if lemma == "lay":
        at += words[at] in ("down", "back")
        if not words[at] or words[at] in rules.prepositions | rules.conjunctions | rules.subordinators | {","}:
            lemma = "lie"
    return _Word(_inflected(lemma, "VBG"), lemma)


def _connective(words: list[str]) -> list[_Word]:
    """What joins two verbs, without the subject, adverbs and slips in between: ",", "and", ", then"."""
    joints = [word for word in words if word in _rules().conjunctions or word == ","]
    return [_Word("and")] if joints in (["then"], ["than"]) else [_Word(word) for word in joints]


def _joined(words: list[str], at: int, form: str, others: bool) -> int:
    """Where the verb is that a connective joins to the main verb; 0 where it joins something else."""
    rules = _rules()
    while words[at] in rules.conjunctions or words[at] == "," or (words[at] and _is_adverb(words[at])):
        at += 1
    person = _after_person(words, at)
    if person > at and _is_predicate(words[person]) and not words[person].endswith("ing"):
        same = words[at] in rules.subjects or words[at] == "person" or words[at : at + 2] == ["the", "person"]
        if not same or others:
            raise _Refused("run_on")
        at = person
    if words[at] in ("being", ""):
        return 0
    verb, after = _verb(words[at]), words[at + 1]
    if not verb or not _is_act(words[at]) or verb[1] == "ing":
        if words[at] in rules.finite:
            return at
        return at if verb and verb[1] == "ing" and verb[0] in rules.aspect and _goes_on(words, at + 1) else 0
    if verb[1] == "base" and form != "base":
        return 0
    if verb[1] == "past" or not ("NOUN" in _readings(words[at]) or words[at] in rules.noun_first):
        return at
    if after in rules.determiners or after in rules.pronouns:
        return at
    if words[at] in rules.noun_first and verb[0] not in rules.infinitives:
        return 0
    if verb[0] == "drink" and words[at - 1] == "and" and not (_is_noun(after) or words[at + 2] in rules.anaphors):
        raise _Refused("run_on")  # "takes a cup and drinks": a verb or a noun
    acts = verb[1] == "s" and (not after or after in rules.prepositions or _is_noun(after) or _is_adverb(after))
    return at if verb[0] in rules.strong or acts or after in ("at", "to") else 0


def _is_relative(words: list[str], at: int) -> bool:
    """Whether the "they" here opens a clause about the noun before: "the sandwich they are holding"."""
    rules, before, verb = _rules(), words[at - 1], _verb(words[at + 1])
    if not (_is_noun(before) or before in rules.pronouns):
        return False
    if words[at + 1] in rules.finite:
        end = at + 3
        return not words[end] or words[end] in rules.prepositions
    return bool(verb and verb[1] == "past" and (not words[at + 2] or words[at + 2] in rules.prepositions))


def _is_clipped_they(words: list[str], at: int) -> bool:
    """Whether "the" is a typo for "they" in "as the leave": a verb follows that is not the noun of a phrase."""
    verb, after = _verb(words[at + 1]), words[at + 2]
    base = verb and verb[1] == "base" and _is_act(words[at + 1]) and words[at + 1] not in _rules().noun_first
    return bool(base and after and not _is_act(after) and (words[at + 1] != "open" or not _is_noun(after)))


def _is_clause_verb(words: list[str], at: int, plural: bool) -> bool:
    verb, before = _verb(words[at]), words[at - 1]
    if not verb or verb[1] == "ing" or before in _rules().determiners:
        return False
    return verb[1] != "base" or plural or before in ("people", "who")


def _is_finite(words: list[str], at: int) -> bool:
    """Whether a verb form inside the phrase is the verb of one more clause, not a noun or participle."""
    rules, word, before, after = _rules(), words[at], words[at - 1], words[at + 1]
    verb = _verb(word)
    if not verb or verb[1] == "ing" or before == "to" or not _is_act(word) or (at > 1 and _is_attribute(words, at - 1)):
        return False
    lemma, form = verb
    if before in rules.quantities:
        return False
    if before in rules.determiners:
        return form == "s" and lemma in rules.certain
    governs = after in rules.determiners or after in rules.pronouns
    named = _is_noun(before)  # a noun before it
    object_ = _is_noun(after) and not _is_act(after)
    strong = lemma in rules.strong and word not in rules.noun_first
    if before in ("of", "from", "into", "onto", "with", "at") and "NOUN" in _readings(word):
        return False
    if lemma in rules.intransitive and named and not after:
        return True
    if form == "s":
        bare = "NOUN" not in _readings(word) and word not in rules.noun_first
        if strong or bare or before in ("laughing", "sneezing", "smiling", "just"):
            return True
        if lemma in rules.infinitives and (named or (before in rules.prepositions and before in rules.adverbs)):
            object_ = _is_noun(after) and words[at - 2] in rules.determiners
            return governs or after in rules.prepositions or object_
        return (named or not _verb(before)) and (
            governs or (after in ("at", "to", "from", "through", "on") and word not in rules.noun_first)
        )
    if form == "base":
        if set(_readings(word)) == {"VERB"} and len(_readings(word)["VERB"]) == 1 and word not in rules.noun_first:
            return True
        if word in ("open", "close"):
            placed = words[at - 2] in rules.determiners or words[at - 2] in rules.prepositions
            named = named and (placed or (_is_noun(words[at - 2]) and words[at - 2] not in rules.people))
            return (named and (governs or object_)) or (before in rules.adverbs and governs)
        particle = after in ("off", "out", "up", "down", "on", "in", "from", "to", "into", "through", "onto")
        return strong and word != "set" and (governs or particle or (named and object_))
    return word in rules.certain_past or (governs and lemma in rules.strong and named)


def _is_new_subject(words: list[str], at: int) -> bool:
    """Whether the noun phrase before a verb is its own subject: "opens a closet | a light comes on"."""
    rules, place = _rules(), at - 1
    while place > 0 and words[place] not in rules.determiners and (_is_noun(words[place]) or _is_adverb(words[place])):
        place -= 1
    while place > 1 and words[place] in rules.determiners and words[place - 1] in rules.determiners:
        place -= 1
    before = words[place - 1] if place else ""
    if words[place] in rules.determiners and before:
        complete = (_is_noun(before) and not before.endswith("ing")) or before in rules.pronouns | rules.conjunctions
        return complete or (_is_adverb(before) and before not in rules.prepositions)
    return words[at - 1] in rules.people


def _finished(phrase: list[_Word]) -> Gerund:
    """Check, polish and index the words of a phrase."""
    rules = _rules()
    while phrase[-1].text in rules.conjunctions or phrase[-1].text == ",":
        phrase = phrase[:-1]
    texts = [word.text for word in phrase] + _PAD
    main = phrase[0].lemma
    if not texts[0].endswith("ing"):
        raise _Refused("no_verb")
    event = rules.events & {f"{main}_{text}" for text in texts[1:5]}
    if (main, texts[1]) == ("look", "like") or (main in rules.stative and not event):
        raise _Refused("state")
    if main in rules.intransitive and texts[1] in rules.determiners and not rules.quantities & set(texts[2:4]):
        raise _Refused("run_on")
    phrase = list(_without_labels(phrase))
    for noun, article, after in zip(phrase, phrase[1:], [*phrase[2:], _Word("")], strict=False):
        if (
            article.text in rules.articles
            and after.text not in rules.quantities
            and not noun.lemma
            and _is_noun(noun.text)
        ):
            raise _Refused("run_on")
    phrase = list(_with_articles(phrase))
    last = phrase[-1].text
    if last in rules.dangling or (last in rules.stranded and not rules.stranders & {word.text for word in phrase}):
        raise _Refused("cut_off")
    texts = [word.text for word in phrase]
    nouns = _nouns(phrase)
    objects = frozenset(noun for _, noun in nouns)
    verbs = {_folds("verb_folds").get(word.lemma, word.lemma) for word in phrase if word.lemma}
    leaning = texts[1 : nouns[0][0]] if nouns else texts[1:]
    anaphoric = any(text in rules.anaphors for text in leaning)
    return Gerund(" ".join(texts).replace(" ,", ","), main, objects | verbs, objects, anaphoric)


def _without_labels(phrase: list[_Word]) -> Iterator[_Word]:
    """Call "person #2", "the second person" and the like "another person": nobody asked knows the rest."""
    rules, texts, at = _rules(), [word.text for word in phrase] + _PAD, 0
    while at < len(phrase):
        if texts[at] == "the" and texts[at + 1] in rules.ordinals and texts[at + 2] == "person":
            yield _Word("another")
            at += 2
        elif texts[at] == "person" and texts[at + 1] in rules.labels:
            yield from (_Word("another"), phrase[at])
            at += 2
        else:
            yield phrase[at]
            at += 1


def _with_articles(phrase: Iterable[_Word]) -> Iterator[_Word]:
    """Give bare singular nouns the article that clipped captions leave out; mend "a" and "an"."""
    rules, parts = _rules(), list(phrase)
    texts = [part.text for part in parts] + _PAD
    for at, part in enumerate(parts):
        text, before = part.text, texts[at - 1] if at else ""
        place = before in rules.prepositions and (before != "of" or texts[at - 2] in ("out", "off", "front"))
        opens = at and not part.lemma and (parts[at - 1].lemma or place)
        if opens and (text in rules.bare_a or text in rules.bare_the or _is_noun(text)):
            end = at
            while texts[end + 1] and _is_noun(texts[end + 1]) and not parts[end + 1].lemma:
                end += 1
            named = f"{before}_{text}" not in rules.bare_refused
            if named and texts[end] in rules.bare_the:
                yield _Word("the")
            elif named and texts[end] in rules.bare_a:
                yield _Word("an" if text[0] in "aeiou" else "a")
        if text in ("a", "an") and texts[at + 1]:
            vowel = texts[at + 1][0] in "aeiou" and not re.match(r"(one|uni|use|eu)", texts[at + 1])
            text = "an" if vowel or texts[at + 1].startswith("hour") else "a"
        yield _Word(text, part.lemma)


def _nouns(phrase: list[_Word]) -> list[tuple[int, str]]:
    """Place and folded lemma of every noun of a phrase."""
    rules, folds, nouns = _rules(), _folds("folds"), []
    for at, (word, after) in enumerate(pairwise([*phrase, _Word("")])):
        for text in word.text.removesuffix("'s").split("/"):
            if word.lemma or not text or text in rules.empty_nouns or text in rules.finite or not _is_noun(text):
                continue
            readings, before = _readings(text), phrase[at - 1]
            lemma = text if text in folds else readings.get("NOUN", (text,))[0]
            placed = before.lemma or before.text in rules.determiners or before.text in rules.prepositions
            adjective = "ADJ" in readings and (not placed or (after.text and _is_noun(after.text)))
            if lemma in folds or lemma in _table()["folds"] or not (adjective or (_form(text) == "ing")):
                nouns.append((at, folds.get(lemma, lemma)))
    return nouns


@lru_cache(maxsize=1 << 14)
def gerund(sentence: str) -> Gerund | str:
    """Turn a sentence that says what a person does into a gender-neutral gerund phrase.

    Never raises; whatever is not certain is refused.

    Args:
        sentence: One caption, such as "person begins to play on his phone."

    Returns:
        The phrase ("playing on their phone") with its lemmas, or a reason code, one of `REASONS`.
    """
    try:
        words = _tokens(sentence)
        return _finished(_phrase(words, *_predicate_at(words)))
    except _Refused as refusal:
        return str(refusal)

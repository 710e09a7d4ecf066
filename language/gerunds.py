"""Convert captions to gender-neutral gerund phrases: "She puts on her shoes." becomes "putting on their shoes".

The clause about a person, found by `language.clauses`, is followed through auxiliaries and aspect verbs ("begins to
eat") to the action. The action and the verbs coordinated with it are put into the -ing form. Word lists are in
`clipped.yaml`. The tagger that is always installed is used, so that phrases are the same on every machine.

Uncertain cases are rejected with a code from `REASONS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from .agreement import full_form
from .clauses import Clause, clauses, main_clause
from .closed_classes import GET, RELATIVES, SUBORDINATORS
from .gerund_wording import Gerund, PhraseWord, finished, without_slips
from .inflection import inflect, verb_lemma
from .lexicon import lexicon_hashes, word_lists
from .plain_captions import Refused, plain_sentence
from .tag_repairs.clipped_words import after_openers, can_be_noun, is_attribute, verb_form
from .tagger import load_tagger
from .verb_groups import VerbGroup
from .words import Caption, Token

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
    "slip": "a slip of the source: an object or a preposition is missing",
}


@lru_cache(maxsize=1 << 14)
def gerund(sentence: str) -> Gerund | str:
    """Convert a sentence about a person's action to a gender-neutral gerund phrase, such as "playing on their phone".

    Returns:
        The phrase with its lemmas or, if the sentence is rejected, a reason code from `REASONS`.
    """
    try:
        caption = load_tagger("pattern").analyse_clipped(plain_sentence(sentence))
        return without_slips(finished(gerund_parts(caption)))
    except Refused as refusal:
        return str(refusal)


def phrase_identity(*more: str) -> dict[str, str]:
    """Return everything besides the code that determines phrases: the hashes of the word lists, and the tagger."""
    return {**lexicon_hashes("clipped", "lexicon", *more), "tagger": load_tagger("pattern").name}


@dataclass(frozen=True)
class _Reading:
    """A tagged clipped caption and its clauses."""

    caption: Caption
    found: tuple[Clause, ...]

    @property
    def tokens(self) -> Sequence[Token]:
        return self.caption.tokens

    def tag(self, number: int) -> str:
        return self.tokens[number].tag if 0 <= number < len(self.tokens) else ""

    def lower(self, number: int) -> str:
        return self.tokens[number].lower if 0 <= number < len(self.tokens) else ""

    def following(self, number: int) -> int | None:
        """Return the clause whose verb follows another verb with at most adverbs in between."""
        later = number + 1
        if later == len(self.found):
            return None
        between = range(self.found[number].verb.main + 1, self.found[later].verb.tokens[0])
        leads = self.found[number].verb.lemma in word_lists("clipped").aspect
        slack = {"on", "to"} if leads else set()  # "continues on to eat", "proceeds to eating"
        return later if all(self.tag(n).startswith("RB") or self.lower(n) in slack for n in between) else None

    def joins(self, number: int) -> bool:
        """Return whether a token opens a subordinate or relative clause, like "as" but unlike "that" in "that cup"."""
        if self.lower(number) == "so":
            return self.lower(number + 1) in word_lists("clipped").subjects
        if self.tag(number) in ("DT", "RB", "RP", "CC") or self.lower(number + 1) == "of":
            return False
        if self.lower(number) == "that" and self.tag(number + 1)[:2] in ("NN", "JJ", "IN", "RB", ""):
            return False
        return self.lower(number) in SUBORDINATORS | RELATIVES

    def gets(self, verb: VerbGroup) -> int | None:
        """Return the index of "gets" in phrases like "gets dressed", which are actions despite their passive form."""
        return next((n for n in verb.auxiliaries if self.lower(n) in GET), None)


# Analysis


def gerund_parts(caption: Caption) -> list[PhraseWord]:
    """Return the action of a caption and the words after it, as parts of a gerund phrase.

    Raises:
        Refused: The caption is uncertain. The message is one of `REASONS`.
    """
    reading = _Reading(caption, clauses(caption))
    lists = word_lists("clipped")
    main = main_clause(caption)
    somebody = any(token.lower in lists.people for token in reading.tokens)
    if main is None and somebody:
        raise Refused("cut_off" if reading.tokens[-1].lower in lists.people else "no_verb")
    if main is None or reading.lower(0) == "which":
        raise Refused("other_subject")
    number, opening = reading.found.index(main), reading.found[0]
    between = range(opening.verb.main + 1, main.verb.first)
    inside = any(reading.joins(n) for n in between) or _is_joined(reading, main) or _in_contact(reading, main)
    fronted = any(reading.joins(n) for n in range(opening.verb.tokens[0]))
    active = reading.tag(opening.verb.main) == "VBG"
    if number and active and not fronted and inside:
        number = 0
    _check_subject(reading, number)
    return _written(reading, number)


def _is_joined(reading: _Reading, clause: Clause) -> bool:
    """Return whether a verb follows a conjunction or a repetition of its subject ("they", "person")."""
    lists, place = word_lists("clipped"), clause.verb.tokens[0] - 1
    if reading.lower(place) in lists.subjects | {"person"}:
        place -= 1 + (reading.lower(place - 1) == "the")
        return reading.lower(place) in lists.conjunctions | {","}
    return reading.lower(place) in lists.conjunctions


def _in_contact(reading: _Reading, clause: Clause) -> bool:
    """Return whether a verb belongs to a contact clause, as in "the sandwich they are holding"."""
    place = clause.verb.tokens[0] - 1
    return reading.lower(place) in word_lists("clipped").subjects and _is_contact(reading, place, clause)


def _check_subject(reading: _Reading, number: int) -> None:
    """Raise Refused if the subject is not a person, or if another noun phrase follows it."""
    lists, start = word_lists("clipped"), reading.found[number].verb.tokens[0]
    people = lists.people | lists.subject_pronouns | lists.subjects
    persons = [n for n in range(start) if reading.lower(n) in people and not _determines(reading, n)]
    if not persons:
        there = reading.tag(start - 1) == "EX" and any(token.lower in people for token in reading.tokens[start:])
        if not there and not all(reading.tag(n) in ("RB", "CC", ",") for n in range(start)):
            raise Refused("other_subject")
        return
    verb = reading.found[number].verb
    if verb.to is not None and (persons[-1] or (start > 1 and verb.lemma not in lists.aspect)):
        raise Refused("no_verb")
    if any(reading.lower(n) == "which" for n in range(start)):
        raise Refused("no_verb")
    if reading.tag(persons[-1] + 1) == "PRP$":
        raise Refused("other_subject")
    held, begins = False, after_openers([token.lower for token in reading.tokens], persons[-1] + 1)
    for n in range(begins, start):
        held = held or reading.tag(n) in ("IN", "TO", ",") or reading.tag(n).startswith("VB")
        held = held and not reading.joins(n)
        if reading.tag(n) in ("DT", "PRP$") and reading.lower(n - 1) in lists.anaphors:
            raise Refused("run_on")  # "as they turn it the light turns on"
        if reading.tag(n).startswith("NN") and not held and reading.lower(n) not in lists.labels:
            raise Refused("other_subject")


def _determines(reading: _Reading, number: int) -> bool:
    """Return whether a word for a person modifies a noun, as in "the other side"."""
    alone = reading.lower(number) in word_lists("clipped").people | word_lists("clipped").subjects
    return not alone and reading.tag(number + 1).startswith("NN")


def _action(reading: _Reading, number: int) -> int:
    """Follow auxiliaries, aspect verbs and states to the clause that contains the action."""
    lists = word_lists("clipped")
    while True:
        verb, later = reading.found[number].verb, reading.following(number)
        infinitive = later is not None and reading.found[later].verb.to is not None
        passive = verb.passive and reading.gets(verb) is None
        if verb.negation is not None:
            raise Refused("negated")
        if verb.lemma == "be" or (passive and (verb.lemma not in lists.perceived or later is None)):
            later = _behind_state(reading, number, later)
            if later is None:
                raise Refused("state")
        elif passive:
            pass
        elif verb.lemma in lists.ending:
            if not infinitive:
                raise Refused("stopped")
        elif later is None or not _leads(reading, number, later):
            return number
        elif verb.lemma == "go" and verb.progressive:
            raise Refused("negated")
        number = number + 1 if later is None else later


def _leads(reading: _Reading, number: int, later: int) -> bool:
    """Return whether a verb only introduces the next one, as in "begins to eat", "goes to open" and "comes running"."""
    lists, verb, next_verb = word_lists("clipped"), reading.found[number].verb, reading.found[later].verb
    tag, word = reading.tag(next_verb.main), reading.lower(next_verb.main)
    if verb.lemma == "go" and next_verb.tokens[0] > verb.main + 1:
        return False  # "goes back to close"
    if verb.lemma == "go":
        return next_verb.to is not None or (tag in ("VB", "VBP") and word not in lists.noun_first)
    if verb.lemma == "have":
        return next_verb.to is not None
    return verb.lemma in lists.aspect or (verb.lemma == "come" and tag == "VBG")


def _behind_state(reading: _Reading, number: int, follows: int | None) -> int | None:
    """Return the action of a person who is introduced with a place, as in "is in a room undressing"."""
    found = reading.found
    if follows is not None and found[follows].finite:
        return follows  # a typo: "is opens"
    if found[number].agent is not None:
        return None
    infinitive = number + 1 < len(found) and found[number + 1].verb.to is not None
    quality = reading.lower(found[number].verb.main + 1)
    if infinitive and quality in word_lists("clipped").blocked_after_be:
        raise Refused("negated")
    if infinitive and quality == "able":
        return number + 1
    there = reading.tag(found[number].verb.tokens[0] - 1) == "EX"
    for later in range(number + 1, len(found)):
        clause = found[later]
        if there and clause.role == "relative":
            return later
        if any(reading.joins(n) for n in range(found[number].verb.main + 1, clause.verb.first)):
            return None
        if reading.tag(clause.verb.first) == "VBG" and clause.role in ("complement", "modifier", "coordinate"):
            return later
    return None


# Generation


@dataclass
class _Draft:
    reading: _Reading
    at: int = 0  # index of the next token
    parts: list[PhraseWord] = field(default_factory=list)
    members: set[int] = field(default_factory=set)  # the clauses of the action and of the verbs joined to it
    licensed: bool = False  # whether a subordinate clause is waiting for its verb
    opener: int = 0  # index of the word that opened the subordinate clause
    plural: bool = False  # whether the subject is plural

    def turn(self, number: int, joint: Sequence[str] = ()) -> None:
        action = _action(self.reading, number)
        self.members |= {number, action}
        verb = self.reading.found[action].verb
        got = self.reading.gets(verb) if verb.passive else None
        main, lemma = (verb.main, verb.lemma) if got is None else (got, "get")
        self.at = main + 1
        if lemma == "lay" and _lies(self.reading, self.at):
            lemma = "lie"
        drinks = number == action and self.reading.lower(main) in ("drink", "drinks")
        drinks = drinks and bool(joint) and self.reading.lower(main - 1) == "and"
        if drinks and _is_bare(self.reading, self.at):
            raise Refused("run_on")  # "takes a cup and drinks": a verb or a noun
        self.parts += [*(PhraseWord(word) for word in joint), PhraseWord(inflect(lemma, "VBG"), lemma)]

    def copy(self, stop: int, verb: VerbGroup | None = None) -> None:
        for number in range(self.at, stop):
            main = verb is not None and number == verb.main and number - verb.first <= 1
            main = main and not _is_attribute(self.reading, number)
            self.parts.append(_part(self.reading, number, verb.lemma if main and verb is not None else ""))
        self.at = stop

    def cut_joint(self, verb: VerbGroup) -> list[str]:
        """Remove and return the conjunctions before the next verb. Adverbs are dropped and "then" becomes "and"."""
        lists, joints = word_lists("clipped"), list[str]()
        while self.parts and self.parts[-1].text in lists.conjunctions | {","}:
            joints.insert(0, self.parts.pop().text)
        joints += [
            word for n in verb.tokens if (word := self.reading.lower(n)) in lists.conjunctions and n < verb.first
        ]
        return ["and"] if joints in (["then"], ["than"]) else joints


def _written(reading: _Reading, number: int) -> list[PhraseWord]:
    lists, found = word_lists("clipped"), reading.found
    starts = {clause.verb.tokens[0]: place for place, clause in enumerate(found)}
    draft = _Draft(reading)
    draft.turn(number)
    # Words that may follow within the phrase, as in "holding a bag" and "as they get up".
    modifier = not found[number].finite or any(reading.joins(n) for n in range(found[number].verb.first))
    while draft.at < len(reading.tokens):
        place = starts.get(draft.at)
        if place is None:
            restart = _write_word(draft, modifier)
            if restart is not None:
                return _written(reading, restart)
            continue
        clause = found[place]
        if not clause.finite:
            if reading.lower(draft.at - 1) in ("a", "an") and reading.tag(clause.verb.main + 1) == "DT":
                raise Refused("run_on")
            if draft.opener == draft.at - 1:
                draft.licensed = False  # "while curled up"
            verbal = reading.tag(clause.verb.main) in ("VB", "VBG") and clause.verb.lemma != "be"
            draft.copy(clause.verb.main + 1, clause.verb if verbal else None)
        elif clause.role == "coordinate" and clause.previous in draft.members:
            draft.turn(place, draft.cut_joint(clause.verb))
        elif draft.licensed:
            _write_subordinate(draft, clause)
        elif modifier and not _is_joined(reading, clause):
            return _written(reading, place)
        elif len(draft.parts) == 1 and draft.parts[0].lemma in lists.never_joined:
            raise Refused("no_verb")
        elif not _is_joined(reading, clause) and _has_new_subject(reading, clause):
            raise Refused("run_on")
        else:
            draft.turn(place, draft.cut_joint(clause.verb) or ["and"])
    if draft.licensed and reading.lower(draft.opener) in lists.clause_openers | lists.subjects:
        raise Refused("cut_off")
    return draft.parts


def _write_word(draft: _Draft, modifier: bool) -> int | None:
    """Add a word that is not a verb, or skip a repeated subject. Return the clause to restart with, if any."""
    reading, at, lists = draft.reading, draft.at, word_lists("clipped")
    word, found = reading.lower(at), reading.found
    ahead = next((n for n, clause in enumerate(found) if clause.verb.tokens[0] > at), None)
    same = word in lists.subjects or (reading.tag(at) == "PRP" and word == "the")
    person = at + (word == "the" and reading.lower(at + 1) == "person")
    again = same or reading.lower(person) == "person"
    if again and not draft.licensed:
        joined = reading.lower(at - 1) in lists.conjunctions | {","}
        others = any(part.text in lists.people or part.text == "them" for part in draft.parts)
        verbal = ahead is not None and found[ahead].finite and found[ahead].verb.tokens[0] == person + 1
        if joined and verbal and ahead is not None:
            if (modifier and not same) or not others:
                draft.turn(ahead, draft.cut_joint(found[ahead].verb))
                return None
            raise Refused("run_on")
    if same and not draft.licensed:
        if at + 1 == len(reading.tokens):
            draft.at = len(reading.tokens)
            return None
        if ahead is None:
            raise Refused("run_on")
        if _is_contact(reading, at, found[ahead]):
            draft.licensed = draft.plural = True
            draft.opener = at
        elif modifier and found[ahead].finite:
            return ahead
        else:
            raise Refused("run_on")
    elif reading.joins(at):
        if word == "who" and reading.tag(at - 1).startswith("NN") and reading.lower(at - 1) not in lists.people:
            raise Refused("run_on")
        draft.licensed = verb_form(reading.lower(at + 1)) != "ing"
        draft.plural, draft.opener = False, at
    elif same:
        draft.plural = True
    draft.copy(at + 1)
    return None


def _write_subordinate(draft: _Draft, clause: Clause) -> None:
    reading, verb, place = draft.reading, clause.verb, len(draft.parts)
    main = verb if reading.lower(verb.main) not in word_lists("clipped").finite and verb.lemma != "be" else None
    before = verb.first - draft.at
    bare = all(reading.tag(n).startswith("RB") for n in range(draft.opener + 1, verb.first))
    if bare and reading.lower(draft.opener) in ("as", "while", "when", "because", "until"):
        raise Refused("run_on")
    draft.copy(max(verb.tokens[-1] if verb.particle is None else verb.main, verb.main) + 1, main)
    if draft.plural:
        word = full_form(reading.lower(verb.first))
        plural = {"is": "are", "was": "were", "has": "have", "does": "do"}.get(word, word)
        if plural == word and reading.tag(verb.first) == "VBZ":
            plural = verb.lemma
        draft.parts[place + before] = PhraseWord(plural, draft.parts[place + before].lemma)
    draft.licensed = False


def _is_contact(reading: _Reading, at: int, clause: Clause) -> bool:
    """Return whether "they" opens a contact clause, as in "the sandwich they are holding"."""
    lists, verb = word_lists("clipped"), clause.verb
    if not reading.tag(at - 1).startswith(("NN", "PRP", "DT")):
        return False
    if reading.lower(verb.first) in lists.finite:
        return at + 3 >= len(reading.tokens) or reading.lower(at + 3) in lists.prepositions
    after = verb.main + 1
    return reading.tag(verb.first) == "VBD" and (after >= len(reading.tokens) or reading.tag(after) in ("IN", "RP"))


def _has_new_subject(reading: _Reading, clause: Clause) -> bool:
    """Return whether the noun phrase before a verb is a new subject, as in "opens a closet | a light comes on"."""
    subject, start = clause.subject, clause.verb.tokens[0]
    if reading.lower(start - 1) in word_lists("clipped").determiners | word_lists("clipped").people:
        return True
    if subject is None or subject.stop != start or reading.tag(subject.first - 1) in ("IN", "TO"):
        return False
    objects = [c.object for c in reading.found if c.object is not None and c.verb.main < start]
    return not any(thing.first <= subject.first < thing.stop for thing in objects)


def _is_bare(reading: _Reading, at: int) -> bool:
    lists, word = word_lists("clipped"), reading.lower(at)
    anaphor = {word, reading.lower(at + 1)} & lists.anaphors
    return not (word and (can_be_noun(word) or word in lists.determiners | lists.pronouns)) and not anaphor


def _lies(reading: _Reading, at: int) -> bool:
    """Return whether "lay" has no object and so means "lie". Captions use "laying on a bed" for "lying on a bed"."""
    lists = word_lists("clipped")
    word = reading.lower(at + (reading.lower(at) in ("down", "back")))
    return not word or word in lists.prepositions | lists.conjunctions | lists.subordinators | {","}


def _is_attribute(reading: _Reading, number: int) -> bool:
    around = [reading.lower(n) for n in range(number - 1, number + 2)]
    return is_attribute(around, 1, word_lists("clipped"))


def _part(reading: _Reading, number: int, lemma: str = "") -> PhraseWord:
    token = reading.tokens[number]
    text = "they" if token.lower == "the" and token.tag == "PRP" else token.lower
    if not lemma and verb_form(text) == "ing" and not _is_attribute(reading, number):
        lemma = verb_lemma(text)
    if lemma == "lay" and token.tag == "VBG" and _lies(reading, number + 1):
        text, lemma = "lying", "lie"
    return PhraseWord(text, lemma, number > 0 and reading.tokens[number - 1].end == token.start)

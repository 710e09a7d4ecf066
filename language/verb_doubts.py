"""Detect doubtful verbs in a caption: words that may be verbs despite their tag, or may not be verbs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from .clauses import Clause, clauses
from .closed_classes import BE, FINITE, HAVE, SUBORDINATORS
from .inflection import inflect, is_verb_form, readings, verb_lemma
from .lexicon import words
from .noun_phrases import MEDIA
from .tense import is_past, told_clauses
from .words import Caption, Token

UNSURE = "not sure which of its words are the verbs"
_INTRANSITIVE = words("no_passive") | words("motion")
_SUBJECTS = frozenset(("i", "he", "she", "we", "they"))
_OF = frozenset(("think", "hear", "speak", "dream", "approve", "smell", "taste", "consist", "dispose", "sing", "tell"))
_ENDS = ("", ".", ",", ":", "CC", "IN", "RP", "TO", "RB")


def verbs_unsure(caption: Caption, main: Clause) -> bool:
    """Return whether the main verb may not be a verb, or another verb may have been missed."""
    told = told_clauses(caption)
    verbs = {number for clause in clauses(caption) for number in clause.verb.tokens}
    if runs_on(caption, told) or leaves_order(caption, told):
        return True
    if main.role == "subordinate" and any(is_doubtful(caption, clause, 1) for clause in told):
        return True
    if main.verb.form == "order":
        return is_doubtful(caption, main, 1)
    if main.finite:
        lost = any(may_be_verb(caption, number, verbs) for number in range(len(caption.tokens)))
        joined = [clause for clause in told if clause is main or clause.role == "coordinate"]
        doubtful = any(is_doubtful(caption, clause, 1) for clause in joined)
        return doubtful or (lost and not main.verb.auxiliaries)
    if is_compound(caption, main):
        return True
    return (
        main.role == "modifier"
        and not told
        and any(
            may_be_verb(caption, number, verbs) or is_lost(caption, number, verbs)
            for number in range(len(caption.tokens))
        )
    )


def is_compound(caption: Caption, clause: Clause) -> bool:
    """Return whether a participle may be part of a noun, as in "flour sugar baking powder"."""
    tokens, verb = caption.tokens, clause.verb
    if clause.role != "modifier" or clause.subject is None or tokens[verb.main].tag != "VBG" or verb.auxiliaries:
        return False
    known = tokens[verb.main].lower in words("modifiers") | words("noun_ing")
    bare = tokens[clause.subject.first].tag not in ("DT", "PRP$", "CD") and tokens[clause.subject.head].tag == "NN"
    people = words("people") & {token.lower for token in tokens[clause.subject.first : clause.subject.stop]}
    return (
        known and not people and (bare or caption.style != "declarative") and caption.tag_at(verb.main + 1)[:2] == "NN"
    )


def runs_on(caption: Caption, told: Sequence[Clause]) -> bool:
    """Return whether two finite verbs follow each other without a conjunction, as in "a tv shows hosts discuss"."""
    tokens = caption.tokens
    finite = [clause for clause in told if clause.finite]
    for one, two in pairwise(finite):
        shown = one.subject is not None and tokens[one.subject.head].lower in MEDIA
        said = one.verb.lemma in words("saying") and (shown or one.verb.lemma != "show")
        if one.role == "relative" or said or two.subject is None:
            continue  # "who sings dances", "says it rains"
        if tokens[two.subject.head].tag in ("PRP", "NNP", "EX") or two.subject.first < one.verb.first:
            continue  # "the towel they use"
        if not any(_divides(token) for token in tokens[one.verb.main + 1 : two.verb.tokens[0]]):
            return True
    return False


def leaves_order(caption: Caption, told: Sequence[Clause]) -> bool:
    """Return whether an imperative was missed, as in "after the garlic has cooked stir in the cream"."""
    opened = caption.tokens[0].lower in ("when", "after", "once", "until", "till", "before", "if", "as", "while")
    if opened and caption.style == "imperative" and not any(clause.verb.form == "order" for clause in told):
        return True  # "after cooking mix well"
    return opened and bool(told) and all(clause.role in ("subordinate", "coordinate") for clause in told)


def _divides(token: Token) -> bool:
    joint = token.tag in ("CC", "WRB", "WP", "WDT") or token.lower in (*SUBORDINATORS, "then")
    return joint or not token.is_word


def is_lost(caption: Caption, number: int, verbs: Collection[int]) -> bool:
    """Return whether a noun before an article is in fact a verb, as in "a person holding a glass leaves a room"."""
    token = caption.tokens[number]
    after = caption.tag_at(number + 1)
    noun = token.tag.startswith("NN") and number > 0 and caption.tokens[number - 1].tag.startswith(("NN", "JJ"))
    if not noun or number in verbs or not is_verb_form(token.lower, "VBZ"):
        return False
    acts = token.lower in words("verb_s") - words("noun_s")
    return after in ("DT", "PRP$") or (acts and after in ("IN", "TO"))  # "the white top talks to"


def may_be_verb(caption: Caption, number: int, verbs: Collection[int]) -> bool:
    """Return whether a word with another tag may be a verb, as in "and leaves" and "they smile as"."""
    tokens = caption.tokens
    token = tokens[number]
    if number in verbs or not number or not token.tag.startswith(("NN", "JJ", "RB", "IN", "VB")) or token.tag == "VBG":
        return False
    third, base = is_verb_form(token.lower, "VBZ"), is_verb_form(token.lower, "VB")
    past = is_verb_form(token.lower, "VBD") and "NOUN" not in readings(token.lower)
    if past and token.tag.startswith("NN") and tokens[number - 1].tag == "CC":
        return True  # "and stood"
    if not (third or base):
        return False
    if third and set(readings(token.lower)) == {"VERB"}:
        return True  # "runs in sits down"
    plural = words("noun_s") | words("people")
    if third and token.tag == "NNS" and caption.tag_at(number + 1) == "PRP$" and token.lower not in plural:
        return True  # "swings their arms"
    place = number - 1
    while place > 0 and tokens[place].tag.startswith("RB") and tokens[place].lower != "then":
        place -= 1
    before = tokens[place]
    after = tokens[number + 1] if number + 1 < len(tokens) else None
    tag = after.tag if after is not None else ""
    has_object = tag in ("DT", "PRP", "PRP$")
    ends = tag in _ENDS or has_object
    joined = before.tag == "CC" or before.text in (",", ";") or before.lower == "then"
    noun = token.lower in words("noun_s") and token.lower != "leaves"
    if joined and third and (has_object or (before.tag == "CC" and tag in ("NN", "VBP", "VB"))):
        return True  # "and places a hat", "and places produce", though "places" are mostly nouns
    if joined and third and not noun:
        return (
            has_object
            or tag == "TO"
            or (tag == "NN" and token.lower in words("verb_s"))
            or (ends and (token.lower in words("verb_s") or token.lower == "leaves"))
        )
    acts = inflect(token.lower, "VBZ") in words("verb_s") - words("noun_s")
    plural_verbs = any(tokens[other].tag == "VBP" for other in verbs)
    if joined and base and ends and token.tag == "NN" and acts and plural_verbs:
        return True  # "they enter the closet and stand in it"
    if joined and base and token.tag == "NN" and plural_verbs and tag in ("IN", "RP", "DT", "PRP", "PRP$"):
        return True  # "they pick it up and fidget with it"
    if token.lower == "open" and token.tag[:2] in ("JJ", "RB") and (joined or before.tag == "PRP"):
        return tag in ("DT", "PRP", "PRP$", "RP") or (
            after is not None and after.lower == "up"
        )  # "they open up the books"
    if before.tag == "CC" and base and token.tag == "NN" and plural_verbs and acts and tag == "NN":
        return True  # "they watch and drink water"
    if before.lower == "then" and base and plural_verbs and acts and tag in ("NN", "NNS"):
        return True  # "they end the call then push buttons"
    if joined and base and ends and token.lower in ("leave", "exit", "sneeze", "smile", "laugh"):
        return True
    if joined and base and (has_object or (before.lower == "then" and ends)):
        return token.tag != "IN" and not (token.tag.startswith("RB") and has_object)
    if before.lower in _SUBJECTS and before.tag == "PRP" and place == number - 1:
        return token.tag[:2] in ("NN", "JJ", "VB")
    if third and token.tag == "NNS" and before.lower == "another":
        return True  # "while another plays guitar"
    if third and ends and token.tag == "NNS" and place == number - 1 and not noun:
        person = before.lower in words("people") and before.tag == "NN" and not is_verb_form(token.lower, "VBG")
        return person
    return False


def is_doubtful(caption: Caption, clause: Clause, count: int) -> bool:
    """Return whether a finite verb may be a noun or participle, or lacks a subject."""
    tokens, verb, subject = caption.tokens, clause.verb, clause.subject
    first = tokens[verb.first]
    before = tokens[verb.tokens[0] - 1] if verb.tokens[0] else None
    behind = caption.tag_at(verb.main + 1)
    lone = not verb.auxiliaries and first.lower not in BE | HAVE
    counted = before is not None and before.lower in ("a", "an") and before.tag == "DT"
    placed = verb.tokens[0] > 1 and before is not None and before.tag == "NNS"
    if counted or (lone and placed and tokens[verb.tokens[0] - 2].lower in ("a", "an")):
        return True  # "a vary tall building", "with a cats tail"
    if first.tag == "VBP" and lone and behind == "VBN":
        return True  # "city limits photograph taken"
    if lone and behind in FINITE:
        return True  # "the moon or mars is", "peter is driving"
    if lone and clause.role == "coordinate" and _is_listed(caption, verb.main):
        return True
    if verb.form == "order" and before is not None and before.tag in ("NN", "JJ") and first.lower != "stir":
        return "NOUN" in readings(first.lower) and behind in _ENDS  # "cover with saran wrap"
    if verb.form == "order":
        other = caption.style != "imperative"
        return other and (count > 1 or verb.tokens[0] > 0 or "NOUN" in readings(first.lower))  # "walks in then go out"
    if lone and first.tag == "VBD" and before is not None and (before.tag == "PRP$" or before.lower in ("the", "an")):
        return True  # "his finished product"
    if lone and first.tag in ("VBZ", "VBP") and caption.lower_at(verb.main + 1) == "of" and verb.lemma not in _OF:
        return True  # "basketball highlights of players"
    if lone and clause.role == "coordinate" and first.tag == "VBP" and subject is not None and not subject.plural:
        ended = behind in ("", ".", "CC", ",") or first.lower in ("drink", "fish")
        return "NOUN" in readings(first.lower) and ended  # "is frying prawns and fish", "some food and drink off"
    if before is not None and first.tag == "VBD" and before.lower in BE | HAVE:
        return True  # "being broadcasted"
    if verb.tense == "modal" and not verb.auxiliaries and behind.startswith(("NN", "JJ", "DT")):
        return True  # "will smith"
    if first.lower in words("singular_s") or (first.lower == "used" and caption.tag_at(verb.main + 1) == "TO"):
        return True
    if first.tag == "VBP" and lone and behind == "VBG" and verb.lemma not in words("gerund_verbs") | _INTRANSITIVE:
        return True  # "people video conferencing"
    article = tokens[subject.first].lower if subject is not None else ""
    if subject is not None and lone and article in ("a", "an") and tokens[subject.head].tag == "NNS":
        return tokens[subject.head].lower not in words("people") | words("quantities")  # "a cats tail"
    single = lone and subject is not None and article in ("another", "each", "every", "one")
    if subject is not None and single and tokens[subject.head].tag == "NNS" and tokens[subject.first + 1].lower != "of":
        return True  # "another persons face"
    if subject is None:
        return clause.role == "main" and lone
    inside = tokens[subject.first : subject.stop]
    contact = len(inside) > 1 and (inside[-2].tag[:2], inside[-1].tag) == ("NN", "PRP")
    if contact and not any(other.finite and other.verb.main < verb.main for other in clauses(caption)):
        return True  # "men in a garage talk about a car they are going to restore"
    shown = tokens[subject.head].lower in MEDIA and any(t.lower == "of" for t in tokens[subject.first : subject.stop])
    if shown and lone and not behind and "NOUN" in readings(first.lower):
        return True  # "a clip of soccer plays"
    if lone and first.tag == "VBP" and before is not None and before.tag in ("VBZ", "VBD", "VBP", "VBG"):
        return True  # "collapses face down"
    if tokens[subject.head].tag == "PRP" and before is not None and before.tag == "NN" and clause.role != "coordinate":
        return True  # "the cars he test drove"
    single = subject.stop - subject.first == 1 and tokens[subject.head].tag == "NNS"
    bare = single and tokens[subject.head].lower not in words("people") and clause.object is not None
    if bare and lone and first.tag == "VBP" and tokens[verb.main + 1].tag[:2] == "NN":
        return "NOUN" in readings(first.lower)  # "sports vine clips"
    if clause.role in ("main", "subordinate"):
        plural = subject.plural and len(subject.heads) == 1 and first.tag == "VBZ" and lone
        quantity = tokens[subject.head].lower in words("quantities")
        thing = tokens[subject.head].lower not in words("people") and tokens[subject.head].tag == "NN"
        if (plural and not quantity) or (first.tag == "VBP" and lone and thing and not subject.plural):
            return True
    if lone and is_past(caption, clause) and subject is not None and is_verb_form(first.lower, "VBN"):
        acts = tokens[subject.head].tag.startswith(("NNP", "PRP")) or tokens[subject.head].lower in words("people")
        behind = caption.tag_at(verb.main + 1)
        if not acts and behind in ("NN", "NNS", "JJ") and caption.tag_at(verb.main + 2) != "POS":
            return True  # "salt grated parmesan cheese"
    if lone and clause.role != "coordinate" and is_past(caption, clause) and clause.object is None:
        participle = is_verb_form(first.lower, "VBN") and verb.lemma not in _INTRANSITIVE
        behind = caption.lower_at(max(verb.main, verb.particle or 0) + 1)
        return participle and (behind in ("by", "in", "with", "as", "on", "from", "for", "at") or not behind)
    return False


def _is_listed(caption: Caption, number: int) -> bool:
    """Return whether a verb may be the second noun after a preposition, as in "about workout and exercises for"."""
    tokens = caption.tokens
    behind = caption.tag_at(number + 1) in _ENDS
    tags = [token.tag for token in tokens[max(number - 3, 0) : number]]
    return tags in (["IN", "NN", "CC"], ["IN", "NNS", "CC"]) and behind and "NOUN" in readings(tokens[number].lower)


def tense_obstacle(caption: Caption) -> str:
    """Return why the tense of a caption cannot be changed, or "" if it can."""
    tokens = caption.tokens
    told = told_clauses(caption)
    if any(token.lower == "let" and tokens[n + 1].lower in ("'s", "us") for n, token in enumerate(tokens[:-1])):
        return "an order has no past"
    if any(clause.finite and _opens_order(caption, clause) for clause in told):
        return "an order has no past"
    verbs = {number for clause in clauses(caption) for number in clause.verb.tokens}
    if any(may_be_verb(caption, number, verbs) for number in range(len(tokens))):
        return UNSURE
    if any(is_lost(caption, number, verbs) for number in range(len(tokens))):
        return UNSURE
    if any(is_doubtful(caption, clause, len(told)) for clause in told):
        return UNSURE
    if runs_on(caption, told) or leaves_order(caption, told):
        return UNSURE
    return UNSURE if _is_slip(caption, told) else ""


def _opens_order(caption: Caption, clause: Clause) -> bool:
    """Return whether "do not" or "don't" opens an order, as in "don't touch it"."""
    verb = clause.verb
    return verb.tokens[0] == 0 and bool(verb.auxiliaries) and caption.tokens[0].lower == "do" and clause.subject is None


def _is_slip(caption: Caption, told: Collection[Clause]) -> bool:
    tokens = caption.tokens
    for clause in clauses(caption):
        verb = clause.verb
        if tokens[verb.main].tag == "VBN" and not verb.auxiliaries and verb.lemma in _INTRANSITIVE - {"run", "fall"}:
            return True  # "a person smiled at it and threw"
        bare = tokens[verb.main].tag == "VBN" and verb.tokens[0] == verb.main > 0
        if bare and is_verb_form(tokens[verb.main].lower, "VB") and tokens[verb.main - 1].tag in ("NNS", "PRP"):
            return True  # "the waiters run food"
    if not any(clause.verb.form == "order" for clause in told):
        return False
    orders = {number for clause in told for number in clause.verb.tokens}
    for number, token in enumerate(tokens):
        before = tokens[number - 1] if number else None
        starts = before is None or before.tag == "CC" or before.text in (",", ".") or before.lower == "then"
        starts = starts or number - 1 in orders
        if number in orders or not starts or token.lower not in words("order_verbs") or token.tag in ("VBG", "VBN"):
            continue
        after = tokens[number + 1] if number + 1 < len(tokens) else None
        nouns = token.lower in words("order_nouns")
        known = (
            set(readings(token.lower)) <= {"VERB", "AUX"}
            or (after is not None and after.tag in ("DT", "PRP", "PRP$", "CC", "IN", "NN", "NNS", "CD"))
            or (after is None and before is not None and before.tag == "CC")
        )
        if known and not nouns and verb_lemma(token.lower) == token.lower:
            return True
    return False

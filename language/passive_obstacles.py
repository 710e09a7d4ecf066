"""Decide whether a clause can be put into the passive, or whether there is no passive or its structure is uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .agent_place import CLAUSE_OPENERS, agent_place, is_held, phrases_behind
from .clauses import Clause, clauses
from .closed_classes import FINITE, SUBORDINATORS
from .inflection import can_be_verb, is_only_verb, is_verb_form, readings, verb_lemma
from .lexicon import words
from .noun_phrases import MEDIA, NounPhrase, is_person
from .shared_subjects import is_lone_then, joint_before, repeated_subject, root_clause, sharing_clause
from .tag_repairs.context import third_person
from .tense import told_clauses
from .verb_doubts import UNSURE, is_compound, is_doubtful, leaves_order, may_be_verb, runs_on
from .words import Caption, Token

NO_SUBJECT = "no verb with a subject and an object of its own"
UNSURE_SUBJECT = "not sure what its subject is"
UNSURE_OBJECT = "not sure where its object ends"
SHARED = "verbs joined to it need its subject or its object"
_THIRD_PERSONS = frozenset(("he", "she", "it", "they", "him", "her", "them", "his", "its", "hers", "their", "theirs"))
_PERSON = frozenset(("person", "man", "woman", "boy", "girl", "guy", "lady", "someone", "somebody"))
_PERCEIVING = frozenset(("see", "hear", "watch", "notice", "feel", "spot"))
_MAKING = _PERCEIVING | {"make", "let", "help"}
_PUTTING = frozenset(("put", "place", "set", "throw", "lay"))
_INTRANSITIVE = words("no_passive") | words("motion")


def passive_obstacle(caption: Caption, clause: Clause) -> str:
    """Return why a clause cannot be put into the passive, or "" if it can."""
    verb, tokens = clause.verb, caption.tokens
    if caption.style == "imperative":
        return "an order has no passive"  # "when the soup boils add clams": the parsed object is unreliable
    if verb.passive:
        return "it is passive already"
    if verb.form == "order":
        return "an order has no passive"
    if clause.object is None or clause.object.first <= verb.main:
        return "no verb with an object"
    if verb.form in ("infinitive", "gerund") or clause.subject is None or clause.role == "relative":
        return NO_SUBJECT
    if clause.subject.stop > verb.tokens[0] and clause.role != "coordinate":
        return NO_SUBJECT
    told = told_clauses(caption)
    if clause.finite and clause not in told:
        return NO_SUBJECT  # "watches the boy make the bed"
    if clause.role == "coordinate" and tokens[clause.object.head].tag == "PRP":
        return NO_SUBJECT
    if verb.lemma in words("no_passive") or tokens[clause.subject.head].tag == "EX":
        return f'"{verb.lemma}" has no passive'
    noun = tokens[clause.object.heads[-1]].lower
    if f"{verb.lemma}_{noun}" in words("idioms"):
        return f'"{verb.lemma} {noun}" has no passive'
    inside = tokens[clause.object.first : clause.object.stop]
    if verb.lemma == "leave" and verb.particle is not None:
        return '"leave out" has no passive'  # "leaves out the door"
    if verb.negation is not None and inside[0].lower in ("any", "anything", "anyone", "anybody", "either"):
        return '"not ... any" has no passive'
    if any(t.lower.endswith(("self", "selves")) for t in inside) or inside[0].lower == "each":
        return "what is done is done to the doer"
    if clause.object.stop < len(tokens) and tokens[clause.object.stop].tag in ("VB", *FINITE):
        return "the object does something itself"
    if _is_unsure_subject(caption, clause):
        return UNSURE_SUBJECT
    if clause.role == "modifier" and _is_unsure_modifier(caption, clause, clause.subject, clause.object):
        return UNSURE_SUBJECT
    if _is_unsure_object(caption, clause, clause.object) or _is_unsure_behind(caption, clause):
        return UNSURE_OBJECT
    own = clause.role != "coordinate" and tokens[clause.subject.head].tag != "PRP"
    if own and len(inside) + (inside[0].tag == "PRP$") > 1 and any(t.lower in _THIRD_PERSONS for t in inside):
        return "the object is the doer's own"  # "his car is driven by a man": the antecedent would be ambiguous
    agent = pairwise(tokens[clause.subject.first : clause.subject.stop + 1])
    if own and inside[0].lower == "the" and any(t.lower == noun and after.tag[:2] != "NN" for t, after in agent):
        return "the object is the doer's own"  # "a person carrying a book puts the book on a table"
    pronoun = inside[0].tag == "PRP" and inside[0].lower in _THIRD_PERSONS
    if own and (inside[-1].lower == "another" or (pronoun and clause.subject.stop - clause.subject.first > 3)):
        return "the object is the doer's own"  # "a person carrying a box puts it down"
    if _shares(caption, clause):
        return SHARED
    verbs = {number for other in clauses(caption) for number in other.verb.tokens}
    lost = (
        (clause.role == "coordinate" and is_doubtful(caption, clause, 1))
        or runs_on(caption, told)
        or leaves_order(caption, told)
        or any(may_be_verb(caption, number, verbs) for number in range(len(tokens)))
    )
    return UNSURE if lost else ""


def _is_unsure_subject(caption: Caption, clause: Clause) -> bool:
    """Return whether the subject may be only part of the words before the verb, or belong to another sentence."""
    tokens, subject = caption.tokens, clause.subject
    if subject is None or tokens[subject.stop - 1].tag in ("CC", "IN", "TO", "PRP$"):
        return True
    if tokens[subject.stop - 1].tag == "DT" and tokens[subject.stop - 1].lower in ("a", "an", "the"):
        return True
    verb, inside = tokens[clause.verb.first], tokens[subject.first : subject.stop]
    if any(token.text in ("-", "–", "—") for token in tokens):
        return True  # "one person - with a hat - opens a door"
    if any(two.tag in ("DT", "PRP$") and one.tag.startswith("NN") for one, two in pairwise(inside)):
        return True  # "a person vacuums a stair then takes"
    last = inside[-1]
    bare = inside[0].tag == "NN" and _is_bare(caption, subject) and not is_person(caption, subject)
    if bare and subject.first and tokens[subject.first - 1].tag == "CC":
        return True  # "looking at a movie or show on a monitor then touches"
    if subject.first == 0 and last is inside[0] and last.lower in words("verb_s") - words("noun_s"):
        return True  # "Walks into hall carrying a book."
    if clause.role == "coordinate" and len(inside) == 1 and last.tag == "NN" and last.lower not in words("people"):
        return True  # "tom smelled something and saw smoke": him or it
    if len(inside) > 1 and last.tag == "PRP" and inside[-2].tag != "CC":
        return True  # "half way through they took"
    if len(inside) > 2 and clause.role != "main" and (inside[0].tag, inside[-2].tag, last.tag) == ("DT", "NN", "NNP"):
        return True  # "saw the ball Jerry was holding"
    if len(inside) > 1 and inside[-2].lower in _PERSON and last.tag == "NNS" and is_verb_form(last.lower, "VBZ"):
        return True  # "the person flings open the door"
    if subject.plural and verb.tag == "VBZ" and tokens[subject.head].lower not in words("quantities"):
        return True  # "two people and the one with a hat makes a shot"
    if _is_two_phrases(inside, len(subject.heads)):
        return True
    if subject.first and tokens[subject.first - 1].tag in ("WDT", "WP"):
        return True  # "a towel which they are wiping the dishes with"
    if inside[0].lower == "that" and last.tag == "NNP":
        return True  # "that Tom dropped"
    doing = next((n for n, t in enumerate(inside) if t.tag == "VBG"), len(inside))
    if any(one.tag == "CC" and two.lower in ("a", "another", "the") for one, two in pairwise(inside[doing:])):
        return True  # "a person laying on a couch and another person"
    if len(inside) > 3 and verb.tag == "VBP" and not subject.plural and not clause.verb.auxiliaries:
        return True  # "a man beat boxes"
    between = range(subject.stop, clause.verb.tokens[0])
    if clause.role != "coordinate" and any(tokens[n].tag.startswith(("VB", "MD")) for n in between):
        return True  # "was standing up reading a book"
    if _is_bare(caption, subject) and len(inside) == 1 and is_verb_form(inside[0].lower, "VBZ"):
        return True  # "smiles then drinks iced coffee"
    compound = clause.object is not None and tokens[clause.object.first].tag[:2] == "NN" and verb.tag == "VBP"
    if compound and _is_bare(caption, subject) and not tokens[subject.head].tag.startswith("NNP"):
        return True  # "sports vine clips"
    if any(t.tag == "VBN" and verb_lemma(t.lower) in _INTRANSITIVE for t in inside):
        return True  # "a person smiled and threw"
    if any(t.tag == "NNS" and t.lower in words("verb_s") - words("noun_s") for t in inside[1:]):
        return True  # "person walks to the window put on shoes"
    if _hides_verb(caption, subject.first, subject.stop):
        return True
    if subject.first == 0:
        return False
    before = tokens[subject.first - 1]
    if before.tag in ("IN", "TO", "RP") and before.lower not in SUBORDINATORS:
        return not (clause.role == "modifier" and subject.first > 1 and tokens[subject.first - 2].lower in MEDIA)
    start = subject.first - 1
    while start > 0 and tokens[start - 1].lower not in SUBORDINATORS and tokens[start - 1].text not in (";", ".", ":"):
        start -= 1
    verbs = [n for n in range(start, subject.first) if tokens[n].tag.startswith(("VB", "MD"))]
    if before.tag in ("VBG", "VBN", "VB") or (before.tag in FINITE and verb_lemma(before.lower) not in words("saying")):
        return (
            clause.role != "modifier"
            or not before.tag.startswith("VB")
            or verb_lemma(before.lower) not in words("saying") | {"be"}
        )
    if (
        clause.role == "main"
        and any(tokens[n].tag in ("VBG", "VBN") for n in verbs)
        and not any(tokens[n].tag in FINITE for n in verbs)
    ):
        return True  # "after taking off the hat, the man opens the door"
    if before.tag == "CC":
        return not any(tokens[n].tag in FINITE for n in verbs)  # "as he and a woman watch"
    return (
        bool(verbs)
        and before.tag.startswith(("NN", "PRP", "CD", "JJ"))
        and not _has_joint(caption, verbs[-1], subject.first)
    )


def _is_two_phrases(inside: Sequence[Token], heads: int) -> bool:
    """Return whether the subject may be two phrases, as in "person they", "I person" and "a chair, person"."""
    listed = any(token.text == "," for token in inside) and not any(token.tag.startswith("W") for token in inside)
    kinds = ["PRP" if token.tag == "PRP" else token.tag[:2] for token in inside]
    return (listed and heads == 1) or not {("NN", "PRP"), ("PRP", "NN")}.isdisjoint(pairwise(kinds))


def _is_bare(caption: Caption, phrase: NounPhrase) -> bool:
    tokens = caption.tokens
    people = any(tokens[head].lower in words("people") or tokens[head].tag == "PRP" for head in phrase.heads)
    return not people and tokens[phrase.first].tag not in ("DT", "PRP$", "CD")


def _has_joint(caption: Caption, first: int, stop: int) -> bool:
    return any(
        t.tag == "CC" or t.text in (",", ";", ":", ".") or t.lower in (*SUBORDINATORS, "then")
        for t in caption.tokens[first + 1 : stop]
    )


def _is_unsure_modifier(caption: Caption, clause: Clause, subject: NounPhrase, thing: NounPhrase) -> bool:
    tokens, found = caption.tokens, clauses(caption)
    if is_compound(caption, clause):
        return True
    later = [c for c in found if c.finite and c.verb.main > clause.verb.main]
    if any(tokens[c.verb.tokens[0] - 1].text == "," for c in later):
        return True  # "a person watching television while eating, stands up"
    if tokens[thing.head].tag == "PRP" and len(thing.heads) == 1:
        return True  # "with a dog following it"
    if tokens[clause.verb.tokens[0] - 1].text == ",":
        return True  # "man on some stairs, drinking water, looking up"
    for other in found:
        if other.finite and other.role in ("main", "coordinate") and other.verb.main > clause.verb.main:
            first = other.subject.first if other.subject is not None else 0
            if first <= clause.verb.main or not _has_joint(caption, clause.verb.main, first):
                return True  # "a man wearing a hat walks"
    if (
        _is_bare(caption, subject)
        and not tokens[subject.head].tag.startswith(("NNP", "NNS"))
        and tokens[thing.first].tag[:2] == "NN"
    ):
        return True  # "paper folding instructions"
    earlier = [c for c in found if c.verb.main < subject.first]
    if earlier and not earlier[-1].verb.copula and (clause.verb.lemma == "use" or not is_person(caption, subject)):
        return True  # "wanted to catch Jerry using a net", "watching something in the laptop drinking coffee"
    if not earlier or earlier[-1].verb.lemma in words("perception"):
        return False
    introduced = earlier[-1].subject is not None and tokens[earlier[-1].subject.head].lower in (
        "there",
        "this",
        "it",
        "here",
    )
    return not (earlier[-1].verb.copula and introduced)


def _is_unsure_object(caption: Caption, clause: Clause, thing: NounPhrase) -> bool:
    """Return whether a phrase may not be the object, or may contain the next verb, as in "guitar and singing song"."""
    tokens = caption.tokens
    first, last = tokens[thing.first], tokens[thing.stop - 1]
    if first.lower in words("places") or caption.text.find("' ", tokens[thing.first].start) >= 0:
        return True  # "sliding past the captain", "into Toodles' face"
    if last.tag == "VBN" and thing.stop - thing.first > 1 and caption.tag_at(thing.stop) == "IN":
        return True  # "saw Tom disguised as a bird"
    if first.lower in ("open", "close", "closed") and caption.tag_at(thing.first + 1) in ("DT", "PRP$"):
        return True  # "flings open the door"
    before_last = tokens[thing.stop - 2] if thing.stop - thing.first > 1 else first
    acts = third_person(last.lower) in words("verb_s") | {"rings"} and last.tag == "NN" and last.lower != "play"
    seen = clause.verb.lemma in _PERCEIVING
    if seen and first.tag == "PRP" and thing.stop - thing.first > 1:
        return True  # "you see them leaving"
    behind = caption.lower_at(thing.stop)
    if seen and (is_only_verb(behind) or (last.tag == "VBG" and caption.tag_at(thing.stop) == "IN")):
        return True  # "watched Tuffy devour the chicken", "saw Tom chasing after him"
    if clause.verb.lemma == "leave" and behind == "with":
        return True  # "leave the room with their laptop"
    part = any(token.lower == "of" for token in tokens[thing.first : thing.stop])
    if clause.verb.lemma == "take" and behind == "in" and part:
        return True  # "takes a sip of a soda in a can"
    acting = words("verb_s") - words("noun_s")
    relative = next((n for n in range(thing.first, thing.stop) if tokens[n].tag.startswith("W")), thing.stop)
    if any((one.tag, two.tag) == ("TO", "VB") for one, two in pairwise(tokens[relative : thing.stop])):
        return True  # "the carpet that Jerry was running on to catch Jerry"
    second = first.tag in ("DT", "PRP$") and before_last.tag == "NN" and behind in words("particles")
    if second and last.tag == "NNS" and is_verb_form(last.lower, "VBZ"):
        return True  # "opens the door bends down"
    if any(two.lower in acting and one.lower in words("particles") for one, two in pairwise(tokens[thing.stop :])):
        return True  # "turns light on grabs something"
    if seen and behind == "to" and caption.tag_at(thing.stop + 1) == "VB":
        return True  # "saw some signs to lead Tom to the bed"
    moves = is_verb_form(last.lower, "VB") and third_person(last.lower) not in words("noun_s")
    led = clause.verb.lemma in _MAKING and before_last.tag.startswith(("NN", "JJ"))
    if led and moves and caption.tag_at(thing.stop) in ("RP", "RB", "IN"):
        return True  # "watching the food cool off", "making Jerry chase after the cheese"
    if seen and caption.tag_at(thing.stop) == "RB" and caption.tag_at(thing.stop + 1) == "VBG":
        return True  # "saw Jerry frantically running"
    if last.lower == "times" and thing.stop - thing.first > 2:
        return True  # "closes the door multiple times"
    if thing.stop - thing.first == 1 and first.lower.endswith("ing") and clause.verb.lemma in words("gerund_verbs"):
        return can_be_verb(first.lower)  # "is finishing dressing"
    people = [n for n in range(thing.first + 1, thing.stop - 1) if tokens[n].lower in _PERSON]
    if clause.verb.lemma in words("giving") and any(tokens[n + 1].tag.startswith("NN") for n in people):
        return True  # "brings this person medicine"
    seen = seen and before_last.tag.startswith("NN")
    if acts and (seen or (clause.role == "modifier" and before_last.tag == "NNS")):
        return True  # "heard the bell ring", "girls wearing uniforms dance"
    follows = tokens[thing.stop : thing.stop + 3]
    if clause.verb.lemma in _PERCEIVING and follows and follows[0].tag == "CC" and follows[-1].tag == "VBG":
        return True  # "saw Jerry and Topsy shaking hands"
    if last.lower in ("close", "the", "a", "an", "upside") or (
        first.lower in ("a", "an") and thing.plural and len(thing.heads) == 1
    ):
        return tokens[thing.head].lower not in words("quantities")
    shown = tokens[thing.head].lower in MEDIA and thing.stop - 1 > thing.head
    about = shown or any(token.lower == "about" for token in tokens[thing.first : thing.stop])
    if about and thing.stop < len(tokens) and tokens[thing.stop].lower in words("places"):
        return True  # "a song about diamonds in the sky", "a picture of clothes in a bucket"
    known = readings(tokens[thing.head].lower)
    if thing.stop - thing.first == 1 and tokens[thing.head].tag in ("NN", "NNS") and known and "NOUN" not in known:
        return tokens[thing.head].lower not in words("people")  # "performing live"
    return last.lower in words("verb_adverbs") | {"inside", "outside"} or _hides_verb(caption, thing.first, thing.stop)


def _hides_verb(caption: Caption, first: int, stop: int) -> bool:
    """Return whether part of a coordinated object may be a verb, as in "the bag and leaves"."""
    tokens = caption.tokens
    ended = tokens[stop - 1]
    if ended.lower == "steps" and caption.lower_at(stop) in words("particles") | {"inside", "outside"}:
        return True  # "turns the doorknob to the bathroom steps inside"
    if ended.tag in ("NN", "NNS") and stop - first > 1 and ended.lower in words("verb_s") - words("noun_s"):
        return True  # "the white top talks"
    for number in range(first + 2, stop):
        if tokens[number - 1].tag != "CC" or tokens[number].tag in ("DT", "PRP$", "CD"):
            continue
        word = tokens[number].lower
        if tokens[number].tag in ("VBN", "VBD") and caption.tag_at(number + 1) in ("NNP", "DT", "PRP", "PRP$"):
            return True  # "a drawing of Tom and called Tom stinky"
        if is_verb_form(word, "VB") and third_person(word) in words("verb_s") - words("noun_s"):
            return True  # "turn on a light and watch tv"
        ends = caption.lower_at(number + 1) in ("", "something", "someone") or not tokens[number + 1].tag.startswith(
            ("NN", "JJ", "POS")
        )
        alone = ends and any(t.tag in ("DT", "PRP$") for t in tokens[first:number])
        if word == "then" or (word.endswith("ing") and can_be_verb(word)):
            return True
        if alone and not readings(word):
            return True  # "the back and tidys"
        if alone and (is_verb_form(word, "VBZ") or is_verb_form(word, "VB")):
            return True
    return False


def _is_unsure_behind(caption: Caption, clause: Clause) -> bool:
    """Return whether the words after the object may belong to it, or may start a second sentence."""
    tokens, found = caption.tokens, clauses(caption)
    last = clause.second_object or clause.object
    if last is None:
        return True
    stop = last.stop
    if clause.verb.particle is not None and clause.verb.particle == stop:
        stop += 1
    for other in found:
        subject = other.subject
        if not other.finite or subject is None or not stop <= subject.first < other.verb.main:
            continue
        if subject.first == stop or (
            tokens[subject.first - 1].tag.startswith(("NN", "PRP", "JJ"))
            and not _has_joint(caption, stop - 1, subject.first)
        ):
            return True
    alone = sharing_clause(caption, clause) is None
    if any(is_lone_then(caption, number, alone) for number in range(stop + 1, len(tokens))):
        return True
    if stop >= len(tokens):
        return False
    token = tokens[stop]
    if clause.verb.particle is not None and token.lower == tokens[clause.verb.particle].lower:
        return True  # "pick out some medicine out of the box"
    if token.lower == "for" and tokens[last.head].lower in words("plans"):
        return True  # "reading a recipe for ducks"
    if any(t.text == "(" for t in tokens[stop:]):
        return True  # "two dishes (a cup and saucer) in the other"
    if token.lower in CLAUSE_OPENERS or token.tag.startswith(
        ("VBN", "JJ", "RBR", "DT", "PRP", "CD", "NN", "POS", "UH", "FW")
    ):
        return True
    if token.tag == "VBG":
        return token.lower != "using"
    behind = tokens[stop + 1].tag if stop + 1 < len(tokens) else ""
    wanted = token.lower == "to" and caption.lower_at(stop + 1) in ("drink", "eat", "read", "use", "watch", "wear")
    if wanted and caption.tag_at(stop + 2) in ("", ".", ",", "CC", "IN"):
        return True  # "takes a cup of coffee to drink"
    if token.tag == "IN" and behind == "VBG" and token.lower in ("for", "from", "in", "of", "about"):
        return True  # "requirements for transporting it"
    if clause.second_object is not None and clause.object is not None and not _may_receive(caption, clause.object):
        return True  # "the game the sims"
    if token.lower == "with" and clause.verb.lemma in words("attributive"):
        return True
    place, _ = phrases_behind(caption, clause, stop)
    if any(tokens[n].tag in ("PRP", "WDT", "WP") for n in range(stop, place)):
        return True  # "with a laptop on it", "something on his path which started moving"
    end = next((n for n in range(stop, len(tokens)) if tokens[n].tag.startswith(("VB", "CC", ",", ".", "W"))), stop)
    if caption.tag_at(end) == "WDT":
        return True  # "a telegram from Uncle Pecos which wrote"
    if (
        token.lower == "from"
        and clause.verb.lemma in _PUTTING
        and any(t.lower in ("in", "into", "on", "onto") for t in tokens[stop:place])
    ):
        return True  # "puts the things from the basket in the cabinet"
    if _hides_verb(caption, stop, place) or (place > stop and is_held(caption, place)):
        return True
    if place > stop and clause.verb.lemma in words("telling") and token.lower != "to":
        return True  # "describes the logic behind it"
    return _goes_on(caption, clause, stop) or _goes_on(caption, clause, place)


def _may_receive(caption: Caption, phrase: NounPhrase) -> bool:
    return is_person(caption, phrase) or any(caption.tokens[head].tag == "PRP" for head in phrase.heads)


def _goes_on(caption: Caption, clause: Clause, place: int) -> bool:
    tokens, found = caption.tokens, clauses(caption)
    if place < len(tokens) and tokens[place].lower == "by":
        return True  # "by a person by sweeping"
    joined = place < len(tokens) and (
        tokens[place].tag == "CC" or tokens[place].text == "," or tokens[place].lower == "then"
    )
    if not joined:
        return False
    comma = tokens[place].text == ","
    while place < len(tokens) and (
        tokens[place].tag.startswith(("RB", "CC")) or tokens[place].text == "," or tokens[place].lower == "then"
    ):
        comma = comma and tokens[place].tag != "CC"
        place += 1
    if comma and caption.lower_at(place) == "which":
        return True  # "holding clothes, which the person is putting"
    if comma and place < len(tokens) and tokens[place].tag in ("IN", "WRB", "TO", "VBG", "WP", "WDT"):
        return False
    sharing = sharing_clause(caption, clause)
    for other in found:
        if other.subject is not None and other.subject.first == place and other.verb.main > place:
            return False
        if place in (other.verb.tokens[0], other.verb.first):
            return other is not sharing or clause.role == "coordinate"
    return True


def _shares(caption: Caption, clause: Clause) -> bool:
    """Return whether coordinated verbs would lose their subject or object, as in "demonstrates and describes a car"."""
    tokens, found = caption.tokens, clauses(caption)
    sharing = sharing_clause(caption, clause)
    if clause.role == "coordinate" and clause.previous is not None:
        leader = found[clause.previous]
        joint = joint_before(caption, clause, leader.verb.main)
        between = tokens[leader.verb.main + 1 : joint]
        listed = any(token.text == "," for token in between[:-1])
        inner = any(token.tag == "VBG" or (token.lower in SUBORDINATORS and token.tag == "IN") for token in between)
        infinitive = any(c.verb.form == "infinitive" and leader.verb.main < c.verb.main < joint for c in found)
        if infinitive and is_verb_form(tokens[clause.verb.first].lower, "VB"):
            return True  # "caused Tom to fly up and hit the ceiling"
        if inner and not clause.finite:
            return True  # "is sitting while drinking and eating food"
        if sharing is not None or listed or tokens[joint].tag != "CC":
            return True
        if not clause.finite and not (leader.finite and leader.verb.auxiliaries):
            return True
        if leader.previous is not None:
            return True  # a list of three
        return leader.object is None and leader.verb.tokens[-1] == joint - 1 and leader.verb.lemma not in _INTRANSITIVE
    for number in range(clause.verb.main + 1, len(tokens) - 1):
        behind = tokens[number + 1 + (tokens[number + 1].lower == "then") : number + 3]
        joined = sharing is None and clause.finite and tokens[number].tag == "CC" and behind and behind[0].tag == "VBG"
        if joined and not any(t.tag == "VBG" for t in tokens[clause.verb.main + 1 : number]):
            return True  # "is grasping a light to turn it on and then dressing"
    for other in found[found.index(clause) + 1 :]:
        root = found[root_clause(caption, other)]
        comma = tokens[joint_before(caption, other, 0) - 1].text == ","
        if other.role == "coordinate" and other.finite and comma and root.role == "subordinate" and root != clause:
            return True  # "as their body jerks, and bump into a phone"
    if sharing is None or clause.subject is None:
        return False
    joint = joint_before(caption, sharing, clause.verb.main)
    if sharing.finite and is_doubtful(caption, sharing, 1):
        return True  # "is frying the prawns and fish"
    if clause.verb.form != "finite" and caption.lower_at(joint + 1) == "then":
        return True  # "pointing a gun and then running"
    between = tokens[clause.verb.main + 1 : joint]
    if any(t.tag in FINITE or (t.lower in SUBORDINATORS and t.tag in ("IN", "WRB")) for t in between):
        return True
    divided = any(t.text == "," for t in tokens[clause.subject.first : clause.subject.stop])
    near = not divided and agent_place(caption, clause) >= joint - (tokens[joint - 1].text == ",")
    return not near and not repeated_subject(caption, clause.subject)

"""Swap the agent and the patient of a text: "Tom was hitting Jerry" becomes "Jerry was hitting Tom"."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from ..language.grammar import Refused, be, disagreement, full_form, present
from ..language.lexicon import FINITE, SUBORDINATORS, is_verb_form, verb_lemma
from ..language.parse import parse
from ..language.people import Cast
from ..language.words import Caption, name_pattern, text_key, without_capital
from .entities import Entity, acts, confusion_table, entities, entity_of, is_named, mentions, owns

SUBJECTS = ("nsubj", "nsubjpass")
RELATIVE = ("WDT", "WP", "WP$", "WRB")
_PRONOUNS = {
    "female": {"PRP$": "her", "subject": "she", "object": "her", "self": "herself"},
    "male": {"PRP$": "his", "subject": "he", "object": "him", "self": "himself"},
    "plural": {"PRP$": "their", "subject": "they", "object": "them", "self": "themselves"},
}
_FORMS = {(form, word): gender for gender, table in _PRONOUNS.items() for form, word in table.items()}
_GENDER_OF = {word: gender for (_, word), gender in _FORMS.items()}


def exchange_roles(caption: Caption, cast: Cast) -> str:
    """Swap agent and patient in every mention.

    The agent is the subject of the main clause if it is an entity, else that of the first clause with such a subject.
    The patient is the next other entity after the agent's verb, including "by" phrases. Coordinated entities are moved
    together. Pronouns are changed if the genders are known and differ, and verbs agree with their new subject.

    Raises:
        Refused: Nobody can be exchanged, or the result would be no certain opposite.
    """
    characters = tuple(entities(caption, cast))
    if len({entity.key for entity in characters}) < 2:
        raise Refused("nobody to exchange with")
    words = " ".join(token.lower for token in caption.tokens)
    if any(f" {phrase}" in words for phrase in confusion_table()["mutual"]):
        raise Refused("both sides do the same")
    for verb, agent in _agents(caption, characters):
        patient = next((e for e in characters if _is_patient(caption, verb, agent, e)), None)
        if patient is None:
            continue
        reason = _obstacle(caption, verb, agent, patient, characters)
        if reason:
            raise Refused(reason)
        swapped = exchanged(caption, cast, agent, patient, characters)
        if text_key(swapped) == text_key(caption.text):
            raise Refused("it gives the same words")
        if agent.plural != patient.plural and disagreement(parse(swapped, names=cast.names)):
            raise Refused("a verb would not agree with its subject")
        return swapped
    raise Refused("nobody does it to somebody")


def _agents(caption: Caption, characters: Sequence[Entity]) -> Iterator[tuple[int, Entity]]:
    """Yield the verbs whose subject is an entity, those of main clauses first."""
    subjects = [(token.head, n) for n, token in enumerate(caption.tokens) if token.arc in SUBJECTS]
    for verb, subject in sorted(subjects, key=lambda pair: (caption.tokens[pair[0]].arc != "ROOT", pair[0])):
        if agent := entity_of(subject, characters):
            yield verb, agent


def _is_patient(caption: Caption, verb: int, agent: Entity, other_entity: Entity) -> bool:
    tokens, table = caption.tokens, confusion_table()
    if other_entity.first < verb or set(other_entity.key) & set(agent.key):
        return False
    token, before = tokens[other_entity.head], tokens[other_entity.first - 1].lower
    lemma = tokens[token.head].lemma
    if owns(tokens, other_entity):
        return agent.plural == other_entity.plural or token.arc != "attr"
    if token.arc == "attr" or (before == "as" and token.arc == "pobj" and not is_named(tokens, other_entity)):
        return False  # "he is supposed to be a baby", "disguised himself as the cat"
    indefinite, turns = tokens[other_entity.first].lower in ("a", "an"), tokens[verb].lemma in ("turn", "transform")
    if indefinite and (before == "like" or (before == "into" and turns)):
        return False
    if token.arc == "dobj" and lemma == "have" and not is_named(tokens, other_entity):
        return False  # "had a fish in his mouth"
    return not (before == "of" and tokens[other_entity.first - 2].lower in table["images"])


def _obstacle(caption: Caption, verb: int, agent: Entity, patient: Entity, characters: Sequence[Entity]) -> str:
    """Return why two entities cannot be swapped, or ""."""
    keys = (agent.key, patient.key)
    both = [entity for entity in characters if entity.key in keys]
    if any(e.key[0] in side.key and len(e.key) < len(side.key) for side in (agent, patient) for e in characters):
        return "somebody is named alone and with others"
    if any(_is_restricted(caption, entity) for entity in both):
        return "a clause behind says who is meant"
    if any(_has_stranger(caption, entity, characters) for entity in both):
        return 'it is not certain who is joined by "and" or "or"'
    if _is_symmetric(caption, verb, patient):
        return "both sides do the same"
    if any(_modifies(caption, entity) for entity in both):
        return "somebody's name stands for a thing"
    if any(_is_explained(caption, entity) for entity in both):
        return "a name behind says who is meant"
    if agent.plural != patient.plural and _holds_of_several(caption):
        return "what is said holds of several only"
    if agent.plural != patient.plural and has_one_each(caption, mentions(characters, keys)):
        return "one has one of what several have each"
    if pronoun_is_open(caption, agent, patient, characters):
        return "a pronoun may stand for somebody else"
    return ""


def _is_restricted(caption: Caption, entity: Entity) -> bool:
    """Return whether a clause without "who" or "that" follows, as in "the fish he had". A name cannot precede one."""
    clauses = caption.children(entity.head, "relcl", "acl")
    bare = [n for n in clauses if not any(caption.tokens[w].tag in RELATIVE for w in caption.subtree(n))]
    return bool(bare) and not is_named(caption.tokens, entity) and any(caption.children(n, *SUBJECTS) for n in bare)


def _has_stranger(caption: Caption, entity: Entity, characters: Sequence[Entity]) -> bool:
    """Return whether an entity is joined with something else, as in "Jerry and Lilli" and "the goldfish or canary"."""
    heads = [entity.head, *(part.head for part in entity.parts if entity.plural)]
    links = {n for head in heads for n in caption.children(head, "conj")}
    above = caption.tokens[entity.head]
    if above.arc == "conj" and not acts(caption, entity) and not caption.tokens[above.head].tag.startswith("VB"):
        links.add(above.head)
    apart = {e.head for e in characters if e.key == entity.key or acts(caption, e)}
    return bool(links - {*heads, *apart})


def _is_explained(caption: Caption, entity: Entity) -> bool:
    """Return whether an apposition follows an entity, as in "his girlfriend, Toots"."""
    return caption.lower_at(entity.stop) == "," and caption.child(entity.head, "appos") is not None


def _modifies(caption: Caption, entity: Entity) -> bool:
    """Return whether a name modifies a noun, as in "Tom and Jerry cartoons"."""
    token = caption.tokens[entity.head]
    noun = caption.tokens[token.head]
    return token.arc in ("compound", "nmod") and noun.tag == "NNS" and not noun.rival.startswith("VB")


def _holds_of_several(caption: Caption) -> bool:
    """Return whether a word such as "between" or "getting along" requires several entities."""
    named = [token.lower for before, token in pairwise(caption.tokens) if before.tag != "NNS"]
    return bool(confusion_table()["of_several"] & set(named))


def _is_symmetric(caption: Caption, verb: int, patient: Entity) -> bool:
    """Return whether a verb is symmetric, as in "met Jerry" and "played chess with Jerry"."""
    tokens, table = caption.tokens, confusion_table()
    if owns(tokens, patient):
        return False
    inner = caption.child(verb, "xcomp")
    if inner is not None and tokens[verb].lemma in table["phases"]:
        verb = inner
    lemma = verb_lemma(tokens[verb].lower)
    between = [token.lower for token in tokens[verb + 1 : patient.first]]
    if not between:
        return lemma in table["symmetric"]
    if f"{lemma} {' '.join(between)}" in table["symmetric_phrases"]:
        return True
    if lemma in table["states"] and "_".join(between) in table["mutual_states"]:
        return True
    path = [token.tag[:2] for token in tokens[verb + 1 : patient.first - 1]]
    if between[-1] != "with" or ({"VB", "IN", "CC", "TO"} & set(path) and lemma != "be"):
        return False
    shared = len(between) > 1 and between[-2] in table["shared"] and lemma in table["sharing"]
    return lemma in table["symmetric_with"] or shared or between[-2:-1] == ["together"]


def exchanged(caption: Caption, cast: Cast, agent: Entity, patient: Entity, characters: Sequence[Entity]) -> str:
    """Swap two entities in every mention."""
    tokens = caption.tokens
    changes: dict[int, str] = {}
    keys, written_once = (agent.key, patient.key), set[tuple[str, ...]]()
    for entity in mentions(characters, keys):
        other_entity = patient if entity.key == agent.key else agent
        written = _in_place(
            caption,
            cast,
            _moved(caption, other_entity, characters, other_entity.key in written_once),
            entity,
            other_entity,
        )
        written_once.add(other_entity.key)
        for index in range(entity.first + 1, entity.stop):
            changes[index] = ""
        changes[entity.first] = written
        if owns(tokens, entity):
            mark = tokens[entity.stop].text[0]
            ends = written.lower().endswith("s")
            plain = tokens[entity.stop].text in ("'", "’")
            if ends != plain:
                changes[entity.stop] = mark if ends else f"{mark}s"
        relative = any(entity.stop in caption.subtree(n)[:1] for n in caption.children(entity.head, "relcl"))
        that = relative and tokens[entity.stop].lower == "that"
        if that and is_named(tokens, other_entity) and not is_named(tokens, entity):
            changes[entity.stop] = "who"  # "the fish that Tom held": "that" cannot follow a name
    changes |= _pronouns(caption, agent, patient, changes)
    changes |= _agreements(caption, agent, patient, characters, changes)
    return caption.edit(changes)


def _moved(caption: Caption, entity: Entity, characters: Sequence[Entity], again: bool) -> str:
    """Return the words of an entity's first mention as written inside a sentence, with "the" for "a" if `again`."""
    tokens = caption.tokens
    entity = next(e for e in characters if e.key == entity.key)
    first = tokens[entity.first]
    if again and first.lower in ("a", "an") and entity.stop > entity.first + 1:
        counted = tokens[entity.first + 1].lower in ("lot", "number", "couple", "dozen", "pair", "bunch")
        start = tokens[entity.first + 2] if counted and entity.stop > entity.first + 3 else first  # "the cats"
        return "the" + caption.text[start.end : tokens[entity.stop - 1].end]
    named = first.tag not in ("DT", "JJ", "PRP$", "NN", "NNS", "CD")
    return (first.text if named else without_capital(first)) + caption.text[first.end : tokens[entity.stop - 1].end]


def _in_place(caption: Caption, cast: Cast, written: str, entity: Entity, other_entity: Entity) -> str:
    """Return a name with the capitals for its new position: as in the cast, or none if the text has none."""
    tokens = caption.tokens
    first = tokens[entity.first]
    named = is_named(tokens, other_entity)
    if first.text[:1].islower() and (entity.first == 0 or (not tokens[0].text[:1].isupper() and named)):
        return written.lower() if entity.first == 0 or is_named(tokens, entity) else written
    pattern = name_pattern(cast.names)
    if not named or pattern is None:
        return written
    as_given = {name.lower(): name for name in cast.names}
    return pattern.sub(lambda match: as_given.get(match[0].lower(), match[0]), written)


def has_one_each(caption: Caption, owners: Iterable[Entity]) -> bool:
    """Return whether an entity owns something of which each owner has only one, as in "Tom's tail"."""
    tokens, parts = caption.tokens, confusion_table()["one_each"]
    owned = [owner.stop for owner in owners if owns(tokens, owner)]
    owned += [n for n, token in enumerate(tokens) if token.tag == "PRP$"]
    return any(token.lower in parts for index in owned for token in tokens[index + 1 : index + 3])


def pronoun_is_open(caption: Caption, agent: Entity, patient: Entity, characters: Sequence[Entity]) -> bool:
    """Return whether a pronoun that the swap changes may refer to something other than the two entities."""
    tokens = caption.tokens
    changed = _pronouns(caption, agent, patient, {})
    for first, second in ((agent, patient), (patient, agent)):
        if not first.gender and not is_named(tokens, first) and _loses_it(caption, first, second, characters):
            return True
    for index in changed:
        gender = _GENDER_OF[tokens[index].lower]
        inside = set[int]()
        for entity in characters:
            if entity.key in (agent.key, patient.key):
                inside |= set(range(entity.first, entity.stop))
            elif entity.first < index and entity.gender in (gender, ""):
                return True
        things = any(tokens[n].tag == "NNS" and n not in inside for n in range(index))
        if gender == "plural" and things:
            return True
    return False


def _loses_it(caption: Caption, first: Entity, second: Entity, characters: Sequence[Entity]) -> bool:
    """Return whether "it" would precede its noun or refer to the agent, as in "the shark hit Tom and hurt it"."""
    tokens = caption.tokens
    start = min(entity.first for entity in characters if entity.key == second.key)  # where the noun will be
    for index in range(first.first, len(tokens)):
        if tokens[index].lower not in ("it", "its", "itself"):
            continue
        before = tokens[index - 1]
        acted = before.tag[:2] in ("VB", "IN", "TO", "RP") and before.lower not in SUBORDINATORS
        if index < start or (tokens[index].lower != "its" and acted):
            return True
    return False


def _agreements(
    caption: Caption, agent: Entity, patient: Entity, characters: Sequence[Entity], changes: Mapping[int, str]
) -> dict[int, str]:
    """Return new forms of the finite verbs that must agree with a new subject, by token index."""
    if agent.plural == patient.plural:
        return {}
    agreed = dict[int, str]()
    for index, token in enumerate(caption.tokens):
        verb = token.head if token.arc in ("aux", "auxpass") else index
        subject = _subject(caption, verb, characters)
        if token.tag not in FINITE or token.tag == "MD" or subject is None:
            continue
        entity = entity_of(subject, characters)
        pronoun = changes.get(subject, "") if entity is None else ""
        if pronoun in ("they", "he", "she"):
            plural = pronoun == "they"
        elif entity is not None and entity.key in (agent.key, patient.key):
            plural = (patient if entity.key == agent.key else agent).plural
        else:
            continue
        first = subject if entity is None else entity.first
        bare = first and caption.tokens[first - 1].tag.startswith("VB")  # "saw them run"
        word, past = full_form(token.lower), token.tag == "VBD"
        new = (
            be(past, plural)
            if verb_lemma(word) == "be"
            else word
            if past or bare
            else present(verb_lemma(word), plural)
        )
        if new != word:
            agreed[index] = new
    return agreed


def _subject(caption: Caption, verb: int, characters: Sequence[Entity]) -> int | None:
    """Return the subject of a verb: for "who" what it stands for, and for a verb behind "and" that of the first one."""
    subject, token = caption.child(verb, "nsubj", "nsubjpass"), caption.tokens[verb]
    if subject is not None:
        return token.head if token.arc == "relcl" and caption.tokens[subject].tag in ("WP", "WDT") else subject
    first = min((verb, *caption.children(verb, "aux", "auxpass")))
    acting = next((entity.head for entity in characters if entity.stop == first and acts(caption, entity)), None)
    return _subject(caption, token.head, characters) if acting is None and token.arc == "conj" else acting


def _pronouns(caption: Caption, agent: Entity, patient: Entity, used: Container[int]) -> dict[int, str]:
    """Swap pronouns that can only refer to one of the two entities. "her" refers to the one whose gender is unknown."""
    agent, patient = _with_gender(caption, agent, patient), _with_gender(caption, patient, agent)
    genders = {agent.gender: patient.gender, patient.gender: agent.gender}
    if not agent.gender or not patient.gender or agent.gender == patient.gender:
        if "plural" not in genders or agent.plural == patient.plural:
            return {}
        genders = {agent.gender or "male": patient.gender or "male", patient.gender or "male": agent.gender or "male"}
    changes = dict[int, str]()
    for index, token in enumerate(caption.tokens):
        if token.tag not in ("PRP", "PRP$") or index in used:
            continue
        pronoun = caption.tokens[index - 1].lemma in ("make", "let") and is_verb_form(caption.lower_at(index + 1), "VB")
        owning = token.tag == "PRP$" and not pronoun  # "made her sneeze"
        form = "PRP$" if owning else "self" if token.lower.endswith(("self", "selves")) else ""
        for name in (form,) if form else ("subject", "object"):
            gender = _FORMS.get((name, token.lower))
            if gender in genders:
                changes[index] = _PRONOUNS[genders[gender]][name]
                break
    return changes


def _with_gender(caption: Caption, first: Entity, second: Entity) -> Entity:
    """Infer the unknown gender of an entity from pronouns that cannot refer to the other one."""
    if first.gender or second.gender not in ("female", "male"):
        return first
    used = {gender for token in caption.tokens if (gender := _GENDER_OF.get(token.lower)) in ("female", "male")}
    left = used - {second.gender}
    return replace(first, gender=left.pop()) if left else first

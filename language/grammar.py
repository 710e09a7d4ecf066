"""Read the grammar of a parsed caption, and check that a rewritten text keeps it.

A verb has auxiliaries, a subject, a tense, and verbs that share them. A relation joins the lemmas of two content words.
It is the same in the active and in the passive, whatever the tense, so only what an operation declares may differ:
words that go, words that come, words that are renamed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from .lexicon import (
    FINITE,
    PLURAL_SUBJECTS,
    can_be_verb,
    inflect,
    is_plural_noun,
    is_verb_form,
    readings,
    verb_lemma,
    word_lists,
    words,
)
from .words import Caption, without_capital

ANIMALS = ("animal", "bird", "cat", "dog", "horse", "monkey")
SUBJECTS = ("nsubj", "nsubjpass", "expl", "csubj")
OBJECTIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "who": "whom"}
SUBJECTIVE = {new: "I" if old == "i" else old for old, new in OBJECTIVE.items()}
FULL = {"'s": "is", "'re": "are", "'m": "am", "'ve": "have", "ca": "can", "wo": "will", "'d": "would", "'ll": "will"}
_BARE_AFTER = words("perception") | {"let", "make", "help", "have"}  # "sees him go"


def full_form(word: str) -> str:
    """Return the full form of a clitic or shortened auxiliary: "is" for "'s", or "will" for the "wo" of "won't"."""
    return FULL.get(word.lower(), word.lower())


def auxiliaries(caption: Caption, verb: int) -> tuple[int, ...]:
    """Return the auxiliaries of a verb in order, except "to"."""
    return tuple(n for n in caption.children(verb, "aux", "auxpass") if caption.tokens[n].tag != "TO" and n < verb)


def own_subject(caption: Caption, verb: int) -> int | None:
    """Return the subject that stands before a verb, or None."""
    return next((n for n in caption.children(verb, *SUBJECTS) if n < verb), None)


def leader(caption: Caption, verb: int) -> int | None:
    """Return the earlier verb that a verb is coordinated with and whose subject it shares, or None."""
    tokens, head = caption.tokens, caption.tokens[verb].head
    if own_subject(caption, verb) is not None:
        return None
    if tokens[verb].arc == "conj" and tokens[head].tag.startswith(("VB", "MD")):
        joined = any(token.tag == "CC" or token.lower == "then" or not token.is_word for token in tokens[head:verb])
        return head if joined else None
    return next((n for n in caption.children(verb, "ccomp") if n < verb and own_subject(caption, n) is not None), None)


def subject(caption: Caption, verb: int) -> int | None:
    """Return the subject of a verb, its own or the one that it shares with an earlier verb, or None."""
    before = leader(caption, verb)
    return own_subject(caption, verb) if before is None else subject(caption, before)


def verbs(caption: Caption) -> tuple[int, ...]:
    """Return the main verbs of a caption in order, finite or not. A form of "be" counts if it is no auxiliary."""
    return tuple(n for n in caption.tagged("VB") if caption.tokens[n].arc not in ("aux", "auxpass", "amod", "compound"))


def finite(caption: Caption, verb: int) -> int | None:
    """Return the token that carries the tense of a verb, or None if the verb is not finite.

    A base form with a subject is finite even if it does not agree ("person open the door"), but not in "sees him go".
    """
    first = min(auxiliaries(caption, verb), default=verb)
    token = caption.tokens[first]
    if token.tag in FINITE:
        return None if token.tag == "VBP" and _is_bare(caption, verb) else first
    if token.tag != "VB" or first != verb or any(caption.tokens[n].tag == "TO" for n in caption.children(verb, "aux")):
        return None
    before = leader(caption, verb)
    if before is None:  # "person open the door"
        has_subject = caption.tokens[verb].arc != "conj" and own_subject(caption, verb) is not None
        return first if has_subject and not _is_bare(caption, verb) else None
    helpers = [caption.tokens[n] for n in auxiliaries(caption, before)]
    helped = any(helper.tag == "MD" or helper.lower == "cannot" or helper.lemma == "do" for helper in helpers)
    return first if finite(caption, before) is not None and not helped else None  # "swing an ax and chop a block"


def _is_bare(caption: Caption, verb: int) -> bool:
    token = caption.tokens[verb]
    seen = token.arc == "ccomp" and token.head < verb and caption.tokens[token.head].lemma in _BARE_AFTER
    return seen and own_subject(caption, verb) is not None


def is_past(caption: Caption, verb: int) -> bool:
    """Return whether a finite verb is in the past."""
    first = finite(caption, verb)
    if first is None or caption.tokens[first].tag != "VBD":
        return False
    word = caption.tokens[first].lower
    return is_verb_form(word, "VBD") or not (is_verb_form(word, "VB") or is_verb_form(word, "VBZ"))  # "surfs"


def is_plural(caption: Caption, index: int) -> bool:
    """Return whether a verb behind a noun phrase with this head is in the plural."""
    token = caption.tokens[index]
    before = {caption.tokens[n].lower for n in caption.children(index, "det", "nummod", "amod")}
    if token.lower in ("some", "most", "all", "half", "rest", "lot"):  # "a lot of smoke"
        counted = [n for of in caption.children(index, "prep") for n in caption.children(of, "pobj")]
        if counted and caption.lower_at(index + 1) == "of":
            return is_plural(caption, counted[0])
    if token.tag == "CD":
        return token.lower not in ("one", "1")
    listed = [index]  # "a board, a knife, and a plate"
    for noun in listed:
        listed += caption.children(noun, "conj")
    if any(caption.tokens[n].lower == "and" for noun in listed for n in caption.children(noun, "cc")):
        return True
    if token.tag == "PRP" or token.lower in PLURAL_SUBJECTS:
        return token.lower in PLURAL_SUBJECTS or token.lower in ("them", "us", "these", "those")
    if before & {"a", "an", "this", "that", "each", "every", "another", "one"}:
        return token.lower in words("many") and any(caption.tokens[n].lower == "of" for n in caption.children(index))
    if before & {"two", "three", "four", "these", "those", "many", "several", "few", "both"}:
        return True
    named = token.tag in ("NNS", "NNPS") and (token.lower.endswith("s") or bool(readings(token.lower)))
    regular = token.lower.endswith("s") and is_plural_noun(token.lower)
    shaped = named or regular or token.lower in words("plural_words")
    return shaped and token.lower not in words("singular_s")


def be(past: bool, plural: bool, word: str = "") -> str:
    """Return the finite form of "be" that agrees with a subject, given its number and, for a pronoun, itself."""
    if word.lower() in ("i", "me"):
        return "was" if past else "am"
    plural = plural or word.lower() == "you"
    return ("were" if plural else "was") if past else ("are" if plural else "is")


def present(lemma: str, plural: bool, word: str = "") -> str:
    """Return the present of a verb that agrees with a subject."""
    if lemma == "be":
        return be(False, plural, word)
    return lemma if plural or word.lower() in ("i", "you") else inflect(lemma, "VBZ")


def inside_sentence(caption: Caption, numbers: Sequence[int]) -> str:
    """Return tokens as written, the first as it is written inside a sentence."""
    first = caption.tokens[numbers[0]]
    unknown = not readings(first.lower) and first.tag.startswith("NN")  # "Tuffy"
    rest = caption.text[first.end : caption.tokens[numbers[-1]].end]
    if first.lower in words("people"):
        return first.lower + rest  # "Person" at the start is no name
    return (first.text if unknown else without_capital(first)) + rest


def takes_who(caption: Caption, index: int) -> bool:
    """Return whether "who" rather than "that" follows a noun phrase with this head."""
    token = caption.tokens[index]
    if token.lower in words("quantities"):
        return any(
            takes_who(caption, n) for of in caption.children(index, "prep") for n in caption.children(of, "pobj")
        )
    if token.lemma in ANIMALS:
        return False
    persons = words("people") | words("he") | words("she")
    named = token.tag.startswith("NNP") and (token.text[0].isupper() or not readings(token.lower))
    named = named or token.lower in word_lists("stories").given_names
    return named or token.tag == "PRP" or bool({token.lower, token.lemma} & persons) or token.lemma.endswith("man")


def is_order(caption: Caption, verb: int) -> bool:
    """Return whether a verb of an instruction says what to do: "add" in "add the onions when they brown"."""
    token = caption.tokens[verb]
    base = token.tag in ("VB", "VBP") or (token.tag == "VBD" and is_verb_form(token.lower, "VB"))  # "put them in a pan"
    if not base or own_subject(caption, verb) is not None or caption.children(verb, "aux", "auxpass"):
        return False
    return token.arc == "ROOT" or (token.arc in ("conj", "ccomp", "dep") and is_order(caption, token.head))


def is_continued(caption: Caption, verb: int, doer: int) -> bool:
    """Return whether "and" or "then" before the main verb tells that the parser took an earlier verb for a noun."""
    before = verb - 1 - (caption.lower_at(verb - 1) == "then")
    then = before < verb - 1 and before != doer and caption.tag_at(before).startswith("NN")
    return caption.tokens[verb].arc == "ROOT" and (then or caption.tag_at(before) == "CC")


def is_hidden_order(caption: Caption, index: int) -> bool:
    """Return whether a word that the parser reads otherwise is an order: "flip" in "add the dumplings and flip"."""
    token = caption.tokens[index]
    joined = caption.tag_at(index - 1) == "CC" or caption.lower_at(index - 1) == "then"
    known = token.lower in words("order_verbs") and caption.style == "imperative"
    return joined and known and not is_order(caption, index)


def lost_verb(caption: Caption) -> int | None:
    """Return a word that may be a verb whose subject the parser has not found, or None.

    It is a finite verb without a subject, a verb that does not match what it is joined to, or a noun ("holds a glass
    and talks").
    """
    loose = (n for n in verbs(caption) if _is_loose(caption, n))
    return next(loose, next((n for n in range(len(caption.tokens)) if _is_hidden(caption, n)), None))


def _is_loose(caption: Caption, verb: int) -> bool:
    """Return whether the subject of a verb is uncertain."""
    token, before = caption.tokens[verb], leader(caption, verb)
    if token.tag != "VBG" and token.text[0].isalpha() and not can_be_verb(token.lower):
        return True  # "a yellow belt karate student"
    helped = any(caption.tokens[n].lemma == "do" for n in auxiliaries(caption, verb))
    if helped and not caption.children(verb, "neg") and caption.tokens[-1].text != "?":
        return True  # "does card tricks"
    if is_order(caption, verb):
        return False
    doer = own_subject(caption, verb)
    if doer is not None:  # "a robot spins around then goes", "a woman with long hair smiles and turns"
        return caption.tag_at(doer) == "VBZ" or is_continued(caption, verb, doer)
    if finite(caption, verb) is not None:
        return before is None or finite(caption, before) is None
    if token.tag != "VB" or caption.children(verb, "aux") or is_hidden_order(caption, verb):
        return False
    if caption.style == "imperative":
        return True
    if token.arc != "conj":  # "opens a box take a towel"
        return token.arc in ("dep", "advcl", "ccomp", "xcomp") and caption.tokens[token.head].lemma not in _BARE_AFTER
    shared = before is not None and auxiliaries(caption, before)
    return not shared and caption.tokens[token.head].tag in (
        "VBG",
        "VBN",
        "VBZ",
        "NN",
        "NNS",
    )  # "seen standing and lead"


def _is_hidden(caption: Caption, index: int) -> bool:
    """Return whether a word that the parser reads as part of a noun phrase may be a verb."""
    token, before, after = caption.tokens[index], caption.tag_at(index - 1), caption.tag_at(index + 1)
    if token.tag not in ("NN", "NNS"):
        return False
    single = any(caption.tokens[n].lower in ("a", "an") for n in caption.children(index, "det"))
    if single and token.tag == "NNS" and is_verb_form(token.lower, "VBZ"):
        return True  # "a dog runs"
    bare = all(n > index for n in caption.children(index))
    if token.tag == "NN":  # "playing volleyball and cheer"
        chosen = token.rival in ("VB", "VBP") and before == "CC" and bare and token.lower not in words("order_nouns")
        chosen = chosen and is_verb_form(token.lower, "VB") and not is_hidden_order(caption, index)
        return chosen or caption.child(index, "nsubj", "nsubjpass") is not None
    joined = (
        bare
        and caption.style != "imperative"
        and (before in ("CC", "RB", ",") or caption.lower_at(index - 1) == "than")
    )
    moving = (
        token.rival == "VBZ" and token.arc != "dobj" and after in ("IN", "RP", "RB", "DT", "PRP$", "PRP")
    )  # "the camera pans around"
    return (joined or moving) and is_verb_form(token.lower, "VBZ")


Relation = tuple[str, str, str]  # head, label, dependent
FUNCTION = (
    "det",
    "punct",
    "aux",
    "auxpass",
    "neg",
    "cc",
    "case",
    "mark",
    "expl",
    "predet",
    "preconj",
    "prep",
    "prt",
    "agent",
)
_LABELS = {
    "nsubjpass": "dobj",
    "csubjpass": "dobj",
    "relcl": "acl",
    "attr": "acomp",
    "nmod": "amod",
    "compound": "amod",
    "npadvmod": "advmod",
    "dative": "dobj",
}
_PARTICLES = words("particles")
_PRONOUNS = {"me": "i", "him": "he", "her": "she", "us": "we", "them": "they", "whom": "who", "'s": "be"}
_PLURAL_PRONOUNS = ("they", "we", "you", "these", "those")
_SINGULAR_PRONOUNS = ("he", "she", "it", "this", "that")


class Refused(Exception):
    """Raised when a text cannot be rewritten. Its only argument is the reason."""


def relations(caption: Caption, without: Collection[int] = ()) -> Counter[Relation]:
    """Count the relations between the content words of a caption, except those of some tokens.

    A noun behind a preposition is joined to what the preposition depends on. The subject of a passive counts as an
    object, and its agent as a subject, and a noun before a participle as what the participle is said of. What a
    preposition, an adverb or another verb depends on does not count, as a parser often chooses another word for the
    same meaning. Determiners, auxiliaries, negation and punctuation don't count either.
    """
    counts: Counter[Relation] = Counter()
    for index, token in enumerate(caption.tokens):
        if index in without or token.arc in FUNCTION or (token.arc == "advmod" and token.lower in _PARTICLES):
            continue
        label, head = joined(caption, index)
        verb = token.tag.startswith(("VB", "MD"))
        if verb or label == "advmod" or label.startswith("prep "):
            counts["", label if label.startswith("prep ") and not verb else "", _word(caption, index)] += 1
        elif label != "ROOT" and not (label == "acomp" and caption.child(head, "expl") is not None):
            counts["" if head in without else _word(caption, head), label, _word(caption, index)] += 1
        if token.arc == "acl" and token.tag in ("VBG", "VBN") and caption.child(index, "nsubj") is None:
            passive = token.tag == "VBN" or caption.child(index, "auxpass") is not None
            counts[_word(caption, index), "dobj" if passive else "nsubj", _word(caption, head)] += head not in without
    return +counts


def joined(caption: Caption, index: int) -> tuple[str, int]:
    """Return the label and the head of a token, past prepositions."""
    token = caption.tokens[index]
    label, head = _LABELS.get(token.arc, token.arc), token.head
    if token.tag in ("IN", "TO") and label == "dobj":
        return "ROOT", head  # "to" in "gives a ball to a boy"
    while caption.tokens[head].arc in ("prep", "agent") and head != index:
        link = caption.tokens[head]
        verbs = (link.head, caption.tokens[link.head].head)  # "is given a ring by a man"
        by = link.lower == "by" and any(caption.child(verb, "auxpass") is not None for verb in verbs)
        label = "nsubj" if by else f"prep {link.lower}"
        head = verbs[by and caption.child(link.head, "auxpass") is None]
    return label, head


def _word(caption: Caption, index: int) -> str:
    token = caption.tokens[index]
    if token.tag == "JJ" and is_verb_form(token.lower, "VBN"):
        return verb_lemma(token.lower)  # "is being drunk"
    return _PRONOUNS.get(token.lower, token.lemma or token.lower)


def difference(
    source: Caption,
    result: Caption,
    *,
    gone: Collection[int] = (),
    new: Collection[int] = (),
    renamed: Mapping[str, str] | None = None,
) -> str:
    """Return the first word that a rewritten text relates in another way than its source, or "" if there is none.

    Args:
        source: The source.
        result: The parsed result.
        gone: Tokens of the source that the operation removes.
        new: Tokens of the result that it adds.
        renamed: New lemmas by lemma, for words that it replaces.
    """
    names = renamed or {}
    before = Counter[Relation]()
    for (head, label, word), count in relations(source, gone).items():
        before[names.get(head, head), label, names.get(word, word)] += count
    after = relations(result, new)
    lost = (before - after) or (after - before)
    return min(lost)[2] if lost else ""


def disagreement(caption: Caption) -> str:
    """Return the first finite verb whose number is not that of its subject, as in "some mangos is cut", or ""."""
    for index, token in enumerate(caption.tokens):
        verb = token.head if token.arc in ("aux", "auxpass") else index
        subject = caption.child(verb, "nsubj", "nsubjpass")
        first = min(caption.children(verb, "aux", "auxpass"), default=verb)
        if subject is None or index != first or subject > index:
            continue
        plural = is_plural_subject(caption, subject)
        form = {"was": "VBZ", "were": "VBP"}.get(token.lower, token.tag)
        if plural is not None and form in ("VBZ", "VBP") and (form == "VBP") != plural:
            return token.text
    return ""


def is_plural_subject(caption: Caption, index: int) -> bool | None:
    """Return whether a subject is plural, or None if that is uncertain ("a group of men", "who")."""
    token = caption.tokens[index]
    if any(caption.tokens[n].tag[:2] in ("NN", "PR") for n in caption.children(index, "conj")):
        return True if any(caption.tokens[n].lower == "and" for n in caption.children(index, "cc")) else None
    if token.lower in _SINGULAR_PRONOUNS or token.lower in words("singular_s"):
        return False
    if token.lower in _PLURAL_PRONOUNS or token.tag in ("NNS", "NNPS"):
        return True
    counted = any(caption.tokens[n].lower == "of" for n in caption.children(index, "prep"))
    return None if counted or token.tag not in ("NN", "NNP") else False

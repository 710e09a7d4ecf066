"""Negate verbs, and remove negation."""

from __future__ import annotations

from collections.abc import Sequence

from .grammar import (
    Refused,
    auxiliaries,
    difference,
    disagreement,
    finite,
    full_form,
    is_order,
    is_past,
    is_plural,
    leader,
    lost_verb,
    own_subject,
    subject,
    verbs,
)
from .lexicon import BE, DO, NEGATIONS, Tag, inflect, verb_lemma, words
from .parse import parse
from .words import Caption, like

POSITIVE = {
    "nobody": "somebody",
    "nothing": "something",
    "nowhere": "somewhere",
    "none": "some",
    "no": "some",
    "no-one": "someone",
}
NEGATIVES = NEGATIONS | {"cannot", "without", "nor", "neither", *POSITIVE}
POLAR = {"any": "some", "anything": "something", "anyone": "someone", "anybody": "somebody", "anywhere": "somewhere"}
_ONLY_NEGATED = frozenset(
    ("anymore", "either", "yet", "ever", "nor", "until", "longer", "necessarily", "but", "except")
)
_NARROW = ("only", "just", "even", "so", "all", "every", "much", "many", "sure")  # "not only"

Edit = tuple[dict[int, str], dict[int, str]]  # replacements of words, and words to insert before tokens


def reverse_negation(caption: Caption) -> str:
    """Negate the main verb and the verbs that share its subject, or remove the negation of a caption.

    "does gymnastics" becomes "does not do gymnastics", "rides and waves" becomes "does not ride and wave", and "man
    riding a horse" becomes "man not riding a horse". "without" becomes "with". In a caption without a verb, "with"
    becomes "without".

    Raises:
        Refused: It is negated more than once, nothing in it can be negated, or the parser is not sure of the sentence.
    """
    negatives = [n for n, token in enumerate(caption.tokens) if token.lower in NEGATIVES]
    if len(negatives) > 1:
        raise Refused("it is negated more than once")
    if negatives:
        changes, before = without_negation(caption, negatives[0])
        gone = [n for n in changes if not caption.tokens[n].tag.startswith("VB")]
        return _checked(caption, caption.edit(changes, before), gone)
    main = main_verb(caption)
    participles = [
        n for n in verbs(caption) if caption.tokens[n].arc == "acl" and caption.tokens[n].tag in ("VBG", "VBN")
    ]
    if main in participles and len(participles) > 1:
        raise Refused("two participles of one noun")  # "a girl wearing a swimsuit swinging on a swing"
    if main is None:
        index = next((n for n, token in enumerate(caption.tokens) if token.lower == "with" and n), None)
        if index is None:
            raise Refused("no verb")
        return caption.edit({index: "without"})
    ordered = caption.style == "imperative"
    if (not ordered and lost_verb(caption) is not None) or (ordered and finite(caption, main) is not None):
        raise Refused("not sure what its verbs are")
    return _checked(caption, caption.edit(*with_negation(caption, main, *_negated_with(caption, main))))


def main_verb(caption: Caption) -> int | None:
    """Return the verb of the main clause or, in a noun phrase, the first verb behind its noun, or None."""
    all_verbs, tokens = verbs(caption), caption.tokens
    for root in caption.roots:
        if root in all_verbs or caption.children(root, "auxpass"):  # "was shocked"
            finite_verbs = [
                n for n in all_verbs if finite(caption, n) is not None and tokens[n].arc in ("advcl", "ccomp", "dep")
            ]
            opened = {token.head for token in tokens if token.arc == "mark" or token.tag == "WRB"}
            finite_verbs = [n for n in finite_verbs if n not in opened]  # "to check if it broke"
            hanging = finite(caption, root) is None and own_subject(caption, root) is None and finite_verbs
            return _first(caption, finite_verbs[0] if hanging and caption.style != "imperative" else root)
        below = [n for n in all_verbs if tokens[n].head == root and n > root and tokens[n].arc != "relcl"]
        if below:
            return below[0]
    return next((n for n in all_verbs if tokens[n].tag in ("VBG", "VBN")), None)


def _first(caption: Caption, verb: int) -> int:
    """Return the first of several clauses that follow each other without "and"."""
    before = next((n for n in caption.children(verb, "ccomp") if n < verb and finite(caption, n) is not None), None)
    return verb if before is None else _first(caption, before)


def with_negation(caption: Caption, verb: int, *shared: int) -> Edit:
    """Return the edit that negates a verb and the verbs that share its negation.

    "rides" becomes "does not ride", "is riding" becomes "is not riding", and "can ride" becomes "cannot ride". "add"
    becomes "do not add", the participle "riding" becomes "not riding", and "to ride" becomes "not to ride".

    Args:
        caption: The caption.
        verb: Position of the verb.
        shared: Positions of later verbs without an auxiliary, which become base forms if this verb does.

    Raises:
        Refused: The verb is negated already.
    """
    tokens = caption.tokens
    if negation_of(caption, verb) is not None:
        raise Refused("it is negated already")
    start = verb
    while caption.lower_at(start - 1).endswith("ly") and tokens[start - 1].head == verb:
        start -= 1
    first = finite(caption, verb)
    if first is None:
        first_token = min((start, *caption.children(verb, "aux", "auxpass")))
        return {}, {first_token: "do not" if is_order(caption, verb) else "not"}
    doer, word = subject(caption, verb), full_form(tokens[first].lower)
    if tokens[first].tag == "MD" and auxiliaries(caption, verb) == (first,) and tokens[verb].tag != "VB":
        raise Refused("not sure what its verbs are")  # "the trash can fell over"
    if word in BE or (first != verb and verb_lemma(word) != "get"):
        index = _none_of(caption, verb)
        if index is not None:
            return ({index: "no"}, {}) if tokens[index].lower == "some" else ({}, {index: "no"})
        return {first: "cannot" if word == "can" else f"{tokens[first].text} not"}, {}
    several = doer is not None and (
        is_plural(caption, doer) or (tokens[first].tag == "VBP" and tokens[doer].lower in words("quantities"))
    )
    helper = "did" if is_past(caption, verb) else "do" if several and tokens[first].tag != "VBZ" else "does"
    changes = {n: verb_lemma(tokens[n].lower) for n in (first, *shared)}
    return changes, {min(start, first): f"{helper} not"}


def negation_of(caption: Caption, verb: int) -> int | None:
    """Return the negative word of a verb ("not", "never", "cannot", or "nobody" and "no" around it), or None."""
    tokens = caption.tokens
    around = [*caption.children(verb, "neg", "advmod"), *auxiliaries(caption, verb)]
    for noun in caption.children(verb, "nsubj", "nsubjpass", "dobj", "attr", "acomp", "advmod"):
        around += [noun, *caption.children(noun, "det", "neg")]
    return next((n for n in around if tokens[n].lower in NEGATIVES), None)


def without_negation(caption: Caption, index: int) -> Edit:
    """Return the edit that removes a negative word, with "some" for the first "any" behind it."""
    tokens = caption.tokens
    word, before, after = tokens[index].lower, caption.lower_at(index - 1), caption.lower_at(index + 1)
    behind = {token.lower for token in tokens[index + 1 :]} - ({"longer"} if word == "no" else set())
    if (
        before in ("or", "if", "but", "why")
        or after in _NARROW
        or behind.intersection(_ONLY_NEGATED)
        or word in ("neither", "nor")
    ):
        raise Refused("its negation has no plain opposite")
    changes = _positive(caption, index)
    polar = next((n for n in range(index + 1, len(tokens)) if tokens[n].lower in POLAR), None)
    if polar is not None:
        changes.setdefault(polar, POLAR[tokens[polar].lower])
    return changes, {}


def _positive(caption: Caption, index: int) -> dict[int, str]:
    tokens, word = caption.tokens, caption.tokens[index].lower
    noun, after = tokens[index].head, caption.lower_at(index + 1)
    if word == "cannot":
        return {index: "can"}
    if word == "no" and after in ("longer", "one"):
        return {index: "still" if after == "longer" else like("someone", tokens[index].text), index + 1: ""}
    if word == "without":
        noun = next(iter(caption.children(index, "pobj")), index)
        if noun == index or tokens[noun].tag == "VBG" or tokens[noun].lower.endswith("ing"):
            raise Refused("its negation has no plain opposite")
        bare = noun == index + 1 and _is_counted(caption, noun)
        return {index: like("with", tokens[index].text)} | ({noun: f"a {tokens[noun].text}"} if bare else {})
    if word == "no":
        if (
            tokens[noun].lower in ("matter", "way")
            or caption.tag_at(index - 1) == "DT"
            or not tokens[noun].tag.startswith("NN")
        ):
            raise Refused("its negation has no plain opposite")
        return {index: like("a" if _is_counted(caption, noun) else "some", tokens[index].text)}
    if word in POSITIVE:
        return {index: like(POSITIVE[word], tokens[index].text)}
    changes, verb = {index: ""}, noun
    if not tokens[verb].tag.startswith(("VB", "MD")) and after != "to":
        raise Refused("its negation has no plain opposite")
    helper = next((n for n in auxiliaries(caption, verb) if full_form(tokens[n].lower) in DO), None)
    if tokens[index].arc == "neg" and helper is not None:
        changes[helper] = ""
        doer = subject(caption, verb)
        single = doer is not None and not is_plural(caption, doer)
        form: Tag = "VBD" if tokens[helper].lower == "did" else "VBZ" if single else "VB"
        for joined in (verb, *(n for n in verbs(caption) if leader(caption, n) == verb and tokens[n].tag == "VB")):
            changes[joined] = inflect(verb_lemma(tokens[joined].lower), form)
    elif word == "n't":
        changes[index - 1] = full_form(tokens[index - 1].lower)
    return changes


def _is_counted(caption: Caption, noun: int) -> bool:
    token = caption.tokens[noun]
    return token.tag == "NN" and token.lower not in words("uncounted") and not is_plural(caption, noun)


def _none_of(caption: Caption, verb: int) -> int | None:
    """Return "some" in "there are some dogs", "dogs" in "there are dogs", or None if "not" is used."""
    noun = caption.child(verb, "attr")
    if noun is not None and caption.child(verb, "expl") is not None and caption.lower_at(noun)[:4] == "some":
        raise Refused("its negation has no plain form")  # "there is something": "nothing"
    if noun is None or caption.tokens[noun].tag != "NNS" or caption.child(verb, "expl") is None:
        return None
    counted = caption.children(noun, "det", "nummod", "poss", "amod")
    some = next((n for n in counted if caption.tokens[n].lower == "some"), None)
    return some if counted else caption.subtree(noun)[0]


def _negated_with(caption: Caption, main: int) -> list[int]:
    """Return the verbs that "and" joins to the main verb, up to one with an auxiliary or of another form."""
    shared: list[int] = []
    for verb in verbs(caption):
        if verb > main and leader(caption, verb) in (main, *shared):
            if any(token.lower == "but" and token.head in (main, *shared) for token in caption.tokens[main:verb]):
                raise Refused('"but" contrasts its verbs')
            if finite(caption, verb) != verb:
                break
            shared.append(verb)
    return shared


def _checked(caption: Caption, text: str, gone: Sequence[int] = ()) -> str:
    """Return a text if the parser finds the relations of the caption in it, else raise Refused."""
    result = parse(text, "imperative" if caption.style == "imperative" else "declarative")
    added = NEGATIVES if not gone else {*POSITIVE.values(), *POLAR.values(), "still"}
    new = [n for n, token in enumerate(result.tokens) if token.lower in added]
    gone = [*gone, *(n for n, token in enumerate(caption.tokens) if gone and token.lower in {*POLAR, *added})]
    exchanged = any(caption.tokens[n].lower == "without" for n in gone)
    lost = "" if exchanged else difference(caption, result, gone=gone, new=new) or disagreement(result)
    if lost:
        raise Refused(f'the parser does not read "{lost}" with the opposite polarity as without it')
    return text

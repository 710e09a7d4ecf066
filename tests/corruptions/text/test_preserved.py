"""What syntactic perturbations leave alone, on own captions analysed by hand."""

import re
from collections import Counter

import pytest
from captions import perturb
from stressreel.language.inflection import inflect, verb_lemma
from stressreel.language.words import tokenize

NEGATIONS = {"not", "n't", "never", "no", "nobody", "nothing", "none", "neither", "without", "cannot"}
PRONOUNS = {"he", "him", "she", "her", "it", "they", "them", "who", "that", "and"}
# Agent, verb and patient of the clause that is put into the passive.
PASSIVES = [
    ("a man rides a horse", "a man", "ride", "a horse"),
    ("two girls are painting a wooden fence", "two girls", "paint", "a wooden fence"),
    ("The boy in the red hat kicked the ball.", "the boy in the red hat", "kick", "the ball"),
    ("a dog is chasing three cats through the yard", "a dog", "chase", "three cats"),
    ("someone has opened the door to the cellar", "someone", "open", "the door to the cellar"),
    ("the old woman did not sell the neighbor's boat", "the old woman", "sell", "the neighbor's boat"),
    ("a chef picks up the pan and smiles", "a chef", "pick", "the pan"),
    ("people can see a lighthouse from the beach", "people", "see", "a lighthouse"),
    ("a farmer repairs the roof while it rains", "a farmer", "repair", "the roof"),
    ("Person A throws the keys on the sofa", "person a", "throw", "the keys"),
    ("a singer who wears a mask holds a guitar", "a singer who wears a mask", "hold", "a guitar"),
    ("a woman takes off a coat in order to swim", "a woman", "take", "a coat"),
]
# Verb groups between brackets; all other words stay.
TENSES = [
    "a man [rides] a horse through the snow",
    "two girls [are painting] a wooden fence and [talking]",
    "The boy [opens] the door, [looks] around and [leaves].",
    "a dog [is] in the kitchen while the cat [sleeps]",
    "the runners [have] blue shirts and [are drinking] water",
    "a chef [does] not [stir] the soup",
    "someone [picked] up the phone and [called] a friend",
    "a child in a yellow coat [jumps] over puddles because it [likes] the rain",
    "a fly [stays] on the window for a while",
]
NEGATED = [
    "a man rides a horse through the snow",
    "two girls are painting a wooden fence",
    "The boy never opens the door.",
    "a man without a hat crosses the street",
    "they can't see the lighthouse",
    "a chef picks up the pan and smiles",
    "there is no water in the pool",
    "the players have shaken hands",
]


def content(text: str) -> Counter[str]:
    """Return the lemmas of a text, without forms of "be" and "do", "by", pronouns and negations."""
    lemmas = (verb_lemma(token.lower) for token in tokenize(text) if token.is_word)
    return Counter(lemma for lemma in lemmas if lemma not in {"be", "do", "by", "ca", "can", *PRONOUNS, *NEGATIONS})


def negations(text: str) -> int:
    return sum(token.lower in NEGATIONS for token in tokenize(text))


@pytest.mark.parametrize(("text", "agent", "verb", "patient"), PASSIVES)
def test_passives_keep_agent_patient_and_verb(text: str, agent: str, verb: str, patient: str) -> None:
    new = perturb("active_to_passive", text).text
    lower = new.lower()
    assert f"by {agent}" in lower
    assert re.search(rf"\b{patient} (?:\w+ )*{inflect(verb, 'VBN')}\b", lower)
    assert lower.index(patient) < lower.index(f"by {agent}")
    assert content(new) == content(text)
    assert negations(new) == negations(text)


@pytest.mark.parametrize("marked", TENSES)
def test_tense_changes_only_verb_groups(marked: str) -> None:
    text = re.sub(r"[\[\]]", "", marked)
    kept = [re.escape(part) for part in re.split(r"\[.*?\]", marked)]
    new = perturb("tense", text).text
    assert new != text
    assert re.fullmatch(r"[\w ]+".join(kept), new)
    assert content(new) == content(text)


@pytest.mark.parametrize("text", NEGATED)
def test_negation_changes_exactly_one_negation(text: str) -> None:
    new = perturb("reverse_neg", text).text
    assert abs(negations(new) - negations(text)) == 1
    added = content(new) - content(text) | content(text) - content(new)
    assert set(added) <= {"with", "a", "some", "ever", "any"}

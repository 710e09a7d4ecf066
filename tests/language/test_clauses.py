from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stressreel.language.clauses import Clause, NounPhrase, clauses, main_clause
from stressreel.language.tagger import load_tagger
from stressreel.language.words import Caption

TAGGER = load_tagger("pattern")
WORDS = (
    "a the man women dog is are not riding rides ride rode picks up ball and who that by of , . to her because eaten"
)


def read(text: str, style: Any = "declarative") -> tuple[Caption, tuple[Clause, ...]]:
    caption = TAGGER.analyse(text, style)
    return caption, clauses(caption)


def words(caption: Caption, phrase: NounPhrase | None) -> str:
    return phrase.text(caption) if phrase else ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a man and a woman ride horses", [("main", "a man and a woman", "ride", "horses", "")]),
        ("a group of people are dancing", [("main", "a group of people", "are dancing", "", "")]),
        (
            "a man who is cooking talks to the camera",
            [("relative", "a man", "is cooking", "", ""), ("main", "a man who is cooking", "talks", "", "")],
        ),
        (
            "there is a man riding a horse",
            [("main", "there", "is", "", ""), ("modifier", "a man", "riding", "a horse", "")],
        ),
        (
            "a man is seen riding a horse",
            [("main", "a man", "is seen", "", ""), ("complement", "a man", "riding", "a horse", "")],
        ),
        ("he picks it up", [("main", "he", "picks up", "it", "")]),
        ("a man gives the girl a ring", [("main", "a man", "gives", "the girl", "a ring")]),
        ("they can't see us", [("main", "they", "ca n't see", "us", "")]),
        (
            "a man eats rice and a woman sings",
            [("main", "a man", "eats", "rice", ""), ("main", "a woman", "sings", "", "")],
        ),
        (
            "a man is cutting onions and adding oil",
            [("main", "a man", "is cutting", "onions", ""), ("coordinate", "a man", "adding", "oil", "")],
        ),
        (
            "Because Tom wants to catch Jerry.",
            [("subordinate", "Tom", "wants", "", ""), ("complement", "Tom", "to catch", "Jerry", "")],
        ),
        (
            "Tom is angry that Jerry ate his cheese.",
            [("main", "Tom", "is", "", ""), ("subordinate", "Jerry", "ate", "his cheese", "")],
        ),
        (
            "When the cat sleeps, Tom eats cheese.",
            [("subordinate", "the cat", "sleeps", "", ""), ("main", "Tom", "eats", "cheese", "")],
        ),
        ("video of a man riding a horse", [("modifier", "a man", "riding", "a horse", "")]),
        ("a man in a suit riding a horse", [("modifier", "a man in a suit", "riding", "a horse", "")]),
        ("in this video a man cuts onions", [("main", "a man", "cuts", "onions", "")]),
    ],
)
def test_clauses(text: str, expected: list[tuple[str, ...]]) -> None:
    caption, found = read(text)
    assert [
        (
            c.role,
            words(caption, c.subject),
            " ".join(caption.tokens[n].text for n in c.verb.tokens),
            words(caption, c.object),
            words(caption, c.second_object),
        )
        for c in found
    ] == expected


def test_orders() -> None:
    caption, found = read("add the oil to the pan and stir", "imperative")
    assert [(c.verb.lemma, c.verb.form, c.role) for c in found] == [
        ("add", "order", "main"),
        ("stir", "order", "coordinate"),
    ]
    assert words(caption, found[0].object) == "the oil"


@pytest.mark.parametrize(
    ("text", "tense", "progressive", "perfect", "passive"),
    [
        ("a dog barks", "present", False, False, False),
        ("a dog was barking", "past", True, False, False),
        ("they have been eating cake", "present", True, True, False),
        ("a cake had been eaten", "past", False, True, True),
        ("she will sing", "modal", False, False, False),
        ("broth is being added", "present", True, False, True),
    ],
)
def test_tense_and_aspect(text: str, tense: str, progressive: bool, perfect: bool, passive: bool) -> None:
    verb = read(text)[1][0].verb
    assert (verb.tense, verb.progressive, verb.perfect, verb.passive) == (tense, progressive, perfect, passive)


def test_the_agent_of_a_passive() -> None:
    caption, found = read("Jerry is hit by the big cat")
    assert words(caption, found[0].agent) == "the big cat"
    assert found[0].object is None


@pytest.mark.parametrize(
    ("text", "plural", "person"),
    [
        ("a man and a woman talk", True, 3),
        ("a group of people are here", True, 3),
        ("gymnastics is fun", False, 3),
        ("i sing", False, 1),
        ("you sing", True, 2),
        ("two dogs bark", True, 3),
    ],
)
def test_number_and_person(text: str, plural: bool, person: int) -> None:
    subject = read(text)[1][0].subject
    assert subject is not None
    assert (subject.plural, subject.person) == (plural, person)


def test_the_main_clause() -> None:
    for text, verb in (("When the cat sleeps, Tom eats.", "eats"), ("Because Tom wants cheese.", "wants")):
        caption = TAGGER.analyse(text)
        main = main_clause(caption)
        assert main is not None
        assert caption.tokens[main.verb.main].text == verb
    assert main_clause(TAGGER.analyse("a tv talk show")) is None


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
def test_any_words_are_read(text: str) -> None:
    caption, found = read(text)
    for clause in found:
        assert set(clause.verb.tokens) <= set(range(len(caption.tokens)))
        for phrase in (clause.subject, clause.object, clause.second_object, clause.agent):
            assert phrase is None or phrase.first <= phrase.head < phrase.stop <= len(caption.tokens)

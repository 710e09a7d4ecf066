import pytest
from captions import Row
from cases import read_cases
from hypothesis import given
from hypothesis import strategies as st
from stressreel.language.clause_negation import negate, remove_negation
from stressreel.language.clauses import Clause, NounPhrase, clauses, main_clause
from stressreel.language.english import is_english
from stressreel.language.inflection import inflect, is_plural_noun, is_verb_form, noun_lemma, verb_lemma
from stressreel.language.plain_captions import Refused, plain_sentence
from stressreel.language.tag_repairs.sentences import repair_tags
from stressreel.language.tagger import load_tagger
from stressreel.language.words import Caption

CASES = read_cases(__file__)
TAGGER = load_tagger("pattern")
LIVING = frozenset(("cat", "mouse", "duck", "baby", "bear"))
WORDS = (
    "a the man women dog is are not riding rides ride rode picks up ball and who that by of , . to her because eaten"
)


def tags(caption: Caption) -> str:
    return " ".join(token.tag for token in caption.tokens)


def test_forms_lemmas_and_particles() -> None:
    forms = [case.split() for case in CASES["rules.forms"]]
    assert [(lemma, tag) for lemma, tag, form in forms if inflect(lemma, tag) != form] == []
    assert [case for case in CASES["rules.lemmas"] if verb_lemma(case.split()[0]) != case.split()[1]] == []
    assert inflect("pick up", "VBD") == "picked up"
    assert (is_plural_noun("dogs"), is_plural_noun("dog"), noun_lemma("children")) == (True, False, "child")
    assert (is_verb_form("lit", "VBN"), is_verb_form("sing", "VBG")) == (True, False)


@pytest.mark.parametrize(("text", "expected", "style"), CASES["rules.statements"])
def test_tags(text: str, expected: str, style: str | None) -> None:
    caption = TAGGER.analyse(text)
    assert caption.text == text
    assert expected in (None, tags(caption))
    assert style in (None, caption.style)


def test_styles_and_tags_of_other_texts() -> None:
    assert [case for case in CASES["rules.styles"] if TAGGER.analyse(*case[:2]).style != case[2]] == []
    for text, expected in CASES["rules.orders"]:
        assert tags(TAGGER.analyse(text, "imperative")) == expected
    for text, expected in CASES["rules.clipped"]:
        assert tags(TAGGER.analyse_clipped(text)) == expected
    for text, expected in CASES["rules.told"]:
        assert tags(TAGGER.analyse_story(text, ("Tom", "Jerry"), LIVING)) == expected


@pytest.mark.parametrize(("text", "given_tags", "place", "expected"), CASES["rules.mistagged"])
def test_a_verb_is_never_left_in_a_closed_class(text: str, given_tags: str, place: int, expected: str) -> None:
    assert repair_tags(text.split(), given_tags.split(), "declarative")[0][place] == expected


def test_other_languages_are_told_apart() -> None:
    assert [text for text in CASES["rules.english"] if not is_english(text)] == []
    assert [text for text in CASES["rules.other_languages"] if is_english(text)] == []


@pytest.mark.full
@pytest.mark.shared
def test_real_captions_are_english(real_captions: tuple[Row, ...]) -> None:
    refused = [text for _, _, text in real_captions if not is_english(text)]
    assert len(refused) <= 1, refused


@pytest.mark.parametrize(("text", "plain"), CASES["rules.plain"])
def test_plain_sentences(text: str, plain: str) -> None:
    assert plain_sentence(text) == plain


@pytest.mark.parametrize(("text", "reason"), CASES["rules.no_sentences"])
def test_what_is_no_sentence_is_refused(text: str, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        plain_sentence(text)


@pytest.mark.parametrize(("text", "expected"), CASES["rules.clauses"])
def test_clauses(text: str, expected: list[list[str]]) -> None:
    caption = TAGGER.analyse(text)

    def words(phrase: NounPhrase | None) -> str:
        return phrase.text(caption) if phrase else ""

    def verb(clause: Clause) -> str:
        return " ".join(caption.tokens[n].text for n in clause.verb.tokens)

    found = clauses(caption)
    assert [[c.role, words(c.subject), verb(c), words(c.object), words(c.second_object)] for c in found] == expected


@pytest.mark.parametrize(("text", "tense", "progressive", "perfect", "passive"), CASES["rules.tense_and_aspect"])
def test_tense_and_aspect(text: str, tense: str, progressive: bool, perfect: bool, passive: bool) -> None:
    verb = clauses(TAGGER.analyse(text))[0].verb
    assert (verb.tense, verb.progressive, verb.perfect, verb.passive) == (tense, progressive, perfect, passive)


@pytest.mark.parametrize(("text", "plural", "person"), CASES["rules.number_and_person"])
def test_number_and_person(text: str, plural: bool, person: int) -> None:
    subject = clauses(TAGGER.analyse(text))[0].subject
    assert subject is not None
    assert (subject.plural, subject.person) == (plural, person)


def test_the_main_clause() -> None:
    for text, verb in (("When the cat sleeps, Tom eats.", "eats"), ("Because Tom wants cheese.", "wants")):
        caption = TAGGER.analyse(text)
        assert caption.tokens[main_clause(caption).verb.main].text == verb
    assert main_clause(TAGGER.analyse("a tv talk show")) is None


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
def test_any_words_are_read_and_rewritten(text: str) -> None:
    caption = TAGGER.analyse(text)
    for clause in clauses(caption):
        assert set(clause.verb.tokens) <= set(range(len(caption.tokens)))
        for phrase in (clause.subject, clause.object, clause.second_object, clause.agent):
            assert phrase is None or phrase.first <= phrase.head < phrase.stop <= len(caption.tokens)
        assert (negate(caption, clause) is None) != (remove_negation(caption, clause) is None)


@pytest.mark.parametrize(("text", "expected"), CASES["rules.negated"] + CASES["rules.negated_and_back"])
def test_negated(text: str, expected: str) -> None:
    caption = TAGGER.analyse(text)
    assert negate(caption, main_clause(caption)) == expected
    if [text, expected] in CASES["rules.negated_and_back"]:
        again = TAGGER.analyse(expected)
        assert negate(again, main_clause(again)) is None
        assert remove_negation(again, main_clause(again)) == text

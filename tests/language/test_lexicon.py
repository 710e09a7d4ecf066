from cases import read_cases
from stressreel.language.lexicon import inflect, is_plural_noun, is_verb_form, noun_lemma, verb_lemma

CASES = read_cases(__file__)


def test_forms_lemmas_and_particles() -> None:
    """That of several lemmas does not depend on the order of sets, which is another in every run."""
    forms = [case.split() for case in CASES["inflection.forms"]]
    assert [(lemma, tag) for lemma, tag, form in forms if inflect(lemma, tag) != form] == []
    assert [case for case in CASES["inflection.lemmas"] if verb_lemma(case.split()[0]) != case.split()[1]] == []
    assert inflect("pick up", "VBD") == "picked up"
    assert (is_plural_noun("dogs"), is_plural_noun("dog"), noun_lemma("children")) == (True, False, "child")
    assert (is_verb_form("lit", "VBN"), is_verb_form("sing", "VBG")) == (True, False)

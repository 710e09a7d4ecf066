import pytest
from stressreel.builders.perturbed.selection import choose_pairs, choose_texts, combinations
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import list_corruptions, text_corruptions
from stressreel.corruptions.text.tools import Tools

TEXTS = tuple(text_corruptions())
VISUAL = tuple(corruption.name for corruption in list_corruptions("visual"))


def test_texts_depend_on_models_and_bias():
    assert len(TEXTS) == 35
    assert set(TEXTS) - set(choose_texts(None, Tools())) == {"mlm_suggestion", "back_trans"}
    assert set(TEXTS) - set(choose_texts(None, Tools(mlm="m"))) == {"back_trans"}
    assert choose_texts(None, Tools(mlm="m", translate=("a", "b"))) == choose_texts(["all"], Tools()) == TEXTS
    assert len(choose_texts(["all"], Tools(), bias=False)) == 31
    assert choose_texts(["gender_swap"], Tools(), bias=False) == ("gender_swap",)
    bias = ("all_female", "all_male", "gender_neutral", "gender_swap")
    assert choose_texts(["shuffle_order", "bias", "typos"], Tools()) == (*bias, "typos", "shuffle_order")


def test_paper_has_66_pairs_at_severity_3():
    severity, pairs = combinations()
    assert (severity, len(pairs), len(set(pairs))) == (3, 66, 66)
    assert len(choose_pairs(None, VISUAL, TEXTS)) == 66
    assert len(choose_pairs(None, VISUAL, choose_texts(["all"], Tools(), bias=False))) == 6 * 8
    assert choose_pairs(["jpeg:typos", " freeze : ocr ", "jpeg:typos"], VISUAL, TEXTS) == ("jpeg:typos", "freeze:ocr")


@pytest.mark.parametrize(
    ("names", "words"),
    [(["jpeg"], "'jpeg'"), (["jpeg:typo"], "'typos'"), (["jpeg:typos"], "jpeg, typos"), (None, "none of the 66")],
)
def test_wrong_pairs_are_refused(names, words):
    with pytest.raises(InputError, match=words):
        choose_pairs(names, ("rotation",), ("ocr",))

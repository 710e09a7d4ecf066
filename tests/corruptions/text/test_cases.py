from dataclasses import dataclass
from typing import Any

import nltk.data
import pytest
from captions import Row, cases, perturb
from language_data import SHARED
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import TextResult, list_corruptions, text_corruptions
from stressreel.corruptions.text.engine import TextRecipe
from stressreel.corruptions.text.tools import Tools, nltk_tagger

FAMILIES = sorted({corruption.family for corruption in list_corruptions("text")})
NEEDS = {corruption.name: {*corruption.needs} for corruption in list_corruptions("text")}
MODELS = {"mlm", "translation"}
ALL_CASES = [(name, case) for family in FAMILIES for name, case in cases(family)]
LEAST = {  # shares of real captions that change, of statements alone where a family is about people or verbs
    **{"all_female": 0.3, "all_male": 0.2, "gender_neutral": 0.5, "gender_swap": 0.5, "prefix_swap": 0.01},
    **{"multi_pos_swap_jj": 0.1, "multi_pos_swap_nn": 0.87, "swap_syn_wordnet": 0.33, "swap_syn_word_embedding": 0.14},
    **{"active_to_passive": 0.15, "reverse_neg": 0.78, "tense": 0.74, "insert_adv": 0.85},
}


@dataclass(frozen=True)
class Said(Tools):
    """Tools whose models say what a case says."""

    suggested: str = ""
    translation: str = ""

    def suggest(self, before: str, after: str, count: int) -> tuple[str, ...]:
        return tuple(self.suggested.split())[:count]

    def translate_back(self, text: str) -> str:
        return self.translation


def check(name: str, case: dict[str, Any]) -> None:
    tools = Said(suggested=case.get("suggested", ""), translation=case.get("translation", ""))
    style, mode = case.get("style", "declarative"), case.get("mode", "stressreel")
    if mode == "released":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nltk.data, "path", [*nltk.data.path, str(SHARED)])
            try:
                nltk_tagger()
            except InputError as missing:
                pytest.skip(str(missing))
    recipe = TextRecipe(text_corruptions()[name], case.get("seed", 0), "case", style, mode)
    changed = "expected" in case
    expected = TextResult(case.get("expected", case["given"]), changed, case.get("unchanged", ""))
    assert recipe.apply(case["given"], tools) == expected


@pytest.mark.parametrize(("name", "case"), [each for each in ALL_CASES if "wordnet" not in NEEDS[each[0]]])
def test_case(name: str, case: dict[str, Any]) -> None:
    check(name, case)


@pytest.mark.usefixtures("real_wordnet")
class TestRealWordNet:
    @pytest.mark.parametrize(("name", "case"), [each for each in ALL_CASES if "wordnet" in NEEDS[each[0]]])
    def test_case(self, name: str, case: dict[str, Any]) -> None:
        try:
            Tools().check([text_corruptions()[name]])
        except InputError as missing:
            pytest.skip(str(missing))
        check(name, case)

    @pytest.mark.full
    @pytest.mark.shared
    @pytest.mark.parametrize("name", [name for name in NEEDS if not NEEDS[name] & MODELS])
    def test_real_captions(self, name: str, real_captions: tuple[Row, ...]) -> None:
        family, changed, asked = text_corruptions()[name].family, 0, 0
        for style, key, text in real_captions[:: 4 if NEEDS[name] else 1]:
            found = perturb(name, text, style=style, key=key)
            assert found.changed == (found.text != text) == (not found.reason), text
            if family in ("bias", "text_style"):
                assert found.reason != "it gives the same words" or family == "bias", text
                assert "  " not in found.text or "  " in text, text
            if style == "declarative" or family not in ("bias", "text_style"):
                asked, changed = asked + 1, changed + found.changed
        assert changed / asked >= LEAST.get(name, 0.0 if family == "drop_text" else 0.97)

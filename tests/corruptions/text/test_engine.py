from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nltk.data
import pytest
import yaml
from captions import Row, perturb
from hypothesis import given, settings
from hypothesis import strategies as st
from language_data import SHARED
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import TextCorruption, TextResult, list_corruptions, text_corruptions
from stressreel.corruptions.text.engine import STYLES, TextRecipe, corrupt_text
from stressreel.corruptions.text.tools import Tools, nltk_tagger

FILES = sorted(Path(__file__).with_name("cases").glob("*.yaml"))
CASES = [
    (name, case)
    for path in FILES
    for name, cases in yaml.safe_load(path.read_text(encoding="utf-8")).items()
    for case in cases
]
IN_WORDNET = [case for case in CASES if "wordnet" in text_corruptions()[case[0]].needs]
NO_MODELS = [each for each in list_corruptions("text") if not {"mlm", "translation"} & {*each.needs}]
FOREIGN = ("一个男人 在 海滩上 骑马", "un hombre está montando un caballo en la playa")
ODD = [
    *("a little girl does gymnastics", "Add the oil, then stir. Don't burn it!", "man riding a horse", "fire", "!?"),
    *("  two   spaces ", "“Look out!” he says…", "[UNK] dog", "MAN RUNS", "1/2 cup", "人が走る 🎬"),
    "un homme fait la cuisine à l'ancienne",
]
PARTS = ["a", "man", "is", "the", "dog", ".", ",", "'", "“", "it", "'s", "I", "[UNK]", "3"]
LEAST = {  # shares of real captions that change, of statements alone where a family is about people or verbs
    **{"all_female": 0.3, "all_male": 0.2, "gender_neutral": 0.5, "gender_swap": 0.5, "prefix_swap": 0.01},
    **{"multi_pos_swap_jj": 0.1, "multi_pos_swap_nn": 0.87, "swap_syn_wordnet": 0.33, "swap_syn_word_embedding": 0.14},
    **{"active_to_passive": 0.15, "reverse_neg": 0.78, "tense": 0.74, "insert_adv": 0.85},
}


@dataclass(frozen=True)
class CannedTools(Tools):
    """Tools whose models return fixed texts."""

    suggested: str = ""
    translation: str = ""

    def suggest(self, before: str, after: str, count: int) -> tuple[str, ...]:
        return tuple(self.suggested.split())[:count]

    def translate_back(self, text: str) -> str:
        return self.translation


def check_case(name: str, case: dict[str, Any]) -> None:
    tools = CannedTools(suggested=case.get("suggested", ""), translation=case.get("translation", ""))
    style, mode = case.get("style", "declarative"), case.get("mode", "stressreel")
    recipe = TextRecipe(text_corruptions()[name], case.get("seed", 0), "case", style, mode)
    skip_without(recipe.corruption, mode)
    text = case.get("expected", case["given"])
    assert recipe.apply(case["given"], tools) == TextResult(text, "expected" in case, case.get("unchanged", ""))


def skip_without(corruption: TextCorruption, mode: str = "stressreel") -> None:
    try:
        Tools().check([corruption] if corruption in NO_MODELS else [], mode)
    except InputError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize(("name", "case"), [case for case in CASES if case not in IN_WORDNET])
def test_case(name: str, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.data, "path", [*nltk.data.path, str(SHARED)])
    check_case(name, case)


@pytest.mark.usefixtures("real_wordnet")
class TestRealWordNet:
    @pytest.mark.parametrize(("name", "case"), IN_WORDNET)
    def test_case(self, name: str, case: dict[str, Any]) -> None:
        check_case(name, case)

    @pytest.mark.full
    @pytest.mark.shared
    @pytest.mark.parametrize("corruption", NO_MODELS, ids=lambda each: each.name)
    def test_real_captions(self, corruption: TextCorruption, real_captions: tuple[Row, ...]) -> None:
        about_verbs = corruption.family in ("bias", "text_style")
        changed = []
        for style, key, text in real_captions[:: 4 if corruption.needs else 1]:
            result = perturb(corruption.name, text, style=style, key=key)
            assert result.changed == (result.text != text) == (not result.reason), text
            if about_verbs:
                assert result.reason != "it gives the same words" or corruption.family == "bias", text
                assert "  " not in result.text or "  " in text, text
            if style == "declarative" or not about_verbs:
                changed.append(result.changed)
        assert sum(changed) / len(changed) >= LEAST.get(corruption.name, 0.97 * (corruption.family != "drop_text"))


@pytest.mark.parametrize("corruption", NO_MODELS, ids=lambda each: each.name)
def test_results_state_changes_and_depend_on_keys(corruption: TextCorruption) -> None:
    skip_without(corruption)
    tools = Tools()
    for style in STYLES:
        for text in (*ODD, *FOREIGN):
            result = TextRecipe(corruption, 0, "odd", style).apply(text, tools)
            assert result.changed == (result.text != text) == (not result.reason)
            assert result.text.strip()
            assert (result.reason == "not English") == corruption.reads_english or text not in FOREIGN
    text = "a young woman quickly chops the fresh onions and adds them to the soup in a large kitchen"
    results = {TextRecipe(corruption, seed, f"k{key}").apply(text, tools) for seed in range(4) for key in range(6)}
    assert len(results) == 1 or "rng" in corruption.takes


@settings(max_examples=80)
@given(
    st.sampled_from([each for each in list_corruptions("text") if not each.needs]),
    st.text(max_size=40) | st.lists(st.sampled_from(PARTS)).map(" ".join),
)
def test_any_text_gives_a_result(corruption: TextCorruption, text: str) -> None:
    result = TextRecipe(corruption, 0, "any").apply(text, Tools())
    assert result.changed == (result.text != text) == (not result.reason)


@pytest.mark.parametrize("name", ["no_nouns", "gender_swap"])
def test_released_mode_requires_nltk_data(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    nltk_tagger.cache_clear()
    with pytest.raises(InputError, match="averaged_perceptron_tagger_eng"):
        corrupt_text("a man sings", name, mode="released")
    assert corrupt_text("a man sings", name).changed


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ({"name": "shufle_order"}, "'shuffle_order'"),
        ({"text": "  "}, "'  '"),
        ({"text": 3}, "3"),
        ({"style": "order"}, "declarative, imperative, auto; got 'order'"),
        ({"mode": "old"}, "'old'"),
    ],
)
def test_invalid_arguments_are_refused(arguments: dict[str, Any], value: str) -> None:
    with pytest.raises(InputError, match=value):
        corrupt_text(**{"text": "fire", "name": "drop_first", "tools": Tools(), **arguments})


@pytest.mark.parametrize("name", ["append_irr", "multi_pos_swap_nn", "typos", "shuffle_order", "casual"])
def test_other_captions_draw_differently(name: str) -> None:
    animals = ("dog", "cat", "horse", "cow", "fox")
    texts = [f"a {animal} runs over the green field and finds a ball" for animal in animals]
    for key in ("", "same"):
        results, again = ([corrupt_text(text, name, key=key, tools=Tools()).text for text in texts] for _ in range(2))
        assert results == again
        assert len({result.replace(animal, "X") for result, animal in zip(results, animals, strict=True)}) > 1

import pytest
import stressreel.corruptions.text.engine as engine
from cases import read_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.core.errors import InputError
from stressreel.corruptions.registry import TextCorruption, TextResult, list_corruptions
from stressreel.corruptions.text.engine import TextRecipe, corrupt_text
from stressreel.corruptions.text.tools import Tools

CASES = read_cases(__file__)

ALL = list_corruptions("text")
ODD = [
    *("a little girl does gymnastics", "Add the oil, then stir. Don't burn it!", "man riding a horse", "fire", "!?"),
    *("  two   spaces ", "“Look out!” he says…", "[UNK] dog", "MAN RUNS", "1/2 cup", "人が走る 🎬"),
    "un homme fait la cuisine à l'ancienne",
]
PARTS = ["a", "man", "is", "the", "dog", ".", ",", "'", "“", "it", "'s", "I", "[UNK]", "3"]
every = pytest.mark.parametrize("corruption", ALL, ids=lambda corruption: corruption.name)


def runnable(corruption: TextCorruption) -> Tools:
    """Tools for a perturbation, or a skip that says what is missing; models are never fetched."""
    if {"mlm", "translation"} & set(corruption.needs):
        pytest.skip(f"needs a model that nobody has given: {', '.join(corruption.needs)}")
    tools = Tools()
    try:
        tools.check([corruption])
    except InputError as missing:
        pytest.skip(f"needs data that is not here: {missing}")
    return tools


@every
def test_changed_exactly_if_the_text_differs(corruption: TextCorruption) -> None:
    tools = runnable(corruption)
    for style in engine.STYLES:
        for text in ODD:
            found = TextRecipe(corruption, 0, "odd", style).apply(text, tools)
            assert isinstance(found, TextResult)
            assert isinstance(found.text, str)
            assert found.changed == (found.text != text)
            assert found.changed == (not found.reason)
            assert found.text.strip()


@every
def test_draws_depend_on_seed_and_key_alone(corruption: TextCorruption) -> None:
    tools = runnable(corruption)
    text = "a young woman quickly chops the fresh onions and adds them to the soup in a large kitchen"
    found = {TextRecipe(corruption, seed, f"k{key}").apply(text, tools) for seed in range(4) for key in range(6)}
    assert len(found) == 1 or "rng" in corruption.takes


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([c for c in ALL if not c.needs]),
    st.text(max_size=40) | st.lists(st.sampled_from(PARTS)).map(" ".join),
)
def test_any_text_gives_a_result(corruption: TextCorruption, text: str) -> None:
    found = TextRecipe(corruption, 0, "any").apply(text, Tools())
    assert found.changed == (found.text != text) == (not found.reason)


def test_the_public_function_checks_what_it_gets() -> None:
    tools = Tools()
    assert corrupt_text("fire", "drop_first", tools=tools) == TextResult("[UNK]", True)
    wrong = {
        "unknown perturbation 'shufle_order'. Did you mean 'shuffle_order'": {"name": "shufle_order"},
        "non-empty": {"text": "  "},
        "got 3": {"text": 3},
        "style must be one of declarative, imperative, auto; got 'order'": {"style": "order"},
        "mode must be one of": {"mode": "old"},
    }
    for message, arguments in wrong.items():
        with pytest.raises(InputError, match=message):
            corrupt_text(**{"text": "fire", "name": "drop_first", "tools": tools, **arguments})


@pytest.mark.parametrize(("text", "name", "expected"), CASES["engine.captions_in_capitals_stay_in_capitals"])
def test_captions_in_capitals_stay_in_capitals(text: str, name: str, expected: str) -> None:
    assert corrupt_text(text, name, tools=Tools()).text == expected


@pytest.mark.parametrize("name", ["append_irr", "multi_pos_swap_nn", "typos", "shuffle_order", "casual"])
def test_one_key_draws_otherwise_for_other_captions(name: str) -> None:
    tools = Tools()
    texts = [
        f"a {animal} runs over the green field and finds a ball" for animal in ("dog", "cat", "horse", "cow", "fox")
    ]
    for key in ("", "same"):
        found = [corrupt_text(text, name, key=key, tools=tools).text for text in texts]
        plain = {result.replace(text.split()[1], "X") for result, text in zip(found, texts, strict=True)}
        assert len(plain) > 1
        assert found == [corrupt_text(text, name, key=key, tools=tools).text for text in texts]


@every
def test_captions_in_other_languages_are_left_alone(corruption: TextCorruption) -> None:
    tools = runnable(corruption)
    for text in ("一个男人 在 海滩上 骑马", "un hombre está montando un caballo en la playa"):
        found = TextRecipe(corruption, 0, "other").apply(text, tools)
        assert (found.reason == "not English") == corruption.reads_english

from collections import Counter

from captions import perturb
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.corruptions.text.positional import written_words
from stressreel.language.parse import parse

WORDS = st.lists(
    st.sampled_from(["a", "dog", "Dog", "it's", "I", "runs", "fast", "TV", ",", ".", "!"]), min_size=1, max_size=8
)


def words(text: str) -> list[str]:
    caption = parse(text)
    return [text[caption.tokens[w.start].start : caption.tokens[w.stop - 1].end] for w in written_words(caption)]


def marks(text: str) -> list[str]:
    return [token.text for token in parse(text).tokens if not token.is_word]


@settings(max_examples=200, deadline=None)
@given(WORDS, st.integers(0, 1000))
def test_shuffled_words_are_the_same_in_another_order(parts: list[str], seed: int) -> None:
    text = " ".join(parts)
    before = [word.lower() for word in words(text)]
    found = perturb("shuffle_order", text, seed=seed)
    after = [word.lower() for word in words(found.text)]
    assert Counter(after) == Counter(before)
    assert marks(found.text) == marks(text)
    assert found.changed == (len(set(before)) > 1)
    assert (after != before) == found.changed

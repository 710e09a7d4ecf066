import pytest
from cases import read_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language.words import Caption, edit, indefinite_article, like, sentence_ranges, tokenize

CASES = read_cases(__file__)

PARTS = """a an A An egg man I NBA it's can't dogs' , . ... " ( ) 3oz"""
PHRASES = """
an apple, a dog, an hour, an hourglass, an honest man, an heirloom, a herb, a hotel, a university, a uniform,
a unicorn, an unidentified object, an uninteresting film, an umbrella, a user, a useful tool, an usher,
a ukulele, a utensil, a utopia, an utter mess, a European, a eulogy, a one-way street, an onion, a onesie,
a ufo, an x-ray, an xbox, a xylophone, an FBI agent, an NBA player, an nba game, an nfl team, a NASA report,
a FIFA game, a USB stick, a UFO, an MRI, an SUV, a TV, an HD video, an RV, an LA street, a U-turn, a t-shirt,
an m&m, an 8 year old, an 80 degree oven, an 11th try, an 18-year-old, an 18th, an 1850s dress, a 1950s dress,
a 180 degree turn, a 110 v plug, a 1/2 cup, an éclair, an 8-bit game
"""
TEXT = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(PARTS.split()), max_size=12).map(" ".join),
    st.lists(st.sampled_from([*PARTS.split(), " "]), max_size=16).map("".join),
)


def changed(text: str, changes: dict[int, str], before: dict[int, str] | None = None) -> str:
    tokens = tokenize(text)
    return edit(text, tokens, sentence_ranges(tokens), changes, before)


@settings(max_examples=400)
@given(TEXT)
def test_tokens_cover_all_but_space(text: str) -> None:
    tokens, end = tokenize(text), 0
    for token in tokens:
        assert not text[end : token.start].strip()
        assert token.text == text[token.start : token.end] == "".join(token.text.split()) != ""
        end = token.end
    assert not text[end:].strip()
    assert edit(text, tokens, sentence_ranges(tokens), {}) == Caption(text, tokens, "noun_phrase").replace({}) == text


@pytest.mark.parametrize(("text", "tokens"), CASES["words.tokens"])
def test_tokens(text: str, tokens: str) -> None:
    assert [token.text for token in tokenize(text)] == tokens.split()


@pytest.mark.parametrize(("text", "sentences"), CASES["words.sentences"])
def test_sentences(text: str, sentences: list[str]) -> None:
    tokens = tokenize(text)
    assert [text[tokens[s.start].start : tokens[s.stop - 1].end] for s in sentence_ranges(tokens)] == sentences


@settings(max_examples=300)
@given(st.lists(st.sampled_from(["the", "dog", "man", "runs", "old", "and"]), min_size=1, max_size=9), st.data())
def test_edits_keep_single_spaces(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(parts)
    gone = data.draw(st.sets(st.integers(0, len(parts) - 1)))
    assert changed(text, dict.fromkeys(gone, "")) == " ".join(p for n, p in enumerate(parts) if n not in gone)
    put = data.draw(st.sets(st.integers(0, len(parts))))
    expected = [word for n, p in enumerate([*parts, ""]) for word in (["very"] * (n in put) + [p] * bool(p))]
    assert changed(text, {}, dict.fromkeys(put, "very")) == " ".join(expected)


@pytest.mark.parametrize(("text", "changes", "before", "expected"), CASES["words.edits"])
def test_edits(text: str, changes: dict[int, str], before: dict[int, str], expected: str) -> None:
    assert changed(text, changes, before) == expected


def test_articles_and_capitals() -> None:
    phrases = [phrase.split(maxsplit=1) for phrase in PHRASES.replace("\n", " ").split(", ")]
    assert [following for article, following in phrases if indefinite_article(following) != article] == []
    assert [like("boy", model) for model in ("girl", "Girl", "GIRL", "I")] == ["boy", "Boy", "BOY", "Boy"]


@pytest.mark.parametrize(("text", "tokens"), CASES["words.clitics_without_their_apostrophes"])
def test_clitics_without_apostrophes(text: str, tokens: list[str]) -> None:
    found = tokenize(text)
    assert [token.lower for token in found] == tokens
    assert all(text[token.start : token.end] == token.text for token in found)
    assert all(token.lacks_apostrophe == ("'" in token.lower and "’" not in text) for token in found)

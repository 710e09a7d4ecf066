import pytest
from cases import read_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language.words import Caption, edit, indefinite_article, like, sentence_ranges, tokenize

CASES = read_cases(__file__)
PARTS = """a an A An egg man I NBA it's can't dogs' , . ... " ( ) 3oz"""
TEXT = st.text(max_size=40) | st.lists(st.sampled_from([*PARTS.split(), " "]), max_size=20).map("".join)


def changed(text: str, changes: dict[int, str], before: dict[int, str] | None = None) -> str:
    tokens = tokenize(text)
    return edit(text, tokens, sentence_ranges(tokens), changes, before)


@settings(max_examples=200)
@given(TEXT)
def test_tokens_cover_all_but_space(text: str) -> None:
    tokens, end = tokenize(text), 0
    for token in tokens:
        assert not text[end : token.start].strip()
        assert token.text == text[token.start : token.end] == "".join(token.text.split()) != ""
        end = token.end
    assert not text[end:].strip()
    assert changed(text, {}) == Caption(text, tokens, "noun_phrase").replace({}) == text


def test_tokens_and_sentences() -> None:
    for text, tokens in CASES["words.tokens"]:
        assert [token.text for token in tokenize(text)] == tokens.split()
    for text, sentences in CASES["words.sentences"]:
        tokens = tokenize(text)
        assert [text[tokens[s.start].start : tokens[s.stop - 1].end] for s in sentence_ranges(tokens)] == sentences
    for text, lower in CASES["words.clitics_without_their_apostrophes"]:
        found = tokenize(text)
        assert [token.lower for token in found] == lower
        assert all(text[token.start : token.end] == token.text for token in found)
        assert all(token.lacks_apostrophe == ("'" in token.lower and "’" not in text) for token in found)


@settings(max_examples=150)
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
    phrases = [phrase.split(maxsplit=1) for phrase in CASES["words.articles"]]
    assert [following for article, following in phrases if indefinite_article(following) != article] == []
    assert [like("boy", model) for model in ("girl", "Girl", "GIRL", "I")] == ["boy", "Boy", "BOY", "Boy"]

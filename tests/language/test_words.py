import pytest
from captions import Row
from hypothesis import given, settings
from hypothesis import strategies as st
from stressreel.language.words import Caption, edit, indefinite_article, like, sentence_ranges, tokenize

PARTS = [
    "a",
    "an",
    "A",
    "An",
    "egg",
    "man",
    "I",
    "NBA",
    "it's",
    "can't",
    "dogs'",
    ",",
    ".",
    "...",
    '"',
    "(",
    ")",
    "3.5oz",
]
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
    st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join),
    st.lists(st.sampled_from([*PARTS, " "]), max_size=16).map("".join),
)


def words(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


def changed(text: str, changes: dict[int, str], before: dict[int, str] | None = None) -> str:
    return edit(text, tokenize(text), changes, before)


# Tokens


@settings(max_examples=400)
@given(TEXT)
def test_tokens_cover_all_but_space(text: str) -> None:
    tokens = tokenize(text)
    place = 0
    for token in tokens:
        assert text[place : token.start].strip() == ""
        assert text[token.start : token.end] == token.text
        assert token.text
        assert not any(character.isspace() for character in token.text)
        place = token.end
    assert text[place:].strip() == ""


@settings(max_examples=300)
@given(TEXT)
def test_sentences_divide_the_tokens(text: str) -> None:
    tokens = tokenize(text)
    ranges = sentence_ranges(tokens)
    assert [number for sentence in ranges for number in sentence] == list(range(len(tokens)))
    assert all(sentence for sentence in ranges)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("it's can't won’t isn't they've", "it 's ca n't wo n’t is n't they 've"),
        ("the girl's t-shirt, the dogs' bowls", "the girl 's t-shirt , the dogs ' bowls"),
        ("mother-in-law's o'clock rock'n'roll y'all", "mother-in-law 's o'clock rock'n'roll y'all"),
        ("add 1/2 cup, 3.5oz or 1,000 g", "add 1/2 cup , 3.5oz or 1,000 g"),
        ("1/2-inch 10-15 2nd 9:30pm 8-year-old 4tbsp 1970s", "1/2-inch 10-15 2nd 9:30pm 8-year-old 4tbsp 1970s"),
        ("at 350.", "at 350 ."),
        ("at 5 p.m. in the U.S. today", "at 5 p.m. in the U.S. today"),
        ("wait... what?!", "wait ... what ? !"),
        ("“look” (there) 'now'", "“ look ” ( there ) ' now '"),
        ("[UNK] runs, [UNK]'s", "[UNK] runs , [UNK] 's"),
        ("café crème cafe\u0301 naïve", "café crème cafe\u0301 naïve"),
        ("男の人 mužčina 🎬 fun", "男の人 mužčina 🎬 fun"),
        ("$5 50% salt&pepper and/or", "$ 5 50 % salt & pepper and / or"),
    ],
)
def test_tokens(text: str, tokens: str) -> None:
    assert words(text) == tokens.split()


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("A dog runs. It barks!", ["A dog runs.", "It barks!"]),
        ("wait... what?! no", ["wait...", "what?!", "no"]),
        ("He says “go.” Then he runs.", ["He says “go.”", "Then he runs."]),
        ('He runs. "Go!" she says', ["He runs.", '"Go!"', "she says"]),
        ("(It ends.) Mr. Smith vs. the dog", ["(It ends.)", "Mr. Smith vs. the dog"]),
        ("bake at 3.5 for 1 h", ["bake at 3.5 for 1 h"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    tokens = tokenize(text)
    assert [text[tokens[s.start].start : tokens[s.stop - 1].end] for s in sentence_ranges(tokens)] == sentences


# Edits


@settings(max_examples=400)
@given(TEXT)
def test_no_changes_give_the_text_back(text: str) -> None:
    tokens = tokenize(text)
    assert edit(text, tokens, {}) == text
    assert Caption(text, tokens, "noun_phrase").replace({}) == text


@settings(max_examples=300)
@given(TEXT, st.data())
def test_a_replaced_text_differs_in_its_token_alone(text: str, data: st.DataObject) -> None:
    tokens = tokenize(text)
    if not tokens:
        return
    number = data.draw(st.integers(0, len(tokens) - 1))
    token = tokens[number]
    found = Caption(text, tokens, "noun_phrase").replace({number: "[UNK]"})
    assert found == f"{text[: token.start]}[UNK]{text[token.end :]}"


@settings(max_examples=300)
@given(st.lists(st.sampled_from(["the", "dog", "man", "runs", "old", "and"]), min_size=1, max_size=9), st.data())
def test_deleting_and_putting_in_leave_single_spaces(parts: list[str], data: st.DataObject) -> None:
    text = " ".join(parts)
    gone = data.draw(st.sets(st.integers(0, len(parts) - 1)))
    assert changed(text, dict.fromkeys(gone, "")) == " ".join(p for n, p in enumerate(parts) if n not in gone)
    put = data.draw(st.sets(st.integers(0, len(parts))))
    expected = [word for n, p in enumerate([*parts, ""]) for word in (["very"] * (n in put) + [p] * bool(p))]
    assert changed(text, {}, dict.fromkeys(put, "very")) == " ".join(expected)


@pytest.mark.parametrize(
    ("text", "changes", "before", "expected"),
    [
        ("an old man runs", {1: ""}, {}, "a man runs"),
        ("a man runs", {1: "actor"}, {}, "an actor runs"),
        ("a man runs", {}, {1: "old"}, "an old man runs"),
        ("a “man” runs", {2: "actor"}, {}, "an “actor” runs"),
        ("he has a dog", {2: "with a", 3: "owl"}, {}, "he has with an owl"),
        ("vitamin A eggs", {2: "oranges"}, {}, "vitamin A oranges"),
        ("AN EGG FALLS", {1: "MAN"}, {}, "A MAN FALLS"),
        ("a elephant and a man", {4: "boy"}, {}, "a elephant and a boy"),
        ("A man runs.", {}, {0: "today"}, "Today a man runs."),
        ("I run.", {}, {0: "today"}, "Today I run."),
        ("TV plays.", {}, {0: "today"}, "Today TV plays."),
        ("The man runs.", {0: ""}, {}, "Man runs."),
        ("“The man” runs.", {1: ""}, {}, "“Man” runs."),
        ("“The man” runs.", {1: "a"}, {}, "“A man” runs."),
        ("“A man” runs.", {}, {0: "today"}, "Today “a man” runs."),
        ("A man runs. An egg falls.", {5: "hen"}, {4: "today", 7: "now"}, "A man runs. Today a hen falls now."),
        ("a “big dog” runs", {2: ""}, {}, "a “dog” runs"),
        ("a “big dog” runs", {3: ""}, {}, "a “big” runs"),
        ("dogs, cats", {1: ""}, {}, "dogs cats"),
        ("a man runs.", {}, {4: "today"}, "a man runs. today"),
        ("a man runs.", {}, {3: "today"}, "a man runs today."),
        ("add salt , then stir", {}, {2: "now"}, "add salt now , then stir"),
        ("the dog", {0: "", 1: ""}, {}, ""),
        ("  the  dog ", {1: "cat"}, {}, "  the  cat "),
    ],
)
def test_edits(text: str, changes: dict[int, str], before: dict[int, str], expected: str) -> None:
    assert changed(text, changes, before) == expected


@pytest.mark.parametrize("phrase", [phrase.strip() for phrase in PHRASES.replace("\n", " ").split(", ")])
def test_articles(phrase: str) -> None:
    article, following = phrase.split(maxsplit=1)
    assert indefinite_article(following) == article


def test_capitals_follow_a_model() -> None:
    assert [like("boy", model) for model in ("girl", "Girl", "GIRL", "I")] == ["boy", "Boy", "BOY", "Boy"]


@pytest.mark.shared
def test_real_captions_come_back(real_captions: tuple[Row, ...]) -> None:
    for _, _, text in real_captions:
        tokens = tokenize(text)
        assert edit(text, tokens, {}) == text


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("they don t sing", ["they", "do", "n't", "sing"]),
        ("he won t", ["he", "wo", "n't"]),
        ("she cant swim", ["she", "ca", "n't", "swim"]),
        ("it s raining", ["it", "'s", "raining"]),
        ("a car s wheel", ["a", "car", "'s", "wheel"]),
        ("they re here", ["they", "'re", "here"]),
        ("theyre here", ["they", "'re", "here"]),
        ("i m sure we ve met", ["i", "'m", "sure", "we", "'ve", "met"]),
        ("you ll see", ["you", "'ll", "see"]),
        ("let s go", ["let", "'s", "go"]),
        ("he doesn’t", ["he", "does", "n't"]),
        ("they won t shirts", ["they", "won", "t", "shirts"]),
        ("the letter s", ["the", "letter", "s"]),
        ("they were well", ["they", "were", "well"]),
        ("section d", ["section", "d"]),
    ],
)
def test_clitics_without_their_apostrophes(text: str, tokens: list[str]) -> None:
    found = tokenize(text)
    assert [token.lower for token in found] == tokens
    assert all(text[token.start : token.end] == token.text for token in found)
    assert all(token.lacks_apostrophe == ("'" in token.lower and "’" not in text) for token in found)

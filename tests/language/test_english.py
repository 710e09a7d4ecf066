import pytest
from captions import Row
from stressreel.language.english import is_english


@pytest.mark.parametrize(
    "text",
    [
        "un hombre está montando un caballo en la playa",
        "mujer bailando sola",
        "une femme joue de la guitare sur scène",
        "zwei Kinder spielen Fußball im Park",
        "mann spielt gitarre",
        "duas crianças jogam futebol no parque",
        "een man rijdt op een paard",
        "mężczyzna jeździ na koniu na plaży",
        "一个男人在海滩上骑马",
        "мужчина едет на лошади",
        "رجل يركب حصانا",
    ],
)
def test_other_languages(text: str) -> None:
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "man riding horse",
        "Shrek und Donkey",  # one foreign word
        "jerry chases spike and tyke",
        "add kasuri methi",
        "serve the pasta al dente with crème fraîche",
        "1/2 cup",
        "fire",
        "!?",
        "a grl is dansing in teh stret",
        "A MAN DOESN'T RIDE",
    ],
)
def test_english(text: str) -> None:
    assert is_english(text)


@pytest.mark.shared
def test_real_captions_are_english(real_captions: tuple[Row, ...]) -> None:
    refused = [text for _, _, text in real_captions if not is_english(text)]
    assert len(refused) <= 1, refused

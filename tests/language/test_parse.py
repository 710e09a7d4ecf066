import pytest
from captions import Row
from cases import read_cases
from stressreel.language.parse import is_english

CASES = read_cases(__file__)


def test_other_languages_are_recognized() -> None:
    assert [text for text in CASES["english.english"] if not is_english(text)] == []
    assert [text for text in CASES["english.other_languages"] if is_english(text)] == []


@pytest.mark.full
@pytest.mark.shared
def test_real_captions_are_english(real_captions: tuple[Row, ...]) -> None:
    refused = [text for _, _, text in real_captions if not is_english(text)]
    assert len(refused) <= 1, refused

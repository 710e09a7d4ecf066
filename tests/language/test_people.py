import pytest
from cases import read_cases
from stressreel.language.people import Cast, derive_cast
from stressreel.language.words import name_pattern

CASES = read_cases(__file__)


@pytest.mark.parametrize("texts", CASES["people.casts"])
def test_cast_is_derived_from_texts(texts: dict[str, list[str]]) -> None:
    assert sorted(derive_cast(texts["repeated"] * 3 + texts["single"]).names) == texts["names"]


def test_longest_name_is_matched_first() -> None:
    pattern = name_pattern(Cast(("Mammy", "Tom", "Mammy Two Shoes")).names)
    matches = [match[0] for match in pattern.finditer("mammy two shoes saw Tom and Mammy")]
    assert matches == ["mammy two shoes", "Tom", "Mammy"]

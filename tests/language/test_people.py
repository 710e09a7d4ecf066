import pytest
from stressreel.language.people import Cast, derive_cast
from stressreel.language.words import name_pattern


@pytest.mark.parametrize(
    ("repeated", "single", "names"),
    [
        (
            "Then Tom wanted to catch Jerry.|why did Tom run|the cat saw that Jerry was there",
            "the house was red|it was in Paris in May|Later in Paris|in Paris",
            {"Tom", "Jerry"},
        ),
        (  # names without capitals
            "then meathead saw Jerry|Jerry ran because meathead was there|Jerry hit meathead",
            "Why did Meathead run|the trap that was set hit Jerry|so the Trap was set|so the Trap was set|Jerry ran",
            {"Meathead", "Jerry"},
        ),
        (  # the stop of an abbreviation
            "then St. Bernard saw Tom|so St. Bernard was there|Tom ran from St. Bernard|so Tom ran",
            "as Tom was there|as Tom was there|as Tom was there",
            {"St. Bernard", "Tom"},
        ),
    ],
)
def test_cast_is_derived_from_texts(repeated: str, single: str, names: set[str]) -> None:
    assert set(derive_cast(repeated.split("|") * 3 + single.split("|")).names) == names


def test_longest_name_is_matched_first() -> None:
    pattern = name_pattern(Cast(("Mammy", "Tom", "Mammy Two Shoes")).names)
    matches = [match[0] for match in pattern.finditer("mammy two shoes saw Tom and Mammy")]
    assert matches == ["mammy two shoes", "Tom", "Mammy"]

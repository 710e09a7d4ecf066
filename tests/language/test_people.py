from stressreel.language.people import Cast, derive_cast
from stressreel.language.words import name_pattern


def test_cast_is_derived_from_texts() -> None:
    texts = ["Then Tom wanted to catch Jerry.", "why did Tom run", "the cat saw that Jerry was there"] * 3
    texts += ["the house was red", "it was in Paris in May", "Later in Paris", "in Paris"]
    cast = derive_cast(texts)
    assert set(cast.names) == {"Tom", "Jerry"}


def test_names_without_capitals_are_derived() -> None:
    texts = ["then meathead saw Jerry", "Jerry ran because meathead was there", "Jerry hit meathead"] * 3
    texts += [
        "Why did Meathead run",
        "Jerry wanted the trap",
        "the trap that was set hit Jerry",
        "so the Trap was set",
    ] * 2
    assert set(derive_cast([*texts, "Then Jerry had cheese"]).names) == {"Meathead", "Jerry"}


def test_abbreviation_stop_is_part_of_name() -> None:
    texts = ["then St. Bernard saw Tom", "so St. Bernard was there", "Tom ran from St. Bernard", "so Tom ran"]
    assert set(derive_cast([*texts, "as Tom was there"] * 3).names) == {"St. Bernard", "Tom"}


def test_longest_name_is_matched_first() -> None:
    pattern = name_pattern(Cast(("Mammy", "Tom", "Mammy Two Shoes")).names)
    assert pattern is not None
    found = [match[0] for match in pattern.finditer("mammy two shoes saw Tom and Mammy")]
    assert found == ["mammy two shoes", "Tom", "Mammy"]

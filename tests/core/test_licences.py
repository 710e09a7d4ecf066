"""Licences of a user's own data."""

import pytest
from stressreel.core.source import LICENCES, card_fields, licence_link, read_licence


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        ("CC-BY-4.0", {"license": "cc-by-4.0"}),
        ("cc by-nc-sa 4.0", {"license": "cc-by-nc-sa-4.0"}),
        ("other:my-terms-1.0", {"license": "other", "license_name": "my-terms-1.0"}),
        (
            "Other: my-terms  https://example.org/a?b=c",
            {"license": "other", "license_name": "my-terms", "license_link": "https://example.org/a?b=c"},
        ),
    ],
)
def test_licence_becomes_fields_of_the_card(given: str, fields: dict[str, str]) -> None:
    assert card_fields(read_licence(given)) == fields
    assert read_licence(read_licence(given)) == read_licence(given)


@pytest.mark.parametrize(
    ("given", "hints"),
    [
        ("cc-by-4", ("cc-by-4.0", "other:NAME")),
        ("MIT License", ("mit", "other:NAME")),
        ("proprietary", ("other:NAME",)),
        ("unknown", ("leave out --licence",)),
        ("other", ("other:NAME",)),
        ("other:", ("other:NAME",)),
        ("other:My Terms https://example.org", ("other:my-terms?",)),
        ("other:my-terms ftp://example.org", ("https://",)),
        ("other:my-terms https://", ("https://",)),
        ("", ("cc-by-4.0",)),
    ],
)
def test_unknown_licence_is_refused_with_a_hint(given: str, hints: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"\w") as refused:
        read_licence(given)
    assert [hint for hint in hints if hint not in str(refused.value)] == []


def test_links_of_licences() -> None:
    assert licence_link({"license": "cc-by-nc-sa-4.0"}) == "https://creativecommons.org/licenses/by-nc-sa/4.0/"
    assert licence_link({"license": "mit"}) == "https://choosealicense.com/licenses/mit/"
    assert licence_link({"license": "other", "license_name": "a", "license_link": "https://example.org"})
    assert licence_link({"license": "c-uda"}) == licence_link({"license": "unknown"}) == ""
    assert all(licence_link({"license": name}) for name in LICENCES if name.startswith("cc-"))

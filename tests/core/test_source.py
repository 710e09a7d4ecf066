"""What users say about their own data."""

from __future__ import annotations

from pathlib import Path

import pytest
from stressreel.core.errors import InputError, UsageError
from stressreel.core.settings import create
from stressreel.core.source import (
    LARGEST_BIBTEX,
    Source,
    SourceDetails,
    card_fields,
    described,
    differing_details,
    licence_link,
    licences,
    read_bibtex,
    read_licence,
    source_of,
)

OWN = Source("segments", "own segments", {"license": "unknown"}, own=True)
KNOWN = Source("known", "Known Videos", {"license": "mit"}, redistributable=True)
ENTRY = "@misc{own, title = {Own}}"


def details(**given: object) -> SourceDetails:
    return create(SourceDetails, given)


def bib(folder: Path, content: bytes) -> Path:
    path = folder / "own.bib"
    path.write_bytes(content)
    return path


def test_own_source_is_described_and_recorded(tmp_path: Path) -> None:
    given = details(
        title="My  clips",
        licence="CC-BY-4.0",
        homepage="https://example.org",
        cite=bib(tmp_path, b"\xef\xbb\xbf" + ENTRY.encode() + b"\r\n"),
        description="One\nkitchen.",
    )
    source = described(OWN, given)
    assert (source.name, source.title, source.link) == ("My clips", "My clips", "https://example.org")
    assert (source.license, source.redistributable) == ({"license": "cc-by-4.0"}, True)
    assert (source.bibtex, source.description) == (ENTRY, "One kitchen.")
    assert source_of({"source": source.as_json()}) == source
    assert list(given.detail_hashes()) == ["own.bib"]


def test_without_a_licence_nothing_may_be_published_unasked() -> None:
    assert described(OWN, details(title="My clips")).redistributable is None
    assert described(OWN, details()) == OWN


def test_known_source_cannot_be_described() -> None:
    with pytest.raises(UsageError, match=r"--title, --licence .*Known Videos"):
        described(KNOWN, details(title="Mine", licence="mit"))
    assert described(KNOWN, details()) == KNOWN


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"title": "  "}, "empty"),
        ({"title": ["My", "clips"]}, "must be a text"),
        ({"licence": {"id": "mit"}}, "must be a text"),
        ({"title": "x" * 201}, "at most 200"),
        ({"description": "x" * 2001}, "at most 2,000"),
        ({"title": "a\x1b[2Jb"}, "control"),
        ({"description": "a\u202eb"}, "control"),
        ({"homepage": "example.org"}, "https://"),
        ({"homepage": "https://example.org/a b"}, "https://"),
        ({"homepage": "javascript:alert(1)"}, "https://"),
        ({"cite": "absent.bib"}, "not an existing file"),
    ],
)
def test_details_that_are_not_allowed_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        details(**given)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "BibTeX"),
        (b"video,start\n", "BibTeX"),
        (b"@misc{a, note = {\xff}}", "UTF-8"),
        (ENTRY.encode() + b" " * LARGEST_BIBTEX, "20,000"),
    ],
)
def test_file_that_is_no_bibtex_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_bibtex(bib(tmp_path, content))


def test_bibtex_cannot_control_a_terminal(tmp_path: Path) -> None:
    assert read_bibtex(bib(tmp_path, b"@misc{a,\x1b[2J\n\ttitle = {b}}\r")) == "@misc{a,\\u001b[2J\n\ttitle = {b}}"


def test_source_that_contradicts_the_command_is_found(tmp_path: Path) -> None:
    given = details(title="Mine", licence="mit", cite=bib(tmp_path, ENTRY.encode()))
    source = described(OWN, given)
    assert list(differing_details(source, given)) == []
    assert list(differing_details(KNOWN, details())) == []
    assert len(list(differing_details(source, details(title="Mine", licence="cc0-1.0")))) == 2  # licence and bibtex
    assert len(list(differing_details(source, details()))) == 4  # title, licence, redistributable and bibtex


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
        ("cc-by-4", ("Did you mean cc-by-4.0", "other:NAME")),
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
    assert all(licence_link({"license": name}) for name in licences()["hub"] if name.startswith("cc-"))

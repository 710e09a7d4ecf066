"""What users say about their own data."""

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
    read_bibtex,
    read_licence,
    source_of,
)

OWN = Source("segments", "own segments", {"license": "unknown"}, own=True)
KNOWN = Source("known", "Known Videos", {"license": "mit"}, redistributable=True)
ENTRY = "@misc{own, title = {Own}}"


def details(**given):
    return create(SourceDetails, given)


def bib(folder, content):
    (folder / "own.bib").write_bytes(content)
    return folder / "own.bib"


def test_own_source_is_described_and_recorded(tmp_path):
    cite = bib(tmp_path, b"\xef\xbb\xbf" + ENTRY.encode() + b"\r\n")
    given = {"title": "My  clips", "licence": "CC-BY-4.0", "homepage": "https://a.org", "description": "One\nkitchen."}
    source = described(OWN, details(**given, cite=cite))
    assert (source.name, source.title, source.link) == ("My clips", "My clips", "https://a.org")
    assert (source.license, source.redistributable) == ({"license": "cc-by-4.0"}, True)
    assert (source.bibtex, source.description) == (ENTRY, "One kitchen.")
    assert source_of({"source": source.as_json()}) == source
    assert list(details(cite=cite).detail_hashes()) == ["own.bib"]
    assert described(OWN, details(title="My clips")).redistributable is None
    with pytest.raises(UsageError, match=r"--title, --licence .*Known Videos"):
        described(KNOWN, details(title="Mine", licence="mit"))
    for unsaid in (OWN, KNOWN):
        assert described(unsaid, details()) == unsaid


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("title", "  ", "empty"),
        ("title", ["My", "clips"], "a text"),
        ("title", "x" * 201, "at most 200"),
        ("description", "x" * 2001, "at most 2,000"),
        ("description", "a\u202eb", "control"),
        ("homepage", "example.org", "https://"),
        ("homepage", "https://example.org/a b", "https://"),
        ("homepage", "javascript:alert(1)", "https://"),
        ("licence", "cc-by-4", "Did you mean cc-by-4.0"),
        ("licence", "MIT License", "mit"),
        ("licence", "unknown", "leave out --licence"),
        ("licence", "other:", "other:NAME"),
        ("licence", "other:My Terms https://example.org", r"other:my-terms\?"),
        ("licence", "other:my-terms https://", "https://"),
    ],
)
def test_details_that_are_not_allowed_are_refused(name, value, words):
    with pytest.raises(UsageError, match=words):
        details(**{name: value})


def test_file_that_is_no_bibtex_is_refused(tmp_path):
    control = bib(tmp_path, b"@misc{a,\x1b[2J\n\ttitle = {b}}\r")
    assert read_bibtex(control) == "@misc{a,\\u001b[2J\n\ttitle = {b}}"
    large = ENTRY.encode() + b" " * LARGEST_BIBTEX
    for content, words in ((b"video,start\n", "BibTeX"), (b"@misc{a, note = {\xff}}", "UTF-8"), (large, "20,000")):
        with pytest.raises(InputError, match=words):
            read_bibtex(bib(tmp_path, content))


def test_source_that_contradicts_the_command_is_found(tmp_path):
    given = details(title="Mine", licence="mit", cite=bib(tmp_path, ENTRY.encode()))
    source = described(OWN, given)
    assert list(differing_details(source, given)) == list(differing_details(KNOWN, details())) == []
    assert len(list(differing_details(source, details(title="Mine", licence="cc0-1.0")))) == 2  # licence and bibtex
    assert len(list(differing_details(source, details()))) == 4  # title, licence, redistributable and bibtex


@pytest.mark.parametrize(
    ("given", "fields", "link"),
    [
        ("cc by-nc-sa 4.0", ("cc-by-nc-sa-4.0",), "https://creativecommons.org/licenses/by-nc-sa/4.0/"),
        ("MIT", ("mit",), "https://choosealicense.com/licenses/mit/"),
        ("c-uda", ("c-uda",), ""),
        ("other:my-terms-1.0", ("other", "my-terms-1.0"), ""),
        ("Other: my-terms  https://a.org/a?b=c", ("other", "my-terms", "https://a.org/a?b=c"), "https://a.org/a?b=c"),
    ],
)
def test_licence_becomes_fields_and_link(given, fields, link):
    licence = read_licence(given)
    assert card_fields(licence) == dict(zip(("license", "license_name", "license_link"), fields, strict=False))
    assert licence_link(card_fields(licence)) == link
    assert read_licence(licence) == licence

"""Documents from others are read within limits, or refused in a sentence."""

import pytest
from stressreel.builders.runtime.table_checks import check_record_form, differences
from stressreel.core.documents import DEEPEST, LARGEST_YAML, check_shape, parse_json, parse_yaml, read_text
from stressreel.core.errors import InputError, UsageError
from stressreel.core.files import write_json
from stressreel.core.output import FinishedOutput

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "\n".join(
    f"{name}: &{name} [{','.join(['*' + before] * 9)}]" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BOMB, "line 2: aliases"),
        ("[" * 5000, "nested"),
        ("x" * (LARGEST_YAML + 1), "200,000"),
        ("seed: 2001-13-45", "month"),
        ("seed: !!timestamp x", "tag"),
        ("seed: !!python/object:os.system {}", "constructor"),
        ("a: 1\n---\nb: 2", "document"),
        ("seed: " + "9" * 5000, "digits"),
        ("configs:\n- {path: a, 'path': b}", "line 2: 'path' given more than once"),
    ],
    ids=range(9),
)
def test_yaml_that_is_refused(text, words):
    with pytest.raises(ValueError, match=words) as caught:
        parse_yaml(text)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("depth", [DEEPEST + 1, 100_000])
def test_deep_json_is_refused(depth):
    for text in ("[" * depth, "[" * depth + "1" + "]" * depth, '[{"a":' * depth + "1" + "}]" * depth):
        with pytest.raises(ValueError, match=r"nested|Expecting"):
            parse_json(text)


def test_text_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        read_text(tmp_path / "absent")
    with pytest.raises(InputError, match="cannot read"):
        read_text(tmp_path)
    (tmp_path / "latin").write_bytes(b"a\n\xe9")
    with pytest.raises(InputError, match=r"latin, line 2: expected UTF-8, got byte 0xe9"):
        read_text(tmp_path / "latin")
    with pytest.raises(InputError, match="3 bytes"):
        read_text(tmp_path / "latin", largest=2)


def test_halves_of_characters_are_replaced():
    assert parse_json(r'["\ud800\ud83d\ude00", "\\ud800"]') == ["\ufffd\U0001f600", "\\ud800"]
    assert parse_json(r'{"\ud800": ["\\\udc00"]}') == {"\ufffd": ["\\\ufffd"]}


SHAPE = {"tools": {str: str}, "rows": [{"share": (None, float), "count": int}], "more": object}
FITS = {"tools": {"a": "1"}, "rows": [{"share": None, "count": 1}, {"share": 0.5, "count": 2, "x": []}], "more": None}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], r"the content is \[\], not an object"),
        (FITS | {"tools": {"b": 1}}, r"tools\.b is 1, not a text"),
        (FITS | {"rows": {}}, r"rows is \{\}, not a list"),
        (FITS | {"rows": [FITS["rows"][0], {"count": 1}]}, r"rows\[1\] has no share"),
        (FITS | {"rows": [{"share": "x", "count": 1}]}, r"rows\[0\]\.share is 'x', not null or a decimal number"),
        (FITS | {"rows": [{"share": 1.0, "count": True}]}, r"rows\[0\]\.count is True, not an integer"),
    ],
)
def test_a_value_of_another_type_is_named(content, words):
    check_shape(FITS, SHAPE)
    with pytest.raises(ValueError, match=f"^{words}$"):
        check_shape(content, SHAPE)


INFO = {"builder": "clavi", "counts": {}, "fingerprint": "00", "plan_sha256": "11", "share": 0.5, "name": "x\udc80é"}


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"{", b"\xef\xbb\xbf{"), (b": ", b":  "), (b"}", b"} {}"), (b"0.5", b"5e-1"), (b"clavi", b"cl\\u0061vi")],
)
def test_record_in_another_form_is_noticed(tmp_path, old, new):
    write_json(path := tmp_path / "build.json", INFO)
    content = path.read_bytes()
    for form, differs in ((content.replace(b"\n", b"\r\n"), False), (content.replace(old, new, 1), True)):
        path.write_bytes(form)
        assert bool([*check_record_form(FinishedOutput(tmp_path, INFO))]) is differs


def test_negative_zero_differs_in_rows():
    found = list(differences({"a": -0.0, "b": [-0.0], "c": 1.0}, {"a": 0.0, "b": [0.0], "c": 1.0}))
    assert found == ["a is -0.0, not 0.0", "b is [-0.0], not [0.0]"]

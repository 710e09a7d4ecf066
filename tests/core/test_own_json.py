"""Files of an output that other programs would read differently."""

from __future__ import annotations

from pathlib import Path

import pytest
from stressreel.builders.runtime.table_checks import check_record_form, differences
from stressreel.core.documents import parse_own
from stressreel.core.errors import InputError
from stressreel.core.files import as_json, write_json
from stressreel.core.output import FinishedOutput, open_output
from stressreel.core.plan import changed

INFO = {"builder": "clavi", "counts": {}, "fingerprint": "00", "plan_sha256": "11", "share": 0.5, "name": "x\udc80é"}


def test_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="seed"):
        parse_own('{"seed": 1, "a": [{"seed": 1, "seed": 2}]}')
    (tmp_path / "build.json").write_bytes(as_json(INFO).replace(b"{", b'{"builder": "decomp", ', 1))
    with pytest.raises(InputError, match="builder"):
        open_output(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"{", b"\xef\xbb\xbf{"), (b": ", b":  "), (b"}", b"} {}"), (b"0.5", b"5e-1"), (b"clavi", b"cl\\u0061vi")],
)
def test_record_in_another_form_is_noticed(tmp_path: Path, old: bytes, new: bytes) -> None:
    write_json(tmp_path / "build.json", INFO)
    output = FinishedOutput(tmp_path, INFO)
    assert list(check_record_form(output)) == []
    content = (tmp_path / "build.json").read_bytes()
    (tmp_path / "build.json").write_bytes(content.replace(b"\n", b"\r\n"))
    assert list(check_record_form(output)) == []
    (tmp_path / "build.json").write_bytes(content.replace(old, new, 1))
    assert list(check_record_form(output))


@pytest.mark.parametrize(("old", "new"), [(1, 1.0), (1, True), (0, False), (0.0, -0.0), ([1], [1.0])])
def test_equal_numbers_of_other_types_differ(old: object, new: object) -> None:
    assert changed({"a": {"b": old}}, {"a": {"b": new}})
    assert not changed({"a": {"b": old}}, {"a": {"b": old}})


def test_negative_zero_differs_in_rows() -> None:
    assert list(differences({"a": -0.0, "b": [-0.0], "c": 1.0}, {"a": 0.0, "b": [0.0], "c": 1.0})) == [
        "a is -0.0, not 0.0",
        "b is [-0.0], not [0.0]",
    ]

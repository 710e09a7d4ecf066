"""What errors and commands show of texts from files."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run
from stressreel.builders.runtime.verify import Outcome
from stressreel.core.errors import InputError, legible, one_line, printable


@pytest.mark.parametrize("text", ["\x1b[2J", "a\x9b31mb", "\r", "\u202eabc", "\ud800", "\x7f", "\u2028"])
def test_what_a_terminal_obeys_is_escaped(text: str) -> None:
    shown = printable(f"x{text}y")
    assert shown.isprintable()
    assert shown.encode()
    assert "\\u" in shown


def test_what_people_read_stays() -> None:
    assert printable("V′ → é\n\tこ") == "V′ → é\n\tこ"
    assert one_line("a\nb") == "a\\nb"


def test_an_error_is_printable() -> None:
    assert str(InputError("clip \x1b[1A\x1b[2K is gone")) == "clip \\u001b[1A\\u001b[2K is gone"


def test_a_problem_is_one_line() -> None:
    outcome = Outcome("links", ("unit x\nok    sources\x1b[8m",), 1)
    assert str(outcome) == "FAIL  links\n        unit x\\nok    sources\\u001b[8m"


def test_a_command_prints_no_control_characters(tmp_path: Path) -> None:
    done = run("stressreel", "verify", tmp_path / "a\x1b[31mb")
    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\\u001b[31m" in done.err


def test_texts_are_cut_to_what_somebody_reads() -> None:
    assert legible("a b\n") == "a b\n"
    assert legible("w" * 50_000_000) == "w" * 300 + "…"
    assert len(legible("word " * 10_000)) == 10_001

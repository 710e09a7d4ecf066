"""What errors and commands show of texts from files."""

import pytest
from stressreel.core.errors import legible, printable


@pytest.mark.parametrize("text", ["\x1b[2J", "a\x9b31mb", "\r", "\u202eabc", "\ud800", "\x7f", "\u2028"])
def test_control_characters_are_escaped(text):
    shown = printable(f"x{text}y")
    assert shown.isprintable()
    assert "\\u" in shown


def test_long_texts_are_shortened():
    assert legible("a b\n") == "a b\n"
    assert legible("w" * 50_000_000) == "w" * 300 + "…"
    assert len(legible("word " * 10_000)) == 10_001

from __future__ import annotations

import pytest
from stressreel.annotations.actions import Action


@pytest.mark.parametrize(
    ("asked", "phrase", "verb", "subject"),
    [
        ("Did Tom dip his fingers in the ink", "Tom dipped his fingers in the ink", "dip", "Tom"),
        ("Was Jerry running", "Jerry was running", "run", "Jerry"),
        ("Did the old dog start to run", "the old dog started to run", "run", "the old dog"),
        ("Did Tom hit Jerry", "Tom hit Jerry", "hit", "Tom"),
        ("Did Tom suddenly put it down", "Tom suddenly put it down", "put", "Tom"),
        ("Were Tom and Jerry eating", "Tom and Jerry were eating", "eat", "Tom and Jerry"),
        ("", "opening a door", "open", ""),
    ],
)
def test_the_subject_is_what_question_and_statement_begin_with(
    asked: str, phrase: str, verb: str, subject: str
) -> None:
    assert Action("k", "l", phrase, verb, frozenset(), asked=asked).subject == subject

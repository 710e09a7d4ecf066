from pathlib import Path
from typing import Any

import pytest
import yaml
from stressreel.negatives.content_words import content_words, may_be_right, says_no_more

CASES = yaml.safe_load((Path(__file__).parent / "cases" / "words.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["content_words"], ids=lambda case: case["text"])
def test_content_words(case: dict[str, Any]) -> None:
    assert content_words(case["text"]) == set(case["words"])


def test_says_no_more_compares_sets_of_words() -> None:
    texts = ("Jerry was scared.", "Tom and Jerry were scared", "Jerry was not scared by Tom", "It")
    short, long, opposite, none = (content_words(text) for text in texts)
    assert says_no_more(short, long)
    assert says_no_more(long, short)
    assert not says_no_more(short, opposite)
    assert not says_no_more(none, long)


@pytest.mark.parametrize("case", CASES["may_be_right"], ids=lambda case: case["text"])
def test_may_be_right_judges_by_words(case: dict[str, Any]) -> None:
    assert may_be_right(case["text"], "Why did Tom hit Jerry?", tuple(case["rights"])) is case["may"]

"""Normalize the sentences of captions: correct typos, and make words for people gender-neutral."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from .lexicon import read_lexicon, word_lists
from .tag_repairs.clipped_words import is_act, is_noun

_TOKEN = re.compile(r"#?\w+(?:['/-]\w+)*|'s\b|[,&]")
_PART = re.compile(r"\w+")
_LONGEST = 80  # maximum number of words, as a caption is one sentence
_END = re.compile(r"[.!?;:…\n]+|\s/|/\s")


class Refused(Exception):
    """Raised when a sentence is rejected. Its only argument is a code from `phrases.REASONS`."""


@cache
def _slips() -> tuple[re.Pattern[str], dict[str, str]]:
    repairs = read_lexicon("clipped")["repairs"]
    ordered = "|".join(re.escape(wrong) for wrong in sorted(repairs, key=len, reverse=True))
    return re.compile(rf"(?<![\w'-])(?:{ordered})(?![\w'-])"), repairs


def plain_sentence(sentence: str) -> str:
    """Normalize a caption to one lower-case sentence without typos, gendered words, or marks other than commas.

    Raises:
        Refused: The text has no word, or more than one sentence.
    """
    pattern, repairs = _slips()
    text = " ".join(sentence.lower().replace("’", "'").replace("`", "'").split())
    text = pattern.sub(lambda match: repairs[match[0]], text)
    parts = [found for part in _END.split(text) if (found := _TOKEN.findall(part))]
    if not parts:
        raise Refused("empty")
    if len(parts) > 1 or len(parts[0]) > _LONGEST:
        raise Refused("several_sentences")
    words = [word for before, word in pairwise(["", *parts[0]]) if word != before or is_act(word)]  # "at at a table"
    plain = " ".join(_neutralised([*("and" if word == "&" else word for word in words), "", ""]))
    return plain.replace("#", "")


def _neutralised(words: list[str]) -> Iterator[str]:
    neutral, people = read_lexicon("clipped")["neutral"], word_lists("clipped").people
    for word, after in pairwise(words):
        if word == "her" and not (is_noun(after) or after in ("own", "other", "home")):
            yield "them"
        elif word in ("male", "female") and (after in neutral or after in people):
            continue
        elif word:
            yield from (neutral.get(word) or _PART.sub(lambda part: neutral.get(part[0], part[0]), word)).split(" ")

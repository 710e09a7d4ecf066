"""Who acts in a collection of texts: names found in the texts themselves."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .lexicon import word_lists
from .words import TOKEN, name_pattern

Gender = Literal["female", "male", ""]
OFTEN = 3
SHARE = 0.3
_PRONOUNS = {"she": "female", "her": "female", "hers": "female", "herself": "female"} | {
    word: "male" for word in ("he", "him", "his", "himself")
}
_VERB = re.compile(
    r"is|was|has|had|does|did|will|would|can|could|saw|went|got|ran|took|threw|hit|fell|knew|\w+ed|wants?"
)


@dataclass(frozen=True)
class Cast:
    """The names of a collection.

    Attributes:
        names: Each as it is written with capitals, "Mammy Two Shoes".
        genders: "female" or "male" of a name in small letters, where known.
    """

    names: tuple[str, ...] = ()
    genders: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Put the longest names first, so that they are found before their parts."""
        object.__setattr__(self, "names", tuple(sorted(set(self.names), key=lambda name: (-len(name.split()), name))))


def derive_cast(texts: Iterable[str]) -> Cast:
    """Find names: words, or rows of words, that stand with capitals inside sentences often enough.

    A word counts where it is not the first of its sentence. It is a name if it is written with a capital there at least
    three times and in three of ten cases (annotators often leave capitals out), and if it does something twice: places
    and days do nothing. Rows of up to three such words
    that nearly always stand together are one name. The gender is that of the pronouns in texts that name nobody else.

    Args:
        texts: Questions, answers and explanations.
    """
    texts, small_words = list(texts), word_lists("stories").small
    large, small, acting = Counter[str](), Counter[str](), Counter[str]()
    rows = Counter[tuple[str, ...]]()
    for text in texts:
        words = [match[0] for match in TOKEN.finditer(text)]
        run: list[str] = []
        for place, word in enumerate([*words, "."]):
            inside = place > 0 and words[place - 1] not in {".", "!", "?"}
            capital = (
                word[:1].isupper()
                and word[1:] == word[1:].lower()
                and word.lower() not in small_words
                and len(word) > 1
            )
            if word[:1].isalpha() and inside:
                (large if capital else small)[word.lower()] += 1
            if place and _VERB.fullmatch(word):
                acting[words[place - 1].lower()] += 1
            if capital:
                run.append(word)
            else:
                for length in (2, 3):
                    if len(run) == length:
                        rows[tuple(run)] += 1
                run = []
    single = {w for w, n in large.items() if n >= OFTEN and n >= SHARE * (n + small[w])}
    single -= word_lists("stories").no_names
    single = {word for word in single if acting[word] >= OFTEN - 1}
    joined = {
        row
        for row, n in rows.items()
        if n >= OFTEN and row[0].lower() not in small_words and any(n >= 0.5 * large[word.lower()] for word in row)
    }
    parts = {word.lower() for row in joined for word in row if rows[row] >= 0.5 * large[word.lower()]}
    names = [" ".join(row) for row in joined] + [word[:1].upper() + word[1:] for word in sorted(single - parts)]
    cast = Cast(tuple(names))
    return Cast(cast.names, _genders(texts, cast))


def _genders(texts: Iterable[str], cast: Cast) -> dict[str, str]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    pattern = name_pattern(cast.names)
    if pattern is None:
        return {}
    for text in texts:
        names = {match[0].lower() for match in pattern.finditer(text)}
        if len(names) == 1:
            pronouns = {_PRONOUNS[word] for word in re.findall(r"\w+", text.lower()) if word in _PRONOUNS}
            if len(pronouns) == 1:
                found[names.pop()][pronouns.pop()] += 1
    return {name: counts.most_common(1)[0][0] for name, counts in sorted(found.items())}

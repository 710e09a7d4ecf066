"""Drop the first or last word of a caption, or shuffle all its words.

Words are separated by spaces and punctuation, so "it's", "girl's" and "4tbsp" are one word each. "wasn t" is two, but
its order is kept. Punctuation is not a word and keeps its position. Source: Schiappa et al. 2022, appendix A.2.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...language.words import Caption, with_capital, without_capital
from ..registry import Unchanged
from .drop_text import UNKNOWN


def drop_first(caption: Caption) -> str | Unchanged:
    """Replace the first word with [UNK]. A caption of one word becomes [UNK]."""
    return _drop(caption, 0)


def drop_last(caption: Caption) -> str | Unchanged:
    """Replace the last word before the final punctuation with [UNK]. A caption of one word becomes [UNK]."""
    return _drop(caption, -1)


def drop_first_and_last(caption: Caption) -> str | Unchanged:
    """Replace the first and the last word with [UNK]. A caption of one word becomes a single [UNK]."""
    return _drop(caption, 0, -1)


def shuffle_order(caption: Caption, rng: np.random.Generator) -> str | Unchanged:
    """Shuffle the words of a caption, across sentences if it has several. The order always changes.

    Words keep their form ("an" remains "an"), but sentences are capitalized as before. Words that move away from the
    start of a sentence lose their capital unless they are names or "I".
    """
    words = written_words(caption)
    starts = {next((n for n in sentence if caption.tokens[n].is_word), -1) for sentence in caption.sentences}
    texts = [_inside(caption, word) if word.start in starts else _text(caption, word) for word in words]
    alike = [text.lower() for text in texts]
    if len(set(alike)) < 2:
        return Unchanged("one word" if len(words) == 1 else "all its words are the same" if words else "no word")
    order = rng.permutation(len(words))
    while [alike[source] for source in order] == alike:
        order = rng.permutation(len(words))
    changes = {}
    for target, source in zip(words, order, strict=True):
        capital = target.start in starts and caption.tokens[target.start].text[:1].isupper()
        changes[target] = with_capital(texts[source]) if capital else texts[source]
    return _write(caption, changes)


def written_words(caption: Caption) -> tuple[range, ...]:
    """Return the range of tokens that form each written word, including clitics."""
    words: list[range] = []
    for index in caption.words:
        if words and words[-1].stop == index and caption.tokens[index].start == caption.tokens[index - 1].end:
            words[-1] = range(words[-1].start, index + 1)
        else:
            words.append(range(index, index + 1))
    return tuple(words)


def _drop(caption: Caption, *positions: int) -> str | Unchanged:
    words, changes = written_words(caption), dict[range, str]()
    if not words:
        return Unchanged("no word")
    for position in positions:
        word = words[position]
        parts = changes.get(word, _text(caption, word)).split(" ")  # "wasn t" has two
        parts[position] = UNKNOWN
        changes[word] = " ".join(parts)
    return _write(caption, changes)


def _write(caption: Caption, changes: Mapping[range, str]) -> str:
    first = {word.start: text for word, text in changes.items()}
    rest = dict.fromkeys((index for word in changes for index in word[1:]), "")
    return caption.replace(first | rest)


def _text(caption: Caption, word: range) -> str:
    return caption.text[caption.tokens[word.start].start : caption.tokens[word.stop - 1].end]


def _inside(caption: Caption, word: range) -> str:
    """Return the first word of a sentence with the capitalization it would have mid-sentence."""
    opener = caption.tokens[word.start]
    return without_capital(opener) + _text(caption, word)[len(opener.text) :]

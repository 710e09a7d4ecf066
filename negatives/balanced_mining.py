"""Wrong options that give nothing away: candidates made, looked at as a blind guesser would, and drawn in balance."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.progress import tracked
from ..language.text_key import text_key
from .balance import Balanced, balance
from .candidates import Candidate, Candidates, Embed, QuestionRow
from .confuser import Confuser
from .content_words import content_words
from .facets import Facet
from .mining import COSINE_DIGITS, Mined, MinedOptions, Negative
from .settings import MiningSettings

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

WORD = re.compile(r"\w+")
OPENINGS = 24  # so many first words are told apart
HARD = "hard"
CARRIED = "carried"
TOO_NEAR = 0.8  # a cosine with what is right from which a candidate may be right too, if --same-text sets none


def mine_balanced(
    rows: Sequence[QuestionRow],
    reader: Confuser,
    embed: Embed,
    settings: MiningSettings,
    *,
    seed: int = 0,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
    train: str | None = None,
) -> MinedOptions:
    """Choose wrong options that no reader of question and options tells from the right one.

    The wrong answers and the wrong explanations of a row come from the same rows.

    Args:
        rows: The questions; their order does not matter.
        reader: Reads their texts.
        embed: Returns embeddings of texts, float32, each of length 1.
        settings: How many options, in which style, and which questions ask the same.
        seed: The dataset's seed.
        kept_apart: By id, the ids of rows that must not lend their texts.
        train: The split that models are trained on, if there is one.
    """
    made = Candidates(
        rows,
        reader,
        embed,
        seed=seed,
        same_question=settings.same_question,
        kept_apart=kept_apart or {},
        one_style=settings.style == "one",
    )
    offers = [made.of(row) for row in tracked(range(len(rows)), "making candidates", "question")]
    tables = {kind: _table(made, offers, kind) for kind in made.kinds}
    vectors = {kind: embed(table) for kind, table in tables.items()}
    numbers = {kind: {text: number for number, text in enumerate(table)} for kind, table in tables.items()}
    near = TOO_NEAR if settings.same_text == MiningSettings().same_text else settings.same_text
    offers = [_true(made, row, some, numbers, vectors, near) for row, some in enumerate(offers)]
    keys = {kind: _Keys(made, tables[kind], kind) for kind in made.kinds}
    facets = {
        kind: Facet(
            vectors[kind],
            [
                np.array([numbers[kind][made.rows[row].texts[kind]], *(numbers[kind][o.texts[kind]] for o in some)])
                for row, some in enumerate(offers)
            ],
            _Cues(made, keys[kind], train, tables, vectors, numbers).of_all(offers),
            [keys[kind].of(row, some) for row, some in enumerate(offers)],
            keys[kind].rights,
        )
        for kind in made.kinds
    }
    balanced = balance(
        [row.id for row in rows],
        made.questions,
        facets,
        need=settings.num_options - 1,
        groups=[row.group or row.id for row in rows],
        splits=[row.split for row in rows],
        seed=seed,
    )
    return MinedOptions(
        {kind: {row.id: row.texts[kind] for row in made.rows} for kind in made.kinds},
        {kind: _mined(made, offers, balanced, kind, facets[kind]) for kind in made.kinds},
        frozenset(row.id for row, out in zip(rows, balanced.guessable.tolist(), strict=True) if out),
    )


def _table(made: Candidates, offers: Sequence[Sequence[Candidate]], kind: str) -> list[str]:
    return sorted({row.texts[kind] for row in made.rows} | {offer.texts[kind] for some in offers for offer in some})


def _true(
    made: Candidates,
    row: int,
    offers: Sequence[Candidate],
    numbers: Mapping[str, Mapping[str, int]],
    vectors: Mapping[str, Floats],
    same_text: float,
) -> list[Candidate]:
    """Leave out what is too near to any right text of the row."""
    rights = [vectors[kind][numbers[kind][made.rows[row].texts[kind]]].astype(np.float64) for kind in made.kinds]

    def near(offer: Candidate) -> bool:
        for kind in made.kinds:
            vector = vectors[kind][numbers[kind][offer.texts[kind]]].astype(np.float64)
            if any(round(float(vector @ right), COSINE_DIGITS) >= same_text for right in rights):
                return True
        return False

    return [offer for offer in offers if not near(offer)]


class _Keys:
    """Numbers of texts that say the same in the same words, and how often these are right."""

    def __init__(self, made: Candidates, table: Sequence[str], kind: str):
        self.made, self.kind = made, kind
        folded = {text: text_key(text) for text in table}
        number = {key: place for place, key in enumerate(sorted(set(folded.values())))}
        self.number = {text: number[key] for text, key in folded.items()}
        self.rights = {split: np.zeros(len(number), np.int64) for split in sorted({row.split for row in made.rows})}
        for row in made.rows:
            self.rights[row.split][self.number[row.texts[kind]]] += 1
        total = np.sum(list(self.rights.values()), axis=0)
        self.often = total > 1  # what will be seen more than once

    def of(self, row: int, offers: Sequence[Candidate]) -> NDArray[np.int64]:
        """Return the numbers of a row's right text and its candidates."""
        right = self.made.rows[row].texts[self.kind]
        return np.array([self.number[right], *(self.number[offer.texts[self.kind]] for offer in offers)])


class _Cues:
    """What can be seen of question and option beside their embeddings."""

    def __init__(
        self,
        made: Candidates,
        keys: _Keys,
        train: str | None,
        tables: Mapping[str, Sequence[str]],
        vectors: Mapping[str, Floats],
        numbers: Mapping[str, Mapping[str, int]],
    ):
        kind = keys.kind
        self.made, self.keys, self.kind, self.train = made, keys, kind, train
        self.vectors, self.numbers = vectors, numbers
        self.asked = [content_words(row.question) for row in made.rows]
        found = Counter(word for words in self.asked for word in words)
        self.weight = {word: math.log(len(made.rows) / count) for word, count in found.items()}
        self.trained = Counter(text_key(row.texts[kind]) for row in made.rows if row.split == train)
        self.words = {text: content_words(text) for text in tables[kind]}
        self.pools = sorted({row.pool for row in made.rows})
        first = Counter(_first(row.texts[kind]) for row in made.rows)
        common = sorted(first, key=lambda word: (-first[word], word))[:OPENINGS]
        self.opening = {word: place for place, word in enumerate(common)}

    def of_all(self, offers: Sequence[Sequence[Candidate]]) -> list[Doubles]:
        """Return the cues of every row, its right text first."""
        return [self._of(row, some) for row, some in enumerate(offers)]

    def _of(self, row: int, offers: Sequence[Candidate]) -> Doubles:
        made, kind = self.made, self.kind
        asked = self.asked[row]
        question = made.questions[row].astype(np.float64)
        total = sum(self.weight[word] for word in sorted(asked)) + 1e-6
        rare = max(sorted(asked), key=lambda word: self.weight[word], default="")
        texts = [made.rows[row].texts, *(offer.texts for offer in offers)]
        found = np.zeros((len(texts), 13 + len(self.pools) + OPENINGS))
        for place, one in enumerate(texts):
            text = one[kind]
            words = self.words[text]
            shared = sorted(asked & words)
            number = self.numbers[kind][text]
            names = sum(token[:1].isupper() for token in WORD.findall(text)[1:])
            known = self.trained[text_key(text)] > (place == 0 and made.rows[row].split == self.train)
            pair = 0.0
            if len(made.kinds) > 1:
                other = next(k for k in made.kinds if k != kind)
                pair = float(
                    self.vectors[kind][number].astype(np.float64)
                    @ self.vectors[other][self.numbers[other][one[other]]].astype(np.float64)
                )
            found[place, :12] = (
                3 * float(question @ self.vectors[kind][number].astype(np.float64)) - 1,
                sum(self.weight[word] for word in shared) / total,
                math.log(len(text) + 1) - 3.6,
                len(shared) / 2,
                names / 2,
                3 * pair - 1,
                rare in words,
                len(shared) / (len(asked) or 1),
                len(words) / 5 - 1,
                len(words - asked) / 5,
                known,
                text.count(",") + text.count("'"),
            )
            found[place, 12] = self.keys.often[self.keys.number[text]]
            found[place, 13 + self.pools.index(made.rows[row].pool)] = known
            opening = self.opening.get(_first(text))
            if opening is not None:
                found[place, 13 + len(self.pools) + opening] = 1
        return found.round(COSINE_DIGITS)


def _first(text: str) -> str:
    return next(iter(WORD.findall(text.lower())), "")


def _mined(
    made: Candidates, offers: Sequence[Sequence[Candidate]], balanced: Balanced, kind: str, facet: Facet
) -> list[Mined]:
    found = []
    for row, some in enumerate(offers):
        right = facet.vectors[facet.texts[row][0]].astype(np.float64)
        negatives = []
        for place in balanced.chosen[row].tolist():
            offer = some[place]
            lent = made.rows[offer.source].texts[kind]
            cos_question = float(
                made.questions[row].astype(np.float64) @ made.questions[offer.source].astype(np.float64)
            )
            cos_text = float(right @ facet.vectors[facet.texts[row][1 + place]].astype(np.float64))
            negatives.append(
                Negative(
                    made.rows[offer.source].id,
                    offer.texts[kind],
                    round(cos_question, COSINE_DIGITS),
                    round(cos_text, COSINE_DIGITS),
                    0.0,
                    HARD if text_key(offer.texts[kind]) == text_key(lent) else CARRIED,
                )
            )
        found.append(Mined(made.rows[row].id, tuple(negatives), len(some)))
    return found

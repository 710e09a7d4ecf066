"""Mine balanced distractors: build candidates, measure the cues available to blind models, and sample."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.progress import tracked
from ..core.threads import one_thread
from .balance import balance
from .candidates import AdaptableTexts, Candidate, Candidates, folded
from .content_words import content_words
from .features import Target
from .options import COSINE_DIGITS, Embed, Mined, MinedOptions, Negative, QuestionRow
from .settings import MiningSettings

Doubles = NDArray[np.float64]

WORD = re.compile(r"\w+")
OPENINGS = 24  # most frequent first words, each of which is a cue
SAME_TEXT = 0.8  # cosine from which a candidate may be correct, unless --same-text is specified


def mine_balanced(
    rows: Sequence[QuestionRow],
    adaptable: AdaptableTexts,
    embed: Embed,
    settings: MiningSettings,
    *,
    seed: int = 0,
    kept_apart: Mapping[str, Sequence[str]] | None = None,
    train: str | None = None,
) -> MinedOptions:
    """Sample distractors that no model of question and options can separate from the correct option.

    Distractors for the answer and for the explanation of a row have the same source rows.

    Args:
        rows: The questions, in any order.
        adaptable: The texts of the questions.
        embed: Function that embeds texts.
        settings: Number of options, and the threshold for equivalent questions.
        seed: The dataset's seed.
        kept_apart: Ids of rows that must not be donors, by row id.
        train: The split that models are trained on, or None.
    """
    made = Candidates(
        rows, adaptable, embed, seed=seed, same_question=settings.same_question, kept_apart=kept_apart or {}
    )
    offers = [made.of(row) for row in tracked(range(len(rows)), "making candidates", "question")]
    right = adaptable.texts
    tables: dict[str, list[str]] = {}
    for name in adaptable.targets:
        tables[name] = sorted({own[name] for own in right} | {one.texts[name] for some in offers for one in some})
    vectors = {name: embed(table) for name, table in tables.items()}
    vector_of = {name: dict(zip(table, vectors[name], strict=True)) for name, table in tables.items()}
    limit = SAME_TEXT if settings.same_text == MiningSettings().same_text else settings.same_text

    def may_be_correct(row: int, offer: Candidate) -> bool:
        rights = [vector_of[name][right[row][name]].astype(np.float64) for name in adaptable.targets]
        return any(
            round(float(vector_of[name][text].astype(np.float64) @ own), COSINE_DIGITS) >= limit
            for name, text in offer.texts.items()
            for own in rights
        )

    offers = [[offer for offer in some if not may_be_correct(row, offer)] for row, some in enumerate(offers)]
    texts = [[right[row], *(offer.texts for offer in some)] for row, some in enumerate(offers)]
    targets = {
        name: _target(name, rows, made.questions, texts, tables[name], vectors[name], vector_of, train)
        for name in adaptable.targets
    }
    with one_thread():
        balanced = balance(
            [row.id for row in rows],
            made.questions,
            targets,
            need=settings.num_options - 1,
            groups=[row.group or row.id for row in rows],
            splits=[row.split for row in rows],
            seed=seed,
        )

    def negative(name: str, row: int, offer: Candidate) -> Negative:
        text, own = offer.texts[name], right[offer.source][name]
        question, other, vector, correct = (
            one.astype(np.float64)
            for one in (
                made.questions[row],
                made.questions[offer.source],
                vector_of[name][text],
                vector_of[name][right[row][name]],
            )
        )
        return Negative(
            rows[offer.source].id,
            text,
            round(float(question @ other), COSINE_DIGITS),
            round(float(correct @ vector), COSINE_DIGITS),
            0.0,
            "hard" if folded(text) == folded(own) else "carried",
        )

    return MinedOptions(
        {name: {row.id: own[name] for row, own in zip(rows, right, strict=True)} for name in adaptable.targets},
        {
            name: [
                Mined(
                    rows[row].id,
                    tuple(negative(name, row, some[place]) for place in balanced.chosen[row].tolist()),
                    len(some),
                )
                for row, some in enumerate(offers)
            ]
            for name in adaptable.targets
        },
        frozenset(row.id for row, out in zip(rows, balanced.guessable.tolist(), strict=True) if out),
    )


def _target(
    name: str,
    rows: Sequence[QuestionRow],
    questions: NDArray[np.float32],
    texts: Sequence[Sequence[Mapping[str, str]]],
    table: Sequence[str],
    vectors: NDArray[np.float32],
    vector_of: Mapping[str, Mapping[str, NDArray[np.float32]]],
    train: str | None,
) -> Target:
    """Measure the texts of one target; `texts` contains those of each row by target, the correct ones first."""
    number = {text: place for place, text in enumerate(table)}
    of_key = {key: place for place, key in enumerate(sorted({folded(text) for text in table}))}
    key_of = {text: of_key[folded(text)] for text in table}
    rights = {split: np.zeros(len(of_key), np.int64) for split in sorted({row.split for row in rows})}
    for row, some in zip(rows, texts, strict=True):
        rights[row.split][key_of[some[0][name]]] += 1
    repeated = np.sum(list(rights.values()), axis=0) > 1
    return Target(
        vectors,
        [np.array([number[one[name]] for one in some]) for some in texts],
        _cues(name, rows, questions, texts, table, vector_of, train, {t: repeated[key_of[t]] for t in table}),
        [np.array([key_of[one[name]] for one in some]) for some in texts],
        rights,
    )


def _cues(
    name: str,
    rows: Sequence[QuestionRow],
    questions: NDArray[np.float32],
    texts: Sequence[Sequence[Mapping[str, str]]],
    table: Sequence[str],
    vector_of: Mapping[str, Mapping[str, NDArray[np.float32]]],
    train: str | None,
    repeated: Mapping[str, bool],
) -> list[Doubles]:
    """Return the non-embedding cues of each row's texts, float64 of shape (texts, cues)."""
    asked_words = [content_words(row.question) for row in rows]
    found_in = Counter(word for words in asked_words for word in words)
    weight = {word: math.log(len(rows) / count) for word, count in found_in.items()}
    trained = Counter(folded(some[0][name]) for row, some in zip(rows, texts, strict=True) if row.split == train)
    words_of = {text: content_words(text) for text in table}
    pools = sorted({row.pool for row in rows})
    first = Counter(_first_word(some[0][name]) for some in texts)
    common = sorted(first, key=lambda word: (-first[word], word))[:OPENINGS]
    opening_of = {word: place for place, word in enumerate(common)}
    other = next((target for target in vector_of if target != name), None)
    cues = []
    for row, some, asked, vector in zip(rows, texts, asked_words, questions, strict=True):
        question = vector.astype(np.float64)
        total = sum(weight[word] for word in sorted(asked)) + 1e-6
        rarest = max(sorted(asked), key=lambda word: weight[word], default="")
        found = np.zeros((len(some), 13 + len(pools) + OPENINGS))
        for place, one in enumerate(some):
            text = one[name]
            words, option = words_of[text], vector_of[name][text].astype(np.float64)
            shared = sorted(asked & words)
            capitals = sum(token[:1].isupper() for token in WORD.findall(text)[1:])
            known = trained[folded(text)] > (place == 0 and row.split == train)
            pair = float(option @ vector_of[other][one[other]].astype(np.float64)) if other else 0.0
            found[place, :13] = (
                3 * float(question @ option) - 1,
                sum(weight[word] for word in shared) / total,
                math.log(len(text) + 1) - 3.6,
                len(shared) / 2,
                capitals / 2,
                3 * pair - 1,
                rarest in words,
                len(shared) / (len(asked) or 1),
                len(words) / 5 - 1,
                len(words - asked) / 5,
                known,
                text.count(",") + text.count("'"),
                repeated[text],
            )
            found[place, 13 + pools.index(row.pool)] = known
            opening = opening_of.get(_first_word(text))
            if opening is not None:
                found[place, 13 + len(pools) + opening] = 1
        cues.append(found.round(COSINE_DIGITS))
    return cues


def _first_word(text: str) -> str:
    return next(iter(WORD.findall(text.lower())), "")

"""The audit: what all guessers get right that never see a video, and the highest of them.

A figure for blind guessing is the highest of several guessers, trained and untrained: one judge flatters whoever was
tuned against it (Zellers et al. 2019, "HellaSwag"; Le Bras et al. 2020, "Adversarial Filters of Dataset Biases").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ...core.errors import InputError
from ..metrics.bootstrap import RESAMPLES
from .asked import Asked as Asked
from .asked import Embed, remembering
from .figures import Audited, audited
from .folds import folds
from .options import guess_options, worth
from .pairs import guess_pairs
from .yes_no import guess_yes_no, on_pairs

BOTH = "both"
MOST_OPTIONS = 200  # of a question
LONGEST = 20_000  # characters of a question with its options


def audit(
    asked: Sequence[Asked],
    train: Sequence[Asked] = (),
    *,
    embed: Embed | None = None,
    complements: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Audited]:
    """Let all guessers guess and count what they get right.

    Args:
        asked: The questions of one split, of one or several parts. Their order, and that of options, does not matter,
            but to the guesser of places.
        train: Questions that trained guessers learn from; without, they learn from other source videos of `asked`.
        embed: Embeds texts (`negatives.embeddings_cache.embed`); without, guessers that need embeddings are left out.
        complements: Pairs of yes/no questions by their kind, such as a question and its opposite; of each kind there is
            an audit of how often both are right.
        seed: Seed of all draws.
        resamples: Resamples of the bootstrap over source videos.

    Returns:
        An audit for each part; one of "both" where each question has two parts, such as answer and explanation; and
        one for each kind of complement pairs.

    Raises:
        InputError: Two questions of a part share an id, or one has no right option, too many options or too much text.
    """
    _check(asked)
    _check(train)
    embed = embed and remembering(embed)
    count = partial(audited, seed=seed, resamples=resamples)
    found, guessed = [], []
    for part, yes_no in dict.fromkeys((part_of(one), one.yes_no) for one in asked):
        some, known = (
            [one for one in all_of if (part_of(one), one.yes_no) == (part, yes_no)] for all_of in (asked, train)
        )
        chance = float(np.mean([1 / len(one.options) for one in some]))
        if not yes_no:
            view = guess_options(some, known, embed, seed)
            guessed.append((view, chance))
            if view.guesses:
                found.append(
                    count(
                        part,
                        view.rows,
                        view.guesses,
                        view.divided,
                        learnt=view.learnt,
                        chance=chance,
                        worth=worth(view),
                        left_out=view.left_out,
                    )
                )
            continue
        rows, guesses, left_out = guess_yes_no(some, known, embed, seed)
        if not guesses:
            continue
        divided = folds(rows, seed)
        found.append(count(part, rows, guesses, divided, learnt=len(known), chance=chance, left_out=left_out))
        for kind, named in (complements or {}).items():
            pairs, of_pairs = on_pairs(rows, guesses, named)
            if pairs.asked:
                name = f"{part}, {kind} complement pairs"
                found.append(count(name, pairs, of_pairs, folds(pairs, seed), learnt=len(known), chance=chance**2))
    if len(guessed) == 2:
        (one, first), (other, second) = guessed
        if [asked.id for asked in one.rows.asked] == [asked.id for asked in other.rows.asked]:
            both = guess_pairs(one, other, embed)
            found.append(count(BOTH, one.rows, both, one.divided, learnt=one.learnt, chance=first * second))
    return found


def part_of(asked: Asked) -> str:
    """Name the part of a question: its own, or whether it is a choice or a yes/no question."""
    return asked.part or ("yes/no" if asked.yes_no else "choice")


def _check(asked: Sequence[Asked]) -> None:
    taken = set()
    for one in asked:
        if (one.part, one.id) in taken:
            raise InputError(f"{one.id!r} is there twice. Give each question an id of its own.")
        taken.add((one.part, one.id))
        if not (0 <= one.right < len(one.options) and len(one.options) > 1):
            raise InputError(
                f"{one.id!r} has {len(one.options)} options, and number {one.right} is right; expected two options "
                "or more, one of them right, counted from 0."
            )
        if len(one.options) > MOST_OPTIONS:
            raise InputError(
                f"{one.id!r} has {len(one.options):,} options; guessers compare each with each, so there may be "
                f"{MOST_OPTIONS} at most."
            )
        length = len(one.question) + sum(map(len, one.options))
        if length > LONGEST:
            raise InputError(
                f"{one.id!r} has {length:,} characters with its options; guessers learn from every stretch of them, so "
                f"there may be {LONGEST:,} at most. Shorten the question or leave it out."
            )

"""Run all blind baselines on a set of questions, and report the highest accuracy.

Several baselines are needed, because a dataset that was tuned against one model appears harder to that model than it
is (Zellers et al. 2019, "HellaSwag"; Le Bras et al. 2020, "Adversarial Filters of Dataset Biases").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ...core.errors import InputError
from ..metrics.bootstrap import RESAMPLES
from .figures import Audited, audited
from .fitting import folds
from .options import guess_options, worth
from .pairs import guess_pairs
from .questions import BlindQuestion, Embed, remembering
from .yes_no import guess_yes_no, on_pairs

BOTH = "both"
MOST_OPTIONS = 200  # per question
LONGEST = 20_000  # characters of a question with its options


def audit(
    asked: Sequence[BlindQuestion],
    train: Sequence[BlindQuestion] = (),
    *,
    embed: Embed | None = None,
    complements: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Audited]:
    """Run all blind baselines on questions, and compute their accuracies.

    Args:
        asked: Questions of one split, in any order. The order of their options only affects the baseline of positions.
        train: Training questions. If empty, baselines learn from other source videos of `asked`.
        embed: Function that embeds texts (`negatives.embeddings_cache.embed`), or None to omit baselines that require
            embeddings.
        complements: Pairs of yes/no questions by kind, such as a question and its opposite. A pair counts as correct if
            both answers are.
        seed: Seed of all random numbers.
        resamples: Number of bootstrap resamples over source videos.

    Returns:
        An audit for each part, one of "both" if each question has two parts (such as answer and explanation), and one
            for each kind of complement pairs.

    Raises:
        InputError: Questions of a part share an id, or have no correct option, too many options or too much text.
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


def part_of(asked: BlindQuestion) -> str:
    """Return the part to which a question belongs: the one it names, or else "yes/no" or "choice"."""
    return asked.part or ("yes/no" if asked.yes_no else "choice")


def _check(asked: Sequence[BlindQuestion]) -> None:
    taken = set()
    for one in asked:
        if (one.part, one.id) in taken:
            raise InputError(f"{one.id!r} occurs twice. Question ids must be unique.")
        taken.add((one.part, one.id))
        if not (0 <= one.right < len(one.options) and len(one.options) > 1):
            raise InputError(
                f"{one.id!r} has {len(one.options)} options, and option {one.right} is correct; expected at least two "
                "options and the index of the correct one, counted from 0."
            )
        if len(one.options) > MOST_OPTIONS:
            raise InputError(
                f"{one.id!r} has {len(one.options):,} options; the limit is {MOST_OPTIONS}, because they are compared "
                "in pairs."
            )
        length = len(one.question) + sum(map(len, one.options))
        if length > LONGEST:
            raise InputError(
                f"{one.id!r} has {length:,} characters including its options; the limit is {LONGEST:,}. Shorten or "
                "omit the question."
            )

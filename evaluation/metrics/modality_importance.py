"""Modality importance: which modality a question needs.

Park et al. 2025, "Assessing Modality Bias in Video Question Answering Benchmarks with Multimodal Large Language
Models", section 3, equations 1 to 3, Tables 1 and 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.results import Cell, Table
from .bootstrap import Floats

Subset = frozenset[str]

COMPLEMENTARY = "complementary"
AGNOSTIC_RIGHT = "modality-agnostic correct"
AGNOSTIC_WRONG = "modality-agnostic incorrect"
NONE = "none"


def subsets(modalities: Sequence[str]) -> list[Subset]:
    """Name the non-empty subsets of modalities, the smaller ones first."""
    sizes = range(1, len(modalities) + 1)
    return [frozenset(chosen) for size in sizes for chosen in combinations(modalities, size)]


def importance(right: Mapping[Subset, NDArray[np.bool_]], modalities: Sequence[str]) -> dict[str, Floats]:
    """Return each question's importance score of each modality (equation 3).

    perf(q | M+) is the mean correctness over the subsets that hold the modality and at least one other, perf(q | M-)
    over the non-empty subsets without it; the score is their difference, from -1 to 1.

    Args:
        right: For every non-empty subset of modalities, whether each question was answered right from it.
        modalities: The modalities, two or more.

    Raises:
        InputError: Fewer than two modalities, or a subset has no answers.
    """
    if len(modalities) < 2:
        raise InputError(f"modality importance needs two modalities or more; given: {', '.join(modalities) or 'none'}.")
    absent = ["+".join(sorted(subset)) for subset in subsets(modalities) if subset not in right]
    if absent:
        raise InputError(
            f"modality importance needs answers from every subset of modalities; missing: {', '.join(absent)}."
        )
    scores = {}
    for modality in modalities:
        others = [subset for subset in subsets(modalities) if subset != {modality}]
        having = [right[subset] for subset in others if modality in subset]
        lacking = [right[subset] for subset in others if modality not in subset]
        scores[modality] = np.mean(having, axis=0) - np.mean(lacking, axis=0)
    return scores


def categories(right: Mapping[Subset, NDArray[np.bool_]], modalities: Sequence[str]) -> list[str]:
    """Sort each question into a category (section 3.2).

    "<m>-biased": the score of m is 0 or more, those of all others 0 or less, and none of them equal to m's.
    "complementary": every score is above 0. "modality-agnostic correct" (or "incorrect"): every score is 0 and every
    subset is answered right (wrong). "none": everything else.

    With two modalities a question answered right from video alone and subtitles alone, and wrong from both, has
    scores (-1, -1): "none" (the paper's last row of Table 2).

    Args:
        right: See `importance`.
        modalities: The modalities.
    """
    scores = importance(right, modalities)
    table = np.stack([scores[modality] for modality in modalities], axis=1)
    every = np.stack([right[subset] for subset in subsets(modalities)], axis=1)
    found = []
    for values, answers in zip(np.round(table, 12), every, strict=True):
        biased = [
            modality
            for number, modality in enumerate(modalities)
            if values[number] >= 0 and all(v <= 0 and v != values[number] for v in np.delete(values, number))
        ]
        if (values > 0).all():
            found.append(COMPLEMENTARY)
        elif len(biased) == 1:
            found.append(f"{biased[0]}-biased")
        elif (values == 0).all() and answers.all():
            found.append(AGNOSTIC_RIGHT)
        elif (values == 0).all() and not answers.any():
            found.append(AGNOSTIC_WRONG)
        else:
            found.append(NONE)
    return found


def category_names(modalities: Sequence[str]) -> list[str]:
    """Name the categories in the order of Table 2."""
    return [*(f"{name}-biased" for name in modalities), COMPLEMENTARY, AGNOSTIC_RIGHT, AGNOSTIC_WRONG, NONE]


def shares_by(types: Sequence[str], found: Sequence[str], kinds: Sequence[str], column: str) -> Table:
    """Return the share of each category among the questions of each annotated type (Figure 3).

    Args:
        types: The type of each question; "" where there is none.
        found: The category of each.
        kinds: The categories, in order.
        column: What the types are called.
    """
    rows: list[tuple[Cell, ...]] = []
    for name in sorted({*types}):
        of_type = [category for own, category in zip(types, found, strict=True) if own == name]
        shares = (of_type.count(kind) / len(of_type) for kind in kinds)
        rows.append((name or "–", len(of_type), *shares))
    title = f"Share of each category, by {column} (the paper's Figure 3)" if column else "Share of each category"
    return Table("by_type", title, (column or "table", "questions", *kinds), tuple(rows))


def permuted(sources: Sequence[str], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return for each item another item, of another source video, for its features (section 4.4).

    A random cyclic shift over items that are in random order inside source videos in random order: every item gives
    its features once, and never to its own video.

    Args:
        sources: The source video of each item.
        rng: For the order and the shift.

    Returns:
        For each item the item whose features it gets.

    Raises:
        InputError: One source video has more than half of the items, so that no such exchange exists.
    """
    names, inverse, counts = np.unique(
        np.asarray(sources, dtype=object).astype(str), return_inverse=True, return_counts=True
    )
    total, most = len(inverse), int(counts.max()) if len(counts) else 0
    if 2 * most > total:
        name = str(names[counts.argmax()])
        raise InputError(
            f"features cannot be permuted: {name!r} has {most} of {total} items, more than half; its items cannot all "
            "get the features of other videos."
        )
    order_of_sources = rng.permutation(len(names))
    order = np.lexsort((rng.random(total), order_of_sources[inverse]))
    # Blocks are contiguous and none is longer than `most`: a shift from `most` to total - most leaves every block.
    shift = int(rng.integers(most, total - most + 1))
    result = np.empty(total, np.intp)
    result[order] = order[(np.arange(total) + shift) % total]
    return result

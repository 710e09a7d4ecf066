"""Measure how much questions depend on each modality, and what permuted features change.

Park et al. 2025, "Assessing Modality Bias in Video Question Answering Benchmarks with Multimodal Large Language
Models": section 3 defines modality importance scores (MIS), in equations 1 to 3 and Tables 1 and 2. Section 4.4 reports
accuracy without permutation (Orig.), and with the text or the video of another item (SP, VP), by category of modality
importance (Table 3).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.results import Cell, Table
from .bootstrap import Floats
from .comparison import RunScore, mean_and_std
from .items import Items, join_items
from .predictions import ID_NAMES, PickedOptions, Predictions, column, of_output

Subset = frozenset[str]

COMPLEMENTARY = "complementary"
AGNOSTIC_RIGHT = "modality-agnostic correct"
AGNOSTIC_WRONG = "modality-agnostic incorrect"
NONE = "none"


def subsets(modalities: Sequence[str]) -> list[Subset]:
    """Return all non-empty subsets of modalities, smaller ones first."""
    sizes = range(1, len(modalities) + 1)
    return [frozenset(chosen) for size in sizes for chosen in combinations(modalities, size)]


def check_subsets(answered: Collection[Subset], modalities: Sequence[str]) -> None:
    """Raise InputError if there are fewer than two modalities, or if a non-empty subset of them is missing."""
    if len(modalities) < 2:
        raise InputError(
            f"modality importance needs at least two modalities; given: {', '.join(modalities) or 'none'}."
        )
    absent = ["+".join(sorted(subset)) for subset in subsets(modalities) if subset not in answered]
    if absent:
        raise InputError(
            f"modality importance needs answers from every subset of modalities; missing: {', '.join(absent)}."
        )


def importance(right: Mapping[Subset, NDArray[np.bool_] | Floats], modalities: Sequence[str]) -> dict[str, Floats]:
    """Compute the importance score of each modality for each question (equation 3).

    The score is perf(q | M+) − perf(q | M−), from -1 to 1. perf(q | M+) is the mean correctness over the subsets with
    the modality and at least one other, and perf(q | M−) that over the non-empty subsets without it. `right` states
    whether each question was answered correctly, or by what share of people, for every non-empty subset of modalities.

    Raises:
        InputError: There are fewer than two modalities, or a subset has no answers.
    """
    check_subsets(right, modalities)
    scores = {}
    for modality in modalities:
        others = [subset for subset in subsets(modalities) if subset != {modality}]
        having = [right[subset] for subset in others if modality in subset]
        lacking = [right[subset] for subset in others if modality not in subset]
        scores[modality] = np.mean(having, axis=0) - np.mean(lacking, axis=0)
    return scores


def categories(right: Mapping[Subset, NDArray[np.bool_]], modalities: Sequence[str]) -> list[str]:
    """Return the category of each question (section 3.2). Arguments are those of `importance`.

    A question is "<m>-biased" if the score of m is at least 0, and all others are at most 0 and differ from it. It is
    "complementary" if all scores are above 0, and "modality-agnostic correct" (or "incorrect") if all scores are 0 and
    it is answered correctly (incorrectly) with all subsets. All other questions are "none".

    With two modalities, a question that is answered correctly with either one but not with both has the scores (-1,
    -1), and is therefore "none" (last row of Table 2).
    """
    scores = importance(right, modalities)
    table = np.stack([scores[modality] for modality in modalities], axis=1)
    every = np.stack([right[subset] for subset in subsets(modalities)], axis=1)
    names = []
    for values, answers in zip(np.round(table, 12), every, strict=True):
        biased = [
            modality
            for index, modality in enumerate(modalities)
            if values[index] >= 0 and all(v <= 0 and v != values[index] for v in np.delete(values, index))
        ]
        if (values > 0).all():
            names.append(COMPLEMENTARY)
        elif len(biased) == 1:
            names.append(f"{biased[0]}-biased")
        elif (values == 0).all() and answers.all():
            names.append(AGNOSTIC_RIGHT)
        elif (values == 0).all() and not answers.any():
            names.append(AGNOSTIC_WRONG)
        else:
            names.append(NONE)
    return names


def category_names(modalities: Sequence[str]) -> list[str]:
    """Return the names of all categories, in the order of Table 2."""
    return [*(f"{name}-biased" for name in modalities), COMPLEMENTARY, AGNOSTIC_RIGHT, AGNOSTIC_WRONG, NONE]


def shares_by(types: Sequence[str], assigned: Sequence[str], kinds: Sequence[str], column: str) -> Table:
    """Tabulate the share of each category, by annotated type of the questions (Figure 3)."""
    rows: list[tuple[Cell, ...]] = []
    for name in sorted({*types}):
        of_type = [category for own, category in zip(types, assigned, strict=True) if own == name]
        shares = (of_type.count(kind) / len(of_type) for kind in kinds)
        rows.append((name or "–", len(of_type), *shares))
    title = f"Share of each category, by {column} (the paper's Figure 3)" if column else "Share of each category"
    return Table("by_type", title, (column or "table", "questions", *kinds), tuple(rows))


def permuted(sources: Sequence[str], rng: np.random.Generator) -> NDArray[np.intp]:
    """Assign to each item another item with a different source video, whose features replace its own (section 4.4).

    The assignment is a random cyclic shift of shuffled items, grouped by shuffled source videos. The features of every
    item are used once.

    Raises:
        InputError: One source video has more than half of the items, which makes this impossible.
    """
    names, inverse, counts = np.unique(
        np.asarray(sources, dtype=object).astype(str), return_inverse=True, return_counts=True
    )
    total, most = len(inverse), int(counts.max()) if len(counts) else 0
    if 2 * most > total:
        name = str(names[counts.argmax()])
        raise InputError(
            f"features cannot be permuted: {name!r} has {most} of {total} items, more than half, so not all of its "
            "items can be paired with another video."
        )
    order_of_sources = rng.permutation(len(names))
    order = np.lexsort((rng.random(total), order_of_sources[inverse]))
    # Blocks are contiguous and at most `most` long: a shift from `most` to total - most leaves every block.
    shift = int(rng.integers(most, total - most + 1))
    result = np.empty(total, np.intp)
    result[order] = order[(np.arange(total) + shift) % total]
    return result


Right = NDArray[np.bool_]
ALL_QUESTIONS = "all"


def permuted_sets(answers: Predictions, items: Items, *, first: int = 0) -> dict[str, dict[str, PickedOptions]]:
    """Match answers to permuted questions with the items, and group them by permuted modality and seed.

    The rows need `permuted` (the modality taken from another item), `seed`, `id` and an answer.

    Raises:
        InputError: A row belongs to no set, or ids of a set are missing, duplicate or unknown.
    """
    for name in ("permuted", "seed"):
        column(answers, [name])
    kept = of_output(answers, items.config, items.fingerprint) if items.config else answers
    groups: dict[tuple[str, str], list[dict[str, object]]] = {}
    for row_number, row in enumerate(kept.rows, 1):
        kind, seed = (str("" if row.get(name) is None else row[name]).strip() for name in ("permuted", "seed"))
        if not kind or not seed:
            raise InputError(
                f"{answers.path}: row {row_number} lacks `permuted` or `seed`. Answer the rows written by `stressreel "
                "permute`, and keep these columns."
            )
        groups.setdefault((kind, seed), []).append(row)
    sets: dict[str, dict[str, PickedOptions]] = {}
    for (kind, seed), rows in groups.items():
        called = f"{answers.path} ({kind} permuted, seed {seed})"
        sets.setdefault(kind, {})[seed] = join_items(Predictions(called, rows), items, first=first)
    return sets


def categories_of(table: Predictions, items: Items) -> list[str]:
    """Return the category of each item, from a file written by `stressreel score modalities --items`.

    Raises:
        InputError: An item has no category.
    """
    name, _ = column(table, ID_NAMES), column(table, ["category"])
    by_id = {str(row.get(name)).strip(): str(row.get("category") or "").strip() for row in table.rows}
    missing = [item for item in items.ids if not by_id.get(item)]
    if missing:
        raise InputError(
            f"{table.path}: {len(missing):,} of {len(items.ids):,} items have no category ({', '.join(missing[:5])}). "
            "Pass the file written by `stressreel score modalities --items FILE` for the same questions."
        )
    return [by_id[item] for item in items.ids]


def permutation_table(
    categories: Sequence[str], original: Sequence[Right], permuted: Mapping[str, Mapping[str, Right]]
) -> Table:
    """Tabulate accuracy by category as mean ± standard deviation (n - 1), and its decrease under permutation.

    `original` and `permuted` state whether each item was answered correctly, in each run, and by permuted modality and
    seed. Without `categories`, all items form one category.
    """
    kinds = np.asarray(categories, dtype=object)
    every = np.ones(len(original[0]), np.bool_)
    heads = [head for kind in permuted for head in (f"{kind} permuted", f"Δ {kind}")]
    rows: list[tuple[Cell, ...]] = []
    for name in (*sorted({*categories}), ALL_QUESTIONS):
        there = every if name == ALL_QUESTIONS else kinds == name
        base = mean_and_std([RunScore(float(right[there].mean())) for right in original])
        cells: list[Cell] = [name, int(there.sum()), base]
        for sets in permuted.values():
            spread = mean_and_std([RunScore(float(right[there].mean())) for right in sets.values()])
            cells += [spread, spread.mean - base.mean]
        rows.append(tuple(cells))
    runs = f"{len(original)} run{'s' * (len(original) != 1)} as asked"
    sets_of = ", ".join(f"{len(sets)} sets with {kind} permuted" for kind, sets in permuted.items())
    return Table(
        "permuted",
        "Accuracy after feature permutation (the paper's Table 3)",
        ("category", "questions", "original", *heads),
        tuple(rows),
        f"Mean ± standard deviation (n - 1) over {runs}, {sets_of}.",
    )

"""Measure how accuracy decreases when features are permuted, by the modality that questions require.

Park et al. 2025, "Assessing Modality Bias in Video Question Answering Benchmarks with Multimodal Large Language
Models", section 4.4 and Table 3, report accuracy without permutation (Orig.), and with the text or the video of another
item (SP, VP), by category of modality importance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from ...core.results import Cell, Table
from .comparison import RunScore, mean_and_std
from .items import Items, join_items
from .predictions import ID_NAMES, PickedOptions, Predictions, column, of_output

Right = NDArray[np.bool_]
ALL_QUESTIONS = "all"


def permuted_sets(given: Predictions, items: Items, *, first: int = 0) -> dict[str, dict[str, PickedOptions]]:
    """Match answers to permuted questions with the items, and group them by permuted modality and seed.

    The rows need `permuted` (the modality taken from another item), `seed`, `id` and an answer.

    Raises:
        InputError: A row belongs to no set, or ids of a set are missing, duplicate or unknown.
    """
    for name in ("permuted", "seed"):
        column(given, [name])
    kept = of_output(given, items.config, items.fingerprint) if items.config else given
    groups: dict[tuple[str, str], list[dict[str, object]]] = {}
    for number, row in enumerate(kept.rows, 1):
        kind, seed = (str("" if row.get(name) is None else row[name]).strip() for name in ("permuted", "seed"))
        if not kind or not seed:
            raise InputError(
                f"{given.path}: row {number} lacks `permuted` or `seed`. Answer the rows written by `stressreel "
                "permute`, and keep these columns."
            )
        groups.setdefault((kind, seed), []).append(row)
    found: dict[str, dict[str, PickedOptions]] = {}
    for (kind, seed), rows in groups.items():
        place = f"{given.path} ({kind} permuted, seed {seed})"
        found.setdefault(kind, {})[seed] = join_items(Predictions(place, rows), items, first=first)
    return found


def categories_of(given: Predictions, items: Items) -> list[str]:
    """Return the category of each item, from a file written by `stressreel score modalities --items`.

    Raises:
        InputError: An item has no category.
    """
    name, _ = column(given, ID_NAMES), column(given, ["category"])
    found = {str(row.get(name)).strip(): str(row.get("category") or "").strip() for row in given.rows}
    missing = [item for item in items.ids if not found.get(item)]
    if missing:
        raise InputError(
            f"{given.path}: {len(missing):,} of {len(items.ids):,} items have no category ({', '.join(missing[:5])}). "
            "Pass the file written by `stressreel score modalities --items FILE` for the same questions."
        )
    return [found[item] for item in items.ids]


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
            found = mean_and_std([RunScore(float(right[there].mean())) for right in sets.values()])
            cells += [found, found.mean - base.mean]
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

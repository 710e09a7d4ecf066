"""Divide CausalChaos into splits in three ways, each 70:15:15, and measure how much the splits overlap.

Parmar et al. 2024, "CausalChaos!" (arXiv 2404.01299), section 4: UD samples uniformly at random; PS divides by position
in the episode; UN divides by episode, so that episodes of validation and test are unseen in training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ...annotations.causalchaos import CausalRow, overlaps
from ...core.seeds import rng_for
from .settings import Scheme

Places = Literal["frames", "rows"]
SPLITS = ("train", "validation", "test")
TRAIN = SPLITS[0]
TRAIN_ENDS, VALIDATION_ENDS = Fraction(70, 100), Fraction(85, 100)


def divide(scheme: Scheme, rows: Sequence[CausalRow], seed: int, places: Places = "frames") -> dict[str, str]:
    """Return the split of every row, by id.

    `seed` does not affect PS, whose order is determined by `places`; see `by_place`.
    """
    if scheme == "ud":
        return at_random(rows, seed)
    return by_episode(rows, seed) if scheme == "un" else by_place(rows, places)


def at_random(rows: Sequence[CausalRow], seed: int) -> dict[str, str]:
    """Divide rows at random (UD), whatever their order: 4,945 rows yield 3,462, 741 and 742, as in the release."""
    return _drawn(sorted(row.qid for row in rows), seed, "ud")


def by_episode(rows: Sequence[CausalRow], seed: int) -> dict[str, str]:
    """Divide entire episodes at random (UN): 161 episodes yield 113, 24 and 24, as in the release."""
    split_of = _drawn(sorted({row.episode for row in rows}), seed, "un")
    return {row.qid: split_of[row.episode] for row in rows}


def by_place(rows: Sequence[CausalRow], places: Places = "frames") -> dict[str, str]:
    """Divide by position (PS): the first 70% of an episode are train, up to 85% validation, the rest test.

    Args:
        rows: The rows.
        places: "frames": the position of a row is the middle of its clip, and an episode ends with the last annotated
            frame, so no video is needed. "rows": the position is the row's order among those of its episode in the
            file, as in the released split (3,460/757/728 rows; the release has 3,459/757/728). Clips from the beginning
            of an episode may then be in its test split, because the file is not in temporal order.
    """
    members: dict[str, list[CausalRow]] = {}
    for row in rows:
        members.setdefault(row.episode, []).append(row)
    found: dict[str, str] = {}
    for episode in members.values():
        if places == "rows":
            ends = [round(share * len(episode)) for share in (TRAIN_ENDS, VALIDATION_ENDS)]
            found |= {row.qid: SPLITS[sum(number >= end for end in ends)] for number, row in enumerate(episode)}
            continue
        last = max(row.end_frame for row in episode)
        for row in episode:
            place = Fraction(row.start_frame + row.end_frame, 2 * last)
            found[row.qid] = SPLITS[(place >= TRAIN_ENDS) + (place >= VALIDATION_ENDS)]
    return {row.qid: found[row.qid] for row in rows}


def _drawn(names: Sequence[str], seed: int, scheme: str) -> dict[str, str]:
    ends = [round(share * len(names)) for share in (TRAIN_ENDS, VALIDATION_ENDS)]
    order = rng_for(seed, "split", scheme).permutation(len(names)).tolist()
    return {names[place]: SPLITS[sum(number >= end for end in ends)] for number, place in enumerate(order)}


@dataclass(frozen=True)
class Leak:
    """How much a split overlaps with train.

    Attributes:
        same: Rows whose clip also belongs to a row of train.
        overlapping: Rows whose clip shares a frame with one of train, including `same`.
        episode: Rows whose episode occurs in train.
    """

    rows: int
    same: int
    overlapping: int
    episode: int


def leaks(rows: Sequence[CausalRow], split_of: Mapping[str, str]) -> dict[str, Leak]:
    """Count how many validation and test rows share frames with train."""
    by_id = {row.qid: row for row in rows}
    others = overlaps(rows)
    seen = {row.episode for row in rows if split_of[row.qid] == "train"}

    def trained(row: CausalRow, close: Callable[[CausalRow], bool]) -> bool:
        return any(split_of[other] == "train" and close(by_id[other]) for other in others[row.qid])

    def counted(split: str) -> Leak:
        part = [row for row in rows if split_of[row.qid] == split]
        same = sum(
            trained(row, lambda o, r=row: (o.start_frame, o.end_frame) == (r.start_frame, r.end_frame))  # type: ignore[misc]
            for row in part
        )
        overlapping = sum(trained(row, lambda _: True) for row in part)
        return Leak(len(part), same, overlapping, sum(row.episode in seen for row in part))

    return {split: counted(split) for split in ("validation", "test")}

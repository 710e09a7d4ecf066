"""YouCook2's steps as actions in time: "spread margarine on bread" is "spreading margarine on bread"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..core.errors import InputError
from ..language.gerund_wording import Gerund
from ..language.phrases import instruction
from .actions import Action, Annotations
from .captions import choose_files
from .drafts import VideoDraft, gather
from .tables import Problems
from .youcook2 import ADVICE, SUBSETS, TRAINVAL, YOUCOOK2, trainval_parts

SPLITS = ("train", "validation")
SHELVES = ("raw_videos/", "")  # what people keep the folders training and validation in
YOUCOOK2_STEPS = replace(YOUCOOK2, video_folders=("raw_videos", *SUBSETS, "videos", "."))


def read_steps(path: Path, splits: Sequence[str] = SPLITS) -> Annotations:
    """Read YouCook2's steps.

    Args:
        path: `youcookii_annotations_trainval.json`, or a folder that holds it, itself or up to two folders below.
        splits: "train", "validation" or both.

    Returns:
        The videos in the order of the file, each with its `recipe_type` and `subset` as columns. A step becomes a
        gerund phrase; one that cannot is left out and counted by reason.

    Raises:
        InputError: The file is not found, has another format or malformed entries, or holds nothing of the splits.
    """
    file = next(iter(choose_files(path, splits, {split: (TRAINVAL,) for split in SPLITS})))
    problems, counts = Problems(), Counter[str]()
    drafts: dict[str, VideoDraft] = {}
    subsets = {split: subset for subset, split in SUBSETS.items()}
    for part in trainval_parts(file, splits, problems, counts):
        if part.video not in drafts:
            columns = {"recipe_type": part.recipe, "subset": subsets[part.split]}
            drafts[part.video] = VideoDraft(part.video, part.split, length_s=part.length, columns=columns)
        found = instruction(part.caption)
        drafts[part.video].add(step_action(part.caption, found), part.caption, part.times, counts, "imperative")
    problems.raise_if_any(ADVICE)
    absent = set(splits) - {draft.split for draft in drafts.values()}
    if absent:
        raise InputError(f"{file.name} holds nothing of the split {', '.join(sorted(absent))}.")
    return gather(drafts, [file], counts, 0, ADVICE)


def video_folders(annotations: Annotations) -> tuple[str, ...]:
    """Return where people keep the videos: `raw_videos/<subset>/<recipe>`, `<subset>/<recipe>`, or without these."""
    shelves = sorted({f"{v.columns['subset']}/{v.columns['recipe_type']}" for v in annotations.videos})
    return (*(f"{root}{shelf}" for root in SHELVES for shelf in shelves), *YOUCOOK2_STEPS.video_folders)


def step_action(text: str, found: Gerund | str) -> Action | str:
    """Return the action of a gerund phrase, or the reason why there is none."""
    if isinstance(found, str):
        return found
    return Action(found.phrase, text, found.phrase, found.verb, found.objects, words=found.words)

"""Load YouCook2 from `youcookii_annotations_trainval.json`, or from MIL-NCE's CSV of the validation clips.

Sentences can serve as captions or as actions; for the latter, "spread margarine on bread" becomes "spreading margarine
on bread".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..core.errors import InputError
from ..core.plan import counts_of
from ..core.tabular import read_document
from ..language.phrases import instruction
from . import load_source
from .actions import Annotations, VideoDraft, action_of, gather
from .captions import CaptionedClip, CaptionedClips, gathered
from .entries import NAME_EXPECTED, Problems, check_splits, choose_files, entries, file_name, json_entry, seconds

MILNCE = "validation_youcook_milnce.csv"
TRAINVAL = "youcookii_annotations_trainval.json"
FILES = {"train": (TRAINVAL,), "validation": (MILNCE, TRAINVAL)}
COLUMNS = ("end", "start", "task", "text", "video_id")
YOUCOOK2 = load_source("youcook2")
SUBSETS = {"training": "train", "validation": "validation"}
SUBSET_OF = {split: subset for subset, split in SUBSETS.items()}
YOUCOOK2_STEPS = replace(YOUCOOK2, video_folders=("raw_videos", *SUBSETS, "videos", "."))
ADVICE = "Use the released file, or fix these entries."


class TimedSentence(NamedTuple):
    """A sentence that describes part of a video, with its start and end in seconds, and its lines in the file."""

    video: str
    split: str
    recipe: str
    times: tuple[float, float]
    caption: str
    length: float | None = None
    lines: tuple[int, ...] = ()


def read_youcook2(folder: Path, splits: Sequence[str] = ("validation",)) -> CaptionedClips:
    """Load YouCook2 clips in file order, each with one caption.

    The id of a clip is `<video_id>_<n>`, where n is its position in the video, starting at 00 (the `id` in the JSON).
    Videos are expected in `raw_videos/<subset>/<recipe>`, in `<subset>/<recipe>`, or without subfolders.

    Args:
        folder: One of the files, or a folder that contains them, at most two levels deep. In a folder,
            `validation_youcook_milnce.csv` takes precedence for the validation split. It contains only the videos that
            were still online when it was made.
        splits: "train", "validation" or both. The CSV only has "validation".

    Raises:
        InputError: No file is found, a file has another format or no clips of a split, or rows are malformed (all are
            listed).
    """
    problems, counts, numbers = Problems(), Counter[str](), Counter[str]()
    clips: list[CaptionedClip] = []
    shelves: set[str] = set()
    files = choose_files(folder, splits, FILES)
    for file, wanted in files.items():
        csv = file.suffix.lower() == ".csv"
        sentences = [*(_milnce(file, wanted, problems) if csv else _trainval(file, wanted, problems, counts))]
        for video, split, recipe, times, caption, _, lines in sentences:
            name = f"{video}_{numbers[video]:02d}"
            clips.append(CaptionedClip(name, video, *times, (caption,), split, file.name, lines))
            numbers[video] += 1
            shelves.add(f"{SUBSET_OF[split]}/{recipe}")
        check_splits(file, wanted, (sentence.split for sentence in sentences), problems)
    problems.raise_if_any(ADVICE)
    return gathered(clips, files, counts, _folders(shelves), problems.rows_left_out())


def _milnce(path: Path, wanted: Sequence[str], problems: Problems) -> Iterator[TimedSentence]:
    for entry in entries(path, COLUMNS, problems):
        video, recipe, caption = entry.name("video_id"), entry.name("task"), entry.text("text")
        times = entry.times("start", "end")
        if video and recipe and caption and times and "validation" in wanted:
            lines = (entry.line,) if entry.line else ()
            yield TimedSentence(video, "validation", recipe, times, caption, lines=lines)


def _trainval(path: Path, wanted: Sequence[str], problems: Problems, counts: Counter[str]) -> Iterator[TimedSentence]:
    content = read_document(path, replace_surrogates=False)
    database = content.get("database") if isinstance(content, dict) else None
    if not isinstance(database, dict):
        raise InputError(f"{path.name}: expected an object with the object database, as in {TRAINVAL}.")
    for video, info in database.items():
        about = json_entry(info, path, problems, f"database[{video!r}].")
        name = file_name(video)
        if not name:
            problems.add(path, None, "database", NAME_EXPECTED, video)
        split, recipe = about.choice("subset", SUBSETS), about.name("recipe_type")
        length, annotations = seconds(str(about.values.get("duration"))), about.values.get("annotations")
        if not isinstance(annotations, list):
            about.wrong("annotations", "a list", annotations)
            continue
        if split in wanted and not annotations:
            about.leave_out("video", name, "videos_left_out_without_clips", "it has no annotated clips", name)
        for index, values in enumerate(annotations):
            entry = json_entry(values, path, problems, f"{about.pointer}annotations[{index}].")
            segment, times = entry.values.get("segment"), None
            if isinstance(segment, list) and len(segment) == 2:
                times = entry.in_order(segment[0], segment[1], ("segment", "segment"))
            else:
                entry.wrong("segment", "[start, end] in seconds", segment)
            caption = entry.text("sentence")
            if name and times and caption and split in wanted and recipe:
                counts["ends_past_the_length"] += length is not None and times[1] > length
                yield TimedSentence(name, split, recipe, times, caption, length)


def read_steps(path: Path, splits: Sequence[str] = tuple(FILES)) -> Annotations:
    """Load YouCook2 steps. Each video has the columns `recipe_type` and `subset`.

    Each step is converted to a gerund phrase. Steps that cannot be converted are dropped and counted by reason. `path`
    is `youcookii_annotations_trainval.json`, or a folder that contains it, at most two levels deep.

    Raises:
        InputError: The file is missing, has another format or malformed entries, or has no entries for a split.
    """
    file = next(iter(choose_files(path, splits, {split: (TRAINVAL,) for split in FILES})))
    problems, counts = Problems(), Counter[str]()
    drafts: dict[str, VideoDraft] = {}
    for video, split, recipe, times, caption, length, _ in _trainval(file, splits, problems, counts):
        if video not in drafts:
            columns = {"recipe_type": recipe, "subset": SUBSET_OF[split]}
            drafts[video] = VideoDraft(video, split, length_s=length, columns=columns, file=file.name)
        drafts[video].add(action_of(instruction(caption), caption), caption, times, counts, "imperative")
    problems.raise_if_any(ADVICE)
    check_splits(file, splits, (draft.split for draft in drafts.values()), problems)
    left_out = problems.rows_left_out()
    return gather(drafts, [file], counts + counts_of(left_out), ADVICE, left_out=left_out)


def _folders(shelves: set[str]) -> tuple[str, ...]:
    """List the folders to search for the videos: `raw_videos/<subset>/<recipe>`, `<subset>/<recipe>`, and the top."""
    ordered = sorted(shelves)
    return (*(f"raw_videos/{shelf}" for shelf in ordered), *ordered, *YOUCOOK2_STEPS.video_folders)

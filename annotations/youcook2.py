"""YouCook2: `youcookii_annotations_trainval.json`, and MIL-NCE's CSV of the validation clips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..core.errors import InputError
from ..core.source import Source
from .captions import (
    NAME_EXPECTED,
    CaptionedClip,
    CaptionedClips,
    Entry,
    choose_files,
    file_name,
    gathered,
    read_json,
)
from .tables import Problems, read_csv, seconds

MILNCE = "validation_youcook_milnce.csv"
TRAINVAL = "youcookii_annotations_trainval.json"
FILES = {"train": (TRAINVAL,), "validation": (MILNCE, TRAINVAL)}
COLUMNS = ("end", "start", "task", "text", "video_id")
YOUCOOK2 = Source(
    "youcook2",
    "YouCook2",
    {"license": "other", "license_name": "youcook2-for-research", "license_link": "http://youcook2.eecs.umich.edu/"},
    terms="for research; its videos are from YouTube, whose owners keep their rights",
    citation="Zhou et al. 2018, Towards Automatic Learning of Procedures from Web Instructional Videos (AAAI)",
    link="http://youcook2.eecs.umich.edu/",
    redistributable=False,
    style="imperative",
)
SUBSETS = {"training": "train", "validation": "validation"}
ADVICE = "Take the file as it was released, or fix it there."


class Part(NamedTuple):
    """A timed sentence of a video."""

    video: str
    split: str
    recipe: str
    times: tuple[float, float]
    caption: str
    length: float | None = None


def read_youcook2(folder: Path, splits: Sequence[str] = ("validation",)) -> CaptionedClips:
    """Read YouCook2's clips.

    Args:
        folder: Holds the annotations, itself or up to two folders below; or one of the files. In a folder the
            validation split is MIL-NCE's, if `validation_youcook_milnce.csv` is there: the clips of the videos that
            were still online then.
        splits: "train", "validation" or both. The CSV is all validation.

    Returns:
        The clips in the order of their file, with one caption each. A clip's id is `<video_id>_<n>`, n its place among
        the clips of its video, from 00: the `id` of the JSON. Its videos lie in `raw_videos/<subset>/<recipe>`,
        `<subset>/<recipe>` or without such folders.

    Raises:
        InputError: No file is found, a file has another format or nothing of a split, or rows are malformed (all such
            rows are named).
    """
    problems, counts, numbers = Problems(), Counter[str](), Counter[str]()
    clips: list[CaptionedClip] = []
    shelves: dict[str, None] = {}
    words = {split: subset for subset, split in SUBSETS.items()}
    files = choose_files(folder, splits, FILES)
    for file, wanted in files.items():
        parts = list((_milnce if file.suffix.lower() == ".csv" else trainval_parts)(file, wanted, problems, counts))
        for video, split, recipe, times, caption, _ in parts:
            clips.append(CaptionedClip(f"{video}_{numbers[video]:02d}", video, *times, (caption,), split))
            numbers[video] += 1
            shelves[f"{words[split]}/{recipe}"] = None
        absent = set(wanted) - {part.split for part in parts}
        if absent and not problems.lines:
            raise InputError(f"{file.name} holds nothing of the split {', '.join(sorted(absent))}.")
    problems.raise_if_any(ADVICE)
    subfolders = [f"{root}{shelf}" for root in ("raw_videos/", "") for shelf in sorted(shelves)]
    return gathered(clips, files, counts, [*subfolders, "raw_videos", *SUBSETS, "videos", "."])


def _milnce(path: Path, wanted: Sequence[str], problems: Problems, counts: Counter[str]) -> Iterator[Part]:
    """Read the CSV, whose columns begin with the end."""
    for line, row in read_csv(path, COLUMNS, problems):
        entry = Entry(row, path, problems, line)
        video, recipe, caption = entry.name("video_id"), entry.name("task"), entry.text("text")
        times = entry.times(row["start"], row["end"])
        if video and recipe and caption and times and "validation" in wanted:
            yield Part(video, "validation", recipe, times, caption)


def trainval_parts(path: Path, wanted: Sequence[str], problems: Problems, counts: Counter[str]) -> Iterator[Part]:
    """Read the JSON: its timed sentences, video by video.

    Args:
        path: The file.
        wanted: The splits to read.
        problems: Takes malformed entries, which are left out.
        counts: Takes oddities met and kept.

    Raises:
        InputError: The file has another format.
    """
    content = read_json(path, problems)
    database = content.get("database") if isinstance(content, dict) else None
    if not isinstance(database, dict):
        raise InputError(f"{path.name}: expected an object with the object database, as in {TRAINVAL}.")
    for video, info in database.items():
        about = Entry(info if isinstance(info, dict) else {}, path, problems, place=f"database[{video!r}].")
        if file_name(video) != video:
            problems.add(path, None, "database", NAME_EXPECTED, video)
        split, recipe = about.choice("subset", SUBSETS), about.name("recipe_type")
        length, annotations = seconds(str(about.values.get("duration"))), about.values.get("annotations")
        if not isinstance(annotations, list):
            about.wrong("annotations", "a list", annotations)
            continue
        counts["videos_left_out_without_clips"] += split in wanted and not annotations
        for number, values in enumerate(annotations):
            place = f"{about.place}annotations[{number}]."
            entry = Entry(values if isinstance(values, dict) else {}, path, problems, place=place)
            segment, times = entry.values.get("segment"), None
            if isinstance(segment, list) and len(segment) == 2:
                times = entry.times(segment[0], segment[1], ("segment", "segment"))
            else:
                entry.wrong("segment", "[start, end] in seconds", segment)
            caption = entry.text("sentence")
            if times and caption and split in wanted and recipe:
                counts["ends_past_the_length"] += length is not None and times[1] > length
                yield Part(video, split, recipe, times, caption, length)

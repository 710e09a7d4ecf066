"""Clips with captions: their records, and the reader of data sets of one's own, as CSV or JSON lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from ..core.documents import parse_json as parse
from ..core.documents import read_text
from ..core.errors import InputError, UsageError
from ..core.files import sha256_file
from ..core.source import Source
from ..video.source_files import VIDEO_SUFFIXES, find_file
from .tables import Problems, read_csv, seconds

SPLITS = ("train", "validation", "test")
COLUMNS = ("video", "caption", "start", "end", "id", "split")
REQUIRED = ("video", "caption")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
CAPTIONS = Source("captions", "a data set of the builder's own", {"license": "unknown"}, style="declarative")
ADVICE = (
    "One row is one caption. video (a file's name) and caption are needed; start and end (seconds), id and split "
    "(train, validation, test) may be left out."
)
NAME = re.compile(r"(?!\.)[^/\\\x00-\x1f\x7f\ud800-\udfff]+")
NAME_BYTES = 200
NAME_EXPECTED = f"a name of at most {NAME_BYTES} bytes without / and \\ that does not begin with a dot"
HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def caption_id(clip_id: str, number: int) -> str:
    """Name a caption of a clip; its number is its place among them."""
    return f"{clip_id}#{number}"


@dataclass(frozen=True)
class CaptionedClip:
    """A video, or a part of one, and what people say it shows.

    Attributes:
        id: Unique in its data set, safe as a file name.
        source_id: The stem of the video's file.
        start_s: Start in seconds; None for the whole video.
        end_s: End in seconds; None for the whole video.
        captions: At least one, in the order of the annotation, without the spaces around them.
        split: "train", "validation" or "test".
    """

    id: str
    source_id: str
    start_s: float | None
    end_s: float | None
    captions: tuple[str, ...]
    split: str


@dataclass(frozen=True)
class CaptionedClips:
    """What was read.

    Attributes:
        clips: In the order of the annotation.
        hashes: SHA-256 of every file read, by file name.
        counts: How many there are, and oddities met and kept, for people.
        subfolders: Where the data set keeps its videos, seen from the folder of the annotation or from its parent.
    """

    clips: tuple[CaptionedClip, ...]
    hashes: dict[str, str]
    counts: dict[str, int]
    subfolders: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A row of a table or an object in a JSON file, whose values are checked as they are taken.

    Attributes:
        values: By column or key.
        path: The file.
        problems: Takes what is wrong.
        line: Where it stands in the file, if the file has lines.
        place: What leads to it in a JSON file, such as "videos[3].".
    """

    values: Mapping[str, Any]
    path: Path
    problems: Problems
    line: int | None = None
    place: str = ""

    def wrong(self, key: str, expected: str, given: Any) -> None:
        """Note a problem."""
        self.problems.add(self.path, self.line, self.place + key, expected, "" if given is None else str(given))

    def has(self, key: str) -> bool:
        """Return whether there is a value at all."""
        return self.values.get(key) not in (None, "")

    def name(self, key: str) -> str:
        """Take what becomes, or is, the name of a file; "" if it cannot be one."""
        name = file_name(self.values.get(key))
        if not name:
            self.wrong(key, NAME_EXPECTED, self.values.get(key))
        return name

    def text(self, key: str) -> str:
        """Take a text without the spaces around it; "" if there is none."""
        given = self.values.get(key)
        text = given.strip() if isinstance(given, str) else ""
        if not text or HALF_CHARACTER.search(text):
            self.wrong(key, "a text", given)
            return ""
        return text

    def choice(self, key: str, meanings: Mapping[str, str]) -> str:
        """Take one of a few words and give its meaning; "" if it is none of them."""
        given = self.values.get(key)
        if not isinstance(given, str) or given not in meanings:
            self.wrong(key, f"one of {', '.join(meanings)}", given)
            return ""
        return meanings[given]

    def times(self, start: Any, end: Any, keys: tuple[str, str] = ("start", "end")) -> tuple[float, float] | None:
        """Read a start and an end after it, in seconds, numbers or texts; None if they are not that."""
        times = [seconds(str(value)) for value in (start, end)]
        for key, value, time in zip(keys, (start, end), times, strict=True):
            if time is None:
                self.wrong(key, "a time in seconds such as 12.5", value)
        first, last = times
        if first is None or last is None:
            return None
        if last <= first:
            self.wrong(keys[1], f"an end after the start ({start})", end)
            return None
        return first, last


@dataclass
class _Draft:
    id: str
    split: str
    captions: list[str] = field(default_factory=list)


def read_captions(path: Path, *, split: str = "test") -> CaptionedClips:
    """Read a data set of one's own.

    Args:
        path: A CSV with a header (`.csv`), or a JSON object on each line (`.jsonl`, `.ndjson`, `.json`), with `video`
            (the file's name or its stem) and `caption`, and if wanted `start` and `end` (seconds), `id` and `split`.
            No other columns: a start that is spelled otherwise would go unnoticed.
        split: Of rows that name none.

    Returns:
        A clip for every video, start and end; rows that agree in these are captions of one clip. Its id, if not given,
        is `<video>`, and with times `<video>_<start>_<end>` in milliseconds.

    Raises:
        InputError: The file has another format or holds no clip, or rows are malformed (all such rows are named).
    """
    problems = Problems()
    known = set(COLUMNS)
    files: dict[str, str] = {}
    owners: dict[str, tuple[str, tuple[float, float] | None]] = {}
    drafts: dict[tuple[str, tuple[float, float] | None], _Draft] = {}
    for entry in entries(path, REQUIRED, ADVICE, problems):
        for key in sorted(entry.values.keys() - known):
            known.add(key)
            entry.wrong(key, f"no other columns than {', '.join(COLUMNS)}", key)
        name, caption = entry.name("video"), entry.text("caption")
        timed = entry.has("start") or entry.has("end")
        times = entry.times(entry.values.get("start"), entry.values.get("end")) if timed else None
        part = entry.choice("split", {name: name for name in SPLITS}) if entry.has("split") else split
        own_id = entry.name("id") if entry.has("id") else ""
        if not (name and caption and part and (times or not timed) and (own_id or not entry.has("id"))):
            continue
        stem, suffix = file_stem(name)
        if suffix and files.setdefault(stem, suffix) != suffix:
            entry.wrong("video", f"one file for each stem (there was {stem}{files[stem]})", name)
        default = "_".join([stem, *(str(round(time * 1000)) for time in times or ())])
        draft = drafts.setdefault((stem, times), _Draft(own_id or default, part))
        if (own_id or default) != draft.id:
            entry.wrong("id", f"the id of the other rows of this clip ({draft.id})", own_id)
        elif owners.setdefault(draft.id, (stem, times)) != (stem, times):
            entry.wrong("id", "an id that no other clip has", draft.id)
        if part != draft.split:
            entry.wrong("split", f"the split of the other rows of this clip ({draft.split})", part)
        draft.captions.append(caption)
    problems.raise_if_any(ADVICE)
    clips = []
    for (stem, times), draft in drafts.items():
        start, end = times or (None, None)
        clips.append(CaptionedClip(draft.id, stem, start, end, tuple(draft.captions), draft.split))
    return gathered(clips, [path], {}, CAPTIONS.video_folders)


def entries(path: Path, required: Sequence[str], advice: str, problems: Problems) -> Iterator[Entry]:
    """Read the rows of a CSV with a header (`.csv`) or the objects of JSON lines (`.jsonl`, `.ndjson`, `.json`).

    Args:
        path: The file.
        required: Columns that a CSV must have. In JSON lines each entry is checked as its values are taken.
        advice: What a row is, for the error of another ending.
        problems: Takes malformed rows, which are left out.

    Raises:
        InputError: The file cannot be read, has another ending, or lacks a required column.
    """
    kind = path.suffix.lower()
    if kind == ".csv":
        for line, row in read_csv(path, required, problems):
            yield Entry(row, path, problems, line)
    elif kind in JSON_SUFFIXES:
        for line, text in enumerate(StringIO(read_text(path)), 1):
            if not text.strip():
                continue
            try:
                value = parse_json(text, path, problems, line)
            except ValueError:
                value = None
            if isinstance(value, dict):
                yield Entry(value, path, problems, line)
            else:
                problems.add(path, line, None, "one JSON object on each line", text.strip())
    elif not path.exists():
        raise UsageError(f"there is no file {path}. {advice}")
    else:
        raise InputError(f"{path.name}: expected the ending .csv or {', '.join(JSON_SUFFIXES)}. {advice}")


def file_stem(name: str) -> tuple[str, str]:
    """Divide a file's name, or a stem, into its stem and its suffix, if that is one of a video."""
    stem, dot, suffix = name.rpartition(".")
    return (stem, dot + suffix) if dot and f".{suffix.lower()}" in VIDEO_SUFFIXES else (name, "")


def file_name(value: Any) -> str:
    """Return a text, or a whole number, that can be the name of a file, without the spaces around it; else ""."""
    name = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return name if NAME.fullmatch(name) and len(name.encode()) <= NAME_BYTES else ""


def parse_json(text: str, path: Path, problems: Problems, line: int | None = None) -> Any:
    """Read JSON; a key that comes twice in an object is a problem.

    Raises:
        ValueError: It is not JSON.
    """

    def once(items: list[tuple[str, Any]]) -> dict[str, Any]:
        values = dict(items)
        if len(values) < len(items):
            twice = [name for name, times in Counter(name for name, _ in items).items() if times > 1]
            for name in twice:
                problems.add(path, line, None, "keys that come once in an object", name)
        return values

    return parse(text, once, mend=False)


def read_json(path: Path, problems: Problems) -> Any:
    """Read a JSON file; a key that comes twice in an object is a problem.

    Raises:
        InputError: The file cannot be read or is not JSON.
    """
    try:
        return parse_json(read_text(path), path, problems)
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path.name}: not well-formed JSON ({error}).") from error


def choose_files(path: Path, splits: Sequence[str], names: Mapping[str, Sequence[str]]) -> dict[Path, list[str]]:
    """Choose the file from which each split is read.

    Args:
        path: A file for all splits, or a folder that holds files, itself or up to two folders below.
        splits: What is wanted.
        names: The files that a split may be read from, the best first.

    Returns:
        The splits to read from each file.

    Raises:
        InputError: There is no such split, path or file.
    """
    unknown = [split for split in splits if split not in names]
    if unknown or not splits:
        raise UsageError(f"there is no split {', '.join(unknown) or 'given'}. Splits: {', '.join(names)}.")
    if path.is_file():
        return {path: list(splits)}
    if not path.is_dir():
        raise UsageError(f"there is no file or folder {path}. Give the annotations, or the folder that holds them.")
    chosen: dict[Path, list[str]] = {}
    for split in dict.fromkeys(splits):
        file = next(filter(None, (find_file(path, name) for name in names[split])), None)
        if file is None:
            raise InputError(
                f"no {' or '.join(names[split])} in {path} or two folders below it; "
                f"the split {split} is read from one of them."
            )
        chosen.setdefault(file, []).append(split)
    return chosen


def gathered(
    clips: Iterable[CaptionedClip], files: Iterable[Path], counts: Mapping[str, int], subfolders: Sequence[str]
) -> CaptionedClips:
    """Put together what was read from some files, with its counts.

    Raises:
        InputError: There is no clip.
    """
    clips, files = tuple(clips), tuple(files)
    if not clips:
        raise InputError(f"{', '.join(path.name for path in files)}: expected at least one clip, got none.")
    totals = {
        "clips": len(clips),
        "videos": len({clip.source_id for clip in clips}),
        "captions": sum(len(clip.captions) for clip in clips),
        "captions_repeated_in_their_clip": sum(len(clip.captions) - len(set(clip.captions)) for clip in clips),
        "clips_with_the_times_of_another": len(clips) - len({(c.source_id, c.start_s, c.end_s) for c in clips}),
        "videos_in_several_splits": len({(c.source_id, c.split) for c in clips}) - len({c.source_id for c in clips}),
    }
    return CaptionedClips(
        clips,
        {path.name: sha256_file(path) for path in files},
        dict(sorted({**counts, **totals}.items())),
        tuple(subfolders),
    )

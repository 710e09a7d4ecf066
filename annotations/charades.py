"""Load Charades from `Charades_v1_{train,test}.csv`, check its class files, and load the sentences of Charades-STA."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path

from ..core.documents import read_text
from ..core.errors import InputError, UsageError
from ..core.files import sha256_file
from ..core.plan import LeftOut, counts_of
from ..core.source import sample_source
from ..language.phrases import fold_noun, gerund
from ..templates import ClassTable, load_classes
from . import load_source
from .actions import Action, AnnotatedVideo, Annotations, Segment, action_of, same_doing, why_unusable
from .entries import Entry, Problems, entries, find_split_files, is_file_name, seconds
from .world.source import drawn_or

COLUMNS = (
    *("id", "subject", "scene", "quality", "relevance", "verified", "script"),
    *("objects", "descriptions", "actions", "length"),
)
REQUIRED = ("id", "subject", "actions", "length")
CHARADES = load_source("charades")
SAMPLE = sample_source("the built-in sample in the format of Charades", CHARADES.video_folders)
DOWNLOAD = (
    "Download the annotations (Charades.zip) from https://prior.allenai.org/projects/charades and unpack them there."
)
STA_ADVICE = "Use --charades-sta to specify the folder with charades_sta_train.txt and charades_sta_test.txt."
ADVICE = "Fix these rows, or download the annotations again: https://prior.allenai.org/projects/charades"


def class_actions(table: ClassTable) -> dict[str, Action]:
    """Return the action of every Charades class. Actions of "Someone is …" classes are marked as unusable."""
    return {
        entry.id: Action(
            key=entry.id,
            label=entry.label,
            phrase=entry.phrase,
            verb=entry.verb,
            objects=frozenset() if entry.object == "None" else frozenset([entry.object]),
            usable=not entry.label.startswith("Someone"),
        )
        for entry in table.classes.values()
    }


def read_charades(folder: Path, splits: Sequence[str] = ("train", "test")) -> Annotations:
    """Load the Charades annotations, including videos without actions.

    Intervals are clipped to the length of the video. Intervals that are then empty or inverted are kept. Both are
    counted. `folder` contains `Charades_v1_train.csv`, `Charades_v1_test.csv` or both, at most two levels deep. One of
    the requested splits may be missing if the other exists. The objects of a video are those of its actions and, in a
    drawn world, of its `objects` column.

    Raises:
        InputError: No CSV is found, rows are malformed (all are listed), an id is not unique, a class is unknown, or a
            class file differs from the built-in table.
    """
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder {folder}. Use --charades to specify the folder with Charades_v1_train.csv and "
            "Charades_v1_test.csv, or --charades sample to use the built-in sample."
        )
    paths = find_split_files(folder, "Charades_v1_{}.csv", splits, DOWNLOAD)
    table = load_classes()
    hashes = check_class_files(next(iter(paths.values())).parent, table)
    actions = class_actions(table)
    problems, counts = Problems(), Counter[str]()
    videos: dict[str, AnnotatedVideo] = {}
    for split, path in paths.items():
        hashes[path.name] = sha256_file(path)
        for entry in entries(path, REQUIRED, problems):
            video = _video(entry, split, actions, counts)
            if entry.values["id"] in videos:
                entry.wrong("id", "a unique id", entry.values["id"])
            elif video:
                videos[video.id] = video
    problems.raise_if_any(ADVICE)
    listed = tuple(videos.values())
    if drawn_or(CHARADES, next(iter(paths.values())), hashes).drawn:
        names = {part: name for name in table.objects.values() for part in (name, *name.split("/"))}
        listed = tuple(_with_listed(video, names) for video in listed)
    return Annotations(listed, hashes, dict(sorted(counts.items())))


def _with_listed(video: AnnotatedVideo, names: Mapping[str, str]) -> AnnotatedVideo:
    """Add the objects that the CSV lists. In a drawn world, these are all that people use, such as a cloth."""
    listed = {names[name] for name in video.columns["objects"].split(";") if name in names}
    return replace(video, objects=video.objects | listed)


def _video(entry: Entry, split: str, actions: dict[str, Action], counts: Counter[str]) -> AnnotatedVideo | None:
    row = dict(entry.values)
    if not is_file_name(row["id"]):
        entry.wrong("id", "a video id such as 46GP8", row["id"])
        return None
    length = entry.length("length", "a length in seconds such as 24.83")
    if not length:
        return None
    segments = []
    for text in filter(None, (part.strip() for part in row["actions"].split(";"))):
        parts = text.split()
        start, end = (seconds(parts[1]), seconds(parts[2])) if len(parts) == 3 else (None, None)
        if start is None or end is None:
            entry.wrong("actions", "'class start end' in seconds, such as c092 11.90 21.20", text)
        elif parts[0] not in actions:
            entry.wrong("actions", "a class from c000 to c156", parts[0])
        else:
            counts["ends_clamped_to_length"] += end > length
            counts["starts_past_length"] += start >= length
            counts["empty_or_inverted_intervals"] += end <= start
            segments.append(Segment(actions[parts[0]], start, min(end, length)))
    counts["videos"] += 1
    counts["videos_without_actions"] += not segments
    return AnnotatedVideo(
        id=row["id"],
        split=split,
        subject=row["subject"],
        length_s=length,
        segments=tuple(segments),
        verbs=frozenset(segment.action.verb for segment in segments),
        objects=frozenset(name for segment in segments for name in segment.action.objects),
        columns=row,
        file=entry.path.name,
        line=entry.line,
    )


def class_files(table: ClassTable) -> dict[str, list[str]]:
    """Return the lines of the four Charades class files, by file name."""
    verbs = {name: key for key, name in table.verbs.items()}
    objects = {name: key for key, name in table.objects.items()}
    classes = table.classes.values()
    return {
        "Charades_v1_classes.txt": [f"{c.id} {c.label}" for c in classes],
        "Charades_v1_mapping.txt": [f"{c.id} {objects[c.object]} {verbs[c.verb]}" for c in classes],
        "Charades_v1_objectclasses.txt": [f"{key} {name}" for key, name in table.objects.items()],
        "Charades_v1_verbclasses.txt": [f"{key} {name}" for key, name in table.verbs.items()],
    }


def check_class_files(folder: Path, table: ClassTable) -> dict[str, str]:
    """Compare any class files found next to the CSVs with the built-in table, and return their SHA-256 hashes by name.

    Raises:
        InputError: A line differs, so the question phrases would not match the classes.
    """
    hashes, problems = {}, Problems()
    for name, lines in class_files(table).items():
        path = folder / name
        if not path.is_file():
            continue
        hashes[name] = sha256_file(path)
        for line_number, line in enumerate(StringIO(read_text(path)), 1):
            if line.strip() and line.strip() not in lines:
                problems.add(path, line_number, None, "a line of Charades v1", line.strip())
    problems.raise_if_any(
        "The phrases in the questions belong to the 157 classes of Charades v1; other classes cannot be asked about."
    )
    return hashes


def read_charades_sta(folder: Path, charades: Annotations, splits: Sequence[str] = ("train", "test")) -> Annotations:
    """Replace the action classes of Charades with Charades-STA sentences, and drop videos that have no sentences.

    Each sentence is converted to a gerund phrase. Sentences that cannot be converted, or whose object is a pronoun
    without an antecedent ("putting it on a shelf"), are dropped and counted by reason. If several sentences about the
    same segment may describe the same action, only the first is kept. The verbs and objects of a video come from all
    its sentences, its action classes and its `objects` column.

    `folder` contains `charades_sta_train.txt`, `charades_sta_test.txt` or both, at most two levels deep. One of the
    requested splits may be missing if the other exists.

    Raises:
        InputError: No file is found, or lines are malformed (all are listed).
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}. {STA_ADVICE}")
    paths = find_split_files(folder, "charades_sta_{}.txt", splits, STA_ADVICE)
    problems, counts = Problems(), Counter[str]()
    by_id = {video.id: video for video in charades.videos}
    segments: dict[str, list[Segment]] = {}
    splits_of: dict[str, str] = {}
    verbs: dict[str, set[str]] = defaultdict(set)
    objects: dict[str, set[str]] = defaultdict(set)
    for split, path in paths.items():
        for line_number, line in enumerate(StringIO(read_text(path)), 1):
            if not line.strip():
                continue
            counts["sentences"] += 1
            head, separator, sentence = line.partition("##")
            name, parts, sentence = line.split()[0], head.split(), sentence.strip()
            leave_out = partial(Entry({}, path, problems, line_number).leave_out, "phrase", sentence, source_id=name)
            if name not in by_id:
                leave_out("sentences_of_videos_without_a_row", "its video has no row in the CSV files of Charades")
                continue
            start, end = (seconds(parts[1]), seconds(parts[2])) if len(parts) == 3 else (None, None)
            if not separator or start is None or end is None or not sentence:
                problems.add(
                    path, line_number, None, "'id start end##sentence', such as AO8RW 0.0 6.9##a person sits.", line
                )
                continue
            video = by_id[parts[0]]
            if splits_of.setdefault(video.id, split) != split:
                problems.add(path, line_number, "video", "a video of one split only", video.id)
            phrase = gerund(sentence)
            action = action_of(phrase, sentence)
            if isinstance(phrase, str) or isinstance(action, str):
                leave_out(f"sentences_left_out_{phrase}", why_unusable(str(phrase)))
                continue
            verbs[video.id].add(phrase.verb)
            objects[video.id] |= phrase.words - {phrase.verb}
            if phrase.anaphoric:
                leave_out("sentences_left_out_pronoun", why_unusable("pronoun"))
                continue
            kept = segments.setdefault(video.id, [])
            if any((s.start_s, s.end_s) == (start, end) and same_doing(s.action, action) for s in kept):
                leave_out(
                    "sentences_that_repeat_another", "another sentence describes the same action at the same time"
                )
            else:
                kept.append(Segment(action, start, min(end, video.length_s), line_number))
    problems.raise_if_any("Fix these lines, or use the file as released.")
    if not segments:
        files = ", ".join(path.name for path in paths.values())
        raise InputError(f"no sentence in {files} refers to a video in the Charades CSV files.")
    videos, left_out = [], problems.rows_left_out()
    for video in charades.videos:
        if video.id not in segments:
            reason, detail = "videos_without_sentences", "Charades-STA has no usable sentence about it"
            left_out.append(LeftOut("reading", "video", video.id, reason, detail, video.id, video.file, video.line))
            continue
        listed = map(str.strip, re.split("[;/]", video.columns.get("objects", "")))
        seen = video.objects | objects[video.id] | {fold_noun(name) for name in listed if name}
        known = video.verbs | verbs[video.id]
        sentences = tuple(segments[video.id])
        videos.append(replace(video, split=splits_of[video.id], segments=sentences, verbs=known, objects=seen))
    hashes = charades.hashes | {path.name: sha256_file(path) for path in paths.values()}
    counts |= counts_of(left_out)
    totals = {**charades.counts, **dict(sorted(counts.items()))}
    return Annotations(tuple(videos), hashes, totals, left_out=tuple(left_out))

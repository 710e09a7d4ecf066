"""Load Charades-STA, whose files contain lines such as `AO8RW 0.0 6.9##a person is putting a book on a shelf.`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

from ..core.documents import read_text
from ..core.errors import InputError, UsageError
from ..core.files import sha256_file
from ..language.gerund_wording import fold_noun
from ..language.gerunds import gerund
from .actions import Annotations, Segment
from .drafts import action_of, same_doing
from .tables import Problems, find_split_files, seconds

ADVICE = "Use --charades-sta to specify the folder with charades_sta_train.txt and charades_sta_test.txt."


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
        raise UsageError(f"there is no folder {folder}. {ADVICE}")
    paths = find_split_files(folder, "charades_sta_{}.txt", splits, ADVICE)
    problems, counts = Problems(), Counter[str]()
    by_id = {video.id: video for video in charades.videos}
    segments: dict[str, list[Segment]] = {}
    splits_of: dict[str, str] = {}
    verbs: dict[str, set[str]] = {}
    objects: dict[str, set[str]] = {}
    for split, path in paths.items():
        for number, line in enumerate(StringIO(read_text(path)), 1):
            if not line.strip():
                continue
            counts["sentences"] += 1
            if line.split()[0] not in by_id:
                counts["sentences_of_videos_without_a_row"] += 1
                continue
            head, separator, sentence = line.partition("##")
            parts, sentence = head.split(), sentence.strip()
            start, end = (seconds(parts[1]), seconds(parts[2])) if len(parts) == 3 else (None, None)
            if not separator or start is None or end is None or not sentence:
                problems.add(
                    path, number, None, "'id start end##sentence', such as AO8RW 0.0 6.9##a person sits.", line
                )
                continue
            video = by_id[parts[0]]
            if splits_of.setdefault(video.id, split) != split:
                problems.add(path, number, "video", "a video of one split only", video.id)
            found = gerund(sentence)
            action = action_of(found, sentence)
            if isinstance(found, str) or isinstance(action, str):
                counts[f"sentences_left_out_{found}"] += 1
                continue
            verbs.setdefault(video.id, set()).add(found.verb)
            objects.setdefault(video.id, set()).update(found.words - {found.verb})
            if found.anaphoric:
                counts["sentences_left_out_pronoun"] += 1
                continue
            kept = segments.setdefault(video.id, [])
            if any((s.start_s, s.end_s) == (start, end) and same_doing(s.action, action) for s in kept):
                counts["sentences_that_repeat_another"] += 1
            else:
                kept.append(Segment(action, start, min(end, video.length_s)))
    problems.raise_if_any("Fix these lines, or use the file as released.")
    if not segments:
        files = ", ".join(path.name for path in paths.values())
        raise InputError(f"no sentence in {files} refers to a video in the Charades CSV files.")
    videos = [
        replace(
            video,
            split=splits_of[video.id],
            segments=tuple(segments[video.id]),
            verbs=video.verbs | verbs[video.id],
            objects=video.objects
            | objects[video.id]
            | {fold_noun(name) for name in map(str.strip, re.split("[;/]", video.columns.get("objects", ""))) if name},
        )
        for video in charades.videos
        if video.id in segments
    ]
    hashes = charades.hashes | {path.name: sha256_file(path) for path in paths.values()}
    return Annotations(tuple(videos), hashes, {**charades.counts, **dict(sorted(counts.items()))})

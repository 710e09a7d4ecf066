"""Load Charades-STA, whose files contain lines such as `AO8RW 0.0 6.9##a person is putting a book on a shelf.`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path

from ..core.documents import read_text
from ..core.errors import InputError, UsageError
from ..core.files import sha256_file
from ..core.left_out import LeftOut, counts_of
from ..language.phrases import fold_noun, gerund
from .actions import Annotations, Segment
from .drafts import action_of, same_doing, why_unusable
from .tables import Entry, Problems, find_split_files, seconds

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
            head, separator, sentence = line.partition("##")
            name = line.split()[0]
            leave_out = partial(Entry({}, path, problems, number).leave_out, "phrase", sentence.strip(), source_id=name)
            if name not in by_id:
                leave_out("sentences_of_videos_without_a_row", "its video has no row in the CSV files of Charades")
                continue
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
                leave_out(f"sentences_left_out_{found}", why_unusable(str(found)))
                continue
            verbs.setdefault(video.id, set()).add(found.verb)
            objects.setdefault(video.id, set()).update(found.words - {found.verb})
            if found.anaphoric:
                leave_out("sentences_left_out_pronoun", why_unusable("pronoun"))
                continue
            kept = segments.setdefault(video.id, [])
            if any((s.start_s, s.end_s) == (start, end) and same_doing(s.action, action) for s in kept):
                leave_out(
                    "sentences_that_repeat_another", "another sentence describes the same action at the same time"
                )
            else:
                kept.append(Segment(action, start, min(end, video.length_s), number))
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
    left_out = problems.rows_left_out()
    for video in charades.videos:
        if video.id not in segments:
            reason, detail = "videos_without_sentences", "Charades-STA has no usable sentence about it"
            left_out.append(LeftOut("reading", "video", video.id, reason, detail, video.id, video.file, video.line))
    counts |= counts_of(left_out)
    return Annotations(
        tuple(videos), hashes, {**charades.counts, **dict(sorted(counts.items()))}, left_out=tuple(left_out)
    )

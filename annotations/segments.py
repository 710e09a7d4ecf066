"""Load annotated segments from a table of a user's own, or from a file of a known dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from ..core.errors import UsageError
from ..core.plan import counts_of
from ..core.source import sample_source
from ..core.tabular import Columns
from ..language.events import free_phrase
from ..language.phrases import fold_noun, phrase
from . import load_source
from .actions import Action, Annotations, VideoDraft, action_of, gather, split_by_video
from .captions import TIMES
from .entries import SPLIT_WORDS, SPLITS, Problems, VideoNames
from .layouts import NAMES, read_timed

TEXTS = ("class", "objects", "subject")
COLUMNS = ("video", *TIMES, "phrase", "split", *TEXTS)
REQUIRED = ("video", "phrase")
SEGMENTS = load_source("segments")
SAMPLE = sample_source("the built-in sample of annotated segments", SEGMENTS.video_folders)
ADVICE = (
    "Each row is a segment. Required columns: video (file name), start and end (in seconds or as 1:05; or start_frame "
    "and end_frame, with a column fps or --fps), and phrase. Optional columns: class, split (train, validation, test), "
    f"objects (separated by semicolons), and subject. The files of {NAMES} are read, too."
)


def read_segments(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    as_is: bool = False,
    rate: Fraction | None = None,
    length_of: Mapping[str, float] | None = None,
    shares: Sequence[float] | None = None,
    seed: int = 0,
) -> Annotations:
    """Load annotated segments, video by video in file order.

    Phrases that cannot be converted are dropped and counted by reason. Rows with the same `class` describe the same
    action and share the phrase of the first such row.

    Args:
        path: File in any format of `core.tabular` with the columns listed in `COLUMNS`, or of a dataset in
            `layouts.LAYOUTS`.
        columns: Column names that differ from the default.
        as_is: Use phrases literally instead of converting gerunds, instructions and sentences about a person to gerund
            phrases.
        rate: Frames per second of the videos, if times are given as `start_frame` and `end_frame` without `fps`.
        length_of: Length in seconds by video. Other videos end with their last segment.
        shares: Shares of train, validation and test by which videos are assigned to splits at random, if the file has
            no splits. By default, all videos are in test.
        seed: Seed for assigning videos to splits.

    Raises:
        UsageError: A rate is given but there are no frame numbers without a rate; or shares are given although the file
            has splits, or has fewer than three videos.
        InputError: The file has another format, rows are malformed (all are counted), or no phrase is usable.
    """
    problems, counts, names = Problems(), Counter[str](), VideoNames()
    drafts: dict[str, VideoDraft] = {}
    grouped: dict[str, Action | str] = {}
    wordings: dict[str, str] = {}
    rated = False
    known = segment_columns(columns)
    rows, remarks = read_timed(path, known, "phrase", problems)
    for row in rows:
        video, text, times = names.read(row, "video"), row.text("phrase"), row.span(rate)
        rated |= row.has("start_frame") and not row.has("fps")
        split = row.choice("split", SPLIT_WORDS) if row.has("split") else ""
        texts = {key: row.text(key) if row.has(key) else "" for key in TEXTS}
        bad = any(row.has(key) and not value for key, value in (*texts.items(), ("split", split)))
        if not (video and text and times) or bad:
            continue
        draft = drafts.get(video)
        if draft is None:
            length = (length_of or {}).get(video, row.length_s)
            draft = drafts[video] = VideoDraft(
                video, split, texts["subject"], length, spare_s=row.spare_s, file=path.name
            )
        for key, value, first in (("split", split, draft.split), ("subject", texts["subject"], draft.subject)):
            if value != first:
                row.wrong(key, f"the value of the other rows of this video ({first!r})", value)
        group, action = texts["class"], _action(text, texts, as_is)
        if group:
            if wordings.setdefault(group, text.lower()) != text.lower():
                row.wrong("phrase", f"one phrase for each class ({group}: {wordings[group]!r})", text)
            action = grouped.setdefault(group, action)
        draft.add(action, text, times, counts, line=row.line)
    unsplit = sum(not draft.split for draft in drafts.values())
    if 0 < unsplit < len(drafts):
        problems.add(path, None, "split", "a split for all videos or for none", f"none for {unsplit} of {len(drafts)}")
    problems.raise_if_any(f"{remarks[0]} Fix or remove these entries." if remarks else ADVICE)
    if rate is not None and not rated:
        raise UsageError(f"{path.name} gives all times in seconds or with their rate, so --fps has no effect. Omit it.")
    splits, left_out = _splits(path, drafts, shares, seed), problems.rows_left_out()
    read = gather(drafts, [path], counts + counts_of(left_out), ADVICE, splits, left_out)
    return replace(read, names=names.in_full(), remarks=(*remarks, *known.notes(path)))


def _splits(path: Path, drafts: Mapping[str, VideoDraft], shares: Sequence[float] | None, seed: int) -> dict[str, str]:
    """Return the splits of videos that have none of their own."""
    unsplit = [draft.id for draft in drafts.values() if not draft.split]
    if shares is None:
        return dict.fromkeys(unsplit, "test")
    if not unsplit:
        raise UsageError(
            f"{path.name} names the split of every video, so --split-shares has no effect. Leave out the option or the "
            "column split."
        )
    if len(unsplit) < len(SPLITS):
        raise UsageError(
            f"--split-shares {','.join(f'{share:g}' for share in shares)} assigns at least one video to each of "
            f"{', '.join(SPLITS)}, but {path.name} has {len(unsplit)} of them. Add videos, or leave out the option, so "
            "that all videos are in test."
        )
    return split_by_video(unsplit, seed, shares, none_empty=True)


def segment_columns(names: Mapping[str, str] | None = None) -> Columns:
    """Return the columns of a table of segments, with the user's names for them."""
    return Columns.of(COLUMNS, REQUIRED, names, ADVICE)


def _action(text: str, texts: Mapping[str, str], as_is: bool) -> Action | str:
    action = action_of(phrase(text, as_is=True) if as_is else free_phrase(text), text)
    if isinstance(action, str):
        return action
    if texts["objects"]:
        objects = frozenset(fold_noun(name.strip().lower()) for name in texts["objects"].split(";") if name.strip())
        action = replace(action, objects=objects, words=action.words | objects)
    return replace(action, key=texts["class"] or action.key)

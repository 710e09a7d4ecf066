"""Define captioned clips, and load a user's own captions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..core.errors import InputError
from ..core.files import sha256_file
from ..core.plan import LeftOut, counts_of
from ..core.tabular import Columns
from . import load_source
from .entries import SPLIT_WORDS, Problems, VideoNames, fitted
from .layouts import NAMES, read_timed

TIMES = ("start", "end", "start_frame", "end_frame", "fps")
COLUMNS = ("video", "caption", *TIMES, "id", "split")
REQUIRED = ("video", "caption")
CAPTIONS = load_source("captions")
ADVICE = (
    "Each row is a caption. Required columns: video (file name) and caption. Optional columns: start and end (in "
    "seconds or as 1:05; or start_frame, end_frame and fps), id, and split (train, validation, test). The files of "
    f"{NAMES} are read, too."
)


def caption_columns(names: Mapping[str, str] | None = None) -> Columns:
    """Return the columns of a table of captions, with the user's names for them."""
    return Columns.of(COLUMNS, REQUIRED, names, ADVICE)


def caption_id(clip_id: str, index: int) -> str:
    """Return the id of the caption at position `index` of a clip."""
    return f"{clip_id}#{index}"


@dataclass(frozen=True)
class CaptionedClip:
    """A whole video, or a part of one, with its captions.

    Attributes:
        id: Unique id within the dataset, which can serve as a file name.
        source_id: Stem of the video's file name.
        start_s: Start in seconds, or None for the whole video.
        end_s: End in seconds, or None for the whole video.
        captions: At least one caption, in annotation order, without surrounding spaces.
        split: "train", "validation" or "test".
        file: Name of the annotation file.
        lines: Lines of the captions in it, if the format has lines.
    """

    id: str
    source_id: str
    start_s: float | None
    end_s: float | None
    captions: tuple[str, ...]
    split: str
    file: str = ""
    lines: tuple[int, ...] = ()


@dataclass(frozen=True)
class CaptionedClips:
    """The clips of a dataset, in annotation order.

    Attributes:
        hashes: SHA-256 of every file read, by name.
        names: File names of videos, by source id, if the annotations give them in full.
        counts: Totals and tolerated errors, by name.
        left_out: What was read but is not a clip or caption.
        subfolders: Folders in which to look for the videos, relative to the annotation's folder or its parent.
        remarks: Sentences on how the files were read.
    """

    clips: tuple[CaptionedClip, ...]
    hashes: dict[str, str]
    counts: dict[str, int]
    subfolders: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass
class _Draft:
    id: str
    split: str
    captions: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def read_captions(
    path: Path,
    *,
    split: str = "test",
    columns: Mapping[str, str] | None = None,
    length_of: Mapping[str, float] | None = None,
) -> CaptionedClips:
    """Load a user's own dataset of captioned clips.

    Rows with the same video, start and end are captions of one clip. The id of a clip defaults to `<video>` or, if it
    is part of a video, to `<video>_<start>_<end>` in milliseconds.

    Args:
        path: File in any format of `core.tabular`, or of a dataset in `layouts.LAYOUTS`. The columns `video` (file name
            or stem) and `caption` are required; the others of `COLUMNS` are optional.
        split: Split of the rows that do not name one.
        columns: Column names that differ from the default.
        length_of: Length in seconds by video, for files that do not state it.

    Raises:
        InputError: The file has another format, has no clips, or contains malformed rows (all are counted).
    """
    problems, counts, names = Problems(), Counter[str](), VideoNames()
    lengths: dict[str, float | None] = {}
    owners: dict[str, tuple[str, tuple[float, float] | None]] = {}
    drafts: dict[tuple[str, tuple[float, float] | None], _Draft] = {}
    known = caption_columns(columns)
    rows, remarks = read_timed(path, known, "caption", problems)
    for entry in rows:
        stem, caption = names.read(entry, "video"), entry.text("caption")
        timed = any(map(entry.has, TIMES))
        times = entry.span(None) if timed else None
        part = entry.choice("split", SPLIT_WORDS) if entry.has("split") else split
        own_id = entry.name("id") if entry.has("id") else ""
        if not (stem and caption and part and (times or not timed) and (own_id or not entry.has("id"))):
            continue
        length = lengths.setdefault(stem, (length_of or {}).get(stem, entry.length_s))
        if times:
            span = fitted(times, length, entry.spare_s)
            if isinstance(span, str):
                entry.leave_out("caption", caption, "captions_left_out_past_the_end", span, stem)
                continue
            counts["ends_clamped_to_length"] += span != times
            times = span
        default = "_".join([stem, *(str(round(time * 1000)) for time in times or ())])
        draft = drafts.setdefault((stem, times), _Draft(own_id or default, part))
        if (own_id or default) != draft.id:
            entry.wrong("id", f"the id of the other rows of this clip ({draft.id})", own_id)
        elif owners.setdefault(draft.id, (stem, times)) != (stem, times):
            entry.wrong("id", "a unique id", draft.id)
        if part != draft.split:
            entry.wrong("split", f"the split of the other rows of this clip ({draft.split})", part)
        draft.captions.append(caption)
        draft.lines += [entry.line] if entry.line else []
    problems.raise_if_any(f"{remarks[0]} Fix or remove these entries." if remarks else ADVICE)
    clips = []
    for (stem, times), draft in drafts.items():
        start, end = times or (None, None)
        captions, lines = tuple(draft.captions), tuple(draft.lines)
        clips.append(CaptionedClip(draft.id, stem, start, end, captions, draft.split, path.name, lines))
    read = gathered(clips, [path], counts, CAPTIONS.video_folders, problems.rows_left_out())
    return replace(read, names=names.in_full(), remarks=(*remarks, *known.notes(path)))


def gathered(
    clips: Iterable[CaptionedClip],
    files: Iterable[Path],
    counts: Counter[str],
    subfolders: Sequence[str],
    left_out: Sequence[LeftOut],
) -> CaptionedClips:
    """Combine clips with totals and the hashes of their files. Raise InputError if there are no clips."""
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
        dict(sorted({**(counts + counts_of(left_out)), **totals}.items())),
        tuple(subfolders),
        left_out=tuple(left_out),
    )

"""Load MSR-VTT from JSFusion's CSV of 1,000 test clips, or from the dataset's own `…videodatainfo.json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..core.errors import InputError
from ..core.plan import LeftOut
from ..core.source import sample_source
from ..core.tabular import read_document
from . import load_source
from .captions import CaptionedClip, CaptionedClips, gathered
from .entries import Problems, check_splits, choose_files, entries, json_entry

JSFUSION = "MSRVTT_JSFUSION_test.csv"
COLUMNS = ("key", "vid_key", "video_id", "sentence")
REQUIRED = ("video_id", "sentence")
FILES = {
    "train": ("MSRVTT_data.json", "train_val_videodatainfo.json"),
    "validation": ("MSRVTT_data.json", "train_val_videodatainfo.json"),
    "test": (JSFUSION, "MSRVTT_data.json", "test_videodatainfo.json"),
}
SPLIT_WORDS = {"train": "train", "validate": "validation", "test": "test"}
MSRVTT = load_source("msrvtt")
SAMPLE = sample_source("the built-in sample", MSRVTT.video_folders, "declarative")
ADVICE = "Use the released file, or fix these entries."


def read_msrvtt(path: Path, splits: Sequence[str] = ("test",)) -> CaptionedClips:
    """Load MSR-VTT's clips in file order. Each clip is a complete video file, `<video_id>.mp4`.

    The CSV has one caption per clip, the JSON about twenty. Videos without captions are dropped and counted.

    Args:
        path: One of the files, or a folder that contains them, at most two levels deep. In a folder,
            `MSRVTT_JSFUSION_test.csv` takes precedence for the test split.
        splits: Any of "train", "validation" and "test". The CSV only has "test".

    Raises:
        InputError: No file is found, a file has another format or no clips of a split, or rows are malformed (all are
            listed).
    """
    problems = Problems()
    clips: dict[str, CaptionedClip] = {}
    left_out: list[LeftOut] = []
    files = choose_files(path, splits, FILES)
    for file, wanted in files.items():
        read = _jsfusion(file, problems) if file.suffix.lower() == ".csv" else _videodatainfo(file, problems)
        for clip in read:
            if clip.split not in wanted:
                continue
            if clip.id in clips:
                problems.add(file, None, "video_id", "a video of one split only", clip.id)
            if clip.captions:
                clips[clip.id] = clip
            else:
                reason, detail = "videos_left_out_without_captions", "it has no captions"
                left_out.append(LeftOut("reading", "video", clip.id, reason, detail, clip.source_id, file.name))
        check_splits(file, wanted, (clip.split for clip in read), problems)
    problems.raise_if_any(ADVICE)
    return gathered(clips.values(), files, Counter(), MSRVTT.video_folders, left_out)


def _jsfusion(path: Path, problems: Problems) -> list[CaptionedClip]:
    clips: dict[str, CaptionedClip] = {}
    for entry in entries(path, REQUIRED, problems):
        name, caption = entry.name("video_id"), entry.text("sentence")
        if name in clips:
            entry.wrong("video_id", "a unique id", name)
        elif name and caption:
            lines = (entry.line,) if entry.line else ()
            clips[name] = CaptionedClip(name, name, None, None, (caption,), "test", path.name, lines)
    return list(clips.values())


def _videodatainfo(path: Path, problems: Problems) -> list[CaptionedClip]:
    content = read_document(path, replace_surrogates=False)
    lists = ("videos", "sentences")
    if not isinstance(content, dict) or not all(isinstance(content.get(key), list) for key in lists):
        raise InputError(
            f"{path.name}: expected an object with the lists videos and sentences, as in MSRVTT_data.json."
        )
    videos, sentences = (
        [json_entry(value, path, problems, f"{key}[{index}].") for index, value in enumerate(content[key])]
        for key in lists
    )
    split_of: dict[str, str] = {}
    for entry in videos:
        name, split = entry.name("video_id"), entry.choice("split", SPLIT_WORDS)
        if name in split_of:
            entry.wrong("video_id", "a unique id", name)
        elif name:
            split_of[name] = split
    captions: dict[str, list[str]] = {name: [] for name in split_of}
    for entry in sentences:
        name, caption = entry.name("video_id"), entry.text("caption")
        if name in captions:
            captions[name].append(caption)
        elif name:
            entry.wrong("video_id", "a video of the list videos", name)
    return [
        CaptionedClip(name, name, None, None, tuple(captions[name]), split, path.name)
        for name, split in split_of.items()
    ]

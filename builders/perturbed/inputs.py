"""From annotation files to the clips of a suite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from ...annotations.captions import CaptionedClips, read_captions
from ...annotations.msrvtt import read_msrvtt
from ...annotations.youcook2 import read_youcook2

Kind = Literal["msrvtt", "youcook2", "captions"]


def read_clips(kind: Kind, path: Path, split: str) -> CaptionedClips:
    """Read the clips of a data set.

    Args:
        kind: The format.
        path: The annotations, file or folder; a file for "captions".
        split: "train", "validation" or "test"; "all" for the benchmark's own (test of MSR-VTT, validation of YouCook2),
            or all that a data set of one's own has.

    Raises:
        InputError: Something is missing or malformed.
    """
    if kind == "captions":
        clips = read_captions(path)
    elif kind == "youcook2":
        clips = read_youcook2(path, ("validation",) if split == "all" else (split,))
    else:
        clips = read_msrvtt(path, ("test",) if split == "all" else (split,))
    if split != "all":
        clips = replace(clips, clips=tuple(clip for clip in clips.clips if clip.split == split))
    return clips

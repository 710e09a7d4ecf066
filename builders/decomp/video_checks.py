"""Checks of the embedded videos: what they decode to, and that they are the source's files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from ...errors import VideoError
from ...records.checks import Finding, NotChecked, VerifyOptions
from ...records.files import sha256_file
from ...records.output import FinishedOutput
from ...records.schema import Row
from ...records.source import source_of
from ...runtime.processes import on_processes
from ...samples.cache import cached_sample
from ...sources.files import find_videos, video_folder
from ...video.decode import with_index
from ..remade import same_encoder
from .render import shape_of
from .tables import VIDEOS

ROOM = 1e-9  # between numbers that were computed alike


def check_decoded(output: FinishedOutput, workers: int) -> Iterator[str]:
    """Every video has the frames, size, rate and length of its row."""
    rows = output.rows(VIDEOS.name)
    for problems in on_processes(video_problems, ((row,) for row in rows), workers):
        yield from problems


def video_problems(row: Row) -> list[str]:
    """Compare a video with its row."""
    name = row["video_id"]
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        path = Path(folder) / f"video{Path(row['video']['path'] or '').suffix}"
        path.write_bytes(row["video"]["bytes"] or b"")
        try:
            found = with_index(path, shape_of)
        except VideoError as error:
            return [f"{name}: it cannot be decoded ({error})"]
    return [
        f"{name}: {column} is {row[column]}, the video has {value}"
        for column, value in found.items()
        if abs(row[column] - value) > ROOM
    ]


def check_files(output: FinishedOutput, options: VerifyOptions) -> Iterator[Finding]:
    """Every video is the source's file, byte for byte."""
    source = source_of(output.info)
    if source.drawn:
        if not same_encoder(output.info):
            yield NotChecked("whether the videos are the sample's: another encoder drew these")
            return
        folder = cached_sample("charades")
    elif options.sources is None:
        yield NotChecked("whether the videos are the source's: give --sources")
        return
    else:
        folder = video_folder(options.sources)
    hashes = {row["video_id"]: row["sha256"] for row in output.rows(VIDEOS.name, ["video_id", "sha256"])}
    found = find_videos([folder], set(hashes), source.video_folders)
    for name, digest in hashes.items():
        if name not in found:
            yield NotChecked(f"whether {name} is the source's: it is not in {folder}")
        elif sha256_file(found[name]) != digest:
            yield f"{name}: the source's file is another"

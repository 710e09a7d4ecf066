"""Videos of an output cut from their sources once more, and rows compared with those that they must be."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from ..records.output import FinishedOutput
from ..records.schema import Row
from ..records.shards import group_rows, open_shard
from ..records.versions import tool_versions
from ..video.decode import with_index
from ..video.edit import EditList, write_edits
from ..video.encode import EncodeSettings, Sound
from ..video.fidelity import measure_loss, unlike
from ..video.index import FrameIndex
from ..video.sound import read_sound, splice
from ..video.thumbnails import UNDECODABLE, Look

ENCODERS = ("av", "libavcodec", "libavformat", "libswscale", "libswresample")
WITHOUT_LOSS = EncodeSettings(crf=0, preset="ultrafast")


def same_encoder(info: Mapping[str, Any]) -> bool:
    """Whether `build.json` names the encoder that runs here, which then gives the same bytes."""
    here = tool_versions(render=True)
    return all(info["tools"].get(name) == here[name] for name in ENCODERS)


def differing_rows(
    place: str, found: Sequence[Row], expected: Sequence[Row], key: str, room: float = 0.0
) -> Iterator[str]:
    """Compare rows with those that they must be, in the columns of the latter; then their order.

    Args:
        place: The table, for the messages.
        found: The rows of the output.
        expected: What they must be.
        key: The column that names a row.
        room: How far apart numbers may be.
    """
    by_key = {row[key]: row for row in found}
    for row in expected:
        other = by_key.get(row[key])
        if other is None:
            yield f"{place}: {row[key]} is missing"
            continue
        for name, value in row.items():
            if not _same(other[name], value, room):
                yield f"{place}: {row[key]}: {name} is {_short(other[name])}, not {_short(value)}"
    names = [row[key] for row in expected]
    for extra in sorted(by_key.keys() - set(names), key=str):
        yield f"{place}: {extra} should not be there"
    if [row[key] for row in found] != names and by_key.keys() == set(names):
        yield f"{place}: the rows are in another order, or some come twice"


def _same(one: Any, other: Any, room: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == other or abs(one - other) <= room
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name], room) for name in one)
    if isinstance(one, list) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(_same(*two, room) for two in zip(one, other, strict=True))
    return bool(one == other)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def differs_from_row(look: Look, row: Row, sound: bool | None) -> Iterator[str]:
    """Compare what a video's container and frames say with the columns of its row.

    Args:
        look: The decoded video.
        row: `num_frames`, `fps`, `width`, `height` and `duration_s`.
        sound: Whether it must have sound; None if it may.
    """
    if look.num_frames != row["num_frames"]:
        yield f"{look.num_frames} frames, num_frames says {row['num_frames']}"
    if look.sizes != {(row["width"], row["height"])}:
        sizes = ", ".join("{}x{}".format(*size) for size in sorted(look.sizes))
        yield f"its frames are {sizes}, its row says {row['width']}x{row['height']}"
    seconds = look.seconds
    if abs(float(seconds) - row["duration_s"]) > 1e-6:
        yield f"it lasts {float(seconds)} s, duration_s says {row['duration_s']}"
    if not seconds or abs(float(look.num_frames / seconds) - row["fps"]) > 1e-6 * row["fps"]:
        yield f"fps is {row['fps']}, its frames say otherwise"
    tracks = look.tracks[1:]
    if look.tracks[:1] != ("h264 yuv420p",) or tracks not in ((), ("aac",)):
        yield f"its tracks are {', '.join(look.tracks)}"
    elif sound is not None and bool(tracks) != sound:
        yield "it has sound, and was built without" if tracks else "it has no sound, and was built with it"
    yield from (f"the file carries a note, {tag}" for tag in look.tags)


EditsOf = Callable[[FrameIndex], Sequence[EditList]]


def unlike_again(
    path: Path, edits_of: EditsOf, keep_sound: bool, found: Sequence[bytes], again: Sequence[bytes], same: bool
) -> list[str]:
    """Compare videos of an output with those that were cut again from their source.

    Where the bytes differ, what both took from the pictures and the sound is measured; see `video.fidelity`.

    Args:
        path: The source.
        edits_of: Gives the edit list of each video.
        keep_sound: Whether they have the source's sound.
        found: The videos of the output.
        again: The same made again with the settings that `build.json` names.
        same: Whether `build.json` names the encoder that made them again; then the bytes must be equal.

    Returns:
        For each video what differs, empty if nothing does that an encoder can be the reason of.

    Raises:
        VideoError: The source cannot be decoded.
    """
    if list(found) == list(again):
        return [""] * len(found)
    return [
        "" if one == other else _unlike(one, other, original, sound, same)
        for one, other, (original, sound) in zip(found, again, _originals(path, edits_of, keep_sound), strict=True)
    ]


def _unlike(found: bytes, again: bytes, original: bytes, sound: Sound | None, same: bool) -> str:
    try:
        problem = unlike(measure_loss(found, original, sound), measure_loss(again, original, sound))
    except UNDECODABLE as error:
        problem = str(error)
    if problem or not same:
        return problem
    return "it is not the file that the same encoder makes of the source, though what it shows is close to it"


def _originals(path: Path, edits_of: EditsOf, keep_sound: bool) -> list[tuple[bytes, Sound | None]]:
    """Cut a source without loss."""

    def cut(index: FrameIndex) -> list[tuple[bytes, Sound | None]]:
        edits = edits_of(index)
        first, last = min(p.start for edit in edits for p in edit), max(p.stop for edit in edits for p in edit)
        sound = read_sound(index, index.seconds(first), index.seconds(last)) if keep_sound else None
        with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
            files = [Path(folder) / f"{number}.mp4" for number in range(len(edits))]
            write_edits(index, edits, files, WITHOUT_LOSS)
            tracks = [sound and splice(sound, index, edit) for edit in edits]
            return [(file.read_bytes(), track) for file, track in zip(files, tracks, strict=True)]

    return with_index(path, cut)


def chosen_videos(output: FinishedOutput, table: str, key: str, wanted: AbstractSet[str]) -> Iterator[Row]:
    """Read the rows of a table with videos that are wanted; row groups without any stay unread.

    Args:
        output: The output.
        table: The table.
        key: The column that is looked at.
        wanted: Its values.
    """
    for path in output.shards(table):
        with open_shard(path) as file:
            for group in range(file.num_row_groups):
                if not wanted.isdisjoint(row[key] for row in group_rows(file, group, [key])):
                    yield from (row for row in group_rows(file, group) if row[key] in wanted)

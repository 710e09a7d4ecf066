"""Write a gallery as a folder that browsers open from disk or from any web server.

DIR/index.html                  the page
DIR/gallery/                    styles and scripts
DIR/data/                       content, as scripts
DIR/media/<sha256>.mp4          videos (with `embed` "videos")
DIR/thumbs/<sha256>.jpg         middle frame of each video
DIR/output.json                 identity of the output, and names of all files
"""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...core.errors import InputError, VideoError
from ...core.export_folder import ExportFolder, identity, open_folder
from ...core.files import sha256_file, write_atomic
from ...core.output import FinishedOutput
from ...core.progress import Progress, keep, raise_if_interrupted
from ...core.shards import group_rows, open_shard
from ...video.decode import decode_at, upright, with_index
from ...video.index import FrameIndex, index_frames, open_video
from ...video.pyav import to_rgb
from .exhibits import Exhibit, Gallery, distinct, spread
from .site import PAGE, About, data_files, data_names, page, static_files

SIDE, QUALITY = 320, 82  # pixels of the longer side of thumbnails, and JPEG quality
SUFFIXES = (".mp4", ".webm", ".mov", ".mkv", ".m4v", ".avi", ".ogv")


@dataclass(frozen=True)
class StoredVideo:
    """The location of a video in the shards of an output, and the suffix of its file name."""

    sha256: str
    shard: Path
    group: int
    row: int
    suffix: str


@dataclass(frozen=True)
class WrittenGallery:
    """Number of exhibits shown, exhibits in total, videos, and exhibits that a model answered."""

    shown: int
    total: int
    films: int
    answered: int


def write_gallery(
    output: FinishedOutput,
    gallery: Gallery,
    about: About,
    folder: Path,
    *,
    split: str | None = None,
    limit: int | None = None,
    given: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: bool = False,
) -> WrittenGallery:
    """Write a gallery, keeping videos of an earlier run that have the same SHA-256.

    With `limit`, exhibits are evenly spaced. `given` contains other values that determine the content, such as the hash
    of predictions.

    Raises:
        InputError, OutputError: As for `export_folder.open_folder`. InputError also if there are no exhibits, or a
            video is damaged or missing.
    """
    kept = {**identity(output, "gallery", split), "limit": limit, "embed": about.embed, **(given or {})}
    exhibits = list(distinct(gallery.exhibits(_places(gallery, split, limit, answered=about.answered))))
    if not exhibits and gallery.count:
        what = [f" of split {split}"] if split is not None else []
        if about.answered:
            what.append(" that the predictions answer")
        raise InputError(
            f"{output.path} has no {gallery.noun}{''.join(what)}. Choose another --split or other predictions."
        )
    place = open_folder(folder, kept, force=force)
    stored = [] if about.embed == "none" else list(_stored(output, exhibits))
    static = static_files()
    names = [PAGE, *static, *data_names(len(exhibits)), *(_thumb(film.sha256) for film in stored)]
    if about.embed == "videos":
        names += [_file(film) for film in stored]
    place.announce({name: {} for name in names})
    films: dict[str, dict[str, Any]] = {}
    with Progress("gallery", len(stored), "video", shown=progress) as shown:
        for film, content in _contents(stored):
            raise_if_interrupted()
            films[film.sha256] = _write_film(place, film, content, videos=about.embed == "videos")
            keep("video")
            shown.advance()
    for name, data in [*static.items(), *data_files(about, gallery, exhibits, films), (PAGE, page(about))]:
        write_atomic(folder / name, data)
    place.finish()
    answered = sum(any(each.verdict for each in exhibit.asked) for exhibit in exhibits)
    return WrittenGallery(len(exhibits), gallery.count, len(films), answered)


def _places(gallery: Gallery, split: str | None, limit: int | None, *, answered: bool) -> Sequence[int]:
    if split is None and not answered:
        return spread(gallery.count, limit)
    places = [
        place
        for place, exhibit in enumerate(gallery.exhibits(range(gallery.count)))
        if (split is None or split in exhibit.facets.get("split", ()))
        and (not answered or any(each.verdict for each in exhibit.asked))
    ]
    return [places[number] for number in spread(len(places), limit)]


def _file(film: StoredVideo) -> str:
    return f"media/{film.sha256}{film.suffix}"


def _thumb(sha256: str) -> str:
    return f"thumbs/{sha256}.jpg"


def _stored(output: FinishedOutput, exhibits: Sequence[Exhibit]) -> Iterator[StoredVideo]:
    wanted: dict[str, set[str]] = {}
    for exhibit in exhibits:
        for film in exhibit.films:
            wanted.setdefault(film.table, set()).add(film.sha256)
    seen = set[str]()
    for table, hashes in wanted.items():
        if not all(len(name) == 64 and set(name) <= set("0123456789abcdef") for name in hashes):
            raise InputError(f"table {table} has an invalid sha256. Run `stressreel verify` for details.")
        left = hashes - seen
        for path in output.shards(table) if left else ():
            with open_shard(path) as shard:
                for group in range(shard.num_row_groups):
                    for row, each in enumerate(group_rows(shard, group, ["sha256", "video.path"])):
                        if each["sha256"] in left:
                            left.discard(each["sha256"])
                            suffix = PurePosixPath(each["video"]["path"] or "").suffix.lower()
                            yield StoredVideo(
                                each["sha256"], path, group, row, suffix if suffix in SUFFIXES else ".mp4"
                            )
        if left:
            raise InputError(
                f"table {table} lacks the videos for {len(left)} rows. Run `stressreel verify` for details."
            )
        seen |= hashes


def _contents(stored: Sequence[StoredVideo]) -> Iterator[tuple[StoredVideo, bytes]]:
    groups: dict[tuple[Path, int], list[StoredVideo]] = {}
    for film in stored:
        groups.setdefault((film.shard, film.group), []).append(film)
    for (path, group), films in groups.items():
        with open_shard(path) as shard:
            videos = [row["video"]["bytes"] for row in group_rows(shard, group, ["video.bytes"])]
            for film in films:
                content: bytes = videos[film.row] or b""
                if hashlib.sha256(content).hexdigest() != film.sha256:
                    raise InputError(
                        f"{path.parent.name}/{path.name}: video {film.row} of row group {group} does not match its "
                        "sha256. Run `stressreel verify` for details, or build again with --fresh."
                    )
                yield film, content


def _write_film(place: ExportFolder, film: StoredVideo, content: bytes, *, videos: bool) -> dict[str, Any]:
    path = place.place(_file(film))
    if videos and not (path.is_file() and path.stat().st_size == len(content) and sha256_file(path) == film.sha256):
        write_atomic(path, content)
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        if not videos:
            path = Path(folder) / f"clip{film.suffix}"
            path.write_bytes(content)
        try:
            about, picture, size = with_index(path, lambda index: (described(index), *_middle(index)), index_frames)
            about["size"] = size
            with open_video(path) as (container, _):
                about["sound"] = bool(container.streams.audio)
        except VideoError as error:
            place.files.pop(_thumb(film.sha256))
            return {"file": _file(film) if videos else None, "poster": None, "fault": str(error)}
    write_atomic(place.place(_thumb(film.sha256)), picture)
    return {"file": _file(film) if videos else None, "poster": _thumb(film.sha256), **about}


def described(index: FrameIndex) -> dict[str, Any]:
    """Return the frame count and the frame times of a video, in seconds from the start of the file.

    Returns:
        `frames`, `seconds` (end of the last frame), and either `times`, the start of each frame, or for a constant
            frame rate `rate`, [frames, seconds] as integers.
    """
    steps = {int(step) for step in index.pts[1:] - index.pts[:-1]} or {index.end - int(index.pts[0])}
    found: dict[str, Any] = {"frames": index.num_frames, "seconds": round(float(index.seconds(index.num_frames)), 6)}
    if len(steps) == 1 and index.seconds(0) == 0:
        step = steps.pop() * index.time_base
        return found | {"rate": [step.denominator, step.numerator]}
    return found | {"times": [round(float(index.seconds(number)), 6) for number in range(index.num_frames)]}


def _middle(index: FrameIndex) -> tuple[bytes, tuple[int, int]]:
    from PIL import Image

    (frame,) = decode_at(index, [index.num_frames // 2])
    picture = Image.fromarray(to_rgb(upright(frame)))
    scale = min(1.0, SIDE / max(picture.size))
    size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    file = io.BytesIO()
    picture.resize(size, Image.Resampling.BICUBIC).save(file, "JPEG", quality=QUALITY)
    return file.getvalue(), picture.size

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
import json
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ...core.errors import InputError, VideoError
from ...core.export_folder import ExportFolder, identity, open_folder
from ...core.files import sha256_file, write_atomic
from ...core.output import FinishedOutput
from ...core.progress import Progress, keep, raise_if_interrupted
from ...core.shards import group_rows, open_shard
from ...core.source import Source
from ...video.decode import decode_at, upright, with_index
from ...video.index import FrameIndex, index_frames, open_video
from ...video.pyav import to_rgb
from .exhibits import Exhibit, Facet, Film, Gallery, distinct, spread

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
    inputs: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: bool = False,
) -> WrittenGallery:
    """Write a gallery, keeping videos of an earlier run that have the same SHA-256.

    With `limit`, exhibits are evenly spaced. `inputs` holds other values that determine the content, such as the
    hash of predictions.

    Raises:
        InputError, OutputError: As for `export_folder.open_folder`. InputError also if there are no exhibits, or a
            video is damaged or missing.
    """
    kept = {**identity(output, "gallery", split), "limit": limit, "embed": about.embed, **(inputs or {})}
    exhibits = list(distinct(gallery.exhibits(_places(gallery, split, limit, answered=about.answered))))
    if not exhibits and gallery.count:
        what = [f" of split {split}"] if split is not None else []
        if about.answered:
            what.append(" that the predictions answer")
        raise InputError(
            f"{output.path} has no {gallery.noun}{''.join(what)}. Choose another --split or other predictions."
        )
    target = open_folder(folder, kept, force=force)
    stored = (
        []
        if about.embed == "none"
        else list(stored_videos(output, (film for exhibit in exhibits for film in exhibit.films)))
    )
    static = static_files()
    names = [PAGE, *static, *data_names(len(exhibits)), *(_thumb(film.sha256) for film in stored)]
    if about.embed == "videos":
        names += [_file(film) for film in stored]
    target.announce({name: {} for name in names})
    films: dict[str, dict[str, Any]] = {}
    with Progress("gallery", len(stored), "video", shown=progress) as shown:
        for film, content in contents(stored):
            raise_if_interrupted()
            films[film.sha256] = _write_film(target, film, content, videos=about.embed == "videos")
            keep("video")
            shown.advance()
    for name, data in [*static.items(), *data_files(about, gallery, exhibits, films), (PAGE, page(about))]:
        write_atomic(folder / name, data)
    target.finish()
    answered = sum(any(question.verdict for question in exhibit.asked) for exhibit in exhibits)
    return WrittenGallery(len(exhibits), gallery.count, len(films), answered)


def _places(gallery: Gallery, split: str | None, limit: int | None, *, answered: bool) -> Sequence[int]:
    if split is None and not answered:
        return spread(gallery.count, limit)
    positions = [
        position
        for position, exhibit in enumerate(gallery.exhibits(range(gallery.count)))
        if (split is None or split in exhibit.facets.get("split", ()))
        and (not answered or any(question.verdict for question in exhibit.asked))
    ]
    return [positions[number] for number in spread(len(positions), limit)]


def _file(film: StoredVideo) -> str:
    return f"media/{film.sha256}{film.suffix}"


def _thumb(sha256: str) -> str:
    return f"thumbs/{sha256}.jpg"


def stored_videos(output: FinishedOutput, films: Iterable[Film]) -> Iterator[StoredVideo]:
    """Yield the location of each video, once.

    Raises:
        InputError: A video is missing, or a SHA-256 is invalid.
    """
    wanted: dict[str, set[str]] = {}
    for film in films:
        wanted.setdefault(film.table, set()).add(film.sha256)
    seen = set[str]()
    for table, hashes in wanted.items():
        if not all(len(name) == 64 and set(name) <= set("0123456789abcdef") for name in hashes):
            raise InputError(f"table {table} has an invalid sha256. Run `stressreel verify` for details.")
        left = hashes - seen
        for path in output.shards(table) if left else ():
            with open_shard(path) as shard:
                for group in range(shard.num_row_groups):
                    for number, row in enumerate(group_rows(shard, group, ["sha256", "video.path"])):
                        if row["sha256"] in left:
                            left.discard(row["sha256"])
                            suffix = PurePosixPath(row["video"]["path"] or "").suffix.lower()
                            yield StoredVideo(
                                row["sha256"], path, group, number, suffix if suffix in SUFFIXES else ".mp4"
                            )
        if left:
            raise InputError(
                f"table {table} lacks the videos for {len(left)} rows. Run `stressreel verify` for details."
            )
        seen |= hashes


def contents(stored: Sequence[StoredVideo]) -> Iterator[tuple[StoredVideo, bytes]]:
    """Yield videos with their content, or raise InputError if a content does not match its SHA-256."""
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


def _write_film(target: ExportFolder, film: StoredVideo, content: bytes, *, videos: bool) -> dict[str, Any]:
    path = target.place(_file(film))
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
            target.files.pop(_thumb(film.sha256))
            return {"file": _file(film) if videos else None, "poster": None, "fault": str(error)}
    write_atomic(target.place(_thumb(film.sha256)), picture)
    return {"file": _file(film) if videos else None, "poster": _thumb(film.sha256), **about}


def described(index: FrameIndex) -> dict[str, Any]:
    """Return the frame count and the frame times of a video, in seconds from the start of the file.

    Returns:
        `frames`, `seconds` (end of the last frame), and either `times`, the start of each frame, or for a constant
            frame rate `rate`, [frames, seconds] as integers.
    """
    steps = {int(step) for step in index.pts[1:] - index.pts[:-1]} or {index.end - int(index.pts[0])}
    facts: dict[str, Any] = {"frames": index.num_frames, "seconds": round(float(index.seconds(index.num_frames)), 6)}
    if len(steps) == 1 and index.seconds(0) == 0:
        step = steps.pop() * index.time_base
        return facts | {"rate": [step.denominator, step.numerator]}
    return facts | {"times": [round(float(index.seconds(number)), 6) for number in range(index.num_frames)]}


def _middle(index: FrameIndex) -> tuple[bytes, tuple[int, int]]:
    from PIL import Image

    (frame,) = decode_at(index, [index.num_frames // 2])
    picture = Image.fromarray(to_rgb(upright(frame)))
    scale = min(1.0, SIDE / max(picture.size))
    size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    file = io.BytesIO()
    picture.resize(size, Image.Resampling.BICUBIC).save(file, "JPEG", quality=QUALITY)
    return file.getvalue(), picture.size


HERE = Path(__file__).parent
PAGE = "index.html"
INDEX = "data/index.js"
IN_A_FILE = 20
"""Number of exhibits in one data file, which are loaded together."""


@dataclass(frozen=True)
class About:
    """Description of a gallery and of the output that it shows.

    Attributes:
        summary: One-line description of the output.
        embed: "none", "thumbnails" or "videos".
        total: Total number of exhibits in the output.
        scores: Scores of a model, from `score_page`, or None.
        answered: Whether the gallery shows answers of a model.
        canary: Canary of the output, or "".
    """

    title: str
    summary: str
    version: str
    fingerprint: str
    source: Source
    embed: str
    total: int
    scores: Mapping[str, Any] | None = None
    answered: bool = False
    canary: str = ""


def licence_notice(source: Source, *, pictures: bool) -> str:
    """Describe the restrictions on sharing videos (`pictures`) or texts of a source. Return "" if there are none."""
    what = "The videos and pictures on these pages" if pictures else "The texts on these pages"
    if source.redistributable is False:
        return f"{what} are from {source.name} and may not be shared. Its terms: {source.terms.rstrip('.')}."
    if source.redistributable is None:
        return f"{what} are from {source.name}. stressreel does not know whether they may be shared."
    return ""


def static_files() -> dict[str, bytes]:
    """Return the styles, scripts and icons, which are the same in every gallery."""
    files = sorted(path for path in HERE.iterdir() if path.suffix in (".css", ".js", ".svg"))
    return {f"gallery/{path.name}": path.read_bytes() for path in files}


def page(about: About) -> bytes:
    """Return the HTML page, whose content is filled in by scripts."""
    heading, _, line = about.summary.partition(": ")
    return html_page(about, HERE, "gallery", heading=heading, line=line[:1].upper() + line[1:])


def html_page(about: About, templates: Path, folder: str, **texts: str) -> bytes:
    """Return the page of the template `index.html.j2` in `templates`, whose styles and scripts are in `folder`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader((templates, HERE), encoding="utf-8"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    licence = about.source.license
    link = licence.get("license_link", "")
    text = environment.get_template("index.html.j2").render(
        **texts,
        folder=folder,
        source=about.source,
        version=about.version,
        fingerprint=about.fingerprint,
        canary=about.canary,
        licence=licence.get("license_name") or licence.get("license", "unknown"),
        licence_link=link if link.startswith(("https://", "http://")) else "",
        notice=licence_notice(about.source, pictures=about.embed != "none"),
    )
    return text.encode()


def data_names(count: int) -> list[str]:
    """Return the names of the data files for this number of exhibits."""
    return [INDEX, *(_part(number) for number in range(-(-count // IN_A_FILE)))]


def _part(number: int) -> str:
    return f"data/items-{number:05d}.js"


def data_files(
    about: About, gallery: Gallery, exhibits: Sequence[Exhibit], films: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each file in `data_names`. `films` describes the videos by SHA-256."""
    yield INDEX, script("galleryIndex", _index(about, gallery, exhibits, films))
    for number in range(-(-len(exhibits) // IN_A_FILE)):
        part = exhibits[number * IN_A_FILE : (number + 1) * IN_A_FILE]
        shown = {film.sha256: films[film.sha256] for exhibit in part for film in exhibit.films if film.sha256 in films}
        items = [{"id": exhibit.id, "view": exhibit.view, "content": exhibit.content} for exhibit in part]
        yield _part(number), script("galleryItems", {"part": number, "items": items, "films": shown})


def script(function: str, value: Any) -> bytes:
    """Return a script that calls a function with a JSON value, from which no text can break out."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"{function}({text.replace('<', chr(92) + 'u003c')});\n".encode("utf-8", "replace")


def _index(
    about: About, gallery: Gallery, exhibits: Sequence[Exhibit], films: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the data with which exhibits are listed, searched and filtered.

    An exhibit is `[id, title, picture, values of each facet, kinds of questions, words]`. A kind is `[value of each
    facet of questions, or -1, verdict]`. Values and kinds are indices.
    """
    values: dict[str, dict[Any, int]] = {facet.name: {} for facet in gallery.facets}
    asked: dict[str, dict[Any, int]] = {facet.name: {} for facet in gallery.asked_facets}
    kinds: dict[Any, int] = {}
    entries = []
    for exhibit in exhibits:
        facets = [[_number(numbers, value) for value in exhibit.facets[name]] for name, numbers in values.items()]
        questions = []
        for question in exhibit.asked:
            kind = [
                _number(numbers, question.facets[name]) if name in question.facets else -1
                for name, numbers in asked.items()
            ]
            questions.append(_number(kinds, (*kind, question.verdict)))
        pictures = (film.sha256 for film in exhibit.films if films.get(film.sha256, {}).get("poster"))
        words = search_words([exhibit.id, exhibit.title, exhibit.words, *(question.text for question in exhibit.asked)])
        entries.append([exhibit.id, exhibit.title, next(pictures, None), facets, sorted(set(questions)), words])
    return {
        "title": about.title,
        "noun": gallery.noun,
        "total": about.total,
        "embed": about.embed,
        "answered": about.answered,
        "perFile": IN_A_FILE,
        "facets": [_facet(facet, values[facet.name]) for facet in gallery.facets],
        "askedFacets": [_facet(facet, asked[facet.name]) for facet in gallery.asked_facets],
        "kinds": list(kinds),
        "entries": entries,
        "scores": about.scores,
    }


def _number(numbers: dict[Any, int], value: Any) -> int:
    return numbers.setdefault(value, len(numbers))


def _facet(facet: Facet, numbers: Mapping[str, int]) -> dict[str, Any]:
    headings = [facet.name, *facet.headings]
    return {"name": facet.name, "label": facet.label, "headings": headings, "values": list(numbers)}


def search_words(texts: Iterable[str]) -> str:
    """Return the distinct words of texts, in lower case and without accents, as `search.js` expects."""
    plain = unicodedata.normalize("NFKD", " ".join(texts).lower())
    words = "".join(letter for letter in plain if not unicodedata.category(letter).startswith("M")).split()
    return " ".join(dict.fromkeys(filter(None, (word.strip('.,;:!?"“”()[]') for word in words))))

"""Write the pages of `stressreel annotate` as a folder that browsers open from disk or from any web server.

DIR/index.html                  the page
DIR/annotate/                   styles and scripts
DIR/data/items.js               the items, without answers
DIR/media/<neutral name>.mp4    videos
DIR/output.json                 identity of the output, and names of all files
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from ...core.export_folder import identity, open_folder
from ...core.files import write_atomic
from ...core.output import FinishedOutput
from ...core.progress import Progress, keep, raise_if_interrupted
from ...core.schema import Config
from ...core.source import source_of
from ...evaluation.people import FORMAT, LONGEST_NAME, LONGEST_REASON, VERSION, Plan, neutral_name
from ...evaluation.tasks import without_videos
from ..gallery import site
from ..gallery.exhibits import Film, films_of

HERE = Path(__file__).parent
SHARED = ("base.css", "dom.js", "icon.svg")
"""Files of the gallery that these pages use too."""
ITEMS = "data/items.js"


def write_pages(
    output: FinishedOutput,
    plan: Plan,
    tables: Sequence[Config],
    folder: Path,
    *,
    force: bool = False,
    progress: bool = False,
) -> int:
    """Write the pages for a plan, with videos from the first of `tables` that has any, and return their number.

    Raises:
        InputError, OutputError: As for `export_folder.open_folder`. InputError also if a video is damaged or missing.
    """
    films = _films(output, plan, tables)
    names: dict[str, str] = {}
    for video, film in films.items():
        names.setdefault(film.sha256, neutral_name(plan.fingerprint, plan.seed, plan.condition, video))
    stored = list(site.stored_videos(output, films.values()))
    files = {place.sha256: f"media/{names[place.sha256]}{place.suffix}" for place in stored}
    paths = {video: files[film.sha256] for video, film in films.items()}
    written = {
        **{f"annotate/{path.name}": path.read_bytes() for path in static_files()},
        ITEMS: site.script("annotateItems", session(plan, paths)),
        site.PAGE: page(about_pages(output, plan)),
    }
    kept = {"seed": plan.seed, "items": plan.count, "condition": plan.condition}
    target = open_folder(folder, {**identity(output, "annotate", plan.split), **kept}, force=force)
    target.announce({name: {} for name in [*written, *files.values()]})
    with Progress("annotate", len(stored), "video", shown=progress) as shown:
        for place, content in site.contents(stored):
            raise_if_interrupted()
            write_atomic(target.place(files[place.sha256]), content)
            keep("video")
            shown.advance()
    for name, data in written.items():
        write_atomic(target.place(name), data)
    target.finish()
    return len(stored)


def static_files() -> list[Path]:
    """Return the styles, scripts and icons, which are the same on all pages."""
    own = sorted(path for path in HERE.iterdir() if path.suffix in (".css", ".js"))
    return [*(site.HERE / name for name in SHARED), *own]


def about_pages(output: FinishedOutput, plan: Plan) -> site.About:
    """Describe the pages, without saying what the benchmark tests."""
    return site.About(
        title="Questions",
        summary="",
        version=output.info["dataset_version"],
        fingerprint=plan.fingerprint,
        source=source_of(output.info),
        embed="none" if plan.condition == "text" else "videos",
        total=plan.count,
        canary=output.info.get("canary") or "",
    )


def page(about: site.About) -> bytes:
    """Return the HTML page, whose content is filled in by scripts."""
    return site.html_page(about, HERE, "annotate", heading=about.title, line="")


def session(plan: Plan, files: dict[str, str]) -> dict[str, Any]:
    """Return what the pages know about a plan: no ids, answers, or kinds. `files` are paths of videos by id."""
    items = [
        {
            "key": item.key,
            "film": None if item.video_id is None else files[item.video_id],
            "question": item.question,
            "options": item.options,
        }
        for item in plan.items
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "output": plan.output,
        "fingerprint": plan.fingerprint,
        "seed": plan.seed,
        "items": plan.count,
        "condition": plan.condition,
        "longestName": LONGEST_NAME,
        "longestReason": LONGEST_REASON,
        "shown": items,
    }


def _films(output: FinishedOutput, plan: Plan, tables: Sequence[Config]) -> dict[str, Film]:
    """Return the videos of the items by id."""
    wanted = list(dict.fromkeys(item.video_id for item in plan.items if item.video_id is not None))
    known = films_of(output, tables) if wanted else {}
    if wanted and not known:
        raise InputError(
            f"{output.path} contains no videos (built {without_videos(output)}). Build it with videos, or ask the "
            "questions alone with --condition text."
        )
    if missing := [video for video in wanted if video not in known]:
        raise InputError(
            f"{output.path} has questions about {len(missing):,} videos that it does not contain, such as "
            f"{missing[0]!r}. Run `stressreel verify` for details."
        )
    return {video: known[video] for video in wanted}

"""What the tasks of a harness need while they run: where the output lies, its videos, and what an answer means.

`stressreel export` copies this file, as `harness.py`, into every folder of tasks, beside `answers.py` (the rules of
`stressreel score`) and `output.json` (where the output lies). It needs neither stressreel nor a harness. Videos are
copied out of the output's Parquet files when they are first asked for, a row group at a time, into
`$XDG_CACHE_HOME/stressreel/videos` (default `~/.cache`), each under its SHA-256; or, of an output that holds none, they
stay where `output.json` says that they were found.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

Place = tuple[str, int, str]  # shard, row group, SHA-256
HERE = Path(__file__).parent


@cache
def output() -> dict[str, Any]:
    """Read where the output lies, and its fingerprint."""
    content: dict[str, Any] = json.loads((HERE / "output.json").read_text(encoding="utf-8"))
    if not Path(content["path"]).is_dir():
        raise FileNotFoundError(f"the output {content['path']} is gone. Export it again where it is now.")
    return content


@cache
def rules() -> Any:
    """Load the rules by which answers are read."""
    spec = importlib.util.spec_from_file_location("stressreel_answers", HERE / "answers.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"{HERE / 'answers.py'} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Videos


@cache
def places(table: str, keys: tuple[str, ...]) -> dict[tuple[Any, ...], Place]:
    """Find every video of a table by the columns that name it."""
    import pyarrow.parquet as pq

    found: dict[tuple[Any, ...], Place] = {}
    for shard in sorted((Path(output()["path"]) / table).glob("[!.]*.parquet")):
        with pq.ParquetFile(shard) as file:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=[*keys, "sha256"]).to_pydict()
                for *name, sha256 in zip(*(rows[key] for key in keys), rows["sha256"], strict=True):
                    if not re.fullmatch("[0-9a-f]{64}", str(sha256)):  # becomes the name of a file
                        raise ValueError(f"{shard} has a sha256 that is none; `stressreel verify` says more")
                    found[tuple(name)] = (str(shard), group, sha256)
    return found


def cache_folder() -> Path:
    """Return the folder that videos are copied to."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stressreel" / "videos"


def video_path(table: str, name: Mapping[str, Any]) -> str:
    """Return the path of a video, copying it (and those stored with it) out of the output first.

    Raises:
        FileNotFoundError: A video of a folder is gone.
        KeyError: The table has no such video.
        ValueError: A stored video is not the one that was built, or none.
    """
    if found := output().get("videos"):
        (video,) = name.values()
        if not Path(found[video]).is_file():
            raise FileNotFoundError(f"the video {found[video]} is gone. Export again, with --videos where it is now.")
        return str(found[video])
    shard, group, sha256 = places(table, tuple(name))[tuple(name.values())]
    target = cache_folder() / f"{sha256}.mp4"
    if not target.is_file():
        copy_videos(shard, group)
    return str(target)


def copy_videos(shard: str, group: int) -> None:
    """Copy the videos of a row group to the cache; several processes may do so at once."""
    import pyarrow.parquet as pq

    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with pq.ParquetFile(shard) as file:
        rows = file.read_row_group(group, columns=["sha256", "video"])
    for sha256, video in zip(rows.column("sha256").to_pylist(), rows.column("video"), strict=True):
        target = folder / f"{sha256}.mp4"
        if target.is_file():
            continue
        content = video["bytes"].as_py()
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ValueError(f"a video in {shard} is not the one that was built; `stressreel verify` says more")
        if b"\0" not in content[:64] or content.startswith((b"ffconcat", b"#EXTM3U")):
            raise ValueError(f"a video in {shard} is a text, such as a playlist, which can name other files")
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as part:
            part.write(content)
        os.replace(temporary, target)


# Results. What stands under `stressreel` is logged, and read by `stressreel score`.


def judged(
    response: str,
    options: Sequence[str],
    right: int,
    *,
    column: str = "answer",
    option_ids: Sequence[str] = (),
    **about: Any,
) -> dict[str, Any]:
    """Judge the choice of an option.

    Args:
        response: What the model said.
        options: The options.
        right: The number of the right one; -1 if none is known.
        column: The column of predictions that it is for.
        option_ids: What stands for each option in predictions; empty: what the model said does. `score` may take
            options that were not offered for an answer, by their text, so what means none of these is logged as
            unreadable.
        about: What identifies the question.
    """
    pick = rules().read_answer(response, options)
    said = response
    if option_ids:
        said = f"unreadable: {response}" if pick is None else option_ids[pick]
    return {"accuracy": float(pick == right), "unreadable": float(pick is None), **logged(column, said, about)}


def compared(
    response: str,
    right: str,
    metrics: tuple[str, str] = ("exact", "empty"),
    *,
    column: str = "answer",
    **about: Any,
) -> dict[str, Any]:
    """Compare a text with the right one; `stressreel score` measures what it says, or reads more forms as right.

    Args:
        response: What the model said.
        right: The right text; "" if none is known.
        metrics: What it is called that the two are the same, and that nothing was said.
        column: The column of predictions that it is for.
        about: What identifies the question.
    """
    plain = rules().plain
    same, nothing = metrics
    return {
        same: float(plain(response) == plain(right)),
        nothing: float(not response.strip()),
        **logged(column, response, about),
    }


def logged(column: str, said: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a log that is a prediction."""
    return {"stressreel": {**about, column: said, "fingerprint": output()["fingerprint"]}}

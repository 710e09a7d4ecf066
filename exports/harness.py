"""Provide harnesses with the videos of an output, and judge the answers of their models.

`stressreel export` copies this file into every task folder, together with `answers.py` (the rules of `stressreel
score`) and `output.json` (the location of the output). It requires neither stressreel nor a harness. Each video is
copied from Parquet on first use, one row group at a time, to `$XDG_CACHE_HOME/stressreel/videos` (default `~/.cache`)
under its SHA-256. If the output contains no videos, `output.json` lists the paths of the source videos.
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
    """Return the content of `output.json`, or raise FileNotFoundError if the output has been moved."""
    content: dict[str, Any] = json.loads((HERE / "output.json").read_text(encoding="utf-8"))
    if not Path(content["path"]).is_dir():
        raise FileNotFoundError(
            f"the output {content['path']} no longer exists. Export it again from its new location."
        )
    return content


@cache
def rules() -> Any:
    """Import `answers.py`, which parses answers as `stressreel score` does."""
    spec = importlib.util.spec_from_file_location("stressreel_answers", HERE / "answers.py")
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


# Videos


@cache
def places(table: str, keys: tuple[str, ...]) -> dict[tuple[Any, ...], Place]:
    """Map the key columns of a table to the shard, row group and SHA-256 of its videos."""
    import pyarrow.parquet as pq

    found: dict[tuple[Any, ...], Place] = {}
    for shard in sorted((Path(output()["path"]) / table).glob("[!.]*.parquet")):
        with pq.ParquetFile(shard) as file:
            for group in range(file.num_row_groups):
                rows = file.read_row_group(group, columns=[*keys, "sha256"]).to_pydict()
                for *name, sha256 in zip(*(rows[key] for key in keys), rows["sha256"], strict=True):
                    if not re.fullmatch("[0-9a-f]{64}", str(sha256)):  # becomes a file name
                        raise ValueError(f"{shard} has an invalid sha256; run `stressreel verify` for details")
                    found[tuple(name)] = (str(shard), group, sha256)
    return found


def cache_folder() -> Path:
    """Return the folder to which videos are copied."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stressreel" / "videos"


def video_path(table: str, name: Mapping[str, Any]) -> str:
    """Return the path of a video, after copying its row group from the output if necessary.

    Raises:
        FileNotFoundError: A source video no longer exists.
        KeyError: The table does not contain the video.
        ValueError: A stored video was modified, or is not a video.
    """
    if found := output().get("videos"):
        (video,) = name.values()
        if not Path(found[video]).is_file():
            raise FileNotFoundError(
                f"the video {found[video]} no longer exists. Export again, with its new folder as --videos."
            )
        return str(found[video])
    shard, group, sha256 = places(table, tuple(name))[tuple(name.values())]
    target = cache_folder() / f"{sha256}.mp4"
    if not target.is_file():
        copy_videos(shard, group)
    return str(target)


def copy_videos(shard: str, group: int) -> None:
    """Copy the videos of a row group to the cache. Several processes may do so at the same time."""
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
            raise ValueError(
                f"a video in {shard} differs from the one that was built; run `stressreel verify` for details"
            )
        if b"\0" not in content[:64] or content.startswith((b"ffconcat", b"#EXTM3U")):
            raise ValueError(f"a video in {shard} is a text file such as a playlist, which could refer to other files")
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(handle, "wb") as part:
            part.write(content)
        os.replace(temporary, target)


# Results: harnesses log the value of `stressreel`, which `stressreel score` reads


def result(sample: Mapping[str, Any], target: str, response: str) -> dict[str, Any]:
    """Judge the response to a sample, given the sample's metadata and correct answer (`target`)."""
    given = {"column": sample["column"], **sample["about"]}
    if sample["options"]:
        return judged(response, sample["options"], sample["right"], option_ids=sample["option_ids"], **given)
    return compared(response, target, tuple(sample["metrics"]), **given)


def judged(
    response: str,
    options: Sequence[str],
    right: int,
    *,
    column: str = "answer",
    option_ids: Sequence[str] = (),
    **about: Any,
) -> dict[str, Any]:
    """Judge whether a response chooses the correct option (`right`, an index, or -1 if unknown).

    `column` is the column of the answer in predictions, and `about` contains the fields that identify the question. If
    there are no `option_ids`, the response itself is logged. Otherwise, a response that matches no option is logged as
    unreadable, because `score` also accepts texts of other options.
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
    """Compare a generated text with the correct one ("" if unknown). `stressreel score` may accept more forms.

    `metrics` names the metrics for exact matches and for empty responses. `column` is the column of the answer in
    predictions, and `about` contains the fields that identify the question.
    """
    plain = rules().plain
    same, nothing = metrics
    return {
        same: float(plain(response) == plain(right)),
        nothing: float(not response.strip()),
        **logged(column, response, about),
    }


def logged(column: str, said: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a result that harnesses log and `stressreel score` reads."""
    return {"stressreel": {**about, column: said, "fingerprint": output()["fingerprint"]}}

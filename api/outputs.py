"""Open the finished output of a build from Python."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..builders import benchmark_of
from ..builders.parts import items_of_output
from ..core.errors import InputError, UsageError
from ..core.objects import address, objects_at
from ..core.output import FinishedOutput, fitting, open_output
from ..core.results import Cell, Table, html_table, text_table
from ..core.rows import AnyPath

if TYPE_CHECKING:
    import datasets

    from ..builders.base import Benchmark
    from ..evaluation.metrics.items import Items


@dataclass(frozen=True, repr=False)
class Output:
    """The finished output of a build, with access to its rows, questions and videos.

    `print` shows its tables and splits. Functions that take an output accept it as well as its path.
    """

    path: Path

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<Output {self.path}: {len(self.configs)} tables, {self._output.num_rows:,} rows>"

    def __str__(self) -> str:
        return text_table(self._table())

    def _repr_html_(self) -> str:
        return html_table(self._table())

    def _table(self) -> Table:
        """Return the number of rows by table and split."""
        splits = list(dict.fromkeys(split for counts in self.configs.values() for split in counts))
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name, *(counts.get(split) for split in splits)) for name, counts in self.configs.items()
        )
        info = self.info
        title = f"{self.path} ({info['builder']} {info['dataset_version']}, fingerprint {info['fingerprint'][:16]})"
        return Table("tables", title, ("table", *splits), rows)

    @cached_property
    def _output(self) -> FinishedOutput:
        return open_output(self.path)

    @property
    def info(self) -> Mapping[str, Any]:
        """The content of `build.json`, with versions, settings, row counts, skips and fingerprint."""
        return self._output.info

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark to which the output belongs."""
        with fitting(self.path):
            return benchmark_of(self._output)

    @property
    def configs(self) -> dict[str, dict[str, int]]:
        """Number of rows in every config, by split."""
        return {name: dict(splits) for name, splits in self.info["counts"].items()}

    def rows(self, config: str, split: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the rows of a config. A video is a dictionary with `bytes` and `path`."""
        with fitting(self.path):
            yield from self._output.whole(config, None, split)

    def load(self, config: str, split: str | None = None) -> datasets.Dataset:
        """Load a table as a `datasets.Dataset`.

        Videos are decoded by torchcodec if it can be imported. Otherwise a video is a dictionary with `bytes` and
        `path`, as with `Video(decode=False)`; `stressreel.frames` accepts rows of both kinds.

        Args:
            config: Name of the table.
            split: Name of the split; by default all rows of the table.

        Raises:
            UsageError: The table or split does not exist.
            InputError: Rows are missing, or a file cannot be read.
        """
        import datasets

        files = data_files(self.path, config)
        shards = files.pop("data_files")
        if split is not None and split not in shards:
            raise UsageError(
                f"table {config!r} of {self.path} has no split {split!r}. Available splits: {', '.join(shards)}."
            )
        chosen = list(shards) if split is None else [split]
        with fitting(self.path):
            for name in chosen:
                self._output.counted(config, name)
            listed = {name: shards[name] for name in chosen}
            try:
                table = datasets.load_dataset("parquet", data_files=listed, split="+".join(chosen), **files)
            except datasets.exceptions.DatasetsError as error:
                raise InputError(
                    f"table {config!r} of {self.path} cannot be loaded ({error}). Run `stressreel verify`."
                ) from error
        videos = [name for name, feature in table.features.items() if isinstance(feature, datasets.Video)]
        if videos and not _torchcodec_works():
            for name in videos:
                table = table.cast_column(name, datasets.Video(decode=False))
        return table

    def items(self, config: str | None = None, split: str | None = None) -> Items:
        """Return the questions of a table, with their ids, videos, texts, options and correct options.

        Args:
            config: Name of the table; by default the first with questions.
            split: Name of the split, or "all"; by default test, if it exists.
        """
        with fitting(self.path):
            return items_of_output(self._output, config, split)

    def video(self, video_id: str) -> bytes:
        """Return the MP4 file of a video as bytes.

        Args:
            video_id: The id in the first column of the video's table.

        Raises:
            KeyError: There is no such video.
        """
        with fitting(self.path):
            for config in self.benchmark.tables(self._output):
                for row in self._output.rows(config.name, [config.key[0], *config.videos]) if config.videos else ():
                    if row[config.key[0]] == video_id:
                        content: bytes = row[config.videos[0]]["bytes"]
                        return content
        raise KeyError(video_id)


def read(out: AnyPath) -> Output:
    """Open the finished output of a build, in a folder or in object storage.

    Raises:
        InputError: The path does not exist, or is not a finished output.
    """
    output = Output(Path(out).expanduser())
    benchmark_of(output._output)
    return output


def _torchcodec_works() -> bool:
    """Return whether torchcodec can be imported, which also requires FFmpeg libraries and a matching torch."""
    try:
        import torchcodec  # noqa: F401
    except (ImportError, OSError, RuntimeError):
        return False
    return True


def data_files(out: AnyPath, config: str) -> dict[str, Any]:
    """Return the arguments with which `datasets` loads a table of an output.

    For example, call `load_dataset("parquet", **stressreel.data_files("s3://bucket/clavi", "questions"))`. For
    outputs in object storage, this requires s3fs, gcsfs or adlfs.

    Args:
        out: The output of a build.
        config: Name of the table.

    Returns:
        `data_files`, with the paths of the shards by split. For object storage, also `storage_options`, with the
            endpoint from the environment if it is set.

    Raises:
        UsageError: The output or table does not exist.
    """
    out = Path(out).expanduser()
    url = address(out)
    output = open_output(out)
    if config not in output.info["counts"]:
        raise UsageError(f"{out} has no table {config!r}. Available tables: {', '.join(output.info['counts'])}.")
    splits = output.splits(config)
    if url is None:  # `datasets` interprets paths as patterns
        paths = {split: [path.absolute() for path in output.shards(config, split)] for split in splits}
        return {"data_files": {split: [escape(str(path)) for path in shards] for split, shards in paths.items()}}
    keys = sorted(entry["path"] for entry in objects_at(out).list(f"{config}/"))
    shards = {split: [f"{url}/{key}" for key in keys if key.startswith(f"{config}/{split}-")] for split in splits}
    endpoint = os.environ.get("AWS_ENDPOINT") or os.environ.get("AWS_ENDPOINT_URL")
    options = {"client_kwargs": {"endpoint_url": endpoint}} if url.startswith("s3:") and endpoint else {}
    return {"data_files": shards, "storage_options": options}

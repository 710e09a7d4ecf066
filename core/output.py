"""Open the finished output of a build, in a local folder or in object storage, and define what checks report about it.

An output is untrusted: it may refer only to regular files inside its own folder.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from .documents import LARGEST_OWN, parse_own, read_own, shortened
from .errors import InputError, StressreelError, UsageError
from .files import resolved, sha256_text, user_cache, write_atomic
from .objects import Objects, address, objects_at
from .plan import LEFT_OUT
from .schema import Row
from .shards import check_claims, read_footer, read_rows, unpacked_bytes

if TYPE_CHECKING:
    from obstore import ObjectMeta

LONGEST_FOLDER = 200  # characters
AT_ONCE = 4  # parallel copies from object storage
MOST_TABLES = 4  # that `describe_counts` names
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class FinishedOutput:
    """The finished output of a build, with the content of its `build.json`."""

    path: Path
    info: dict[str, Any]

    def shards(self, config: str, split: str | None = None) -> list[Path]:
        """Return the paths of a table's shards in order, or an empty list if the table's name is invalid."""
        if not NAME.fullmatch(config):
            return []
        paths = (self.path / config).glob(f"{split or '[!.]*'}-*-of-*.parquet")  # skips temporary files
        return sorted(paths)

    def complete(self) -> None:
        """Download all files of a remote output. Local outputs are already complete."""

    def files(self) -> list[str]:
        """Return the relative paths of all files, sorted."""
        walked = os.walk(self.path)
        paths = [Path(folder, name) for folder, _, names in walked for name in names]
        return sorted(path.relative_to(self.path).as_posix() for path in paths)

    def splits(self, config: str) -> list[str]:
        """Return the names of a table's splits, in the order of `build.json`."""
        return list(self.info["counts"].get(config, {}))

    def rows(self, config: str, columns: Sequence[str] | None = None, split: str | None = None) -> Iterator[Row]:
        """Yield the rows of a table, either of one split or of all splits in the order of `build.json`."""
        for name in [split] if split else self.splits(config):
            for path in self.shards(config, name):
                yield from read_rows(path, columns)

    def whole(self, config: str, columns: Sequence[str] | None = None, split: str | None = None) -> Iterator[Row]:
        """Yield rows as `rows` does, but raise InputError if rows are missing or a shard cannot be read."""
        for name in [split] if split else self.splits(config):
            num_rows = 0
            self.counted(config, name)
            for row in self.rows(config, columns, name):
                num_rows += 1
                yield row
            self.check_count(config, name, num_rows)

    def counted(self, config: str, split: str) -> list[Path]:
        """Return the paths of a split's shards in order, after checking their row counts against `build.json`.

        Raises:
            InputError: The row counts differ or are implausible, or a shard cannot be read (`ShardError`).
        """
        paths = self.shards(config, split)
        rows = packed = 0
        for path in paths:
            footer = read_footer(path)
            rows, packed = rows + footer.num_rows, packed + unpacked_bytes(footer)
        self.check_count(config, split, rows)
        try:
            check_claims(rows, packed, sum(path.stat().st_size for path in paths))
        except ValueError as error:  # many small shards, each plausible in isolation
            raise InputError(f"{self.path}, table {config}, split {split}: {error}.") from error
        return paths

    def all_splits(self) -> list[str]:
        """Return the splits of the dataset, in the order of the tables. The table `left_out` has none of them."""
        tables = (splits for name, splits in self.info["counts"].items() if name != LEFT_OUT.name)
        return list(dict.fromkeys(split for splits in tables for split in splits))

    @property
    def num_rows(self) -> int:
        """Total number of rows in all tables, according to `build.json`."""
        return sum(count for splits in self.info["counts"].values() for count in splits.values())

    @property
    def withheld(self) -> Mapping[str, Any]:
        """The record of withheld answers (see `builders.runtime.withhold`), or an empty dictionary."""
        record = self.info.get("withheld", {})
        return record if isinstance(record, dict) else {}

    @property
    def asked(self) -> str:
        """The fingerprint that predictions must state. A private copy expects that of its public counterpart."""
        return str(self.withheld.get("public", self.info["fingerprint"]))

    def gaps(self) -> Iterator[str]:
        """Yield a line for each shard that cannot be read, and for each table that lacks rows."""
        for config in self.info["counts"]:
            for split in self.splits(config):
                try:
                    self.counted(config, split)
                except InputError as error:
                    yield str(error)

    def check_count(self, config: str, split: str, num_rows: int) -> None:
        """Raise InputError if a row count differs from `build.json`."""
        built = self.info["counts"].get(config, {}).get(split, 0)
        if num_rows != built:
            raise InputError(
                f"{self.path}, table {config}, split {split}: found {num_rows:,} rows, but {built:,} were built. Files "
                "are missing or belong to another build; run `stressreel verify` for details."
            )


@dataclass(frozen=True)
class RemoteOutput(FinishedOutput):
    """A finished output in object storage. Its files are downloaded to the cache folder `path` as needed."""

    objects: Objects = field(default_factory=lambda: Objects(""))

    def shards(self, config: str, split: str | None = None) -> list[Path]:
        """Return the paths of a table's shards in order, after downloading those that are not in the cache."""
        entries = [entry for entry in self.objects.list(config + "/") if _is_shard(entry["path"], split)]
        self._copy(entries)
        return sorted(self.path / entry["path"] for entry in entries)

    def complete(self) -> None:
        """Download all files except those in `.build/`."""
        self._copy([entry for entry in self.objects.list() if not entry["path"].startswith(".build/")])

    def files(self) -> list[str]:
        """Return the keys of all objects, sorted."""
        return sorted(entry["path"] for entry in self.objects.list())

    def _copy(self, wanted: list[ObjectMeta]) -> None:
        def copy_one(entry: ObjectMeta) -> None:
            path, stamp = inside(self.path, entry["path"]), self.path / ".versions" / sha256_text(entry["path"])[:32]
            version = f"{entry['size']} {entry['e_tag']}"
            if not (path.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == version):
                stamp.unlink(missing_ok=True)
                self.objects.fetch(entry["path"], path)
                write_atomic(stamp, version)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(copy_one, wanted):
                pass


def describe_counts(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Format the row counts of tables, such as "418 questions, 22 videos, 11 pairs". Many tables are summed up."""
    rows = {name: sum(splits.values()) for name, splits in counts.items()}
    if len(rows) > MOST_TABLES:
        return f"{len(rows)} configs, {sum(rows.values()):,} rows"
    return ", ".join(f"{count:,} {name}" for name, count in rows.items())


def withheld_statement(info: Mapping[str, Any]) -> str:
    """Return a sentence on which answers are withheld and where to send predictions."""
    record = info["withheld"]
    if "public" in record:
        return (
            f"Private: do not publish. These are the answers of split {record['split']} that the public output with "
            f"the fingerprint {record['public'][:16]} withholds. Predictions about that output are scored here."
        )
    where = f"Send predictions to {record['contact']}." if record["contact"] else "Send predictions to its publisher."
    return f"The answers of split {record['split']} are withheld. {where}"


def refuse_withheld(output: FinishedOutput, split: str | None = None) -> None:
    """Raise InputError if answers of the split, or of any split if it is None, are withheld from the output."""
    withheld = output.withheld
    if withheld and "public" not in withheld and split in (None, "all", withheld.get("split")):
        raise InputError(f"{output.path}: {withheld_statement(output.info)} This command needs the answers.")


@contextmanager
def reading(path: Path) -> Iterator[FinishedOutput]:
    """Open an output for a `with` block in which inconsistent files raise InputError."""
    output = open_output(path)
    with fitting(path):
        yield output


@contextmanager
def fitting(path: Path) -> Iterator[None]:
    """Convert errors that inconsistent files of an output cause in a `with` block to InputError."""
    try:
        yield
    except StressreelError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, StopIteration) as error:
        raise InputError(
            f"{path} is inconsistent ({type(error).__name__}: {shortened(str(error))}): build.json or a file of .build "
            "is damaged, or does not match the tables. Build again with --fresh. If `stressreel verify` finds nothing "
            "wrong, please report this with the output of the same command and --debug."
        ) from error


def writable(path: Path) -> None:
    """Raise UsageError for an output in object storage, to which commands cannot add files."""
    url = address(path)
    if url is not None:
        raise UsageError(
            f"{url} is in object storage, where this command cannot write. Run it on the folder before the upload."
        )


def open_output(path: Path) -> FinishedOutput:
    """Open the output of a build, in a folder or in object storage.

    Raises:
        UsageError: The path does not exist.
        InputError: The path is not a finished output, contains links, or has a damaged `build.json`.
    """
    if address(path) is not None:
        return _open_address(path)
    file = path / "build.json"
    if path.is_dir():
        refuse_foreign_entries(path)
    if not file.is_file():
        started = (path / ".build").is_dir()
        if started:
            raise InputError(f"{path} has an unfinished build: run the same build command again to continue.")
        if not path.exists():
            raise UsageError(f"{path} does not exist. Pass the --out folder of a build.")
        raise InputError(
            f"{path} is not the output of a build: it has no build.json. Pass the --out folder of a build."
        )
    return FinishedOutput(path, parse_info(read_own(file, errors="replace"), str(file)))


def _open_address(path: Path) -> FinishedOutput:
    objects = objects_at(path)
    content = objects.get("build.json", LARGEST_OWN)
    if content is None:
        if objects.head(".build/plan.json"):
            raise InputError(f"{objects.url} has an unfinished build: run the same build command again.")
        raise UsageError(
            f"{objects.url} is not the output of a build: it has no build.json. Pass the URL of the output of a build."
        )
    return _open_remote(objects, parse_info(content.decode("utf-8-sig", "replace"), f"{objects.url}/build.json"))


def parse_info(content: str, where: str) -> dict[str, Any]:
    """Parse the content of `build.json`. Raise InputError if it is damaged."""
    try:
        info = parse_own(content)
        counts = counts_of(info["counts"])
        for entry in (info, info.get("source")):
            check_folders(entry.get("video_folders", []) if isinstance(entry, dict) else [])
        named = {name: str(info[name]) for name in ("builder", "fingerprint")}
        return {**info, "counts": counts, **named}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where} is damaged ({type(error).__name__}: {error}). Build again with --fresh.") from error


def counts_of(given: Any) -> dict[str, dict[str, int]]:
    """Validate the row counts in `build.json`. Raise ValueError or TypeError if a name or count is invalid."""
    counts = {table: dict(splits) for table, splits in dict(given).items()}
    for table, splits in counts.items():
        check_name(table)
        for split, count in splits.items():
            if not NAME.fullmatch(split) or type(count) is not int or count < 0:
                raise ValueError(f"invalid count {shortened({table: {split: count}})}")
    return counts


def check_name(name: Any) -> str:
    """Return the name unchanged, or raise ValueError if it is not a single path component."""
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        raise ValueError(f"invalid name {shortened(name)}")
    return name


def check_folders(names: Any) -> None:
    """Raise ValueError or TypeError if a video folder is not a valid relative path."""
    for name in names:
        parts = PurePosixPath(name).parts
        if len(name) > LONGEST_FOLDER or name.startswith("/") or ".." in parts or FORBIDDEN.search(name):
            raise ValueError(f"invalid video folder {shortened(name)}")


def _open_remote(objects: Objects, info: dict[str, Any]) -> RemoteOutput:
    """Open an output in object storage. Small files are downloaded now, and tables when they are read."""
    name = sha256_text(f"{objects.url} {info.get('fingerprint')}")[:16]
    folder = user_cache() / "outputs" / name
    output = RemoteOutput(folder, info, objects)
    tables = tuple(f"{table}/" for table in (*info["counts"], ".build"))
    small = [entry for entry in objects.list() if not entry["path"].startswith(tables)]
    output._copy(small)
    current = {entry["path"] for entry in small} | {".versions", "from.json"}
    for path in folder.glob("*"):
        if path.is_file() and path.name not in current:  # since removed from the store
            path.unlink()
    (folder / "from.json").write_text(json.dumps({"url": objects.url}) + "\n", encoding="utf-8")
    return output


def _is_shard(key: str, split: str | None) -> bool:
    name = key.rpartition("/")[2]
    return name.endswith(".parquet") and "-of-" in name and (split is None or name.startswith(f"{split}-"))


LEVELS = 3  # tables and their shards; in .build the folders of units, whose files are checked when read
FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


def inside(folder: Path, name: str) -> Path:
    """Join a folder and a relative path that comes from an untrusted output.

    Raises:
        InputError: The name is not a relative path below the folder (after resolving links), or contains a backslash or
            a control character.
    """
    parts = name.split("/") if isinstance(name, str) and not FORBIDDEN.search(name) else [""]
    if {"", ".", ".."} & {*parts}:
        raise InputError(
            f"{shortened(name)} is not a valid file name in {folder}: expected a relative path without '..', "
            "backslashes or control characters. Run `stressreel verify` for details."
        )
    path = folder.joinpath(*parts)
    if not resolved(path).is_relative_to(resolved(folder)):
        raise InputError(f"{shortened(name)} is a link that leads outside {folder}. Remove the link.")
    return path


def foreign_entries(folder: Path) -> Iterator[str]:
    """Yield a line for each entry of an output that is neither a regular file nor a folder.

    In a snapshot of the Hugging Face cache, links to files in its `blobs` folder count as files.
    """
    snapshots = resolved(folder).parent
    blobs = snapshots.parent / "blobs" if snapshots.name == "snapshots" else None
    waiting = [(folder, 1)]
    while waiting:
        below, level = waiting.pop()
        entries: list[os.DirEntry[str]] = []
        with suppress(FileNotFoundError), os.scandir(below) as scanned:  # a running build may remove folders
            entries = sorted(scanned, key=lambda item: item.name)
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink():
                target = Path(os.path.realpath(path))
                if not (target.parent == blobs and target.is_file()):
                    yield f"{path.relative_to(folder).as_posix()} is a link"
            elif entry.is_dir():
                if level < LEVELS:
                    waiting.append((path, level + 1))
            elif not entry.is_file() and os.path.lexists(path):
                kind = stat.filemode(os.lstat(path).st_mode)[0]
                what = {"p": "a pipe", "s": "a socket"}.get(kind, "a device")
                yield f"{path.relative_to(folder).as_posix()} is {what}"


def refuse_foreign_entries(folder: Path) -> None:
    """Raise InputError if an output contains links or special files."""
    if entry := next(foreign_entries(folder), None):
        raise InputError(
            f"{folder}: {shortened(entry)}. Outputs of stressreel may contain only files and folders, because a link "
            "can point anywhere. Remove it, or copy the output with links resolved if you trust them."
        )


@dataclass(frozen=True)
class NotChecked:
    """A property that a check could not verify.

    Attributes:
        reason: One line that names the property and the input required to verify it.
        name: Name for `--allow-unverified`. Unless the option lists the name, the output counts as unverified.
    """

    reason: str
    name: str


@dataclass(frozen=True)
class NotRun:
    """A check, or a part of one, that requires an optional package or was excluded by an option."""

    reason: str


@dataclass(frozen=True)
class Note:
    """Information about an output that is not a fault."""

    text: str


@dataclass(frozen=True)
class Compared:
    """How much data a check covered, such as "1,204 rows of 3 tables"."""

    text: str


DAMAGED = "not checked: see the damaged or missing files above"
"""Problem of a check that needs files which another check has reported as damaged or missing."""
Finding = str | NotChecked | NotRun | Note | Compared
Check = Callable[["FinishedOutput"], Iterable[Finding]]
"""A check yields one string per problem, and may also yield the objects above."""

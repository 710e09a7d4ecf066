"""Manage the output folder of a build: its lock, its plan, and the journal of finished work.

OUT/.build/plan.json     identity and hash of the started plan
OUT/.build/journal.jsonl one line per finished unit (its receipt) and per finished shard, synced on completion
OUT/.build/journal-3-of-50.jsonl   the same for one of several processes (`build.BuildRun.run_share`)
OUT/.build/lock, lock-3-of-50      locked by the process that builds or packs, and by one that renders a share
OUT/.build/staging/      files of finished units until they are packed into a shard
OUT/build.json           written last; marks a complete build
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

from filelock import FileLock, Timeout

from ...core.build_settings import WorkShare
from ...core.documents import LARGEST_OWN, check_shape, parse_own, read_own, shortened
from ...core.errors import MismatchError, OutputError
from ...core.files import SIGNATURE, TEMPORARY, canonical_json, output_error, regular, remove_temporaries, write_json
from ...core.output import refuse_foreign_entries
from ...core.output_files import CARD, WrittenFiles, holds_notes_alone, keep_notes_alone, note_signed
from ...core.plan import SPLIT, Facts, Plan, Skip, Unit, changed
from ...core.progress import raise_if_interrupted
from .store import FolderStore, Store

GLOB = "*?[]"
WAIT_S, SILENT_S = 0.1, 5.0
MOST_SHARDS = 99_999  # their names have five digits

Say = Callable[[str], None]


@dataclass
class BuildJournal:
    """The journal of finished work. Receipts stay in the file, and only their positions are in memory.

    Attributes:
        path: The file to append to.
        stamps: Stamps of the sources of rendered units, by unit id.
        skipped: Units that could not be rendered.
        parts_left_out: Skipped parts of rendered units.
        packing: Final list of skips, set when packing begins; no unit is rendered after that.
        shards: Number of rows in finished shards, and number of these shards, by "config/split".
    """

    path: Path
    stamps: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, Skip] = field(default_factory=dict)
    parts_left_out: dict[str, list[Skip]] = field(default_factory=dict)
    packing: list[Skip] | None = None
    shards: dict[str, tuple[int, int]] = field(default_factory=dict)
    _places: dict[str, tuple[Path, int, int]] = field(default_factory=dict)
    _size: int = 0

    @classmethod
    def read(cls, path: Path, others: Iterable[Path] = ()) -> Self:
        """Read a journal, and drop the last line if it was truncated when the process was killed.

        `others` are journals of other processes, which may still be appending; they are not changed.
        """
        journal = cls(path)
        existing = [file for file in (*others, path) if file.exists()]
        for file in sorted(existing, key=lambda file: (file.stat().st_mtime_ns, file.name)):  # later entries win
            journal._read(file)
        if path.exists() and path.stat().st_size > journal._size:
            with open(path, "rb+") as handle:
                handle.truncate(journal._size)
        return journal

    def _read(self, path: Path) -> None:
        start = 0
        try:
            with open(regular(path), "rb") as handle:
                while line := handle.readline(LARGEST_OWN):
                    if len(line) == LARGEST_OWN:
                        raise ValueError(f"a line is {LARGEST_OWN:,} bytes or longer")
                    if not line.endswith(b"\n"):
                        break
                    self._take(parse_own(line.decode()), (path, start, len(line)))
                    start += len(line)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _damaged(path, error) from error
        if path == self.path:
            self._size = start

    def _take(self, entry: dict[str, Any], position: tuple[Path, int, int]) -> None:
        if not isinstance(entry, dict):
            raise TypeError(f"a line holds {type(entry).__name__}")
        if "facts" in entry:
            name = entry["unit"]
            self._places[name] = position
            self.stamps[name] = entry.get("stamp", "")
            self.skipped.pop(name, None)
            self.parts_left_out.pop(name, None)
            if skips := entry["facts"].get("skips"):
                self.parts_left_out[name] = [_skip(skip, "part") for skip in skips]
        elif "skip" in entry:
            self.skipped[entry["unit"]] = _skip(entry["skip"])
        elif "packing" in entry:
            self.packing = [_skip(skip) for skip in entry["packing"]]
        elif "shard" in entry:
            rows, parts = entry["rows"], entry["parts"]
            if not (type(rows) is type(parts) is int and 1 <= parts <= min(rows, MOST_SHARDS)):
                raise ValueError(f"the receipt of {shortened(entry['shard'])} states {shortened([rows, parts])}")
            self.shards[entry["shard"]] = (rows, parts)

    def rendered(self, unit_id: str) -> bool:
        """Return whether a unit has a receipt."""
        return unit_id in self._places

    def facts(self, unit_id: str) -> Facts:
        """Return the facts in the receipt of a unit, or an empty dictionary."""
        if unit_id not in self._places:
            return {}
        path, start, length = self._places[unit_id]
        try:
            with open(path, "rb") as handle:
                handle.seek(start)
                facts: Facts = parse_own(handle.read(length).decode())["facts"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise _damaged(path, error) from error
        return facts

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry and sync it to disk. Raise OutputError if the disk is full or not writable."""
        line = canonical_json(entry).encode() + b"\n"
        try:
            with open(self.path, "ab") as handle:
                handle.write(line)
                handle.flush()
                os.fsync(handle.fileno())
        except OSError as error:
            raise output_error(error, self.path) from error
        self._take(entry, (self.path, self._size, len(line)))
        self._size += len(line)

    def add_result(self, unit: Unit, result: Facts | Skip, stamp: str) -> None:
        """Append the receipt or the skip of a unit, with the stamp of its source."""
        value = {"skip": asdict(result)} if isinstance(result, Skip) else {"facts": result}
        self.add({"unit": unit.id, "stamp": stamp, **value})

    def add_shard(self, config: str, split: str, rows: int, parts: int) -> None:
        """Append the receipt of a shard, with the numbers of rows and shards finished in its table so far."""
        self.add({"shard": f"{config}/{split}", "rows": rows, "parts": parts})


def _skip(entry: dict[str, Any], scope: Literal["unit", "part"] | None = None) -> Skip:
    skip = Skip(**entry)
    if not all(isinstance(value, str) for value in entry.values()):
        raise TypeError(f"a skip is {shortened(entry)}")
    return replace(skip, scope=scope) if scope else skip


class UnfinishedOutput:
    """An output folder that this process has locked."""

    def __init__(self, path: Path):
        self.path, self.name = path, str(path)
        self.made = not path.exists()
        self.state = path / ".build"
        self.staging = self.state / "staging"
        self.done = path / "build.json"

    def start(self, plan: Plan) -> BuildJournal:
        """Start or resume a plan as the only process. Raise MismatchError under the same conditions as `begin`."""
        self.begin(plan)
        remove_temporaries(self.path)
        return self.journal()

    def begin(self, plan: Plan) -> None:
        """Record the plan, or check that it is the same plan that was started here.

        Raises:
            MismatchError: Another plan was started in the folder. The message lists the differences.
        """
        file = self.state / "plan.json"
        before = read_state(file, ("builder", "hash", "identity", "tables"))
        done = read_state(self.done, ("builder", "plan_sha256", "counts", "fingerprint"))
        if before and before["hash"] != plan.hash:
            lines = changed(
                {"builder": before["builder"], **before["identity"]}, {"builder": plan.builder, **plan.identity}
            )
            raise mismatch(self.name, lines or ["the same settings, but different units"])
        if done and done["plan_sha256"] != plan.hash:
            raise mismatch(self.name, [f"the plan: {done['plan_sha256'][:16]}… → {plan.hash[:16]}…"])
        if not before:
            start = {
                "builder": plan.builder,
                "tables": [config.name for config in plan.tables],
                "splits": [*plan.splits, SPLIT],
                "reports": list(plan.reports),
                "hash": plan.hash,
                "identity": plan.identity,
            }
            write_json(file, start)

    def journal(self, share: WorkShare | None = None) -> BuildJournal:
        """Read all journals of the output. New entries are appended to its own journal, or to that of a share."""
        shares = sorted(self.state.glob("journal-*.jsonl"), key=lambda file: (file.stat().st_mtime, file.name))
        own = self.state / (f"journal-{_named(share)}.jsonl" if share else "journal.jsonl")
        return BuildJournal.read(own, [file for file in (self.state / "journal.jsonl", *shares) if file != own])

    def hold(self, share: WorkShare) -> FileLock:
        """Lock a share for this process. Raise OutputError if another process is rendering it."""
        lock = FileLock(self.state / f"lock-{_named(share)}", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise OutputError(
                f"another process is rendering share {share} in {self.path}. Wait for it to finish, or use another "
                "--shard."
            ) from None
        except OSError as error:
            raise output_error(error, self.state) from error
        return lock

    def shares_held(self) -> list[str]:
        """Return the shares that other processes are rendering."""
        shares = []
        for file in sorted(self.state.glob("lock-*")):
            try:
                with FileLock(file, timeout=0):
                    pass
            except Timeout:
                shares.append(file.name.removeprefix("lock-").replace("-of-", "/"))
        return shares

    def forget_shares(self) -> None:
        """Remove the lock files of the shares, which must all be unlocked while the output is locked."""
        for file in self.state.glob("lock-*"):
            file.unlink(missing_ok=True)

    def store(self) -> Store:
        """Return the store for the files of units."""
        return FolderStore(self.staging)

    def publish(self) -> None:
        """Publish the finished output. This has no effect on a folder."""

    def note_signed(self, say: Say) -> None:
        """Warn, before anything changes, that an existing signature will become invalid."""
        note_signed(self.path, say)

    def leave(self) -> None:
        """Remove the traces of a build that never produced results."""
        kept = ("build.json", ".build/journal.jsonl", ".build/staging")
        if any((self.path / name).exists() for name in kept) or any(self.state.glob("journal-*.jsonl")):
            return
        if self.shares_held():
            return
        with suppress(OSError):
            self.forget_shares()
            for name in ("plan.json", "lock"):  # a process that starts now creates its own lock
                (self.state / name).unlink(missing_ok=True)
            self.state.rmdir()
            if self.made:
                self.path.rmdir()

    def written(self) -> WrittenFiles:
        """Return the files of the build that was started here."""
        plan, card = self.state / "plan.json", self.path / CARD
        written = WrittenFiles()
        for file in (plan, self.done):
            stored: dict[str, Any] | None = None
            with suppress(OutputError):  # if one is damaged, the other file may suffice
                stored = read_state(file, ())
            written |= WrittenFiles.of(stored or {}, str(file))
        if card.is_file():
            written = written.with_card(read_own(card, errors="replace"))
        return written

    def clear(self) -> None:
        """Remove the files of the build that was started here, and nothing else."""
        plan, card, written = self.state / "plan.json", self.path / CARD, self.written()
        try:
            # Remove build.json first, so that the build no longer counts as complete, then the main journal, which may
            # refer to the receipts in the others.
            for file in (self.done, self.state / "journal.jsonl"):
                file.unlink(missing_ok=True)
            for folder in (self.path, *(self.path / name for name in written.folders)):
                for file in sorted(folder.iterdir()) if folder.is_dir() else ():
                    if file.relative_to(self.path).as_posix() in written and not file.is_dir():
                        file.unlink()
            for name in written.folders:
                with suppress(OSError):  # absent, or with files of others
                    (self.path / name).rmdir()
            keep_notes_alone(card)
            shutil.rmtree(self.staging, ignore_errors=True)
            for file in (*self.state.glob("journal-*.jsonl"), *self.state.glob("lock-*")):
                file.unlink()
            plan.unlink(missing_ok=True)
        except OSError as error:
            raise output_error(error, self.path) from error


@contextmanager
def claim(path: Path, *, wait: Say | None = None) -> Iterator[UnfinishedOutput]:
    """Lock an output folder for this process.

    Args:
        path: A folder that is absent, empty, or contains a build of stressreel.
        wait: Prints a line while waiting for the lock; for one of several processes that build the same output. Shares
            that are being rendered are then allowed.

    Raises:
        OutputError: The folder has other content or cannot be written, or another process is building in it.
    """
    output = UnfinishedOutput(path)
    if (path.exists() or path.is_symlink()) and not path.is_dir():
        raise OutputError(f"--out {path} is a file or a broken link. Use a new or empty folder.")
    if set(str(path)) & set(GLOB):
        raise OutputError(
            f"--out {path} contains one of {' '.join(GLOB)}, which load_dataset interprets as patterns. Rename the "
            "folder."
        )
    try:
        if path.exists():
            refuse_foreign_entries(path)
        if path.exists() and any(path.iterdir()) and not _is_ours(output):
            names = ", ".join(sorted(entry.name for entry in path.iterdir())[:5])
            raise OutputError(
                f"--out {path} contains files that were not written by stressreel ({names}). Nothing was changed. "
                "Use a new or empty folder."
            )
        output.state.mkdir(parents=True, exist_ok=True)
        lock = FileLock(output.state / "lock", timeout=0)
        _acquire(lock, path, wait)
    except Timeout:
        raise OutputError(
            f"another process is building in {path}. Wait for it to finish, or use another --out."
        ) from None
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise output_error(error, path) from error
    try:
        if wait is None and (running := output.shares_held()):
            raise OutputError(
                f"{path} is being built in shares; {', '.join(running[:5])} are running. Wait for them to finish."
            )
        yield output
    finally:
        output.leave()
        lock.release()


def _acquire(lock: FileLock, path: Path, wait: Say | None) -> None:
    began = time.monotonic()
    printed = wait is None
    while True:
        try:
            lock.acquire()
            return
        except Timeout:
            if wait is None:
                raise
        raise_if_interrupted()
        if not printed and time.monotonic() - began > SILENT_S:
            wait(f"waiting for another process that has locked {path}")
            printed = True
        time.sleep(WAIT_S)


STATE: dict[str, type] = {  # types of the entries in plan.json and build.json
    **dict.fromkeys(("builder", "dataset_version", "hash", "plan_sha256", "fingerprint"), str),
    **dict.fromkeys(("identity", "counts", "fingerprints", "skips"), dict),
    "tables": object,  # parsed by `WrittenFiles`
}


def read_state(file: Path, keys: tuple[str, ...]) -> dict[str, Any] | None:
    """Read a JSON object that a build has written. Return None if the file does not exist.

    Raises:
        OutputError: The file is damaged, lacks a key, or has a value of the wrong type.
    """
    if not file.is_file():
        return None
    try:
        content: dict[str, Any] = parse_own(read_own(file))
        check_shape(content, {key: STATE[key] for key in keys})
        return content
    except ValueError as error:
        raise _damaged(file, error) from error


def _damaged(file: Path, error: Exception) -> OutputError:
    return OutputError(
        f"{file} is damaged ({type(error).__name__}: {error}). Build again with --fresh, or use another --out."
    )


def mismatch(path: Path | str, lines: list[str]) -> MismatchError:
    """Create the error for an output that was started with different settings or inputs."""
    return MismatchError(
        f"{path} was started with different settings or inputs:\n  "
        + "\n  ".join(lines)
        + "\nRestore them to continue, or use another --out, or --fresh to discard the earlier build."
    )


def _named(share: WorkShare) -> str:
    return f"{share.number}-of-{share.count}"


def _is_ours(output: UnfinishedOutput) -> bool:
    """Return whether a folder contains a build, or only the traces of a build that was killed at its start.

    The notes of a removed card and an old signature are also accepted.
    """
    for file, keys in (
        (output.state / "plan.json", ("builder", "hash", "identity", "tables")),
        (output.done, ("builder", "plan_sha256", "fingerprints")),
    ):
        with suppress(OutputError):
            if read_state(file, keys):
                return True
    left = {entry.name for entry in output.path.iterdir()} - {".build"}
    started = sorted(output.state.iterdir()) if output.state.is_dir() else []
    return (
        left <= {CARD, SIGNATURE}
        and all(entry.name == "lock" or TEMPORARY.fullmatch(entry.name) for entry in started)
        and (CARD not in left or holds_notes_alone(output.path / CARD))
    )

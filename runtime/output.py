"""The output folder of a build: whose it is, what was started in it, and what is finished.

OUT/.build/plan.json     identity and hash of the plan that was started here
OUT/.build/journal.jsonl one line for each finished unit (its receipt) and each finished shard, synced as they finish
OUT/.build/staging/      files of finished units until a shard holds them
OUT/build.json           written last: its presence means that the build is complete
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from ..errors import MismatchError, OutputError
from ..records.documents import parse_json
from ..records.files import canonical_json, output_error, remove_temporaries, write_json
from ..records.fingerprint import FILE as UNITS
from ..records.plan import Facts, Plan, Skip, Unit, changed
from .store import FolderStore, Store

GLOB = "*?[]"


@dataclass
class Journal:
    """What the journal says is finished. Receipts stay in the file; only where they stand is held.

    Attributes:
        path: The file.
        stamps: What the source of each rendered unit looked like, by unit id.
        parts_left_out: Parts of rendered units that had to be left out.
        packing: The final list of skips, once packing has begun; from then on nothing is rendered any more.
        shards: Rows in finished shards and number of these, by "config/split".
    """

    path: Path
    stamps: dict[str, str] = field(default_factory=dict)
    parts_left_out: dict[str, list[Skip]] = field(default_factory=dict)
    packing: list[Skip] | None = None
    shards: dict[str, tuple[int, int]] = field(default_factory=dict)
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)
    _size: int = 0

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a journal; a last line that was cut off by a kill is dropped."""
        journal = cls(path)
        if not path.exists():
            return journal
        try:
            with open(path, "rb") as handle:
                for line in handle:
                    if not line.endswith(b"\n"):
                        break
                    journal._take(parse_json(line.decode()), len(line))
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _damaged(path, error) from error
        if path.stat().st_size > journal._size:
            with open(path, "rb+") as handle:
                handle.truncate(journal._size)
        return journal

    def _take(self, entry: dict[str, Any], length: int) -> None:
        if not isinstance(entry, dict):
            raise TypeError(f"a line holds {type(entry).__name__}")
        if "facts" in entry:
            name = entry["unit"]
            self._places[name] = (self._size, length)
            self.stamps[name] = entry.get("stamp", "")
            self.parts_left_out.pop(name, None)
            if skips := entry["facts"].get("skips"):
                self.parts_left_out[name] = [Skip(**skip) for skip in skips]
        elif "packing" in entry:
            self.packing = [Skip(**skip) for skip in entry["packing"]]
        elif "shard" in entry:
            self.shards[entry["shard"]] = (int(entry["rows"]), int(entry["parts"]))
        self._size += length

    def rendered(self, unit_id: str) -> bool:
        """Whether a unit has its receipt."""
        return unit_id in self._places

    def facts(self, unit_id: str) -> Facts:
        """Read the facts of a unit's receipt; none if it has none."""
        if unit_id not in self._places:
            return {}
        start, length = self._places[unit_id]
        try:
            with open(self.path, "rb") as handle:
                handle.seek(start)
                facts: Facts = parse_json(handle.read(length).decode())["facts"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise _damaged(self.path, error) from error
        return facts

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry and sync it.

        Raises:
            OutputError: The disk is full or not writable.
        """
        line = canonical_json(entry).encode() + b"\n"
        try:
            with open(self.path, "ab") as handle:
                handle.write(line)
                handle.flush()
                os.fsync(handle.fileno())
        except OSError as error:
            raise output_error(error, self.path) from error
        self._take(entry, len(line))

    def add_result(self, unit: Unit, result: Facts | Skip, stamp: str) -> None:
        """Append a unit's receipt or skip, with what its source looked like."""
        value = {"skip": asdict(result)} if isinstance(result, Skip) else {"facts": result}
        self.add({"unit": unit.id, "stamp": stamp, **value})

    def add_shard(self, config: str, split: str, rows: int, parts: int) -> None:
        """Append the receipt of a shard: how many rows and shards of its table are finished with it."""
        self.add({"shard": f"{config}/{split}", "rows": rows, "parts": parts})


class Output:
    """An output folder that is held by this process."""

    def __init__(self, path: Path):
        """See `claim`, which makes these."""
        self.path, self.name = path, str(path)
        self.made = not path.exists()
        self.state = path / ".build"
        self.staging = self.state / "staging"
        self.done = path / "build.json"

    def start(self, plan: Plan) -> Journal:
        """Start a plan here, or take it up again.

        Raises:
            MismatchError: Another plan was started here; the message says what differs.
        """
        file = self.state / "plan.json"
        before = read_state(file, ("builder", "hash", "identity", "tables"))
        done = read_state(self.done, ("builder", "plan_sha256", "counts", "fingerprint"))
        if before and before["hash"] != plan.hash:
            lines = changed(
                {"builder": before["builder"], **before["identity"]}, {"builder": plan.builder, **plan.identity}
            )
            raise mismatch(self.name, lines or ["the same settings, but another plan of units"])
        if done and done["plan_sha256"] != plan.hash:
            raise mismatch(self.name, [f"the plan: {done['plan_sha256'][:16]}… → {plan.hash[:16]}…"])
        if not before:
            tables = [config.name for config in plan.configs]
            start = {
                "builder": plan.builder,
                "tables": tables,
                "reports": list(plan.reports),
                "hash": plan.hash,
                "identity": plan.identity,
            }
            write_json(file, start)
        remove_temporaries(self.path)
        return Journal.read(self.state / "journal.jsonl")

    def store(self) -> Store:
        """Return where the files of units go."""
        return FolderStore(self.staging)

    def publish(self) -> None:
        """Show the finished output to others: a folder is seen as it is."""

    def leave(self) -> None:
        """Take back a start after which nothing was made, so that it stands in nobody's way."""
        kept = ("build.json", ".build/journal.jsonl", ".build/staging")
        if any((self.path / name).exists() for name in kept):
            return
        with suppress(OSError):
            for name in ("plan.json", "lock"):  # whoever comes now makes a lock of its own
                (self.state / name).unlink(missing_ok=True)
            self.state.rmdir()
            if self.made:
                self.path.rmdir()

    def clear(self) -> None:
        """Remove what the build that was started here left, and nothing else."""
        plan = self.state / "plan.json"
        tables: set[str] = set()
        reports: list[str] = []
        for file, key in ((plan, "tables"), (self.done, "counts")):
            with suppress(OutputError):  # damaged: the other one may tell
                stored = read_state(file, (key,)) or {key: []}
                tables |= set(stored[key])
                reports += stored.get("reports", [])
        try:
            # build.json first: from here on nothing is complete
            for name in ("build.json", "README.md", "croissant.json", UNITS, *reports):
                (self.path / name).unlink(missing_ok=True)
            for name in ("figures", *tables):
                shutil.rmtree(self.path / name, ignore_errors=True)
            for entry in self.state.iterdir():
                if entry.is_dir():
                    shutil.rmtree(entry)
                elif entry.name not in ("lock", "plan.json"):
                    entry.unlink()
            plan.unlink(missing_ok=True)
        except OSError as error:
            raise output_error(error, self.path) from error


@contextmanager
def claim(path: Path) -> Iterator[Output]:
    """Hold an output folder for this process.

    Args:
        path: A folder that is absent, empty, or holds a build of stressreel.

    Raises:
        OutputError: It is something else, cannot be written, or another process builds in it.
    """
    output = Output(path)
    if (path.exists() or path.is_symlink()) and not path.is_dir():
        raise OutputError(f"--out {path} is a file or a broken link. Give a folder, new or empty.")
    if set(str(path)) & set(GLOB):
        raise OutputError(
            f"--out {path} holds one of {' '.join(GLOB)}, which load_dataset takes for patterns. Rename it."
        )
    try:
        if path.exists() and any(path.iterdir()) and not _is_ours(output):
            names = ", ".join(sorted(entry.name for entry in path.iterdir())[:5])
            raise OutputError(
                f"--out {path} holds something that no build of stressreel left ({names}). It stays as it is; give a "
                "new or empty folder."
            )
        output.state.mkdir(parents=True, exist_ok=True)
        lock = FileLock(output.state / "lock", timeout=0)
        lock.acquire()
    except Timeout:
        raise OutputError(f"another process is building in {path}. Wait for it or give another --out.") from None
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise output_error(error, path) from error
    try:
        yield output
    finally:
        output.leave()
        lock.release()


def read_state(file: Path, keys: tuple[str, ...]) -> dict[str, Any] | None:
    """Read a JSON object that a build wrote; None if there is no file.

    Raises:
        OutputError: It is damaged, or lacks a key.
    """
    if not file.is_file():
        return None
    try:
        content = parse_json(file.read_text(encoding="utf-8"))
        return {**content, **{key: content[key] for key in keys}}
    except (ValueError, LookupError, TypeError) as error:
        raise _damaged(file, error) from error


def _damaged(file: Path, error: Exception) -> OutputError:
    return OutputError(
        f"{file} is damaged ({type(error).__name__}: {error}). Build again with --fresh, or in another --out."
    )


def mismatch(path: Path | str, lines: list[str]) -> MismatchError:
    """Make the error of an output that was started with something else."""
    return MismatchError(
        f"{path} was started with something else:\n  "
        + "\n  ".join(lines)
        + "\nUse the earlier settings to go on, another --out, or --fresh to throw away what is there."
    )


def _is_ours(output: Output) -> bool:
    """Return whether a folder holds a build: its plan or its build.json, or no more than a start that was killed."""
    if (output.state / "plan.json").is_file():
        return True
    with suppress(OutputError):
        if read_state(output.done, ("builder", "plan_sha256", "fingerprints")):
            return True
    return [entry.name for entry in output.path.iterdir()] == [".build"] and {
        entry.name for entry in output.state.iterdir()
    } <= {"lock"}

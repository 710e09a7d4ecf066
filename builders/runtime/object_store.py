"""Build into object storage: in a local work folder, from which all that another machine needs is uploaded.

PREFIX/.build/plan.json       the started plan
PREFIX/.build/files/UNIT/SHA  files of finished units by SHA-256, so that retries are harmless
PREFIX/.build/receipts/UNIT   receipt of a unit, written after its files
PREFIX/.build/runs/RUN        mark of a running build, renewed every few seconds
PREFIX/build.json             written last; marks a complete build
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.documents import LARGEST_OWN, parse_own
from ...core.errors import InputError, OutputError
from ...core.files import SIGNATURE, canonical_json, sha256_file, user_cache, write_atomic, write_json
from ...core.objects import Objects
from ...core.output import parse_info
from ...core.output_files import CARD, tell_signed
from ...core.plan import Plan
from .output import BuildJournal, Say, UnfinishedOutput, claim
from .store import leave_scratch, new_scratch, scratch_of

RENEW_S, DEAD_S = 20.0, 120.0  # between renewals of a run's mark, and until the run counts as dead
UPLOADS, AT_ONCE = 4, 16  # parallel uploads of shards, and other requests
STATE = ".build/"
PLAN, FILES, RECEIPTS, RUNS = (f"{STATE}{name}" for name in ("plan.json", "files/", "receipts/", "runs/"))


@dataclass(frozen=True)
class ObjectStore:
    """Stores the files of units as objects; see `store.Store`. Instances are pickled to workers.

    Attributes:
        folder: Where workers on this machine write files; on others, they use `TMPDIR`.
    """

    objects: Objects
    folder: Path

    def scratch(self, unit_id: str) -> Path:
        """Return an empty local folder for the files of a unit."""
        return new_scratch(unit_id, str(self.folder) if self.folder.is_dir() else tempfile.gettempdir())

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Upload the files of a unit, and remove the local copies."""
        for file in (scratch_of(unit_id) / name for name in files):
            self.objects.put(f"{FILES}{unit_id}/{sha256_file(file)}", file)
        leave_scratch(unit_id)

    def discard(self, unit_id: str) -> None:
        """Remove the local files of a unit. Objects without a receipt are ignored."""
        leave_scratch(unit_id)

    def has(self, unit_id: str, files: Mapping[str, int]) -> bool:
        """Return whether all files exist and have these sizes."""
        return Counter(files.values()) <= Counter(entry["size"] for entry in self.objects.list(f"{FILES}{unit_id}/"))

    def read(self, unit_id: str, name: str, sha256: str) -> bytes:
        """Return the content of the file with this hash, or b"" if it does not exist."""
        return self.objects.get(f"{FILES}{unit_id}/{sha256}") or b""

    def remove(self, unit_id: str, name: str) -> None:
        """Do nothing, since the shard with the file's content is local until the build is published."""


@dataclass
class RemoteJournal(BuildJournal):
    """A journal that uploads the receipts of units."""

    objects: Objects = Objects("")

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry, and upload it if it is a receipt. Raise OutputError if either fails."""
        if "facts" in entry:
            self.objects.put(RECEIPTS + entry["unit"], canonical_json(entry).encode() + b"\n")
        super().add(entry)


class RemoteUnfinishedOutput(UnfinishedOutput):
    """An output in object storage, with a local work folder. `alone` raises OutputError if another build runs there."""

    def __init__(self, objects: Objects, folder: Path, alone: Callable[[], None]):
        super().__init__(folder)
        self.objects, self.name, self.alone = objects, objects.url, alone

    def store(self) -> ObjectStore:
        """Return the store for the files of units."""
        self.staging.mkdir(parents=True, exist_ok=True)
        return ObjectStore(self.objects, self.staging)

    def start(self, plan: Plan) -> BuildJournal:
        """Start a plan, or resume it from any machine. Raise MismatchError if another plan was started here."""
        self._fetch_state()
        journal, file = super().start(plan), self.state / "plan.json"
        if self.done.is_file():
            return journal
        if self.objects.head(PLAN) is None:
            write_json(file, parse_own(file.read_text(encoding="utf-8")) | {"run": _run_name()})
            self.objects.put(PLAN, file)
        receipts = self.state / "journal-receipts.jsonl"
        if journal.packing is None:  # otherwise, local shards contain what is in the local journal
            keys = [entry["path"] for entry in self.objects.list(RECEIPTS)]
            with ThreadPoolExecutor(AT_ONCE) as pool:
                write_atomic(receipts, b"".join(filter(None, pool.map(self.objects.get, keys))))
        remote = RemoteJournal.read(journal.path, [receipts])
        remote.objects = self.objects
        return remote

    def _fetch_state(self) -> None:
        """Fetch the plan, `build.json` and the card. If another build was started since, remove the local files."""
        plan = self.state / "plan.json"
        if not plan.is_file() or plan.read_bytes() != self.objects.get(PLAN, LARGEST_OWN):
            super().clear()
        for key, path in ((PLAN, plan), ("build.json", self.done), (CARD, self.path / CARD)):
            content = self.objects.get(key, LARGEST_OWN)
            if content is not None:
                write_atomic(path, content)
            elif key != CARD:
                path.unlink(missing_ok=True)

    def _remove(self, chosen: Callable[[str], bool]) -> None:
        self.objects.remove(*(entry["path"] for entry in self.objects.list() if chosen(entry["path"])))

    def clear(self) -> None:
        """Remove the objects of the build that was started here, `build.json` first. The card stays for its notes."""
        self.alone()
        self._fetch_state()
        written = self.written()
        if self.done.is_file():  # if this is interrupted, the plan shows that the remaining objects are ours
            self.objects.put(PLAN, self.done)
            self.objects.remove("build.json")
        self._remove(lambda key: key in written or key.startswith((FILES, RECEIPTS)))
        self.objects.remove(PLAN)
        super().clear()

    def note_signed(self, say: Say) -> None:
        """Warn, before anything changes, that an existing signature will become invalid."""
        if self.objects.head(SIGNATURE) is not None:
            tell_signed(self.name, say)

    def publish(self) -> None:
        """Upload the finished output, `build.json` last. Raise OutputError if another build has started there."""
        self.alone()
        paths = [path for path in self.path.rglob("*") if path.is_file() and self.state not in path.parents]
        files = {path.relative_to(self.path).as_posix(): path for path in paths if path != self.done}
        written = self.written()
        self._remove(lambda key: key in written and key not in files)  # of an upload that was interrupted
        with ThreadPoolExecutor(UPLOADS) as pool:
            list(pool.map(self.objects.put, files, files.values()))
        self.objects.put("build.json", self.done)

    def leave(self) -> None:
        """Remove the state and the work folder of a finished build, or of one that never produced results."""
        with suppress(InputError, OutputError):
            keys = (entry["path"] for entry in self.objects.list())
            started = any(key != PLAN and not key.startswith(RUNS) for key in keys)
            if not started or self.objects.head("build.json") is not None:
                self._remove(lambda key: key.startswith((FILES, RECEIPTS, PLAN)))
                shutil.rmtree(self.path, ignore_errors=True)


@contextmanager
def claim_objects(objects: Objects) -> Iterator[RemoteUnfinishedOutput]:
    """Claim an output in object storage for this process, with a work folder in the user's cache.

    Raises:
        OutputError: Another build runs there, or the prefix has other objects.
    """
    ours = objects.head(PLAN) is not None
    with suppress(InputError):
        content = objects.get("build.json", LARGEST_OWN) or b""
        ours = ours or bool(parse_info(content.decode(errors="replace"), objects.url))
    foreign = next((entry["path"] for entry in objects.list() if not entry["path"].startswith(STATE)), None)
    if foreign is not None and not ours:
        raise OutputError(
            f"--out {objects.url} contains files that were not written by stressreel ({foreign}). Nothing was "
            "changed. Use a new or empty prefix."
        )
    folder = user_cache() / "remote-builds" / hashlib.sha256(objects.url.encode()).hexdigest()[:16]
    with _marked(objects) as alone, claim(folder):
        output = RemoteUnfinishedOutput(objects, folder, alone)
        try:
            yield output
        finally:
            output.leave()


@contextmanager
def _marked(objects: Objects) -> Iterator[Callable[[], None]]:
    """Mark this run in the store. Yield a function that raises OutputError if it is not the only one.

    Of two runs that start at the same time, at least one finds the other, as both write before they look. Ages of marks
    are differences between times of the store's clock.
    """
    own, ended = RUNS + _run_name(), threading.Event()

    def alone() -> None:
        marks = {entry["path"]: entry["last_modified"] for entry in objects.list(RUNS)}
        now = marks.pop(own, None)
        others = [key for key in marks if now is None or (now - marks[key]).total_seconds() < DEAD_S]
        if now is None or others:
            names = ", ".join(key.removeprefix(RUNS) for key in others) or "it started while this one was suspended"
            raise OutputError(
                f"another process is building in {objects.url} ({names}). Wait for it to finish, or use another --out. "
                "If it is no longer running, try again in two minutes. Finished work is kept."
            )
        objects.remove(*marks)

    def renew() -> None:
        while not ended.wait(RENEW_S):
            with suppress(InputError, OutputError):
                if objects.head(own) is not None:  # otherwise, this run was considered dead
                    objects.put(own, b"")

    objects.put(own, b"")
    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        alone()
        yield alone
    finally:
        ended.set()
        thread.join()
        with suppress(InputError, OutputError):
            objects.remove(own)


def _run_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{time.time_ns()}"

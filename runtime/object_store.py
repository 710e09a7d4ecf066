"""A build into object storage: files and receipts of units there, the work folder here, one driver at a time.

PREFIX/.build/lock            who builds, and that it is alive: a version every few seconds
PREFIX/.build/plan.json       hash of the plan that was started here
PREFIX/.build/files/UNIT/SHA  the files of finished units, by their SHA-256, so that a second try is harmless
PREFIX/.build/receipts/UNIT   the receipt of a unit, written when its files are there
PREFIX/build.json             written last: its presence means that the build is complete
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, OutputError
from ..records.documents import parse_json
from ..records.files import canonical_json, sha256_file, user_cache
from ..records.objects import Lost, Objects
from ..records.plan import Plan
from .output import Journal, Output, claim, mismatch, read_state

BEAT, STALE = 20.0, 120.0  # seconds between signs of life, and after which whoever holds the lock is dead
AT_ONCE = 16  # requests
STATE = ".build"


@dataclass(frozen=True)
class ObjectStore:
    """The files of units, as objects; see `store.Store`. Instances are pickled to workers.

    Attributes:
        objects: Where.
    """

    objects: Objects

    def scratch(self, unit_id: str) -> Path:
        """Return an empty folder on this machine."""
        folder = _scratch() / unit_id
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Put the files of a unit, and remove them here.

        Raises:
            OutputError: They cannot be written.
        """
        folder = _scratch() / unit_id
        for name in files:
            self.objects.put(self._key(unit_id, sha256_file(folder / name)), folder / name)
        shutil.rmtree(folder, ignore_errors=True)

    def discard(self, unit_id: str) -> None:
        """Remove what there is of a unit on this machine; objects without a receipt count for nothing."""
        shutil.rmtree(_scratch() / unit_id, ignore_errors=True)

    def has(self, unit_id: str, files: Mapping[str, int]) -> bool:
        """Whether files of these sizes are there."""
        there = Counter(found.size for found in self.objects.list(f"{STATE}/files/{unit_id}/"))
        return Counter(files.values()) <= there

    def read(self, unit_id: str, name: str, sha256: str) -> bytes:
        """Return the content of a file by its hash; nothing if it is not there."""
        return self.objects.get(self._key(unit_id, sha256)) or b""

    def remove(self, unit_id: str, name: str) -> None:
        """Keep it: the shard that holds it now is on this machine alone until the build is published."""

    def _key(self, unit_id: str, sha256: str) -> str:
        return f"{STATE}/files/{unit_id}/{sha256}"


@dataclass
class RemoteJournal(Journal):
    """A journal whose receipts are objects, too.

    Attributes:
        objects: Where.
    """

    objects: Objects = Objects("")

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry; put it, if it is a receipt.

        Raises:
            OutputError: It cannot be written.
        """
        if "facts" in entry:
            self.objects.put(f"{STATE}/receipts/{entry['unit']}", canonical_json(entry).encode())
        super().add(entry)


class RemoteOutput(Output):
    """An output in object storage that is held by this process, with its work folder on this machine."""

    def __init__(self, objects: Objects, folder: Path, lock: Lock):
        """See `claim_objects`, which makes these."""
        super().__init__(folder)
        self.objects, self.lock, self.name = objects, lock, objects.url

    def store(self) -> ObjectStore:
        """Return where the files of units go."""
        return ObjectStore(self.objects)

    def start(self, plan: Plan) -> Journal:
        """Start a plan here, or take it up again, from any machine.

        Raises:
            MismatchError: Another plan was started here.
        """
        content = json.dumps({"builder": plan.builder, "hash": plan.hash}).encode()
        try:
            self.objects.put(f"{STATE}/plan.json", content, only="new")
        except Lost:
            stored = _parsed(self.objects, f"{STATE}/plan.json")
            if stored.get("hash") != plan.hash:
                raise mismatch(self.objects.url, ["the plan"]) from None
        done = self.objects.get("build.json")
        local = read_state(self.path / ".build" / "plan.json", ("hash",))
        if local and local["hash"] != plan.hash:
            super().clear()
        if done is None:
            self.done.unlink(missing_ok=True)
        else:
            if _parsed(self.objects, "build.json").get("plan_sha256") != plan.hash:
                raise mismatch(self.objects.url, ["the plan"])
            self.path.mkdir(parents=True, exist_ok=True)
            self.done.write_bytes(done)
        known = super().start(plan)
        journal = RemoteJournal.read(known.path)
        journal.objects = self.objects
        if journal.packing is None and done is None:
            self._take_receipts(journal)
        return journal

    def _take_receipts(self, journal: RemoteJournal) -> None:
        """Add the receipts that other machines wrote, and that this one lost."""
        prefix = f"{STATE}/receipts/"
        names = [found.key for found in self.objects.list(prefix)]
        new = [key for key in names if not journal.rendered(key.removeprefix(prefix))]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for entry in pool.map(lambda key: _parsed(self.objects, key), sorted(new)):
                Journal.add(journal, entry)

    def clear(self) -> None:
        """Remove what the build that was started here left: objects of its own only, `build.json` first."""
        super().clear()
        tables = [name for name in _parsed(self.objects, "build.json", missing={}).get("counts", {})]
        published = ("build.json", "README.md", "croissant.json", "units.parquet")
        self.objects.remove(*published)
        for folder in (*tables, "figures"):
            self.objects.remove(*(found.key for found in self.objects.list(folder + "/")))
        held = [found.key for found in self.objects.list(STATE + "/") if found.key != f"{STATE}/lock"]
        self.objects.remove(*held)

    def publish(self) -> None:
        """Put the finished output, `build.json` last, and remove what only the build needed.

        Raises:
            OutputError: It cannot be written, or another driver has taken the build over.
        """
        files = [
            path
            for path in sorted(self.path.rglob("*"))
            if path.is_file() and ".build" not in path.relative_to(self.path).parts and path != self.done
        ]
        self.lock.check()

        def put(path: Path) -> None:
            self.objects.put(path.relative_to(self.path).as_posix(), path)

        with ThreadPoolExecutor(4) as pool:
            for _ in pool.map(put, files):
                self.lock.check()
        self.objects.put("build.json", self.done)
        held = [found.key for found in self.objects.list(STATE + "/") if found.key != f"{STATE}/lock"]
        self.objects.remove(*held)

    def leave(self) -> None:
        """Remove the work folder of a build that is published, and what says that it was started."""
        with suppress(InputError, OutputError):
            if self.done.is_file() and self.objects.head("build.json"):
                shutil.rmtree(self.path, ignore_errors=True)
                self.objects.remove(f"{STATE}/plan.json")


class Lock:
    """The right to build at an address: an object that its owner renews, by a version that only it knows."""

    def __init__(self, objects: Objects):
        """Prepare; nothing is put before `acquire`."""
        self.objects, self.key = objects, f"{STATE}/lock"
        self._owner = _own_name()
        self._etag, self._beats = "", 0
        self._stop, self._lost = threading.Event(), ""
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def acquire(self, now: float) -> None:
        """Take the lock, or that of a driver that is dead.

        Args:
            now: The store's time.

        Raises:
            OutputError: Somebody else builds here.
        """
        try:
            self._etag = self.objects.put(self.key, self._content(), only="new")
        except Lost:
            there = self.objects.head(self.key)
            owner = (self.objects.get(self.key) or b"").decode(errors="replace")
            if there is not None and now - there.changed < STALE:
                raise OutputError(
                    f"another driver builds in {self.objects.url} ({owner[:200]}; last seen {now - there.changed:.0f} "
                    "s ago). Wait for it, or give another --out; if it is dead, try again in two minutes."
                ) from None
            try:
                self._etag = self.objects.put(self.key, self._content(), only=there.etag if there else "new")
            except Lost:
                raise OutputError(f"another driver has just begun to build in {self.objects.url}.") from None
        self._thread.start()

    def check(self) -> None:
        """Refuse to go on where another driver has taken over.

        Raises:
            OutputError: It has.
        """
        if self._lost:
            raise OutputError(
                f"the lock of {self.objects.url} was lost ({self._lost}). Finished units are kept; run the same "
                "command again."
            )

    def release(self) -> None:
        """Give the lock back."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        if not self._lost:
            with suppress(OutputError):
                self.objects.remove(self.key)

    def _content(self) -> bytes:
        self._beats += 1
        return json.dumps({"owner": self._owner, "beat": self._beats}).encode()

    def _renew(self) -> None:
        missed = 0
        while not self._stop.wait(BEAT):
            try:
                self._etag = self.objects.put(self.key, self._content(), only=self._etag)
                missed = 0
            except Lost:
                self._lost = "another driver took it over"
                return
            except (OutputError, InputError) as error:
                missed += 1
                if missed * BEAT >= STALE:
                    self._lost = str(error)
                    return


@contextmanager
def claim_objects(objects: Objects) -> Iterator[RemoteOutput]:
    """Hold an output in object storage for this process.

    The work folder is in the user's cache, and needs room for the finished dataset.

    Raises:
        OutputError: Another driver builds there, something else is there, or the store does not honour conditions.
    """
    now = check_conditions(objects)
    known = any(objects.head(key) for key in ("build.json", f"{STATE}/plan.json"))
    foreign = next((found.key for found in objects.list() if not found.key.startswith(STATE + "/")), None)
    if foreign is not None and not known:
        raise OutputError(
            f"--out {objects.url} holds something that no build of stressreel left ({foreign}). It stays as it is; "
            "give a new or empty prefix."
        )
    lock = Lock(objects)
    lock.acquire(now)
    folder = user_cache() / "remote-builds" / hashlib.sha256(objects.url.encode()).hexdigest()[:16]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with claim(folder):
            output = RemoteOutput(objects, folder, lock)
            try:
                yield output
            finally:
                lock.release()
        output.leave()
    finally:
        lock.release()


def check_conditions(objects: Objects) -> float:
    """Check that the store honours conditional puts, on which the lock rests; rclone's S3 server does not.

    Returns:
        The store's time, seconds since 1970.

    Raises:
        OutputError: It does not.
    """
    key = f"{STATE}/probe-{_own_name()}"
    objects.put(key, b"1", only="new")
    try:
        for only in ("new", '"no-such-version"'):
            with suppress(Lost):
                objects.put(key, b"2", only=only)
                raise OutputError(
                    f"{objects.url}: this store writes over an object that was to be created only if new, so two "
                    "builds could not be kept apart. Build into a folder, or use a store with conditional writes."
                )
        found = objects.head(key)
        return found.changed if found else 0.0
    finally:
        objects.remove(key)


def _parsed(objects: Objects, key: str, missing: dict[str, Any] | None = None) -> dict[str, Any]:
    content = objects.get(key)
    if content is None and missing is not None:
        return missing
    try:
        found = parse_json((content or b"").decode())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise OutputError(f"{objects.url}/{key} is damaged. Build again with --fresh, or in another --out.")
    return found


def _own_name() -> str:
    """Name this process as no other is named."""
    return f"{socket.gethostname()}-{os.getpid()}-{time.time_ns()}"


def _scratch() -> Path:
    return Path(tempfile.gettempdir()) / f"stressreel-{os.getuid() if hasattr(os, 'getuid') else 0}" / str(os.getpid())

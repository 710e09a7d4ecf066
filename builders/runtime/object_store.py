"""Build into object storage. The files and the receipt of every unit are objects; the work folder is local.

PREFIX/.build/lock            lock of the current driver, renewed every few seconds; only one driver at a time
PREFIX/.build/plan.json       hash of the started plan
PREFIX/.build/files/UNIT/SHA  files of finished units by SHA-256, so that retries are harmless
PREFIX/.build/receipts/UNIT   receipt of a unit, written after its files
PREFIX/build.json             written last; marks a complete build
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

from ...core.card_file import CARD, keep_notes_alone
from ...core.documents import LARGEST_OWN, parse_own
from ...core.errors import InputError, OutputError
from ...core.files import canonical_json, sha256_file, user_cache, write_atomic
from ...core.inside import SIGNATURE, inside
from ...core.left_out import SPLIT
from ...core.objects import Lost, Objects
from ...core.output import counts_of
from ...core.plan import Plan
from .output import BuildJournal, Say, UnfinishedOutput, claim, mismatch
from .own_files import WrittenFiles, tell_signed

BEAT, STALE = 20.0, 120.0  # seconds between renewals of the lock, and until its owner is considered dead
AT_ONCE = 16  # number of parallel requests
STATE = ".build"
PLAN = f"{STATE}/plan.json"
CLEARED = "cleared"


@dataclass(frozen=True)
class ObjectStore:
    """Stores the files of units as objects; see `store.Store`. Instances are pickled to workers."""

    objects: Objects

    def scratch(self, unit_id: str) -> Path:
        """Return an empty local folder for the files of a unit."""
        folder = inside(_scratch(), unit_id)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def deliver(self, unit_id: str, files: Mapping[str, int]) -> None:
        """Upload the files of a unit, and remove the local copies."""
        folder = inside(_scratch(), unit_id)
        for name in files:
            self.objects.put(self._key(unit_id, sha256_file(folder / name)), folder / name)
        shutil.rmtree(folder, ignore_errors=True)

    def discard(self, unit_id: str) -> None:
        """Remove the local files of a unit. Objects without a receipt are ignored."""
        shutil.rmtree(inside(_scratch(), unit_id), ignore_errors=True)

    def has(self, unit_id: str, files: Mapping[str, int]) -> bool:
        """Return whether all files exist and have these sizes."""
        existing = Counter(found.size for found in self.objects.list(f"{STATE}/files/{unit_id}/"))
        return Counter(files.values()) <= existing

    def read(self, unit_id: str, name: str, sha256: str) -> bytes:
        """Return the content of the file with this hash, or b"" if it does not exist."""
        return self.objects.get(self._key(unit_id, sha256)) or b""

    def remove(self, unit_id: str, name: str) -> None:
        """Do nothing, since the shard with the file's content is local until the build is published."""

    def _key(self, unit_id: str, sha256: str) -> str:
        return f"{STATE}/files/{unit_id}/{sha256}"


@dataclass
class RemoteBuildJournal(BuildJournal):
    """A journal whose receipts are also stored as objects. `id` differs each time a build is started."""

    objects: Objects = Objects("")
    lock: Lock | None = None
    id: str = ""

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry and, if it is a receipt, upload it.

        Raises:
            OutputError: The entry cannot be written, or another driver has taken over the build.
        """
        if self.lock is not None:
            self.lock.check()
        if "facts" in entry:
            self.objects.put(f"{STATE}/receipts/{self.id}/{entry['unit']}", canonical_json(entry).encode())
        super().add(entry)


class RemoteUnfinishedOutput(UnfinishedOutput):
    """An output in object storage that this process has locked, with a local work folder."""

    def __init__(self, objects: Objects, folder: Path, lock: Lock):
        super().__init__(folder)
        self.objects, self.lock, self.name = objects, lock, objects.url

    def store(self) -> ObjectStore:
        """Return the store for the files of units."""
        return ObjectStore(self.objects)

    def start(self, plan: Plan) -> BuildJournal:
        """Start a plan, or resume it from any machine. Raise MismatchError if another plan was started here."""
        done = finished(self.objects)
        if done is not None and done["plan_sha256"] != plan.hash:
            raise mismatch(self.name, ["the plan"])
        stored = _parsed(self.objects, PLAN, missing={})
        if stored.get("hash") == CLEARED:
            self.clear()
            stored = {}
        if not stored and done is None:
            stored = {
                "builder": plan.builder,
                "hash": plan.hash,
                "id": _own_name(),
                "tables": [config.name for config in plan.tables],
                "splits": [*plan.splits, SPLIT],
                "reports": list(plan.reports),
            }
            self.objects.put(PLAN, json.dumps(stored).encode())
        elif stored and stored.get("hash") != plan.hash:
            raise mismatch(self.name, ["the plan"])
        here = self.path / ".build" / "started-as"
        if done is None and (not here.is_file() or here.read_text(encoding="utf-8") != stored["id"]):
            super().clear()  # the local files belong to a build that was discarded elsewhere
        if done is None:
            self.done.unlink(missing_ok=True)
        else:
            self.done.write_bytes(self.objects.get("build.json", LARGEST_OWN) or b"")
        known = super().start(plan)
        journal = RemoteBuildJournal.read(known.path)
        if done is None:
            write_atomic(here, stored["id"])
            journal.objects, journal.lock, journal.id = self.objects, self.lock, stored["id"]
            if journal.packing is None:
                self._take_receipts(journal)
        return journal

    def _take_receipts(self, journal: RemoteBuildJournal) -> None:
        """Add receipts that are missing locally, such as those written by other machines."""
        prefix = f"{STATE}/receipts/{journal.id}/"
        names = [found.key for found in self.objects.list(prefix)]
        new = [key for key in names if not journal.rendered(key.removeprefix(prefix))]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for entry in pool.map(lambda key: _parsed(self.objects, key), sorted(new)):
                BuildJournal.add(journal, entry)

    def clear(self) -> None:
        """Remove the objects of the build that was started here, `build.json` first."""
        super().clear()
        self.lock.check()
        stored, done = _parsed(self.objects, PLAN, missing={}), finished(self.objects) or {}
        written = WrittenFiles.of(stored, f"{self.objects.url}/{PLAN}")
        written |= WrittenFiles.of(done, f"{self.objects.url}/build.json")
        if card := self.objects.get(CARD, LARGEST_OWN):
            written = written.with_card(card.decode(errors="replace"))
        # If the process is killed after this, the mark shows that the half-cleared output is ours.
        self.objects.put(PLAN, json.dumps({"hash": CLEARED, **written.as_json()}).encode())
        if card:
            write_atomic(self.path / CARD, card)
            keep_notes_alone(self.path / CARD)
        self.objects.remove("build.json", CARD)
        self.objects.remove(*(found.key for found in self.objects.list() if found.key in written))
        self._remove_state()

    def _remove_state(self) -> None:
        kept = (PLAN, f"{STATE}/lock")
        held = [found.key for found in self.objects.list(STATE + "/")]
        self.objects.remove(*(key for key in held if key not in kept and not key.startswith(f"{STATE}/probe-")))
        self.objects.remove(PLAN)

    def note_signed(self, say: Say) -> None:
        """Warn, before anything changes, that an existing signature will become invalid."""
        if self.objects.head(SIGNATURE) is not None:
            tell_signed(self.name, say)

    def publish(self) -> None:
        """Upload the finished output, `build.json` last, and remove the state of the build.

        Raises:
            OutputError: The output cannot be written, or another driver has taken over the build.
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
        self.lock.check()
        self.objects.put("build.json", self.done)
        self._remove_state()

    def leave(self) -> None:
        """Remove the work folder of a published build, or the traces of a build that never produced results."""
        with suppress(InputError, OutputError):
            if self.done.is_file() and finished(self.objects) is not None:
                gone = self.path.with_name(f".{self.path.name}.{_own_name()}")
                self.path.rename(gone)
                shutil.rmtree(gone, ignore_errors=True)
                self.objects.remove(PLAN)
            elif _parsed(self.objects, PLAN, missing={}).get("hash") != CLEARED and not any(
                found.key not in (PLAN, f"{STATE}/lock") for found in self.objects.list(STATE + "/")
            ):
                self.objects.remove(PLAN)


class Lock:
    """A lock on a build: an object that its owner renews conditionally, by a version that only the owner knows."""

    def __init__(self, objects: Objects):
        self.objects, self.key = objects, f"{STATE}/lock"
        self._owner = _own_name()
        self._etag, self._beats = "", 0
        self._stop, self._lost, self._renewed = threading.Event(), "", 0.0
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def acquire(self, now: float) -> None:
        """Acquire the lock, or take it over from a dead driver. `now` is the time by the store's clock.

        Raises:
            OutputError: Another driver is building here.
        """
        try:
            self._etag = self.objects.put(self.key, self._content(), only="new")
        except Lost:
            there = self.objects.head(self.key)
            owner = (self.objects.get(self.key) or b"").decode(errors="replace")
            if there is not None and now - there.changed < STALE:
                raise OutputError(
                    f"another process is building in {self.objects.url} ({owner[:200]}; last seen "
                    f"{now - there.changed:.0f} s ago). Wait for it to finish, or use another --out. If it is no "
                    "longer running, try again in two minutes."
                ) from None
            try:
                self._etag = self.objects.put(self.key, self._content(), only=there.etag if there else "new")
            except Lost:
                raise OutputError(f"another process has just started building in {self.objects.url}.") from None
        self._renewed = time.time()
        self._thread.start()

    def check(self) -> None:
        """Raise OutputError if another driver has taken over the lock."""
        if not self._lost and time.time() - self._renewed > STALE - BEAT:
            self._lost = "it was not renewed in time"
        if self._lost:
            raise OutputError(
                f"the lock of {self.objects.url} was lost ({self._lost}). Finished units are kept; run the same "
                "command again."
            )

    def release(self) -> None:
        """Release the lock if this driver still owns it."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        with suppress(OutputError, InputError):
            if self._owner in (self.objects.get(self.key) or b"").decode(errors="replace"):
                self.objects.remove(self.key)

    def _content(self) -> bytes:
        self._beats += 1
        return json.dumps({"owner": self._owner, "beat": self._beats}).encode()

    def _renew(self) -> None:
        while not self._stop.wait(BEAT):
            try:
                self._etag = self.objects.put(self.key, self._content(), only=self._etag)
                self._renewed = time.time()
            except Lost:
                self._lost = "another driver took it over"
                return
            except Exception as error:  # try again until the lock is considered stale
                if time.time() - self._renewed > STALE - BEAT:
                    self._lost = str(error)
                    return


@contextmanager
def claim_objects(objects: Objects) -> Iterator[RemoteUnfinishedOutput]:
    """Lock an output in object storage for this process. The work folder is in the user's cache.

    Raises:
        OutputError: Another driver is building there, the prefix has other files, or the store ignores conditions.
    """
    if objects.url.startswith("gs:"):
        raise OutputError(
            f"--out {objects.url}: locking a build requires conditional replacement, which gs:// does not support. "
            "Build into a folder or s3://, and copy the output."
        )
    now = check_conditions(objects)
    known = finished(objects) is not None or objects.head(PLAN) is not None
    foreign = next((found.key for found in objects.list() if not found.key.startswith(STATE + "/")), None)
    if foreign is not None and not known:
        raise OutputError(
            f"--out {objects.url} contains files that were not written by stressreel ({foreign}). Nothing was "
            "changed. Use a new or empty prefix."
        )
    lock = Lock(objects)
    lock.acquire(now)
    try:
        folder = user_cache() / "remote-builds" / hashlib.sha256(objects.url.encode()).hexdigest()[:16]
        folder.parent.mkdir(parents=True, exist_ok=True)
        with claim(folder):
            output = RemoteUnfinishedOutput(objects, folder, lock)
            try:
                yield output
            finally:
                output.leave()
    finally:
        lock.release()


def finished(objects: Objects) -> dict[str, Any] | None:
    """Return the content of `build.json`, or None if it is missing or was not written by stressreel."""
    try:
        found = parse_own((objects.get("build.json", LARGEST_OWN) or b"").decode())
        stated = {name: str(found[name]) for name in ("builder", "plan_sha256", "fingerprint")}
        return {**found, **stated, "counts": counts_of(found["counts"])}
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def check_conditions(objects: Objects) -> float:
    """Check that the store supports conditional writes, which the lock requires. rclone's S3 server does not.

    Returns:
        The time by the store's clock, in seconds since 1970.

    Raises:
        OutputError: The store ignores conditions.
    """
    key = f"{STATE}/probe-{_own_name()}"
    objects.put(key, b"1", only="new")
    try:
        for only in ("new", '"no-such-version"'):
            with suppress(Lost):
                objects.put(key, b"2", only=only)
                raise OutputError(
                    f"{objects.url}: this store ignores conditions on writes, so two builds could overwrite each "
                    "other. Build into a folder, or use a store with conditional writes."
                )
        found = objects.head(key)
        return found.changed if found else 0.0
    finally:
        objects.remove(key)


def _parsed(objects: Objects, key: str, missing: dict[str, Any] | None = None) -> dict[str, Any]:
    content = objects.get(key, LARGEST_OWN)
    if content is None and missing is not None:
        return missing
    try:
        found = parse_own((content or b"").decode())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise OutputError(f"{objects.url}/{key} is damaged. Build again with --fresh, or use another --out.")
    return found


def _own_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{time.time_ns()}"


def _scratch() -> Path:
    return Path(tempfile.gettempdir()) / f"stressreel-{os.getuid() if hasattr(os, 'getuid') else 0}" / str(os.getpid())

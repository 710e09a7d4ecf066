"""Access object storage by URL (s3://bucket/prefix, gs://…, az://…) with obstore.

obstore supports conditional puts and leaves no partial objects. Credentials and endpoints are read from the environment
(AWS_ACCESS_KEY_ID, AWS_ENDPOINT, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME, …), but not from the AWS
credentials file.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock

from .errors import InputError, OutputError, UsageError
from .extras import import_extra
from .files import atomic, user_cache

ADDRESS = re.compile(r"(s3|gs|az):/{1,2}([^/]+)/?(.*)", re.S)  # `Path` merges the two slashes
WITHOUT_BUCKET = re.compile(r"(s3|gs|az):/*")
LIMIT_VARIABLE = "STRESSREEL_CACHE_GB"
USUAL_LIMIT = 100.0  # GB of cached sources
IN_USE = 6 * 3600.0  # seconds since its last use during which a source is not evicted
PARTS, PARTS_AT_ONCE = 16_000_000, 4  # bytes; larger files are uploaded in parts


@dataclass(frozen=True)
class StoredObject:
    """Metadata of an object in storage.

    Attributes:
        key: Name of the object, relative to the prefix.
        etag: Version of the object, or "" if the store has no versions.
        changed: Modification time in seconds since 1970, by the store's clock.
    """

    key: str
    size: int
    etag: str
    changed: float


class Lost(Exception):
    """Raised when a conditional put fails because the object already exists or was modified."""


def address(path: Path | str) -> str | None:
    """Return the URL in a path, or None for a local path. Raise UsageError if the URL has no bucket."""
    if WITHOUT_BUCKET.fullmatch(os.fspath(path)):
        raise UsageError(f"{path} has no bucket. Pass a URL such as s3://bucket/prefix.")
    found = ADDRESS.fullmatch(os.fspath(path))
    if found is None:
        return None
    scheme, bucket, key = found.groups()
    return f"{scheme}://{bucket}/{key.rstrip('/')}".rstrip("/")


@dataclass(frozen=True)
class Objects:
    """Access to the objects below a URL. Instances can be pickled."""

    url: str

    def put(self, key: str, content: bytes | Path, *, only: str | None = None) -> str:
        """Write an object atomically, and return its etag. The content may also be given as a file.

        `only` is "new" to require that the object does not exist, or an etag to require that version.

        Raises:
            Lost: The requirement is not met.
            OutputError: The object cannot be written.
        """
        obstore = _obstore()
        how: dict[str, Any] = {}
        if only is not None:
            how = {"mode": "create" if only == "new" else {"e_tag": only}, "use_multipart": False}
        try:
            with self._explained(key, writing=True):
                done = obstore.put(
                    _store(self.url), key, content, chunk_size=PARTS, max_concurrency=PARTS_AT_ONCE, **how
                )
        except (obstore.exceptions.AlreadyExistsError, obstore.exceptions.PreconditionError) as error:
            # The first attempt of a retried put may have succeeded with its response lost; the object is then ours.
            there = self.head(key) if only == "new" or isinstance(content, bytes) else None
            if there is not None and isinstance(content, bytes) and self.get(key) == content:
                return there.etag
            raise Lost(key) from error
        except FileNotFoundError as error:
            if only not in (None, "new"):
                raise Lost(key) from error  # the version to replace no longer exists
            raise OutputError(f"{self.url} cannot be written: there is no such bucket or container.") from error
        return done["e_tag"] or ""

    def get(self, key: str, largest: int | None = None) -> bytes | None:
        """Return the content of an object, or None if it does not exist.

        Raises:
            InputError: The object cannot be read, or exceeds `largest` bytes.
        """
        with suppress(FileNotFoundError), self._explained(key):
            found = _obstore().get(_store(self.url), key)
            size = found.meta["size"]
            if size > (largest or size):
                what = f"{self.url}/{key}"
                raise InputError(f"{what} is too large: it is {size:,} bytes, and the limit is {largest:,}.")
            return bytes(found.bytes())
        return None

    def fetch(self, key: str, path: Path) -> None:
        """Download an object to a file, atomically. Raise InputError if it does not exist or cannot be read."""
        try:
            with self._explained(key), atomic(path) as temporary, open(temporary, "wb") as file:
                for chunk in _obstore().get(_store(self.url), key).stream(min_chunk_size=8_000_000):
                    file.write(chunk)
        except FileNotFoundError:
            raise InputError(f"{self.url}/{key} no longer exists.") from None

    def head(self, key: str) -> StoredObject | None:
        """Return the size and version of an object, or None if it does not exist."""
        with suppress(FileNotFoundError), self._explained(key):
            return _stored_object(_obstore().head(_store(self.url), key))
        return None

    def list(self, prefix: str = "") -> Iterator[StoredObject]:
        """Yield the objects in a folder and its subfolders."""
        with self._explained(prefix):
            for batch in _obstore().list(_store(self.url), prefix.rstrip("/") or None, chunk_size=1000):
                yield from map(_stored_object, batch)

    def remove(self, *keys: str) -> None:
        """Remove objects, ignoring any that do not exist."""
        for start in range(0, len(keys), 1000):
            with suppress(FileNotFoundError), self._explained(keys[start], writing=True):
                _obstore().delete(_store(self.url), list(keys[start : start + 1000]))

    @contextmanager
    def _explained(self, key: str, *, writing: bool = False) -> Iterator[None]:
        exceptions = _obstore().exceptions
        try:
            yield
        except (FileNotFoundError, exceptions.AlreadyExistsError, exceptions.PreconditionError):
            raise
        except (exceptions.BaseError, OSError, ValueError) as error:
            if isinstance(error, InputError | OutputError):
                raise
            what = f"{self.url}/{key}".rstrip("/")
            reason = " ".join(str(error).split("Debug source")[0].split()).rstrip(".")
            said = (
                f"{what} cannot be {'written' if writing else 'read'}: {reason}. Credentials and endpoint are taken "
                "from the environment (for s3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT)."
            )
            raise (OutputError if writing else InputError)(said) from error


def objects_at(path: Path | str) -> Objects:
    """Return an `Objects` instance for a URL of object storage.

    Raises:
        UsageError: The path is not a URL of object storage.
        MissingExtraError: obstore is not installed.
    """
    url = address(path)
    if url is None:
        raise UsageError(
            f"{path} is not a URL of object storage. Pass a URL that starts with s3://, gs:// or az://, such as "
            "s3://bucket/prefix."
        )
    _obstore()
    return Objects(url)


def stamp_of(path: Path) -> str:
    """Return the size and version of an object as a text, or "" if it does not exist."""
    url = address(path) or ""
    where, _, key = url.rpartition("/")
    found = Objects(where).head(key)
    return f"{found.size} {found.etag}" if found else ""


def local_copy(path: Path) -> Path:
    """Return a local path for a file, downloading it to the cache if it is in object storage.

    The cache is shared by all processes of a user and keyed by URL and version. When it exceeds $STRESSREEL_CACHE_GB
    (default 100), the least recently used copies are removed.

    Raises:
        InputError: The object does not exist or cannot be read.
    """
    url = address(path)
    if url is None:
        return path
    where, _, key = url.rpartition("/")
    objects, found = Objects(where), _version_of(url)
    folder = user_cache() / "sources"
    name = hashlib.sha256(f"{url} {found.etag} {found.size}".encode()).hexdigest()[:32]
    target = folder / name[:2] / f"{name}{Path(key).suffix}"
    if not target.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_name(target.name + ".lock")):
            if not target.is_file():
                _make_room(folder, found.size)
                objects.fetch(key, target)
    with suppress(OSError):
        os.utime(target)
    return target


@lru_cache(maxsize=4096)  # checked for changes once per process
def _version_of(url: str) -> StoredObject:
    where, _, key = url.rpartition("/")
    found = Objects(where).head(key)
    if found is None:
        raise InputError(f"{url} does not exist.")
    return found


def _make_room(folder: Path, size: int) -> None:
    try:
        limit = float(os.environ.get(LIMIT_VARIABLE) or USUAL_LIMIT) * 1e9
    except ValueError:
        raise UsageError(
            f"{LIMIT_VARIABLE} is {os.environ[LIMIT_VARIABLE]!r}: expected a number of gigabytes."
        ) from None
    files = []
    for path in folder.glob("*/*"):
        with suppress(OSError):
            if path.suffix != ".lock":
                files.append((path.stat().st_mtime, path.stat().st_size, path))
    held = sum(each for _, each, _ in files) + size
    for used, each, path in sorted(files):
        if held <= limit or used > time.time() - IN_USE:
            break
        path.unlink(missing_ok=True)
        held -= each


def _stored_object(meta: Any) -> StoredObject:
    return StoredObject(meta["path"], meta["size"], meta["e_tag"] or "", meta["last_modified"].timestamp())


def _obstore() -> Any:
    import_extra("obstore.store", what="object storage")
    return import_extra("obstore", what="object storage")


@lru_cache(maxsize=64)
def _store(url: str) -> Any:
    obstore = _obstore()
    if odd := sorted(set(url) & set("#?%*[]")):
        raise UsageError(f"{url} contains {' '.join(odd)}, which have a special meaning in URLs. Use another name.")
    try:
        return obstore.store.from_url(url)
    except (obstore.exceptions.BaseError, ValueError, OSError) as error:
        raise UsageError(f"{url} cannot be used as object storage: {' '.join(str(error).split())}.") from error

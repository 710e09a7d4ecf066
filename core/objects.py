"""Access object storage by URL (s3://bucket/prefix, gs://…, az://…) with obstore.

obstore retries requests that fail temporarily, and leaves no partial objects. Credentials and endpoints are read from
the environment (AWS_ACCESS_KEY_ID, AWS_ENDPOINT, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME, …), but
not from the AWS credentials file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from .errors import InputError, OutputError, StressreelError, UsageError
from .extras import import_extra
from .files import atomic, sha256_text, user_cache

if TYPE_CHECKING:
    from obstore import ObjectMeta

ADDRESS = re.compile(r"(s3|gs|az):(?:/*|/{1,2}([^/]+)/?(.*))", re.S)  # `Path` merges the two slashes


def address(path: Path | str) -> str | None:
    """Return the URL in a path, or None for a local path. Raise UsageError if the URL has no bucket."""
    match = ADDRESS.fullmatch(os.fspath(path))
    if match is None:
        return None
    scheme, bucket, key = match.groups()
    if bucket is None:
        raise UsageError(f"{path} has no bucket. Pass a URL such as s3://bucket/prefix.")
    return f"{scheme}://{bucket}/{key}".rstrip("/")


@dataclass(frozen=True)
class Objects:
    """Access to the objects below a URL, by their keys relative to it. Instances can be pickled.

    Metadata of an object are obstore's: "path" (its key), "size" in bytes, "e_tag" and "last_modified".
    """

    url: str

    def put(self, key: str, content: bytes | Path) -> None:
        """Write an object atomically, from bytes or from a file. Raise OutputError if it cannot be written."""
        with self._explained(key, OutputError):
            _store(self.url).put(key, content)

    def get(self, key: str, largest: int | None = None) -> bytes | None:
        """Return the content of an object, or None if it does not exist.

        Raises:
            InputError: The object cannot be read, or exceeds `largest` bytes.
        """
        with suppress(FileNotFoundError), self._explained(key):
            response = _store(self.url).get(key)
            size = response.meta["size"]
            if size > (largest or size):
                raise InputError(f"{self.url}/{key} is too large: {size:,} bytes, and the limit is {largest:,}.")
            return bytes(response.bytes())
        return None

    def fetch(self, key: str, path: Path) -> None:
        """Download an object to a file, atomically. Raise InputError if it does not exist or cannot be read."""
        try:
            with self._explained(key), atomic(path) as temporary, open(temporary, "wb") as file:
                file.writelines(_store(self.url).get(key).stream())
        except FileNotFoundError:
            raise InputError(f"{self.url}/{key} no longer exists.") from None

    def head(self, key: str) -> ObjectMeta | None:
        """Return the metadata of an object, or None if it does not exist."""
        with suppress(FileNotFoundError), self._explained(key):
            metadata: ObjectMeta = _store(self.url).head(key)
            return metadata
        return None

    def list(self, prefix: str = "") -> Iterator[ObjectMeta]:
        """Yield the objects in a folder and its subfolders."""
        with self._explained(prefix):
            for batch in _store(self.url).list(prefix.rstrip("/") or None):
                yield from batch

    def remove(self, *keys: str) -> None:
        """Remove objects, ignoring any that do not exist."""
        with suppress(FileNotFoundError), self._explained(""):
            _store(self.url).delete(keys)

    @contextmanager
    def _explained(self, key: str, kind: type[InputError | OutputError] = InputError) -> Iterator[None]:
        errors = import_extra("obstore.exceptions", what="object storage")
        try:
            yield
        except (errors.BaseError, OSError, ValueError) as error:
            if isinstance(error, StressreelError) or (isinstance(error, FileNotFoundError) and kind is InputError):
                raise
            reason = " ".join(str(error).split("Debug source")[0].split()).rstrip(".")
            raise kind(
                f"{self.url}/{key} cannot be accessed: {reason}. Credentials and endpoint are taken from the "
                "environment (for s3: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT)."
            ) from error


@lru_cache(maxsize=64)
def _store(url: str) -> Any:
    if odd := sorted(set(url) & set("#?%*[]")):
        raise UsageError(f"{url} contains {' '.join(odd)}, which have a special meaning in URLs. Use another name.")
    return import_extra("obstore.store", what="object storage").from_url(url)


def objects_at(path: Path | str) -> Objects:
    """Return the objects at a URL. Raise UsageError if the path is not a URL of object storage."""
    url = address(path)
    if url is None:
        raise UsageError(f"{path} is not a URL of object storage, such as s3://bucket/prefix, gs://… or az://….")
    return Objects(url)


def stamp_of(path: Path) -> str:
    """Return the size and version of an object as a text, or "" if it does not exist."""
    where, _, key = (address(path) or "").rpartition("/")
    metadata = Objects(where).head(key)
    return f"{metadata['size']} {metadata['e_tag']}" if metadata else ""


_stamp_once = lru_cache(maxsize=4096)(stamp_of)  # a copy is checked for changes once per process


def local_copy(path: Path) -> Path:
    """Return a local path for a file, downloading it to the cache if it is in object storage.

    The cache is shared by all processes of a user and keyed by URL and version. It is never cleaned automatically.

    Raises:
        InputError: The object does not exist or cannot be read.
    """
    url = address(path)
    if url is None:
        return path
    where, _, key = url.rpartition("/")
    name = sha256_text(f"{url} {_stamp_once(path)}")[:32]
    copy = user_cache() / "sources" / name[:2] / f"{name}{Path(key).suffix}"
    if not copy.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{copy}.lock"):
            if not copy.is_file():
                Objects(where).fetch(key, copy)
    return copy

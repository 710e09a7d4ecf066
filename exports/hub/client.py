"""Send requests to the Hugging Face Hub, and explain its errors.

`with_retries` repeats requests that `huggingface_hub` sends only once. Commits are not repeated in this way, because a
commit may have succeeded although its response was lost (see `push.py`).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...builders.runtime.own_files import BUILD
from ...core.documents import LARGEST_OWN, parse_json, read_own
from ...core.errors import HubError, InputError
from ...core.version import __version__
from .contents import HashedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from huggingface_hub import HfApi

T = TypeVar("T")
DATASET = "dataset"
WAITS_S = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait between attempts."""


@dataclass(frozen=True)
class RemoteFile:
    """A file in a repository.

    Attributes:
        blob: SHA-1 that Git computes of the file, or of its pointer.
        sha256: SHA-256 of a large file; None for small files.
    """

    size: int
    blob: str
    sha256: str | None

    def holds(self, file: HashedFile) -> bool:
        """Return whether the content is equal to that of a local file."""
        known = self.blob == file.blob if self.sha256 is None else self.sha256 == file.sha256
        return known and self.size == file.size


@dataclass(frozen=True)
class Snapshot:
    """The files of a repository at a certain commit, by path."""

    commit: str
    private: bool
    files: Mapping[str, RemoteFile]


def hub() -> HfApi:
    """Return a client with the token that `hf auth login` has stored, or raise HubError if there is none."""
    from huggingface_hub import HfApi, get_token
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    token = get_token()
    if not token:
        raise HubError(
            "no token for the Hugging Face Hub was found. Log in with `hf auth login`, or set HF_TOKEN to a token "
            "with write permission. --dry-run does not need a token."
        )
    disable_progress_bars()  # stressreel shows its own
    return HfApi(token=token, library_name="stressreel", library_version=__version__)


def read_snapshot(api: HfApi, name: str, revision: str | None = None) -> Snapshot | None:
    """Return the files of a repository at a revision (default: main), or None if it does not exist."""
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    try:
        info = with_retries(lambda: api.repo_info(name, repo_type=DATASET, revision=revision))
        entries = list(api.list_repo_tree(name, repo_type=DATASET, revision=info.sha, recursive=True))
    except RepositoryNotFoundError:
        return None
    except hub_exceptions() as error:
        raise hub_error(error, name) from error
    files = {
        each.path: RemoteFile(each.size, each.blob_id, each.lfs.sha256 if each.lfs else None)
        for each in entries
        if isinstance(each, RepoFile)
    }
    return Snapshot(str(info.sha), bool(info.private), files)


def create(api: HfApi, name: str, *, public: bool) -> None:
    """Create a dataset repository. Raise HubError if a model or space has the same name."""
    with translated_errors(name):
        for other in ("model", "space"):
            if with_retries(lambda kind=other: api.repo_exists(name, repo_type=kind)):  # type: ignore[misc]
                raise HubError(
                    f"{name} is a {other}, not a dataset. A dataset of the same name would be a separate repository. "
                    "Choose another name, or create the dataset yourself and push again."
                )
        with_retries(lambda: api.create_repo(name, repo_type=DATASET, private=not public, exist_ok=True))


def tags(api: HfApi, name: str) -> dict[str, str]:
    """Return the commit of each tag in a repository."""
    with translated_errors(name):
        refs = with_retries(lambda: api.list_repo_refs(name, repo_type=DATASET))
    return {ref.name: ref.target_commit for ref in refs.tags}


def build_at(api: HfApi, name: str, snapshot: Snapshot) -> dict[str, Any] | None:
    """Return the content of `build.json` at a commit, or None if it is missing or invalid."""
    there = snapshot.files.get(BUILD)
    if there is None or there.size > LARGEST_OWN:
        return None
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        with translated_errors(name):
            path = api.hf_hub_download(name, BUILD, repo_type=DATASET, revision=snapshot.commit, local_dir=folder)
        try:
            found = parse_json(read_own(Path(path)))
            fits = isinstance(found["fingerprint"], str) and isinstance(found["counts"], dict)
        except (InputError, ValueError, KeyError, TypeError):
            return None
    return found if fits else None


def with_retries(call: Callable[[], T]) -> T:
    """Call a function that sends a request, and retry it up to four times if it fails temporarily."""
    for wait in WAITS_S:
        try:
            return call()
        except hub_exceptions() as error:
            if not is_transient(error):
                raise
            time.sleep(wait)
    return call()


def hub_exceptions() -> tuple[type[BaseException], ...]:
    """Return the exceptions that `huggingface_hub` raises for failed requests and lost connections."""
    from huggingface_hub.errors import HfHubHTTPError

    return (*HfHubHTTPError.__bases__, OSError)


def status(error: BaseException) -> int | None:
    """Return the HTTP status of an error, or None if the server did not respond."""
    return getattr(getattr(error, "response", None), "status_code", None)


def is_transient(error: BaseException) -> bool:
    """Return whether a failure may be temporary because the Hub is busy, failing or unreachable."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    code = status(error)
    if isinstance(error, OfflineModeIsEnabled) or getattr(error, "filename", None):  # a local file, not the Hub
        return False
    return code is None or code == 429 or code >= 500


@contextmanager
def translated_errors(name: str) -> Iterator[None]:
    """Convert exceptions of `huggingface_hub` in a `with` block to HubError."""
    try:
        yield
    except HubError:
        raise
    except hub_exceptions() as error:
        raise hub_error(error, name) from error


def hub_error(error: BaseException, name: str) -> HubError:
    """Return a HubError that explains why a request failed, and what to do."""
    from huggingface_hub import constants
    from huggingface_hub.errors import OfflineModeIsEnabled, RepositoryNotFoundError

    code = status(error)
    said = getattr(error, "server_message", None)
    request = getattr(error, "request_id", None)
    words = f" ({' '.join(str(said).split())})" if said else ""
    asked = f" Request {request}." if request else ""
    if isinstance(error, OSError) and error.filename:
        return HubError(
            f"cannot read {error.filename}: {error.strerror}. Check the file, then run the same command again."
        )
    if isinstance(error, OfflineModeIsEnabled):
        return HubError("HF_HUB_OFFLINE is set, so nothing can be pushed. Unset it.")
    if code == 401 and not isinstance(error, RepositoryNotFoundError):
        return HubError(
            f"the Hub does not accept the token{words}. Log in again with `hf auth login`, or set HF_TOKEN to a valid "
            "token."
        )
    if code in (401, 403, 404):
        return HubError(
            f"your token has no write permission for {name}{words}. It needs write access to the repositories of "
            f"{name.split('/')[0]}: check the role of the token and your membership.{asked}"
        )
    if code is None:
        return HubError(
            f"the Hub cannot be reached at {constants.ENDPOINT} "
            f"({type(error).__name__}: {' '.join(str(error).split())[:300]}). Uploaded files are kept: run the same "
            "command again to continue."
        )
    if is_transient(error):
        return HubError(
            f"the Hub repeatedly failed with status {code}{words}. Uploaded files are kept: run the same command "
            f"again later to continue.{asked}"
        )
    return HubError(
        f"the Hub rejected the request with status {code}{words or ': ' + ' '.join(str(error).split())[:300]}.{asked}"
    )

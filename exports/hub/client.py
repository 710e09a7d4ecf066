"""Send requests to the Hugging Face Hub, and explain its errors."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...builders.runtime.own_files import BUILD
from ...core.documents import LARGEST_OWN, check_shape, parse_json, read_own
from ...core.errors import HubError
from ...core.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

T = TypeVar("T")
WAITS_S = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait between attempts."""


@dataclass(frozen=True)
class Snapshot:
    """A repository at a certain commit.

    Attributes:
        files: Size of each file by its path, and its SHA-256 if it is large, or else the SHA-1 that Git computes.
        tags: Commit of each tag.
        build: Content of `build.json`; None if it is missing or invalid.
    """

    commit: str
    private: bool
    files: Mapping[str, tuple[int, str]]
    tags: Mapping[str, str]
    build: Mapping[str, Any] | None


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


def request(send: Callable[..., T], name: str, *args: Any, waits: tuple[float, ...] = WAITS_S, **options: Any) -> T:
    """Call a method of `HfApi` for a dataset repository, and again after each of `waits` if it fails temporarily.

    `waits` is empty for methods that repeat their requests themselves. Raises HubError, caused by the last exception.
    """
    try:
        return send(name, *args, repo_type="dataset", **options)
    except Exception as error:  # each protocol for large files has its own exceptions
        cause = (error.__cause__ if isinstance(error, RuntimeError) else None) or error
        if not (waits and is_transient(cause)):
            raise hub_error(cause, name) from cause
    time.sleep(waits[0])
    return request(send, name, *args, waits=waits[1:], **options)


def read_snapshot(api: HfApi, name: str, revision: str | None = None) -> Snapshot:
    """Return a repository at a revision (default: main). Its commit is empty if it does not exist."""
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    def tree(*args: Any, **options: Any) -> dict[str, tuple[int, str]]:
        entries = (each for each in api.list_repo_tree(*args, **options) if isinstance(each, RepoFile))
        return {each.path: (each.size, each.lfs.sha256 if each.lfs else each.blob_id) for each in entries}

    try:
        info = request(api.repo_info, name, revision=revision)
        commit = str(info.sha)
        files = request(tree, name, revision=commit, recursive=True, waits=())
        refs = request(api.list_repo_refs, name)
    except HubError as error:
        if isinstance(error.__cause__, RepositoryNotFoundError):
            return Snapshot("", True, {}, {}, None)
        raise
    build = _read_build(api, name, commit) if files.get(BUILD, (LARGEST_OWN + 1,))[0] <= LARGEST_OWN else None
    return Snapshot(commit, bool(info.private), files, {ref.name: ref.target_commit for ref in refs.tags}, build)


def _read_build(api: HfApi, name: str, commit: str) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory(prefix="stressreel-") as folder:
        path = request(api.hf_hub_download, name, BUILD, revision=commit, local_dir=folder, waits=())
        try:
            build: dict[str, Any] = parse_json(read_own(Path(path)))
            check_shape(build, {"fingerprint": str, "builder": str, "counts": dict})
        except ValueError:
            return None
    return build


def status(error: BaseException | None) -> int | None:
    """Return the HTTP status of an error, or None if the server did not respond."""
    return getattr(getattr(error, "response", None), "status_code", None)


def is_transient(error: BaseException) -> bool:
    """Return whether a failure may be temporary because the Hub is busy, failing or unreachable."""
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    code = status(error)
    if isinstance(error, OfflineModeIsEnabled) or getattr(error, "filename", None):  # a local file, not the Hub
        return False
    return code == 429 or code >= 500 if code else isinstance(error, (*HfHubHTTPError.__bases__, OSError))


def hub_error(error: BaseException, name: str) -> HubError:
    """Return a HubError that explains why a request failed, and what to do."""
    from huggingface_hub import constants
    from huggingface_hub.errors import RepositoryNotFoundError

    code, number = status(error), getattr(error, "request_id", None)
    text = " ".join(str(getattr(error, "server_message", None) or error).split())[:300]
    asked = f" Request {number}." if number else ""
    again = "Uploaded files are kept: run the same command again to continue."
    if code == 401 and not isinstance(error, RepositoryNotFoundError):
        return HubError(
            f"the Hub does not accept the token ({text}). Log in again with `hf auth login`, or set HF_TOKEN to a "
            "valid token."
        )
    if code in (401, 403, 404):
        return HubError(
            f"your token has no write permission for {name} ({text}). It needs write access to the repositories of "
            f"{name.split('/')[0]}: check the role of the token and your membership.{asked}"
        )
    if code is not None:
        often = "repeatedly failed" if is_transient(error) else "rejected the request"
        return HubError(f"the Hub {often} with status {code} ({text}). {again}{asked}")
    where = "the Hub cannot be reached" if is_transient(error) else f"the push to {name} failed"
    return HubError(f"{where} at {constants.ENDPOINT} ({type(error).__name__}: {text}). {again}")

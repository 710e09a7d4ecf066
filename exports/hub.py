"""Push an output to the Hugging Face Hub in one commit if its licence allows that, verify it, and tag it."""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.documents import LARGEST_OWN, check_shape, parse_json, read_own, shortened
from ..core.errors import HubError, InputError, UsageError
from ..core.files import EVAL, SIGNATURE, sha256_file
from ..core.fingerprint import FILE as UNITS
from ..core.output import FinishedOutput
from ..core.output_files import BUILD, CARD, CROISSANT, FIGURES, TEXT_SHIFT, own_names
from ..core.progress import Progress, keep, raise_if_interrupted
from ..core.source import Source
from ..core.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, HfApi


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


def hub_client() -> HfApi:
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
        entries = (entry for entry in api.list_repo_tree(*args, **options) if isinstance(entry, RepoFile))
        return {entry.path: (entry.size, entry.lfs.sha256 if entry.lfs else entry.blob_id) for entry in entries}

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

    code, request_id = status(error), getattr(error, "request_id", None)
    text = " ".join(str(getattr(error, "server_message", None) or error).split())[:300]
    request_note = f" Request {request_id}." if request_id else ""
    advice = "Uploaded files are kept: run the same command again to continue."
    if code == 401 and not isinstance(error, RepositoryNotFoundError):
        return HubError(
            f"the Hub does not accept the token ({text}). Log in again with `hf auth login`, or set HF_TOKEN to a "
            "valid token."
        )
    if code in (401, 403, 404):
        return HubError(
            f"your token has no write permission for {name} ({text}). It needs write access to the repositories of "
            f"{name.split('/')[0]}: check the role of the token and your membership.{request_note}"
        )
    if code is not None:
        outcome = "repeatedly failed" if is_transient(error) else "rejected the request"
        return HubError(f"the Hub {outcome} with status {code} ({text}). {advice}{request_note}")
    problem = "the Hub cannot be reached" if is_transient(error) else f"the push to {name} failed"
    return HubError(f"{problem} at {constants.ENDPOINT} ({type(error).__name__}: {text}). {advice}")


STALE = (409, 412)  # the Hub's response to a commit whose parent is no longer the head
LEFT_ALONE = {".gitattributes"}  # created by the Hub with the repository
NAME = re.compile(r"(?!.*(?:--|\.\.|\.git$))\w(?:[\w.-]*\w)?", re.ASCII)
LONGEST_NAME = 96
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
SHOWN = 5


@dataclass(frozen=True)
class Target:
    """The repository ("ORG/NAME") and tag to push to, and whether the repository may be public."""

    name: str
    tag: str
    public: bool = False


@dataclass(frozen=True)
class Pushed:
    """The result of a push.

    Attributes:
        commit: The commit that contains the output.
        made: Whether this push created the commit.
        kept: Other files that remain in the repository.
        tagged: Commit of the tag. It is older than `commit` if the same content was pushed before.
    """

    url: str
    commit: str
    made: bool
    added: int
    deleted: int
    kept: tuple[str, ...]
    private: bool
    tagged: str


def check_names(target: Target) -> None:
    """Raise UsageError if the name of the repository or of the tag is invalid."""
    check_repository(target.name)
    if not TAG.fullmatch(target.tag) or target.tag == "main" or ".." in target.tag:
        raise UsageError(f"--tag {shortened(target.tag)} may contain only letters, digits and '.-_+', as in v1.0.0.")


def check_repository(name: str) -> None:
    """Raise UsageError if the name of a repository is invalid."""
    parts = name.split("/")
    if len(parts) != 2 or len(name) > LONGEST_NAME or not all(map(NAME.fullmatch, parts)):
        raise UsageError(
            f"{shortened(name)} is not a valid repository name. Use ORG/NAME, where ORG is a user or "
            "organisation and NAME is the dataset. Both may contain letters and digits, separated by '-', '_' or '.'."
        )


def inspect_repository(api: HfApi, target: Target, info: Mapping[str, Any]) -> Snapshot:
    """Read a repository, and check that pushing to it is allowed. `info` is the content of `build.json`.

    Raises:
        HubError: The repository is public although `target` does not allow it, contains other files or another
            benchmark, or has the tag on other content. Also raised if the Hub fails.
    """
    snapshot = read_snapshot(api, target.name)
    if not (snapshot.private or target.public):
        raise HubError(f"{target.name} is public. Pass --public to push there, or make it private in its settings.")
    if not snapshot.build and (others := sorted(snapshot.files.keys() - LEFT_ALONE)):
        raise HubError(
            f"{target.name} contains files that `stressreel push` did not write ({', '.join(others[:SHOWN])}). They "
            "are unchanged. Choose the name of a new or empty repository."
        )
    builder = snapshot.build["builder"] if snapshot.build else None
    if builder not in (None, info["builder"]):
        raise HubError(
            f"{target.name} contains an output of {shortened(builder)}, which this output of "
            f"{info['builder']} would replace. It is unchanged. Choose the name of another repository."
        )
    if target.tag in snapshot.tags:
        tagged = read_snapshot(api, target.name, snapshot.tags[target.tag])
        earlier = tagged.build["fingerprint"] if tagged.build else "unknown"
        if earlier != info["fingerprint"]:
            raise HubError(
                f"{target.name} already has the tag {target.tag}, which belongs to other content (fingerprint "
                f"{earlier[:16]}; this output has {info['fingerprint'][:16]}). Tags are not moved: build this output "
                "with a higher --version, or give another --tag."
            )
    return snapshot


def push(
    api: HfApi,
    target: Target,
    info: Mapping[str, Any],
    files: Sequence[HashedFile],
    snapshot: Snapshot,
    message: Sequence[str],
    *,
    progress: bool = False,
) -> Pushed:
    """Upload the files of an output in one commit, and tag it.

    Only changed files are sent, and files that an interrupted push has uploaded are not sent again. The commit names
    `snapshot`, the repository as inspected, as its parent, so it fails if someone else has pushed in the meantime.
    Finally, the size and hash of every file on the Hub are checked.

    Raises:
        HubError: As for `inspect_repository`. Also raised if others pushed in the meantime, or if a file differs after
            the push.
    """
    from huggingface_hub import CommitOperationDelete

    name = target.name
    if not snapshot.commit:
        request(api.create_repo, name, private=not target.public, exist_ok=True)
        snapshot = inspect_repository(api, target, info)  # another client may have created it in the meantime
    tables = {*info["counts"], *(snapshot.build["counts"] if snapshot.build else ())}
    add, delete = changes_to(snapshot, files, tables)
    if add or delete:
        sent = _upload(api, name, [file for file in files if file.name in add], progress)
        operations = [*sent, *(CommitOperationDelete(path, is_folder=False) for path in delete)]
        title = f"Push {info['builder']} {info['dataset_version']}, fingerprint {info['fingerprint'][:16]}"
        text = "\n".join([f"By stressreel {__version__}. Fingerprint {info['fingerprint']}.", *message])
        more: dict[str, Any] = {"commit_message": title, "commit_description": text, "parent_commit": snapshot.commit}
        try:
            commit = request(api.create_commit, name, operations, **more).oid
        except HubError as error:
            if status(error.__cause__) not in STALE:
                raise
            commit = None  # by someone else, or by this push if the response was lost
        snapshot = read_snapshot(api, name, commit)
        if wrong := [path for paths in changes_to(snapshot, files, tables) for path in paths]:
            raise HubError(
                f"{name} differs from the output at commit {snapshot.commit[:12]} ({', '.join(wrong[:SHOWN])}). "
                + ("It was not tagged." if commit else "Another client made it in the meantime; yours was not made.")
                + " Verify the output and check the repository, then run the same command again."
            )
    if target.tag not in snapshot.tags:
        request(api.create_tag, name, tag=target.tag, revision=snapshot.commit, exist_ok=True)
    return Pushed(
        url=f"{api.endpoint}/datasets/{name}",
        commit=snapshot.commit,
        made=bool(add or delete),
        added=len(add),
        deleted=len(delete),
        kept=tuple(sorted(snapshot.files.keys() - {file.name for file in files} - LEFT_ALONE)),
        private=snapshot.private,
        tagged=inspect_repository(api, target, info).tags.get(target.tag, snapshot.commit),
    )


def changes_to(snapshot: Snapshot, files: Sequence[HashedFile], tables: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the names of files that a repository lacks, and of files of an earlier output that it still has."""
    remote_files = snapshot.files
    hashes = {file.name: ((file.size, file.sha256), (file.size, file.blob)) for file in files}
    add = [name for name in hashes if remote_files.get(name) not in hashes[name]]
    return add, sorted(name for name in remote_files.keys() - hashes.keys() if is_pushed(name, tables))


def _upload(api: HfApi, name: str, files: Sequence[HashedFile], progress: bool) -> list[CommitOperationAdd]:
    """Upload large files one by one, so that finished ones are kept. Small files are sent with the commit."""
    from huggingface_hub import CommitOperationAdd

    additions = []
    with Progress("upload", len(files), "file", shown=progress) as bar:
        for file in files:
            raise_if_interrupted()
            additions.append(CommitOperationAdd(file.name, str(file.path)))
            request(api.preupload_lfs_files, name, additions[-1:], free_memory=False, waits=())
            keep("uploaded file")
            bar.advance()
    return additions


@dataclass(frozen=True)
class File:
    """A file of an output. `name` is its path relative to the output, and also in the repository."""

    name: str
    path: Path
    size: int


@dataclass(frozen=True)
class HashedFile(File):
    """A file with the hashes by which the Hub identifies it: SHA-256 for large files, Git's SHA-1 for others."""

    sha256: str
    blob: str


def files_of(output: FinishedOutput) -> list[File]:
    """Return the files of an output to publish, sorted by name. Raise InputError if one is missing."""
    names = own_names(output)
    missing = [name for name in names if not (output.path / name).is_file()]
    if missing:
        raise InputError(f"{output.path} lacks {', '.join(missing[:5])}. Run `stressreel verify` for details.")
    return [File(name, output.path / name, (output.path / name).stat().st_size) for name in sorted(set(names))]


def hashed(file: File) -> HashedFile:
    """Compute the SHA-256 and Git's SHA-1 of a file."""
    with open(file.path, "rb") as handle:
        blob = hashlib.file_digest(handle, partial(hashlib.sha1, b"blob %d\0" % file.size, usedforsecurity=False))
    return HashedFile(file.name, file.path, file.size, sha256_file(file.path), blob.hexdigest())


def is_pushed(name: str, tables: Collection[str]) -> bool:
    """Return whether `stressreel push` may have written this file, given the names of the output's tables."""
    folder, _, file = name.rpartition("/")
    if folder == FIGURES:
        return file.endswith(".png")
    return name in (BUILD, CARD, CROISSANT, UNITS, EVAL, TEXT_SHIFT, SIGNATURE) or (
        folder in tables and file.endswith(".parquet")
    )


def permission(source: Source, *, videos: bool, confirmed: str | None) -> str:
    """Return the reason why an output may be published.

    Videos are never published if their licence forbids it. Annotations from such a source, and anything from a source
    with an unknown licence, require `confirmed`, the user's reason.

    Raises:
        UsageError: The reason is empty.
        InputError: The output may not be published, or requires a confirmation.
    """
    statement = None if confirmed is None else " ".join(confirmed.split())
    if statement == "":
        raise UsageError("--licence-confirmed is empty. State why you may publish this; your statement is recorded.")
    name = source.license.get("license_name") or source.license.get("license", "unknown")
    stated = f"{source.name}: {name}" + (f" ({source.terms})" if source.terms else "")
    if videos and source.redistributable is False:
        raise InputError(
            f"the videos may not be published. They come from {source.name}, whose terms are: {source.terms}. Push "
            "an output without videos, or share the command and the fingerprint in build.json: anyone with the source "
            "videos can build the same output."
        )
    if source.redistributable is None and statement is None:
        raise InputError(
            f"stressreel does not know whether this may be published. Its source is {stated}. If you may publish "
            'it, state why: --licence-confirmed "…". The statement is recorded in the commit message.'
        )
    if not source.redistributable and statement is None:
        raise InputError(
            f"questions and annotations are derived from {source.name}, whose terms are: {source.terms}. If "
            'you may publish them, state why: --licence-confirmed "…". It is recorded in the commit message.'
        )
    return stated + (f'. Confirmed by the uploader: "{statement}"' if statement else "")

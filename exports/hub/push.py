"""Push an output to the Hugging Face Hub in one commit, verify it, and tag it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.documents import shortened
from ...core.errors import HubError, StressreelError, UsageError
from ...core.interrupt import check
from ...core.progress import Progress, keep
from ...core.version import __version__
from .client import (
    DATASET,
    WAITS_S,
    Snapshot,
    build_at,
    create,
    hub_error,
    hub_exceptions,
    is_transient,
    read_snapshot,
    status,
    tags,
    translated_errors,
    with_retries,
)
from .contents import HashedFile, is_pushed

if TYPE_CHECKING:
    from huggingface_hub import CommitOperation, CommitOperationAdd, HfApi

STALE = (409, 412)  # the Hub's response to a commit whose parent is no longer the head
LEFT_ALONE = (".gitattributes",)  # created by the Hub with the repository
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
class RemoteState:
    """State of a repository before a push, with the tables of the output in it and the commit of the tag."""

    snapshot: Snapshot | None = None
    tables: frozenset[str] = frozenset()
    tagged: str | None = None


@dataclass(frozen=True)
class Changes:
    """The files that a commit adds or replaces, and the files of an earlier push that it deletes."""

    add: tuple[HashedFile, ...]
    delete: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.add or self.delete)


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
    parts = target.name.split("/")
    if len(parts) != 2 or len(target.name) > LONGEST_NAME or not all(map(NAME.fullmatch, parts)):
        raise UsageError(
            f"{shortened(target.name)} is not a valid repository name. Use ORG/NAME, where ORG is a user or "
            "organisation and NAME is the dataset. Both may contain letters and digits, separated by '-', '_' or '.'."
        )
    if not TAG.fullmatch(target.tag) or target.tag == "main" or ".." in target.tag:
        raise UsageError(f"--tag {shortened(target.tag)} may contain only letters, digits and '.-_+', as in v1.0.0.")


def inspect(api: HfApi, target: Target, info: dict[str, Any]) -> RemoteState:
    """Read the state of a repository, and check that pushing to it is allowed. `info` is the content of `build.json`.

    Raises:
        HubError: The repository is public although `target` does not allow it, contains other files or another
            benchmark, or has the tag on other content. Also raised if the Hub fails.
    """
    snapshot = read_snapshot(api, target.name)
    if snapshot is None:
        return RemoteState()
    if not (snapshot.private or target.public):
        raise HubError(f"{target.name} is public. Pass --public to push there, or make it private in its settings.")
    earlier = build_at(api, target.name, snapshot)
    others = [name for name in snapshot.files if name not in LEFT_ALONE]
    if earlier is None and others:
        raise HubError(
            f"{target.name} contains files that `stressreel push` did not write ({', '.join(sorted(others)[:SHOWN])}). "
            "They are unchanged. Choose the name of a new or empty repository."
        )
    before = None if earlier is None else str(earlier.get("builder"))
    if before not in (None, info["builder"]):
        raise HubError(
            f"{target.name} contains an output of {shortened(before)}, which this output of {info['builder']} would "
            "replace. It is unchanged. Choose the name of another repository."
        )
    tagged = tags(api, target.name).get(target.tag)
    if tagged is not None:
        at_tag = read_snapshot(api, target.name, tagged)
        build = build_at(api, target.name, at_tag) if at_tag else None
        if build is None or build["fingerprint"] != info["fingerprint"]:
            other = f"fingerprint {build['fingerprint'][:16]}" if build else "not an output of stressreel"
            raise HubError(
                f"{target.name} already has the tag {target.tag}, which belongs to other content ({other}; this output "
                f"has {info['fingerprint'][:16]}). Tags are not moved: build this output with a higher --version, or "
                "give another --tag."
            )
    return RemoteState(snapshot, frozenset(earlier["counts"]) if earlier else frozenset(), tagged)


def push(
    api: HfApi,
    target: Target,
    info: dict[str, Any],
    files: Sequence[HashedFile],
    found: RemoteState,
    message: Sequence[str],
    *,
    progress: bool = False,
) -> Pushed:
    """Upload the files of an output in one commit, and tag it.

    Only changed files are sent, and files that an interrupted push has uploaded are not sent again. The commit names
    its parent. If someone else has pushed in the meantime, it is created again on top of theirs, unless they changed
    files of the output. Finally, the hash of every file on the Hub is checked.

    Raises:
        HubError: As for `inspect`. Also raised if others pushed in the meantime, or if a file differs after the push.
    """
    if found.snapshot is None:
        create(api, target.name, public=target.public)
        found = inspect(api, target, info)  # another client may have created it in the meantime
    tables = found.tables | frozenset(info["counts"])
    snapshot = found.snapshot or _existing(api, target.name)
    changes = changes_to(snapshot, files, tables)
    if changes:
        title = f"Push {info['builder']} {info['dataset_version']}, fingerprint {info['fingerprint'][:16]}"
        text = "\n".join([f"By stressreel {__version__}. Fingerprint {info['fingerprint']}.", *message])
        snapshot = _commit(api, target.name, files, snapshot, changes, tables, (title, text), progress)
    tagged = found.tagged or _tag(api, target, snapshot.commit)
    names = {file.name for file in files}
    return Pushed(
        url=f"{api.endpoint}/datasets/{target.name}",
        commit=snapshot.commit,
        made=bool(changes),
        added=len(changes.add),
        deleted=len(changes.delete),
        kept=tuple(sorted(set(snapshot.files) - names - set(LEFT_ALONE))),
        private=snapshot.private,
        tagged=tagged,
    )


def changes_to(snapshot: Snapshot, files: Iterable[HashedFile], tables: frozenset[str]) -> Changes:
    """Return the operations that add the files of this output to a repository and delete those of an earlier one."""
    wanted = {file.name: file for file in files}
    there = snapshot.files
    add = [file for name, file in wanted.items() if name not in there or not there[name].holds(file)]
    return Changes(tuple(add), tuple(sorted(name for name in there if name not in wanted and is_pushed(name, tables))))


def _commit(
    api: HfApi,
    name: str,
    files: Sequence[HashedFile],
    snapshot: Snapshot,
    changes: Changes,
    tables: frozenset[str],
    message: tuple[str, str],
    progress: bool,
) -> Snapshot:
    """Create the commit, and return the state of the repository afterwards.

    After a failure, the repository is read before the commit is retried, because the commit may have succeeded although
    its response was lost.
    """
    from huggingface_hub import CommitOperationDelete

    operations: list[CommitOperation] = [
        *_upload(api, name, changes.add, progress),
        *(CommitOperationDelete(path, is_folder=False) for path in changes.delete),
    ]
    moved = False
    for wait in (*WAITS_S, None):
        try:
            done = api.create_commit(
                name,
                operations,
                commit_message=message[0],
                commit_description=message[1],
                repo_type=DATASET,
                parent_commit=snapshot.commit,
            )
        except hub_exceptions() as error:
            stale = status(error) in STALE
            if not (stale or is_transient(error)):
                raise hub_error(error, name) from error
            now = _existing(api, name)
            left = changes_to(now, files, tables)
            if not left:
                return now  # the commit was created, and its response lost
            if now.commit != snapshot.commit:
                if moved or left != changes:
                    raise HubError(
                        f"another client pushed to {name} in the meantime: commit {now.commit[:12]} has replaced "
                        f"{snapshot.commit[:12]}. Nothing of this output was committed. Check the repository, then run "
                        "the same command again."
                    ) from error
                snapshot, moved = now, True
            elif wait is None:
                raise hub_error(error, name) from error
            else:
                time.sleep(wait)
        except ValueError as error:  # raised by huggingface_hub for an invalid card or response
            raise HubError(f"the Hub rejected the commit to {name}: {' '.join(str(error).split())}") from error
        else:
            return _read_back(api, name, files, done.oid, tables)
    raise HubError(f"{name} keeps changing because other clients are pushing to it. Run the same command again later.")


def _upload(api: HfApi, name: str, files: Sequence[HashedFile], progress: bool) -> list[CommitOperationAdd]:
    """Upload large files one by one, so that finished ones are kept. Small files are sent with the commit."""
    from huggingface_hub import CommitOperationAdd

    additions = []
    with Progress("upload", len(files), "file", shown=progress) as shown:
        for file in files:
            check()
            try:
                addition = CommitOperationAdd(file.name, str(file.path))
                api.preupload_lfs_files(name, [addition], repo_type=DATASET, free_memory=False)
            except StressreelError:
                raise
            except Exception as error:  # each protocol for large files has its own exceptions
                cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
                if isinstance(cause, hub_exceptions()):
                    raise hub_error(cause, name) from error
                raise HubError(
                    f"{file.name} could not be uploaded to {name} ({type(cause).__name__}: "
                    f"{' '.join(str(cause).split())[:300]}). Uploaded files are kept: run the same command again to "
                    "continue."
                ) from error
            additions.append(addition)
            keep("uploaded file")
            shown.advance()
    return additions


def _read_back(api: HfApi, name: str, files: Sequence[HashedFile], commit: str, tables: frozenset[str]) -> Snapshot:
    snapshot = read_snapshot(api, name, commit)
    if snapshot is None:
        raise HubError(f"{name} was pushed but no longer exists.")
    left = changes_to(snapshot, files, tables)
    if left:
        wrong = [*(file.name for file in left.add), *left.delete]
        raise HubError(
            f"{name} differs from the output at commit {commit[:12]}: {', '.join(wrong[:SHOWN])}. The commit was not "
            "tagged. If the output was changed in the meantime, verify it, then run the same command again."
        )
    return snapshot


def _existing(api: HfApi, name: str) -> Snapshot:
    snapshot = read_snapshot(api, name)
    if snapshot is None:
        raise HubError(f"{name} was created but cannot be read: your token allows writing there, but not reading.")
    return snapshot


def _tag(api: HfApi, target: Target, commit: str) -> str:
    with translated_errors(target.name):
        with_retries(
            lambda: api.create_tag(target.name, tag=target.tag, revision=commit, repo_type=DATASET, exist_ok=True)
        )
    tagged = tags(api, target.name).get(target.tag)
    if tagged != commit:
        raise HubError(
            f"{target.name} contains the output at commit {commit[:12]}, but in the meantime the tag {target.tag} was "
            f"set to {str(tagged)[:12]}. Choose another --tag."
        )
    return tagged

"""Push an output: one commit on the Hub, which changes the data set in one step, read back, and a tag."""

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
    explained,
    explaining,
    failures,
    look,
    passing,
    patient,
    status,
    tags,
)
from .contents import HashedFile, is_pushed

if TYPE_CHECKING:
    from huggingface_hub import CommitOperation, CommitOperationAdd, HfApi

STALE = (409, 412)  # the Hub's answer to a commit whose parent is no longer the last one
LEFT_ALONE = (".gitattributes",)  # which the Hub makes with the repository
NAME = re.compile(r"(?!.*(?:--|\.\.|\.git$))\w(?:[\w.-]*\w)?", re.ASCII)
LONGEST_NAME = 96
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
SHOWN = 5


@dataclass(frozen=True)
class Target:
    """Where an output goes.

    Attributes:
        name: "ORG/NAME".
        tag: The tag of its commit.
        public: Whether the repository may be, or is made, public.
    """

    name: str
    tag: str
    public: bool = False


@dataclass(frozen=True)
class RemoteState:
    """What is on the Hub before a push.

    Attributes:
        snapshot: The repository; None if there is none.
        tables: Tables of the output that it holds.
        tagged: The commit of the tag; None if there is none.
    """

    snapshot: Snapshot | None = None
    tables: frozenset[str] = frozenset()
    tagged: str | None = None


@dataclass(frozen=True)
class Changes:
    """What a commit has to change.

    Attributes:
        add: Files that are not there, or otherwise.
        delete: Files of an earlier push that this output does not have.
    """

    add: tuple[HashedFile, ...]
    delete: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether there is anything to change."""
        return bool(self.add or self.delete)


@dataclass(frozen=True)
class Pushed:
    """What a push did.

    Attributes:
        url: The data set's page.
        commit: The commit that holds the output.
        made: Whether it was made now.
        added: Files that were sent.
        deleted: Files that were deleted.
        kept: Files of others that stay in the repository.
        private: Whether the repository is private.
        tagged: The commit of the tag: an earlier one, if the same content was pushed before.
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
    """Refuse names that the Hub would not take.

    Raises:
        UsageError: The repository's name is none, or the tag's.
    """
    parts = target.name.split("/")
    if len(parts) != 2 or len(target.name) > LONGEST_NAME or not all(map(NAME.fullmatch, parts)):
        raise UsageError(
            f"{shortened(target.name)} is no name of a repository. Give ORG/NAME: the user or organisation, and the "
            "data set, in letters, digits, and '-', '_', '.' between them."
        )
    if not TAG.fullmatch(target.tag) or target.tag == "main" or ".." in target.tag:
        raise UsageError(f"--tag {shortened(target.tag)}: letters, digits, '.', '-', '_' and '+', such as v1.0.0.")


def inspect(api: HfApi, target: Target, info: dict[str, Any]) -> RemoteState:
    """Look at a repository, and refuse what must not be pushed there. Nothing is sent.

    Args:
        api: The Hub.
        target: The repository.
        info: The content of `build.json`.

    Raises:
        HubError: It is public and that was not asked for, holds something else than an output, has another content
            under the tag, or the Hub refuses or fails.
    """
    snapshot = look(api, target.name)
    if snapshot is None:
        return RemoteState()
    if not (snapshot.private or target.public):
        raise HubError(f"{target.name} is public. Say --public to push there, or make it private in its settings.")
    earlier = build_at(api, target.name, snapshot)
    others = [name for name in snapshot.files if name not in LEFT_ALONE]
    if earlier is None and others:
        raise HubError(
            f"{target.name} holds something that `stressreel push` did not leave "
            f"({', '.join(sorted(others)[:SHOWN])}). It stays as it is: give the name of a new or empty repository."
        )
    tagged = tags(api, target.name).get(target.tag)
    if tagged is not None:
        at_tag = look(api, target.name, tagged)
        build = build_at(api, target.name, at_tag) if at_tag else None
        if build is None or build["fingerprint"] != info["fingerprint"]:
            other = f"fingerprint {build['fingerprint'][:16]}" if build else "no output of stressreel"
            raise HubError(
                f"{target.name} has the tag {target.tag} already, for other content ({other}; this output has "
                f"{info['fingerprint'][:16]}). A tag stays what it is: build this one with a higher --version, or give "
                "another --tag."
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
    """Bring the files of an output to the Hub.

    Files that are there are not sent again, and large ones that an earlier push uploaded are not either, so that a push
    that was stopped goes on. The commit names its parent: if somebody else has pushed meanwhile, it is made once more
    on theirs, unless that changed files of the output. Then every file is read back by its hash.

    Args:
        api: The Hub.
        target: The repository.
        info: The content of `build.json`.
        files: All files of the output.
        found: What `inspect` found.
        message: Lines for the commit's message, after the first.
        progress: Whether to show it.

    Raises:
        HubError: Somebody else pushed meanwhile, a file is not there as it was sent, or the Hub refuses or fails.
    """
    if found.snapshot is None:
        create(api, target.name, public=target.public)
        found = inspect(api, target, info)  # somebody else may have made it meanwhile
    tables = found.tables | frozenset(info["counts"])
    snapshot = found.snapshot or _there(api, target.name)
    changes = differing(files, snapshot, tables)
    if changes:
        snapshot = _commit(api, target.name, files, snapshot, changes, tables, _message(info, message), progress)
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


def differing(files: Iterable[HashedFile], snapshot: Snapshot, tables: frozenset[str]) -> Changes:
    """Return what a commit has to change, so that a repository holds an output and nothing of an earlier one."""
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
    """Make the commit, and return the repository at it, read back.

    Whatever goes wrong, the repository is looked at before the commit is tried again: a commit whose answer was lost is
    found there.
    """
    from huggingface_hub import CommitOperationDelete

    additions = _upload(api, name, changes.add, progress)
    operations: list[CommitOperation] = [
        *additions,
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
        except failures() as error:
            stale = status(error) in STALE
            if not (stale or passing(error)):
                raise explained(error, name) from error
            now = _there(api, name)
            left = differing(files, now, tables)
            if not left:
                return now  # the commit was made, and its answer lost
            if now.commit != snapshot.commit:
                if moved or left != changes:
                    raise HubError(
                        f"somebody else pushed to {name} meanwhile: commit {now.commit[:12]} is in the place of "
                        f"{snapshot.commit[:12]}. Nothing of this output was committed. Look at it there, then run the "
                        "same command again."
                    ) from error
                snapshot, moved = now, True
            elif wait is None:
                raise explained(error, name) from error
            else:
                time.sleep(wait)
        except ValueError as error:  # of huggingface_hub: the card's head, or an answer that is none
            raise HubError(f"the Hub did not take the commit to {name}: {' '.join(str(error).split())}") from error
        else:
            return _read_back(api, name, files, done.oid, tables)
    raise HubError(f"{name} does not stand still: others push to it all the time. Run the same command again later.")


def _upload(api: HfApi, name: str, files: Sequence[HashedFile], progress: bool) -> list[CommitOperationAdd]:
    """Upload large files, one after another, so that each is kept if a later one fails; small ones go in the commit."""
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
            except Exception as error:  # of either protocol for large files, each with its own kinds
                cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
                if isinstance(cause, failures()):
                    raise explained(cause, name) from error
                raise HubError(
                    f"{file.name} could not be uploaded to {name} ({type(cause).__name__}: "
                    f"{' '.join(str(cause).split())[:300]}). What was uploaded is kept: run the same command again to "
                    "go on."
                ) from error
            additions.append(addition)
            keep("uploaded file")
            shown.advance()
    return additions


def _read_back(api: HfApi, name: str, files: Sequence[HashedFile], commit: str, tables: frozenset[str]) -> Snapshot:
    """Compare every file at a commit with the local one.

    Raises:
        HubError: One differs.
    """
    snapshot = look(api, name, commit)
    if snapshot is None:
        raise HubError(f"{name} is gone: it was pushed, and cannot be read back.")
    left = differing(files, snapshot, tables)
    if left:
        wrong = [*(file.name for file in left.add), *left.delete]
        raise HubError(
            f"{name} does not hold what was sent, at commit {commit[:12]}: {', '.join(wrong[:SHOWN])}. There is no tag "
            "for it. If files of the output changed meanwhile, verify it; then run the same command again."
        )
    return snapshot


def _there(api: HfApi, name: str) -> Snapshot:
    snapshot = look(api, name)
    if snapshot is None:
        raise HubError(f"{name} cannot be read, though it was made: your token may write but not read there.")
    return snapshot


def _tag(api: HfApi, target: Target, commit: str) -> str:
    """Tag a commit, and return the commit that has the tag."""
    with explaining(target.name):
        patient(lambda: api.create_tag(target.name, tag=target.tag, revision=commit, repo_type=DATASET, exist_ok=True))
    tagged = tags(api, target.name).get(target.tag)
    if tagged != commit:
        raise HubError(
            f"{target.name} holds the output, at commit {commit[:12]}, but the tag {target.tag} was given to "
            f"{str(tagged)[:12]} meanwhile. Give another --tag."
        )
    return tagged


def _message(info: dict[str, Any], lines: Sequence[str]) -> tuple[str, str]:
    """Return title and text of the commit's message."""
    title = f"Push {info['builder']} {info['dataset_version']}, fingerprint {info['fingerprint'][:16]}"
    return title, "\n".join([f"By stressreel {__version__}. Fingerprint {info['fingerprint']}.", *lines])

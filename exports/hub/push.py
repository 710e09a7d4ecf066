"""Push an output to the Hugging Face Hub in one commit, verify it, and tag it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.documents import shortened
from ...core.errors import HubError, UsageError
from ...core.interrupt import check
from ...core.progress import Progress, keep
from ...core.version import __version__
from .client import Snapshot, read_snapshot, request, status
from .contents import HashedFile, is_pushed

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, HfApi

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
    parts = target.name.split("/")
    if len(parts) != 2 or len(target.name) > LONGEST_NAME or not all(map(NAME.fullmatch, parts)):
        raise UsageError(
            f"{shortened(target.name)} is not a valid repository name. Use ORG/NAME, where ORG is a user or "
            "organisation and NAME is the dataset. Both may contain letters and digits, separated by '-', '_' or '.'."
        )
    if not TAG.fullmatch(target.tag) or target.tag == "main" or ".." in target.tag:
        raise UsageError(f"--tag {shortened(target.tag)} may contain only letters, digits and '.-_+', as in v1.0.0.")


def inspect(api: HfApi, target: Target, info: Mapping[str, Any]) -> Snapshot:
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
    before = snapshot.build["builder"] if snapshot.build else None
    if before not in (None, info["builder"]):
        raise HubError(
            f"{target.name} contains an output of {shortened(before)}, which this output of "
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
    found: Snapshot,
    message: Sequence[str],
    *,
    progress: bool = False,
) -> Pushed:
    """Upload the files of an output in one commit, and tag it.

    Only changed files are sent, and files that an interrupted push has uploaded are not sent again. The commit names
    `found`, the repository as inspected, as its parent, so it fails if someone else has pushed in the meantime.
    Finally, the size and hash of every file on the Hub are checked.

    Raises:
        HubError: As for `inspect`. Also raised if others pushed in the meantime, or if a file differs after the push.
    """
    from huggingface_hub import CommitOperationDelete

    name = target.name
    if not found.commit:
        request(api.create_repo, name, private=not target.public, exist_ok=True)
        found = inspect(api, target, info)  # another client may have created it in the meantime
    tables = {*info["counts"], *(found.build["counts"] if found.build else ())}
    add, delete = changes_to(found, files, tables)
    if add or delete:
        sent = _upload(api, name, [file for file in files if file.name in add], progress)
        operations = [*sent, *(CommitOperationDelete(each, is_folder=False) for each in delete)]
        title = f"Push {info['builder']} {info['dataset_version']}, fingerprint {info['fingerprint'][:16]}"
        text = "\n".join([f"By stressreel {__version__}. Fingerprint {info['fingerprint']}.", *message])
        more: dict[str, Any] = {"commit_message": title, "commit_description": text, "parent_commit": found.commit}
        try:
            commit = request(api.create_commit, name, operations, **more).oid
        except HubError as error:
            if status(error.__cause__) not in STALE:
                raise
            commit = None  # by someone else, or by this push if the response was lost
        found = read_snapshot(api, name, commit)
        if wrong := [each for part in changes_to(found, files, tables) for each in part]:
            raise HubError(
                f"{name} differs from the output at commit {found.commit[:12]} ({', '.join(wrong[:SHOWN])}). "
                + ("It was not tagged." if commit else "Another client made it in the meantime; yours was not made.")
                + " Verify the output and check the repository, then run the same command again."
            )
    if target.tag not in found.tags:
        request(api.create_tag, name, tag=target.tag, revision=found.commit, exist_ok=True)
    return Pushed(
        url=f"{api.endpoint}/datasets/{name}",
        commit=found.commit,
        made=bool(add or delete),
        added=len(add),
        deleted=len(delete),
        kept=tuple(sorted(found.files.keys() - {file.name for file in files} - LEFT_ALONE)),
        private=found.private,
        tagged=inspect(api, target, info).tags.get(target.tag, found.commit),
    )


def changes_to(snapshot: Snapshot, files: Sequence[HashedFile], tables: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the names of files that a repository lacks, and of files of an earlier output that it still has."""
    there = snapshot.files
    hashes = {file.name: ((file.size, file.sha256), (file.size, file.blob)) for file in files}
    add = [name for name in hashes if there.get(name) not in hashes[name]]
    return add, sorted(name for name in there.keys() - hashes.keys() if is_pushed(name, tables))


def _upload(api: HfApi, name: str, files: Sequence[HashedFile], progress: bool) -> list[CommitOperationAdd]:
    """Upload large files one by one, so that finished ones are kept. Small files are sent with the commit."""
    from huggingface_hub import CommitOperationAdd

    additions = []
    with Progress("upload", len(files), "file", shown=progress) as shown:
        for file in files:
            check()
            additions.append(CommitOperationAdd(file.name, str(file.path)))
            request(api.preupload_lfs_files, name, additions[-1:], free_memory=False, waits=())
            keep("uploaded file")
            shown.advance()
    return additions

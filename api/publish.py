"""Publish an output: rewrite its card, withhold answers, sign it, and push it to the Hugging Face Hub."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..core.errors import InputError, UsageError
from ..core.files import EVAL, SIGNATURE, check_outside, write_atomic
from ..core.functions import public
from ..core.results import Result, Table, json_value
from ..core.rows import AnyPath
from ..core.settings import Workers
from .agreement import read_agreement
from .verify import verify

if TYPE_CHECKING:
    from ..builders.runtime.verify import Outcome, Verification
    from ..core.output import FinishedOutput
    from ..exports.hub import File, Pushed, Target
    from ..exports.signature import Signer


UNVERIFIED = ("tools", "version")
"""What may remain unverified in an output that is pushed, such as one built by an earlier version of stressreel."""


@dataclass(frozen=True)
class Contents:
    """The files to push, and their destination.

    Attributes:
        target: The repository and tag.
        licence: The reason why the files may be published.
        signed: Whether the output is signed before the push.
        eval_text: Text of `eval.yaml`, if the push writes it.
    """

    files: tuple[File, ...]
    target: Target
    licence: str
    signed: bool = False
    eval_text: str | None = None

    def __str__(self) -> str:
        target, total = self.target, sum(file.size for file in self.files)
        lines = [f"{file.size:>15,}  {file.name}" for file in self.files]
        lines.append(f"{total:>15,}  bytes in {len(self.files):,} files")
        lines.append(f"to {target.name}, {'public' if target.public else 'private'} if it is new, tag {target.tag}")
        lines.append(f"licence: {self.licence}")
        written = [*[EVAL] * (self.eval_text is not None), *[SIGNATURE] * self.signed]
        return "\n".join([*lines, *(f"{name} is written first and pushed too" for name in written)])


@dataclass(frozen=True)
class Push(Result):
    """Result of `push`.

    Attributes:
        contents: The files and their destination.
        report: The outcomes of the checks before the push.
        pushed: The changes on the Hub; None for a dry run, or if a check failed.
        dry_run: Whether this was a dry run, which sends nothing.
    """

    contents: Contents
    report: Verification
    pushed: Pushed | None
    dry_run: bool

    @property
    def failed(self) -> bool:  # type: ignore[override]
        """Whether a check failed, in which case nothing was sent."""
        return self.report.failed

    @property
    def notes(self) -> Sequence[str]:  # type: ignore[override]
        """A note that names the failed checks, if there are any."""
        failed = [outcome.name for outcome in self.report if not outcome.passed]
        note = f"{len(failed)} of {len(self.report)} checks failed: {', '.join(failed)}. Nothing was sent."
        return [note] if failed else []

    def as_json(self) -> dict[str, Any]:
        """Return the destination, the files with their sizes in bytes, the checks, and the changes on the Hub."""
        return {
            "repository": self.contents.target.name,
            "tag": self.contents.target.tag,
            "public": self.contents.target.public,
            "licence": self.contents.licence,
            "signed": self.contents.signed,
            "dry_run": self.dry_run,
            "files": [{"name": file.name, "size_bytes": file.size} for file in self.contents.files],
            "verification": self.report.as_json(),
            "pushed": json_value(self.pushed),
        }

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table of the files and their sizes."""
        title = f"{self.contents.target.name}, tag {self.contents.target.tag}"
        rows = tuple((file.name, file.size) for file in self.contents.files)
        return (Table("files", title, ("file", "bytes"), rows, self.closing() or " ".join(self.notes)),)

    def __str__(self) -> str:
        parts = [*([self.contents] if self.dry_run else []), *self.report, self.closing()]
        return "\n".join(filter(None, map(str, parts)))

    def closing(self) -> str:
        """Return a description of what has changed on the Hub."""
        done, target, count = self.pushed, self.contents.target, len(self.contents.files)
        if done is None:
            return "" if self.failed else "Nothing was sent: this was a dry run."
        where = f"{done.url} ({'private' if done.private else 'public'}), commit {done.commit[:12]}"
        lines = [f"Nothing to push: {where} already contains this output."]
        if done.made:
            lines = [
                f"Pushed to {where}: {done.added:,} files sent, {count - done.added:,} unchanged, "
                f"{done.deleted:,} deleted."
            ]
        lines.append(f"All {count:,} files match their hashes on the Hub.")
        if target.public and done.private:
            lines.append("The repository already existed and remains private; change this in its settings on the Hub.")
        if done.kept:
            signed = any(file.name == SIGNATURE for file in self.contents.files)
            unsigned = " They are not signed, so verification of a full download reports them as added." * signed
            kept = f"{', '.join(done.kept[:5])}{', …' * (len(done.kept) > 5)}"
            lines.append(f"Other files in the repository were kept: {kept}.{unsigned}")
        earlier = f", on commit {done.tagged[:12]}, which has the same content" if done.tagged != done.commit else ""
        lines.append(f"Tag {target.tag}{earlier}.")
        return "\n".join([*lines, f'  load_dataset("{target.name}", revision="{target.tag}")'])


@public
def push(
    out: AnyPath,
    repository: str,
    *,
    tag: Annotated[str | None, Parameter(show_default="the dataset version prefixed with v, such as v1.0.0")] = None,
    public: bool = False,
    dry_run: bool = False,
    licence_confirmed: str | None = None,
    sign: bool = False,
    key: Path | str | None = None,
    password_file: Path | str | None = None,
    certificate: Path | str | None = None,
    eval_framework: str | None = None,
    decode: bool = True,
    workers: Workers = None,
    progress: bool = True,
    each: Callable[[Contents | Outcome], None] | None = None,
) -> Push:
    """Push an output to the Hugging Face Hub, in one commit, and verify it before and after.

    The token is taken from `hf auth login` or HF_TOKEN. Files that the repository already contains are not sent
    again, so the same command continues an interrupted push. A new repository is private.

    For example::

        stressreel push out/clavi ORG/clavi --dry-run
        stressreel push out/clavi ORG/clavi

    Args:
        out: The output of a build.
        repository: The dataset, as ORG/NAME.
        tag: Tag of the commit.
        public: Make a new repository public, or allow one that is public.
        dry_run: List and verify the files without sending them.
        licence_confirmed: Reason why you may redistribute the output, if stressreel does not know its licence. The
            commit message records it.
        sign: Sign `out` first, like `stressreel sign`.
        key: With --sign: PEM file of the private key.
        password_file: With --sign: file whose first line is the password of an encrypted key.
        certificate: With --sign: PEM file of the certificate chain of the key.
        eval_framework: Identifier of an evaluation framework that is registered on the Hub, such as inspect-ai: write
            `eval.yaml` to `out` first, which declares the tasks of a leaderboard.
        decode: Decode the videos to verify them. Otherwise, the commit message says that they were not decoded.
        workers: Number of processes that decode videos.
        progress: Show progress.
        each: Callback for the outcome of each check as soon as it is known; in a dry run, first for the files.

    Returns:
        The result; nothing was sent if `failed` is true.

    Raises:
        UsageError: The output does not exist, or a name is not allowed.
        InputError: The output cannot be read, or its licence does not allow the upload.
        HubError: The Hub refuses or fails, or the repository contains other files.
    """
    from ..core.output import reading
    from ..exports.hub import Target, files_of, hashed, hub_client, inspect_repository
    from ..exports.hub import push as send
    from ..exports.signature import sign as write_signature

    if not sign and any(option is not None for option in (key, password_file, certificate)):
        raise UsageError("--key, --password-file and --certificate require --sign.")
    signing = signer(key, password_file, certificate).configured() if sign else None
    with reading(Path(out)) as output:
        target = Target(repository, f"v{output.info['dataset_version']}" if tag is None else tag, public)
        contents = contents_of(Path(out), output, target, confirmed=licence_confirmed, sign=sign)
        if eval_framework is not None:
            contents = with_eval_file(contents, output, eval_framework)
    check = partial(verify, out, decode=decode, workers=workers, allow_unverified=UNVERIFIED, each=each)
    if dry_run:
        if each is not None:
            each(contents)
        return Push(contents, check(), None, dry_run)
    api = hub_client()
    state = inspect_repository(api, target, output.info)
    if contents.eval_text is not None:
        write_atomic(Path(out) / EVAL, contents.eval_text)
        with reading(Path(out)) as output:
            contents = replace(contents, files=_unsigned_files(output, sign))
    ready = [hashed(file) for file in contents.files]
    report = check()
    if report.failed:
        return Push(contents, report, None, dry_run)
    if sign:
        write_signature(output, signing)
        contents = replace(contents, files=tuple(files_of(output)))
        ready += [hashed(file) for file in contents.files if file.name == SIGNATURE]
    message = [f"Licence: {contents.licence}.", f"Verified before{'' if decode else ', without decoding the videos'}."]
    return Push(contents, report, send(api, target, output.info, ready, state, message, progress=progress), dry_run)


def contents_of(path: Path, output: FinishedOutput, target: Target, *, confirmed: str | None, sign: bool) -> Contents:
    """Return the files to push, or raise an error if the output, target or licence does not allow it."""
    from ..builders import benchmark_of
    from ..core.output import writable
    from ..core.source import source_of
    from ..exports.hub import check_names, permission
    from ..exports.signature import check_signature

    if "public" in output.withheld:
        raise UsageError(f"{path} contains the answers that its public copy withholds. Push the public copy.")
    check_names(target)
    if sign:
        writable(path)
    else:
        check_signature(output)
    files = _unsigned_files(output, sign)
    counts = output.info["counts"]
    videos = any(
        column.kind == "video" and any(counts.get(config.name, {}).values())
        for config in benchmark_of(output).configs(output.info)
        for column in config.columns
    )
    return Contents(files, target, permission(source_of(output.info), videos=videos, confirmed=confirmed), sign)


def _unsigned_files(output: FinishedOutput, sign: bool) -> tuple[File, ...]:
    """Return the files to push, without the signature if it will be written again."""
    from ..exports.hub import files_of

    return tuple(file for file in files_of(output) if not (sign and file.name == SIGNATURE))


def with_eval_file(contents: Contents, output: FinishedOutput, framework: str) -> Contents:
    """Add the text of `eval.yaml`, or raise UsageError if it cannot be written."""
    from ..builders import benchmark_of
    from ..core.output import writable
    from ..data_cards.leaderboard import eval_file

    writable(output.path)
    benchmark = benchmark_of(output)
    text = eval_file(output, benchmark.question_tables(output.info), benchmark.summary, framework)
    if (output.path / SIGNATURE).is_file() and not contents.signed:
        raise UsageError(f"{output.path} is signed, and {EVAL} would make the signature invalid. Add --sign.")
    return replace(contents, eval_text=text)


@dataclass(frozen=True)
class Withheld(Result):
    """Result of `withhold`, with the paths of both copies.

    Attributes:
        public: The output to publish.
        private: The output with which to score predictions.
    """

    public: Path
    private: Path
    split: str

    def __str__(self) -> str:
        return (
            f"Wrote {self.public}, without the answers of {self.split}: publish it.\n"
            f"Wrote {self.private}, with the answers: keep it and the original private.\n"
            f"  stressreel score {self.private} --predictions FILE --split {self.split}"
        )


@public
def withhold(out: AnyPath, *, to: Path | str, split: str = "test", contact: str = "") -> Withheld:
    """Write a public copy of an output without answers, and a private one for scoring.

    In the public copy, columns that reveal answers are null, tables that reveal answers are omitted, ids are replaced,
    and rows and options are shuffled. Predictions on it are scored with `stressreel score` on the private copy. Copying
    the same output again yields the same copies. Both appear together when they are complete; the same command removes
    what an interrupted run has left.

    For example::

        stressreel withhold out/clavi --to out/leaderboard

    Args:
        out: The output of a build, which is not changed.
        to: Folder for the copies, `public` and `private`; new or empty.
        split: Split whose answers are withheld.
        contact: Where to send predictions, such as an e-mail address. It appears in the card and in error messages.

    Raises:
        UsageError: There is no such output or split, answers are withheld already, or the folder is in the output.
        InputError: The benchmark cannot withhold answers, rows are missing, or the folder is not empty.
        OutputError: The folder cannot be written.
    """
    from ..builders import benchmark_of
    from ..builders.runtime.withhold import withhold as write
    from ..builders.runtime.withhold import withholding
    from ..core.export_folder import new_folder
    from ..core.output import reading

    folder = Path(to)
    with reading(Path(out)) as output:
        check_outside(folder, output.path)
        benchmark = benchmark_of(output)
        if not benchmark.defines("public"):
            raise InputError(
                f"the benchmark {benchmark.name!r} does not declare which columns may be shown without answers. Set "
                "`Benchmark.public`."
            )
        if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} is not empty. Choose a new or empty folder with --to.")
        work = withholding(output, benchmark.tables(output), benchmark.public(output.info), split, contact)
        output.complete()
        with new_folder(folder) as new:
            write(work, new)
    return Withheld(folder / "public", folder / "private", split)


@dataclass(frozen=True)
class Signed(Result):
    """Result of `sign`, with the path of the signature and the number of signed files."""

    path: Path
    files: int

    def __str__(self) -> str:
        return (
            f"Wrote {self.path}, which signs {self.files:,} files.\n"
            "Publish the public key elsewhere; `stressreel verify OUT --signed-by KEY` checks the signature."
        )


@public
def sign(
    out: AnyPath,
    *,
    key: Path | str | None = None,
    password_file: Path | str | None = None,
    certificate: Path | str | None = None,
    keyless: bool = False,
) -> Signed:
    """Sign an output, so that others can verify its origin and integrity.

    The signature, `out`/model.sig, is a Sigstore bundle in the format of OpenSSF Model Signing. It can be checked with
    `stressreel verify` or `model_signing verify`. Local files (.build, .git, the Hub's .cache) are not signed.

    For example::

        stressreel sign out/clavi --key key.pem

    Args:
        out: The output of a build.
        key: PEM file of a P-256, P-384 or P-521 private key.
        password_file: File whose first line is the password of an encrypted key.
        certificate: PEM file of the certificate chain of the key.
        keyless: Sign through Sigstore with an identity that is confirmed in a browser or provided by the environment.

    Returns:
        The path of the signature, and the number of signed files.

    Raises:
        UsageError: The output or a file does not exist, or options conflict.
        InputError: A file cannot be used, `out` contains foreign files, or Sigstore cannot be reached.
        MissingExtraError: model-signing is not installed.
        OutputError: The signature cannot be written.
    """
    from ..core.output import reading, writable
    from ..exports.signature import sign as write

    folder = Path(out)
    identity = signer(key, password_file, certificate, keyless=keyless)
    writable(folder)
    with reading(folder) as output:
        return Signed(folder / SIGNATURE, write(output, identity.configured()))


def signer(
    key: Path | str | None, password_file: Path | str | None, certificate: Path | str | None, *, keyless: bool = False
) -> Signer:
    """Return the signer that the options describe, or raise UsageError if they are incomplete or conflict."""
    from ..exports.signature import Signer

    if (key is None) == (not keyless):
        raise UsageError("Specify either --key FILE (the private key to sign with) or --keyless.")
    if keyless and (password_file is not None or certificate is not None):
        raise UsageError("--password-file and --certificate require --key.")
    if password_file is not None and certificate is not None:
        raise UsageError(
            "--password-file cannot be combined with --certificate, because model-signing does not support passwords "
            "with certificates."
        )
    return Signer(*(None if file is None else Path(file) for file in (key, password_file, certificate)))


@dataclass(frozen=True)
class Card(Result):
    """Result of `card`, with the path of the written README.md."""

    path: Path

    def __str__(self) -> str:
        return f"Wrote {self.path}, its figures and croissant.json."

    def _repr_html_(self) -> None:
        """Return None, so that notebooks display the Markdown."""

    def _repr_markdown_(self) -> str:
        return self.path.read_text(encoding="utf-8").partition("\n---\n")[2]


@public
def card(out: AnyPath, *, people: Path | str | None = None) -> Card:
    """Rewrite the dataset card of an output.

    README.md, its figures and croissant.json are made from the shards and build.json. Nothing else in `out` changes,
    and your notes between the marks at the end of README.md are preserved. With `people`, a table with the scores of
    people is added to the notes, or replaces an earlier one.

    For example::

        stressreel card out/clavi

    Args:
        out: The output of a build.
        people: agreement.json of `stressreel agreement`, or its folder.

    Raises:
        UsageError: `people` does not exist.
        InputError: `out` is not a finished output, or `people` belongs to another one.
        OutputError: `out` cannot be written.
    """
    from ..builders import benchmark_of
    from ..builders.parts import card_of
    from ..core.output import reading, writable
    from ..core.output_files import CARD, marked, note_signed, notes_of
    from ..data_cards.card import with_people, write_card

    folder = Path(out)
    writable(folder)
    with reading(folder) as output:
        benchmark = benchmark_of(output)
        answered = None if people is None else read_agreement(people, output)
        note_signed(folder)
        if answered is not None:
            notes = with_people(notes_of(folder / CARD), answered)
            write_atomic(folder / CARD, marked(notes) + "\n")
        write_card(output, benchmark.declared(output.info), card_of(benchmark, output.info))
    return Card(folder / "README.md")

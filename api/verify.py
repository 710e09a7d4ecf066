"""Check a finished output."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..errors import UsageError
from ..records.documents import shortened
from ..records.functions import Positive, public
from ..records.options import Option

if TYPE_CHECKING:
    from ..records.checks import Check
    from ..records.output import FinishedOutput
    from ..runtime.verify import Outcome, Verification

FINGERPRINT = re.compile("[0-9a-f]{16,64}")
Workers = Annotated[int | None, Option("", minimum=1, shown="one a core")]


@public
def verify(
    out: Path | str,
    *,
    decode: bool = True,
    workers: Workers = None,
    sources: str | Path | None = None,
    annotations: Path | str | None = None,
    sample: Positive = 20,
    signed_by: Path | str | None = None,
    identity: str | None = None,
    issuer: str | None = None,
    fingerprint: Annotated[str | None, Option("", metavar="HEX")] = None,
    each: Callable[[Outcome], None] | None = None,
) -> Verification:
    """Check the output of a build in `out`. The command exits with 1 if any check fails.

    Args:
        out: The output.
        decode: Decode the videos and compare frames.
        workers: Processes for decoding.
        sources: Folder of the source videos (and annotations) that it was built from, or the word "sample": a part is
            made again from them and compared.
        annotations: Annotations that it was built from, file or folder, if they are not in `sources`.
        sample: How many units to make again from `sources`.
        signed_by: Check that it is signed by this public key or certificate, a PEM file of whoever made it.
        identity: Check that it is signed by this identity, such as an address for mail, and --issuer; asks Sigstore.
        issuer: Who vouches for `identity`, such as https://accounts.google.com.
        fingerprint: Check that it has this fingerprint, such as a paper gives it; 16 digits or more of it.
        each: Called with what each check found, as soon as it is known.

    Returns:
        What every check found.

    Raises:
        InputError: There is no finished output.
        UsageError: A folder or file is not there, or options do not go together.
        MissingExtraError: Signatures are to be checked, and model-signing is not installed.
    """
    from ..builders.parts import checks_for
    from ..records.checks import VerifyOptions
    from ..records.output import reading
    from ..runtime.verify import Verification, run_checks

    first = published(signed_by, identity, issuer, fingerprint)
    with reading(Path(out)) as output:
        folder = source_folder(output, sources)
        there = Path(annotations) if annotations is not None else None
        if there is not None and not there.exists():
            raise UsageError(f"annotations: there is no file or folder {there}.")
        options = VerifyOptions(decode, workers or os.cpu_count() or 1, folder, sample, there)
        checks = {**first, **checks_for(output, options)}
    outcomes = []
    for outcome in run_checks(output, checks):
        outcomes.append(outcome)
        if each is not None:
            each(outcome)
    return Verification(str(out), output.info["fingerprint"], tuple(outcomes), folder is not None, bool(first))


def published(
    signed_by: Path | str | None, identity: str | None, issuer: str | None, fingerprint: str | None
) -> dict[str, Check]:
    """Return the checks of what whoever made an output published elsewhere: a key, an identity, a fingerprint.

    Raises:
        UsageError: A file is not there, a fingerprint is none, or options do not go together.
        InputError: A file holds no key.
        MissingExtraError: model-signing is not installed.
    """
    from ..sharing.signature import signature_check

    if (identity is None) != (issuer is None) or (identity is not None and signed_by is not None):
        raise UsageError("Give --identity and --issuer together, and not with --signed-by.")
    checks: dict[str, Check] = {}
    if fingerprint is not None:
        wanted = fingerprint.strip().lower()
        if not FINGERPRINT.fullmatch(wanted):
            raise UsageError(
                f"--fingerprint {shortened(fingerprint)} is none: give 16 to 64 hexadecimal digits, from the first on."
            )
        checks["fingerprint"] = lambda output: _other_fingerprint(str(output.info["fingerprint"]), wanted)
    if signed_by is not None or identity is not None:
        given = None if signed_by is None else Path(signed_by)
        checks["signature"] = signature_check(given, identity, issuer)
    return checks


def _other_fingerprint(found: str, wanted: str) -> Iterator[str]:
    if not found.startswith(wanted):
        yield f"the fingerprint is {found}, not {wanted}: this is another version, or was changed"


def source_folder(output: FinishedOutput, given: str | Path | None) -> Path | None:
    """Return the folder of `sources`; `sample` is the built-in sample that fits the output.

    Raises:
        UsageError: There is no such folder.
    """
    from ..builders import benchmark_of
    from ..samples.cache import cached_sample

    if given is None:
        return None
    drawn = benchmark_of(output).drawn_sample
    if given == "sample" and drawn:
        return cached_sample(drawn)
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise UsageError(
            f"sources: there is no folder {given}. Give the folder of the source videos, or the word `sample`."
        )
    return folder

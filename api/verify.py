"""Verify a finished output."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..core.documents import shortened
from ..core.errors import UsageError
from ..core.functions import public
from ..core.rows import AnyPath
from ..core.settings import LARGEST_COUNT, LARGEST_SEED, Workers, parsed, within

if TYPE_CHECKING:
    from ..builders.rebuild import Sources
    from ..builders.runtime.verify import Outcome, Verification
    from ..core.output import Check, FinishedOutput

FINGERPRINT = re.compile("[0-9a-f]{16,64}")


def read_sample(value: Any) -> int | str:
    """Parse a number of videos, or the word `all`."""
    text = str(value)
    if text == "all":
        return text
    if not text.isdecimal() or not 1 <= int(text) <= LARGEST_COUNT:
        raise ValueError("must be an integer of at least 1, or all")
    return int(text)


Sample = Annotated[int | str | None, parsed(read_sample, show_default="all if there are at most 60, else at least 20")]


@public
def verify(
    out: AnyPath,
    *,
    decode: bool = True,
    workers: Workers = None,
    sources: str | Path | None = None,
    annotations: Path | str | None = None,
    sample: Sample = None,
    seed: Annotated[int | None, within(0, LARGEST_SEED, show_default="random; it is printed")] = None,
    allow_unverified: Sequence[str] = (),
    signed_by: Path | str | None = None,
    identity: str | None = None,
    issuer: str | None = None,
    fingerprint: str | None = None,
    each: Callable[[Outcome], None] | None = None,
    **inputs: str | Sequence[str],
) -> Verification:
    """Check the schema, counts, hashes, answers, frames and card of an output.

    The command exits with 1 if any check fails or remains unverified. With `sources`, the build is repeated: all rows
    and files are compared with the output, and videos are rendered again. Inputs can also be given by the build's own
    options, such as --charades DIR. All other inputs are searched for in `annotations` and `sources`.

    For example::

        stressreel verify out/clavi
        stressreel verify out/clavi --sources ~/Charades --sample all
        stressreel verify out/clavi --signed-by key.pub

    Args:
        out: The output of a build.
        decode: Decode the videos and compare frames.
        workers: Number of processes that decode and render videos.
        sources: Folder with the source videos (and annotations) with which to repeat the build, or the word "sample".
        annotations: File or folder with the annotations, if they are not in `sources`.
        sample: Number of videos to render again, or `all`. By default all if there are at most 60, otherwise 20 and at
            least 2 of each kind.
        seed: Seed of the sample of videos, as printed by an earlier run.
        allow_unverified: Accept an unverified property, such as `tools` if other versions built the output; may
            be repeated.
        signed_by: Check the signature with the maker's public key or certificate, given as a PEM file.
        identity: Check that the output is signed by this identity, such as an e-mail address, using Sigstore.
        issuer: With `identity`: its issuer, such as https://accounts.google.com.
        fingerprint: Check the fingerprint against this value, for example from a paper; at least 16 digits.
        each: Callback for the outcome of each check as soon as it is known.
        inputs: Inputs of the build, by its own options, such as --charades ~/Charades.

    Returns:
        The outcomes of all checks.

    Raises:
        InputError: `out` is not a finished output.
        UsageError: A folder or file does not exist, or options conflict.
        MissingExtraError: Checking a signature requires model-signing, which is not installed.
    """
    from ..builders.parts import checks_for
    from ..builders.rebuild import RebuildOptions
    from ..builders.runtime.verify import Verification, run_checks
    from ..core.numerics import draw_seed
    from ..core.output import reading

    first = published(signed_by, identity, issuer, fingerprint)
    with reading(Path(out)) as output:
        again = RebuildOptions(sample, draw_seed() if seed is None else seed, decode, workers or os.cpu_count() or 1)
        inputs_found = sources_of(output, sources, annotations, inputs)
        checks = {**first, **checks_for(output, inputs_found, again)}
    outcomes = []
    for outcome in run_checks(output, checks, allow_unverified):
        outcomes.append(outcome)
        if each is not None:
            each(outcome)
    return Verification(str(out), output.info["fingerprint"], tuple(outcomes), inputs_found is not None, bool(first))


def sources_of(
    output: FinishedOutput,
    sources: str | Path | None,
    annotations: Path | str | None,
    inputs: Mapping[str, Any],
) -> Sources | None:
    """Return the inputs with which to repeat the build of an output, or None if none are given.

    Raises:
        UsageError: A folder or file does not exist.
    """
    from ..annotations.samples import cached_sample
    from ..builders import benchmark_of
    from ..builders.rebuild import Sources

    if sources is None and annotations is None and not inputs:
        return None
    sample = benchmark_of(output).drawn_sample
    if sources is None or (sources == "sample" and sample):
        videos = cached_sample(sample) if sources else None
    else:
        videos = Path(sources).expanduser()
        if not videos.is_dir():
            raise UsageError(
                f"--sources: folder {sources} does not exist. Specify the folder with the source videos, or `sample`."
            )
    folders = [videos] if videos else []
    if annotations is not None:
        path = Path(annotations).expanduser()
        if not path.exists():
            raise UsageError(f"annotations: there is no file or folder {path}.")
        folders.insert(0, path.parent if path.is_file() else path)
    single = {
        name: value[0] if len(value) == 1 else value for name, value in inputs.items() if isinstance(value, tuple)
    }
    return Sources(folders, videos, {**inputs, **single})


def published(
    signed_by: Path | str | None, identity: str | None, issuer: str | None, fingerprint: str | None
) -> dict[str, Check]:
    """Return checks against a key, an identity or a fingerprint that the maker of an output has published.

    Raises:
        UsageError: A file does not exist, the fingerprint is malformed, or options conflict.
        InputError: A file contains no key.
        MissingExtraError: model-signing is not installed.
    """
    from ..exports.signature import signature_check

    if (identity is None) != (issuer is None) or (identity is not None and signed_by is not None):
        raise UsageError("--identity and --issuer must be used together, and cannot be combined with --signed-by.")
    checks: dict[str, Check] = {}
    if fingerprint is not None:
        wanted = fingerprint.strip().lower()
        if not FINGERPRINT.fullmatch(wanted):
            raise UsageError(
                f"--fingerprint {shortened(fingerprint)} is not a fingerprint. Specify the first 16 to 64 hexadecimal "
                "digits."
            )
        checks["fingerprint"] = partial(check_fingerprint, wanted=wanted)
    if signed_by is not None or identity is not None:
        key = None if signed_by is None else Path(signed_by)
        checks["signature"] = signature_check(key, identity, issuer)
    return checks


def check_fingerprint(output: FinishedOutput, wanted: str) -> Iterator[str]:
    """Check that the fingerprint of an output starts with the published one."""
    fingerprint = str(output.info["fingerprint"])
    if not fingerprint.startswith(wanted):
        yield f"the fingerprint is {fingerprint}, not {wanted}: this is another version, or it was modified"

"""Decide whether an output may be published, given the licence of its source and the user's confirmation."""

from __future__ import annotations

from ...core.errors import InputError, UsageError
from ...core.source import Source


def permission(source: Source, *, videos: bool, confirmed: str | None) -> str:
    """Return the reason why an output may be published.

    Videos are never published if their licence forbids it. Annotations from such a source, and anything from a source
    with an unknown licence, require `confirmed`, the user's reason.

    Raises:
        UsageError: The reason is empty.
        InputError: The output may not be published, or requires a confirmation.
    """
    words = None if confirmed is None else " ".join(confirmed.split())
    if words == "":
        raise UsageError("--licence-confirmed is empty. State why you may publish this; your statement is recorded.")
    name = source.license.get("license_name") or source.license.get("license", "unknown")
    stated = f"{source.name}: {name}" + (f" ({source.terms})" if source.terms else "")
    if videos and source.redistributable is False:
        raise InputError(
            f"the videos may not be published. They come from {source.name}, whose terms are: {source.terms}. Push "
            "an output without videos, or share the command and the fingerprint in build.json: anyone with the source "
            "videos can build the same output."
        )
    if source.redistributable is None and words is None:
        raise InputError(
            f"stressreel does not know whether this may be published. Its source is {stated}. If you may publish "
            'it, state why: --licence-confirmed "…". The statement is recorded in the commit message.'
        )
    if not source.redistributable and words is None:
        raise InputError(
            f"questions and annotations are derived from {source.name}, whose terms are: {source.terms}. If "
            'you may publish them, state why: --licence-confirmed "…". It is recorded in the commit message.'
        )
    return stated + (f'. Confirmed by the uploader: "{words}"' if words else "")

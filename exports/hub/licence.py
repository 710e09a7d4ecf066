"""Whether an output may be passed on: what the licence of its source says, or what its owner says."""

from __future__ import annotations

from ...core.errors import InputError, UsageError
from ...core.source import Source


def permission(source: Source, *, videos: bool, confirmed: str | None) -> str:
    """Return in words why an output may be passed on.

    A source whose licence forbids it keeps its videos, whoever asks; annotations of such a source, and everything of a
    source whose licence is not known, need the word of whoever passes them on.

    Args:
        source: Where the videos and annotations come from.
        videos: Whether the output holds videos.
        confirmed: What the user says, in their words.

    Raises:
        UsageError: The user's words are empty.
        InputError: It may not be passed on, or the user has to say that it may.
    """
    words = None if confirmed is None else " ".join(confirmed.split())
    if words == "":
        raise UsageError("--licence-confirmed is empty. Say in words why this may be passed on; they are recorded.")
    name = source.license.get("license_name") or source.license.get("license", "unknown")
    stated = f"{source.name}: {name}" + f" ({source.terms})" * bool(source.terms)
    if videos and source.redistributable is False:
        raise InputError(
            f"the videos may not be passed on. They are those of {source.name}, whose terms are: {source.terms}. Push "
            "an output without videos, or share the command and the fingerprint in build.json: whoever has the source "
            "builds the same from it."
        )
    if source.redistributable is None and words is None:
        raise InputError(
            f"stressreel does not know whether this may be passed on. Its source is {stated}. If you may, say why: "
            '--licence-confirmed "…". Your words stand in the message of the commit.'
        )
    if not source.redistributable and words is None:
        raise InputError(
            f"questions and annotations are derived from those of {source.name}, whose terms are: {source.terms}. "
            'If you may pass them on, say why: --licence-confirmed "…". Your words stand in the message of the commit.'
        )
    return stated + (f'. Confirmed by the uploader: "{words}"' if words else "")

"""Find missing and unreadable source videos before rendering starts, and those that change while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from ...core.errors import BuildError, StressreelError
from ...core.files import write_atomic
from ...core.objects import address
from ...core.plan import Builder, Skip, Unit
from ...core.progress import tracked

SHOWN = 10
AT_ONCE = 16  # source videos whose stamps are requested in parallel


def preflight(builder: Builder, units: Sequence[Unit]) -> list[Skip]:
    """Return a Skip for each unit whose source video is missing or unreadable."""
    seen: dict[str, Skip | None] = {}
    absent = []
    for unit in tracked(units, "checking the source videos", "unit"):
        if unit.source_id not in seen:
            seen[unit.source_id] = builder.missing(unit)
        first = seen[unit.source_id]
        if first is not None:
            absent.append(Skip(unit.id, unit.source_id, first.reason, first.detail))
    return absent


def stamps_of(builder: Builder, units: Iterable[Unit]) -> dict[str, str]:
    """Return the stamp of each source video; see `Builder.stamp`."""
    by_source = {unit.source_id: unit for unit in units}
    if len(by_source) < 2:
        return {source: builder.stamp(unit) for source, unit in by_source.items()}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(by_source, pool.map(builder.stamp, by_source.values()), strict=True))


class SourceWatch:
    """Notices source videos that vanish or are replaced while a build runs."""

    def __init__(self, builder: Builder, units: Iterable[Unit]):
        """Note the stamps of all source videos of the units."""
        self.builder, self.stamps = builder, stamps_of(builder, units)

    def check(self, units: Iterable[Unit]) -> None:
        """Raise BuildError if source videos of the units have vanished or changed since the build started."""
        now = stamps_of(self.builder, units)
        if vanished := sorted(source for source, stamp in now.items() if not stamp and self.stamps[source]):
            raise BuildError(
                f"{many(len(vanished), 'source video')} vanished while the build ran: {first_of(vanished)}. Was a "
                "folder renamed, or a disk unmounted? Finished work is kept: restore the videos, and run the same "
                "command again to continue."
            )
        if replaced := [source for source, stamp in now.items() if stamp != self.stamps[source]]:
            raise replaced_error(replaced)


def replaced_error(sources: Iterable[str]) -> BuildError:
    """Return the error for source videos of which parts of a build may show different versions."""
    names = sorted(sources)
    return BuildError(
        f"{many(len(names), 'source video')} replaced while the build ran: {first_of(names)}. The dataset must not "
        "show different versions of a video. Finished work is kept: run the same command again (with --shard, for "
        "every share); what was made from an earlier version is made again."
    )


def describe_missing(absent: Sequence[Skip], noun: str, searched: Sequence[str], file: Path | None) -> str:
    """Describe which videos are missing or unreadable, and which folders were searched.

    If not all videos are mentioned, the complete list is written to `file`, unless it is None.
    """
    by_source = {skip.source_id: skip for skip in absent}
    missing = sorted(name for name, skip in by_source.items() if skip.reason == "missing_video")
    unreadable = sorted(skip.detail for skip in by_source.values() if skip.reason.startswith("unreadable"))
    parts = []
    if missing:
        parts.append(f"{many(len(missing), 'source video')} missing: {first_of(missing)}")
        parts += [f"  {line}" for line in searched]
    if unreadable:
        lines = [*unreadable[:SHOWN], *([f"and {len(unreadable) - SHOWN:,} more"] if len(unreadable) > SHOWN else [])]
        parts.append(f"{many(len(unreadable), 'source video')} cannot be read:\n  " + "\n  ".join(lines))
    if file is not None and max(len(missing), len(unreadable)) > SHOWN and _listed(by_source, file):
        parts.append(f"All of them are listed in {file}.")
    needs, them = "needs" if len(absent) == 1 else "need", "it" if len(by_source) == 1 else "them"
    action = " and ".join(
        ["set their folder with --videos"] * bool(missing) + ["replace the damaged files"] * bool(unreadable)
    )
    parts.append(
        f"{many(len(absent), noun)} of the plan {needs} {them}. {action.capitalize()}, or build without {them} "
        "(--allow-missing; each is counted as skipped)."
    )
    return "\n".join(parts)


def list_beside(out: Path) -> Path:
    """Return where to write the list of missing videos: next to a local output, or in the current folder."""
    url = address(out)
    name = (url.rstrip("/") if url else str(out.absolute())).rpartition("/")[2]
    return (Path() if url else out.parent) / f"{name}.missing.tsv"


def first_of(names: Sequence[str]) -> str:
    """Join the first ten names and add how many others there are."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def many(count: int, noun: str) -> str:
    """Format a count with its noun, in the plural if needed."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _listed(by_source: dict[str, Skip], file: Path) -> bool:
    """Write a list of videos, one per line. Return whether the file could be written."""
    rows = ["source_id\treason\tdetail"]
    rows += ["\t".join([name, skip.reason, " ".join(skip.detail.split())]) for name, skip in sorted(by_source.items())]
    with suppress(OSError, StressreelError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, "\n".join(rows) + "\n")
        return True
    return False

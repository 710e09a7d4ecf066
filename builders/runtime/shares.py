"""Build one output in several processes that each render a share of the units (`--shard I/N` in a job array).

The processes communicate only through the output folder. Each locks its share and writes receipts to its own journal;
the lock of the output is only needed at the start and end of a share. A process that has finished its share checks
whether other shares are running or units lack receipts, and packs if not. It releases its share before this check, so
that the last process to check sees all shares finished. If two finish simultaneously, one packs while the other waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...core.errors import InputError
from ...core.files import remove_temporaries
from ...core.plan import Builder, Plan, Unit, nothing_qualifies
from ...core.share import Unfinished, WorkShare
from .build import RunSettings, WriteCard, check_skips, finish, finished, in_order, render
from .missing import replaced_error, stamps_of
from .output import BuildJournal, Say, claim
from .space import check_space
from .store import SharedFolderStore


def run_share(
    plan: Plan,
    builder: Builder,
    path: Path,
    share: WorkShare,
    options: RunSettings,
    *,
    info: dict[str, Any],
    write_card: WriteCard,
    say: Say,
) -> dict[str, Any] | Unfinished:
    """Render a share of a plan, resuming an earlier run. The last process to finish also packs the output.

    The plan must be the same in all processes. For the other arguments, see `build.run`.

    Returns:
        The content of `build.json`, or what remains if other shares are not finished.

    Raises:
        InputError: The plan is empty, or videos are missing without `--allow-missing`.
        MismatchError: The folder has an unfinished build of another plan.
        BuildError: Too many units were skipped, or a worker failed.
        OutputError: The folder cannot be written, or another process renders this share.
    """
    if not plan.units:
        raise InputError(nothing_qualifies(plan))
    with claim(path, wait=say) as output:
        output.begin(plan)
        if done := finished(output, plan, options, say):
            return done
        if options.needs:
            check_space(output.path, options.needs, say)
        output.note_signed(say)
        lock = output.hold(share)
    store = SharedFolderStore(output.staging.absolute())
    try:
        journal = output.journal(share)
        if journal.packing is None:
            render(plan, builder, store, journal, options, say, share=share)
    finally:
        lock.release()
    with claim(path, wait=say) as output:
        if done := finished(output, plan, options, say):
            return done
        held, journal = output.shares_held(), output.journal()
        if held or journal.packing is None:
            work = [unit for unit in plan.units if builder.renders(unit)]
            lacking = [unit for unit in work if not journal.rendered(unit.id) and unit.id not in journal.skipped]
            if held or lacking:
                return Unfinished(path, str(share), len(lacking), len(work), plan.noun, tuple(held))
            skips = in_order(plan, journal.parts_left_out, journal.skipped)
            check_skips(plan, skips, options)
            _check_sources(builder, journal, work)
            journal.add({"packing": [asdict(skip) for skip in skips]})
        remove_temporaries(output.path)
        return finish(plan, builder, output, store, journal, info=info, write_card=write_card)


def _check_sources(builder: Builder, journal: BuildJournal, units: Sequence[Unit]) -> None:
    """Raise BuildError if shares were rendered from different versions of a source video.

    Videos that this machine lacks are compared between shares only.
    """
    rendered = [unit for unit in units if journal.rendered(unit.id)]
    stamps = {source: stamp for source, stamp in stamps_of(builder, rendered).items() if stamp}
    mixed = {
        unit.source_id
        for unit in rendered
        if stamps.setdefault(unit.source_id, journal.stamps[unit.id]) != journal.stamps[unit.id]
    }
    if mixed:
        raise replaced_error(mixed)

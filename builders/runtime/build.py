"""Execute a plan: check the sources, render units and pack them. A build can be killed and resumed at any time.

Several processes can each render a share of the units (`--shard I/N` in a job array). They communicate only through the
output folder. Each locks its share and writes receipts to its own journal; the lock of the output is only needed at the
start and end of a share. A process that has finished its share checks whether other shares are running or units lack
receipts, and packs if not. It releases its share before this check, so that the last process to check sees all shares
finished. If two finish simultaneously, one packs while the other waits.
"""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...core.build_settings import ExecutorKind, Unfinished, WorkShare
from ...core.errors import BuildError, InputError, OutputError, StressreelError
from ...core.files import remove_temporaries, write_json
from ...core.fingerprint import Fingerprint, canary_of
from ...core.output import fitting
from ...core.plan import UNTIMED, Builder, BuildEstimate, Facts, PartEstimate, Plan, Skip, Unit, nothing_qualifies
from ...core.progress import Progress, Working, keep, raise_if_interrupted
from .executors import Executor, Inline, Processes
from .output import BuildJournal, Say, UnfinishedOutput, claim, read_state
from .pack import pack
from .source_videos import SourceWatch, describe_missing, many, preflight, replaced_error, stamps_of
from .store import SharedFolderStore, Store

WriteCard = Callable[[Path, dict[str, Any]], None]


@dataclass(frozen=True)
class RunSettings:
    """Options that control a run without affecting its content.

    Attributes:
        max_skip: Maximum share of units that may be skipped because of faulty videos.
        allow_missing: Continue without videos that are missing or cannot be opened.
        needs: Required disk space; None to skip the check.
        searched: Returns the folders searched for source videos.
        missing_list: File for a list of missing source videos, if there are many.
    """

    executor: Executor = Inline()
    max_skip: float = 0.01
    allow_missing: bool = False
    progress: bool = True
    needs: Needs | None = None
    searched: Callable[[], Sequence[str]] = tuple
    missing_list: Path | None = None


def executor_for(
    workers: int | None,
    kind: ExecutorKind = "auto",
    *,
    ray_address: str | None = None,
    tools: Mapping[str, str] | None = None,
) -> Executor:
    """Create the executor that the options ask for; see `core.build_settings.RunOptions`.

    `workers` defaults to the cores of this machine or of the cluster, whose head is at `ray_address`. `tools` are the
    versions required of workers on other machines.
    """
    if kind == "ray":
        from .executors import RayCluster

        return RayCluster(ray_address, workers, tools or {})
    workers = workers or os.cpu_count() or 1
    return Inline() if kind == "inline" or (kind == "auto" and workers == 1) else Processes(workers)


@dataclass(frozen=True)
class BuildRun:
    """A plan and all that its execution needs.

    Attributes:
        info: First entries of `build.json`: versions, settings and inputs.
        write_card: Writes `README.md` and its figures, given the folder and the content of `build.json`.
        say: Prints a line for the user.
    """

    plan: Plan
    builder: Builder
    options: RunSettings
    info: dict[str, Any]
    write_card: WriteCard
    say: Say

    def run(self, output: UnfinishedOutput, *, fresh: bool = False) -> dict[str, Any]:
        """Execute a plan in an output folder, resuming an earlier run, and return the content of `build.json`.

        With `fresh`, an earlier run is discarded once all checks have passed.

        Raises:
            InputError: The plan is empty, or videos are missing without `allow_missing`.
            MismatchError: Another plan was started in the folder.
            BuildError: Too many units were skipped, or a worker failed.
            OutputError: The folder cannot be written, or has too little space.
        """
        self.check_units()
        absent: list[Skip] | None = None
        if fresh:
            absent = self.absent(self.work())
            self.check_space(output)
            output.clear()
        journal = output.start(self.plan)
        store = output.store()
        if done := self.finished(output):
            return done
        if not fresh:
            self.check_space(output)
        if journal.packing is None:
            skips = self.render(store, journal, absent=absent)
            check_skips(self.plan, skips, self.options)
            journal.add({"packing": [asdict(skip) for skip in skips]})
        return self.finish(output, store, journal)

    def finished(self, output: UnfinishedOutput) -> dict[str, Any] | None:
        """Return the content of `build.json` if the build is complete, else None.

        Raises:
            BuildError: The build is complete but lacks missing videos, which these options do not allow.
        """
        done = read_state(output.done, ("counts", "skips", "dataset_version", "fingerprint"))
        if done is None:
            return None
        with fitting(Path(output.name)):
            without = sum(Skip(**skip).allowed for skip in done["skips"]["list"])
        if without and not self.options.allow_missing:
            raise BuildError(
                f"{output.name} is complete, but was built with --allow-missing, without the videos of {without} "
                f"{self.plan.noun}s. Build it again with --fresh, or keep it with --allow-missing."
            )
        self.say(f"{output.name} is already complete; --fresh builds it again")
        return done

    def finish(self, output: UnfinishedOutput, store: Store, journal: BuildJournal) -> dict[str, Any]:
        """Pack the rendered units, and write the card and `build.json`."""
        skips = journal.packing or []
        fingerprint, counts, left_out, untimed = pack(self.plan, self.builder, output, store, journal, skips)
        content = self.info | results(self.plan, skips, counts, left_out, fingerprint, untimed)
        with Working("writing the card"):
            self.write_card(output.path, content)
        write_json(output.done, content)
        output.forget_shares()
        shutil.rmtree(output.staging, ignore_errors=True)
        output.publish()
        return content

    def run_share(self, path: Path, share: WorkShare) -> dict[str, Any] | Unfinished:
        """Render a share of a plan, resuming an earlier run. The last process to finish also packs the output.

        The plan must be the same in all processes.

        Returns:
            The content of `build.json`, or what remains if other shares are not finished.

        Raises:
            InputError: The plan is empty, or videos are missing without `--allow-missing`.
            MismatchError: The folder has an unfinished build of another plan.
            BuildError: Too many units were skipped, or a worker failed.
            OutputError: The folder cannot be written, or another process renders this share.
        """
        self.check_units()
        with claim(path, wait=self.say) as output:
            output.begin(self.plan)
            if done := self.finished(output):
                return done
            self.check_space(output)
            lock = output.hold(share)
        store = SharedFolderStore(output.staging.absolute())
        try:
            journal = output.journal(share)
            if journal.packing is None:
                self.render(store, journal, share=share)
        finally:
            lock.release()
        with claim(path, wait=self.say) as output:
            if done := self.finished(output):
                return done
            running, journal = output.shares_held(), output.journal()
            if running or journal.packing is None:
                work = self.work()
                lacking = [unit for unit in work if not journal.rendered(unit.id) and unit.id not in journal.skipped]
                if running or lacking:
                    return Unfinished(path, str(share), len(lacking), len(work), self.plan.noun, tuple(running))
                skips = in_order(self.plan, journal.parts_left_out, journal.skipped)
                check_skips(self.plan, skips, self.options)
                self.check_sources(journal, work)
                journal.add({"packing": [asdict(skip) for skip in skips]})
            remove_temporaries(output.path)
            return self.finish(output, store, journal)

    def check_sources(self, journal: BuildJournal, units: Sequence[Unit]) -> None:
        """Raise BuildError if shares were rendered from different versions of a source video.

        Videos that this machine lacks are compared between shares only.
        """
        rendered = [unit for unit in units if journal.rendered(unit.id)]
        stamps = {source: stamp for source, stamp in stamps_of(self.builder, rendered).items() if stamp}
        mixed = {
            unit.source_id
            for unit in rendered
            if stamps.setdefault(unit.source_id, journal.stamps[unit.id]) != journal.stamps[unit.id]
        }
        if mixed:
            raise replaced_error(mixed)

    def render(
        self,
        store: Store,
        journal: BuildJournal,
        *,
        absent: Sequence[Skip] | None = None,
        share: WorkShare | None = None,
    ) -> list[Skip]:
        """Render the units that have no receipt, and return all skips in plan order.

        `absent` lists the units whose videos are missing, if that is known already. With `share`, only that part of the
        units is rendered.
        """
        plan, work = self.plan, self.work()
        if share:
            work = share.of(work)
        if not work:
            return []
        watch = SourceWatch(self.builder, work)
        todo = [
            unit
            for unit in work
            if not journal.rendered(unit.id)  # skipped units are tried again
            or not store.has(unit.id, journal.facts(unit.id)["files"])
            or journal.stamps[unit.id] != watch.stamps[unit.source_id]
        ]
        keep(plan.noun, len(work) - len(todo))
        if len(todo) < len(work):
            self.say(f"continuing an earlier run: {len(work) - len(todo)} of {len(work)} are done")
        if absent is None:
            absent = self.absent(todo)
        skips = {skip.unit_id: skip for skip in absent}
        if share:  # for the process that does the packing
            for unit in todo:
                if unit.id in skips:
                    journal.add_result(unit, skips[unit.id], watch.stamps[unit.source_id])
        todo = [unit for unit in todo if unit.id not in skips]
        pieces = sum(unit.pieces for unit in todo)
        noun = plan.piece or plan.noun
        with Progress(f"build-{plan.builder}", pieces, noun, shown=self.options.progress) as progress:
            try:
                for unit, result in self.options.executor.execute(self.builder, todo, store):
                    watch.check([unit])
                    _refuse_late(result)
                    journal.add_result(unit, result, watch.stamps[unit.source_id])
                    if isinstance(result, Skip):
                        skips[unit.id] = result
                    else:
                        keep(plan.noun)
                    progress.advance(unit.pieces)
                    raise_if_interrupted()
            except StressreelError:
                watch.check(todo)  # a source that has vanished explains other errors
                raise
        watch.check(unit for unit in work if unit.id not in skips)
        return in_order(plan, journal.parts_left_out, skips)

    def absent(self, units: Sequence[Unit]) -> list[Skip]:
        """Return the units whose videos are missing. Raise InputError if the options do not allow that."""
        absent = preflight(self.builder, units)
        if absent and not self.options.allow_missing:
            raise InputError(
                describe_missing(absent, self.plan.noun, self.options.searched(), self.options.missing_list)
            )
        return absent

    def work(self) -> list[Unit]:
        """Return the units that must be rendered."""
        return [unit for unit in self.plan.units if self.builder.renders(unit)]

    def check_units(self) -> None:
        """Raise InputError if the plan is empty."""
        if not self.plan.units:
            raise InputError(nothing_qualifies(self.plan))

    def check_space(self, output: UnfinishedOutput) -> None:
        """Check the disk space, and warn if a signature will become invalid. Raise OutputError if space is short."""
        if self.options.needs:
            check_space(output.path, self.options.needs, self.say)
        output.note_signed(self.say)


def results(
    plan: Plan,
    skips: Sequence[Skip],
    counts: dict[str, dict[str, int]],
    left_out: dict[str, dict[str, int]],
    fingerprint: Fingerprint,
    untimed: Collection[str],
) -> dict[str, Any]:
    """Return the entries of `build.json` that describe the result of the build.

    `untimed` are the source videos that store no times, so that their frames are placed at the nominal rate.
    """
    return {
        "counts": counts,
        "notes": plan.notes | ({UNTIMED: sorted(untimed)} if untimed else {}),
        "skips": {
            "count": len(skips),
            "by_reason": Counter(s.reason for s in skips),
            "list": [asdict(s) for s in skips],
            "rows_that_refer_to_them": left_out,
        },
        "plan_sha256": plan.hash,
        "canary": canary_of(plan.hash),
        "fingerprints": fingerprint.parts(),
        "fingerprint": fingerprint.hexdigest(),
    }


def _refuse_late(result: Facts | Skip) -> None:
    """Raise BuildError for a video that can no longer be opened, which must not count as missing from the start."""
    if isinstance(result, Skip) and result.reason in ("missing_video", "unreadable_video"):
        raise BuildError(
            f"{result.detail}. It could be opened when the build started. Finished work is kept: check the video and "
            "its disk, and run the same command again to continue."
        )


def in_order(plan: Plan, left_out: Mapping[str, Sequence[Skip]], skips: Mapping[str, Skip]) -> list[Skip]:
    """Return the skipped units in plan order, then the skipped parts of rendered units."""
    parts = {skip for skips_of in left_out.values() for skip in skips_of}
    in_part = sorted(parts, key=lambda skip: (skip.source_id, skip.unit_id))
    return [*(skips[unit.id] for unit in plan.units if unit.id in skips), *in_part]


def check_skips(plan: Plan, skips: Sequence[Skip], options: RunSettings) -> None:
    """Check the skips of a whole plan.

    Raises:
        InputError: Videos are missing without `--allow-missing`.
        BuildError: All units were skipped, or more than `--max-skip` allows.
    """
    counted = [skip for skip in skips if not skip.allowed]
    if len(counted) < len(skips) and not options.allow_missing:
        missing = [skip for skip in skips if skip.allowed]
        raise InputError(describe_missing(missing, plan.noun, options.searched(), options.missing_list))
    parts = {unit.id: [part.name for part in unit.items] for unit in plan.units if unit.source_id}

    def of(skip: Skip) -> Sequence[str]:
        return parts.get(skip.unit_id, ()) if skip.scope == "unit" else (skip.unit_id,)

    absent, lost = (
        {part for skip in skips if skip.allowed is allowed for part in of(skip)} for allowed in (True, False)
    )
    tried = len({part for ids in parts.values() for part in ids} - absent)
    share = len(lost) / max(tried, 1)
    if share > options.max_skip:
        raise BuildError(
            f"{len(lost)} of {many(tried, plan.part or plan.noun)} ({share:.1%}) had to be skipped; --max-skip allows "
            f"{options.max_skip:.1%}.{_reasons(counted)}\nCorrect the videos or the annotations, or raise "
            "--max-skip, and run the same command again: finished work is kept."
        )
    gone = {(skip.scope, skip.unit_id) for skip in skips}
    if parts and all(
        ("unit", unit) in gone or all(("part", name) in gone for name in names) for unit, names in parts.items()
    ):
        raise BuildError(f"every unit was skipped, so there is nothing to write.{_reasons(skips)}")


def _reasons(skips: Sequence[Skip]) -> str:
    """Return a line for each of the first 20 skips, and how many more there are."""
    lines = [f"\n  {skip.unit_id} ({skip.reason}): {skip.detail}" for skip in skips[:20]]
    return "".join(lines) + (f"\n  … and {len(skips) - 20} more" if len(skips) > 20 else "")


@contextmanager
def uncollected() -> Iterator[None]:
    """Disable the cyclic garbage collector, which would scan all objects again and again while data is read."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


Needs = Callable[[bool], float]
"""Returns the peak disk usage of a build in bytes; the argument requests a close estimate, which takes seconds."""

ERROR = 0.3  # relative error of a close estimate
AMPLE = 4.0  # factor by which a rough estimate is multiplied to be certainly sufficient


def check_space(out: Path, needs: Needs, say: Callable[[str], None]) -> None:
    """Compare the expected size of a build with the free space.

    Files of an earlier run count as free space, because they are reused or removed. The close estimate is computed only
    if space might be insufficient.

    Raises:
        OutputError: The estimate is more than the free space.
    """
    if AMPLE * needs(False) <= (room := available(out)):
        return
    disk = needs(True)
    needed = f"about {_size(disk)} (±{ERROR:.0%}) is needed in {out}, where {_size(room)} is available"
    if disk > room:
        raise OutputError(
            f"not enough space: {needed}. Free up some space, use another --out, build less (--limit; --dry-run shows "
            "the size of each part) or smaller videos (a higher --crf), or build anyway with --no-check-space."
        )
    if disk * (1 + ERROR) > room:
        say(f"warning: {needed}")


def available(out: Path) -> int:
    """Return the bytes that a folder contains, which a build reuses or removes, and those that are free on its disk."""
    existing = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    folder = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.is_dir())
    return existing + shutil.disk_usage(folder).free


def _size(count: float) -> str:
    return re.sub(r"(?<=\d)(?=[a-zA-Z])", " ", tqdm.format_sizeof(count, "B"))


def in_words(estimate: BuildEstimate, out: Path | None) -> list[str]:
    """Describe the size and time of a build. If there are several perturbations, include a table of them."""
    lines = [
        *(_table(estimate.parts) if len(estimate.parts) > 1 else []),
        f"about {_size(estimate.size_bytes)} and {tqdm.format_interval(estimate.cpu_seconds)} of CPU",
        f"at most {_size(estimate.peak_disk_bytes)} on disk at a time, during packing",
        estimate.basis,
    ]
    if out:
        short = ": not enough, so a build would stop" * (estimate.peak_disk_bytes > available(out))
        lines.append(f"{_size(available(out))} is available in {out}{short}")
    return [f"  {line}".rstrip() for line in lines]


def _table(parts: Sequence[PartEstimate]) -> list[str]:
    """Return a line for each table, with its size, its CPU time and the size at each severity."""
    severities = sorted({f"severity {part.severity}" for part in parts if part.severity})
    rows = [("", "size", "CPU", *severities)]
    for table in dict.fromkeys(part.table for part in parts):
        members = [part for part in parts if part.table == table]
        cpu_s = sum(part.cpu_seconds for part in members)
        sizes = [_size(part.size_bytes) for part in members if part.severity]
        rows.append((table, _size(sum(part.size_bytes for part in members)), tqdm.format_interval(cpu_s), *sizes))
    return ["", *(f"{name:16}" + "".join(f"{cell:>12}" for cell in cells) for name, *cells in rows), ""]

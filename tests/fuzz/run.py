"""Fuzz every reader of files that others give: damaged files end in an error that says so, or in a result.

    python tests/fuzz/run.py --mutations 10000

Each mutation is read in a forked process that may take 2 GB and 20 s of computing time. What ends otherwise than in a
result or one of stressreel's own errors is a finding: it is printed with the command that repeats it, and the damaged
file is kept. The draw is keyed by seed, reader and number, so it does not depend on how many are made.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from mutations import mutate
from readers import READERS, REFUSED, Reader, prepare

MEMORY = 2 * 2**30  # bytes more than the process has when it begins
SECONDS = 20  # of computing
PATIENCE = 300  # seconds of waiting: for machines with much else to do


@dataclass
class Tally:
    """What became of a reader's mutations: how many were read, refused or found, and the findings by number."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[int, str] = field(default_factory=dict)
    slowest: float = 0.0


def in_child(work: Callable[[Callable[[str], None]], None]) -> Iterator[str]:
    """Run something in a forked process; give the lines that it says, and "killed by …" if it did not end itself."""
    receive, send = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(receive)
        code = 1
        try:
            with os.fdopen(send, "w", buffering=1, encoding="utf-8", errors="backslashreplace") as pipe:
                work(lambda line: print(line, file=pipe, flush=True))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(send)
    with os.fdopen(receive, encoding="utf-8") as pipe:
        for line in pipe:
            yield line.rstrip("\n")
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        yield f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    elif os.WEXITSTATUS(status):
        yield "killed by an error of the harness"


def limit() -> None:
    """Take away memory and core dumps; time is set for each mutation."""
    with open("/proc/self/statm") as status:
        used = int(status.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def one(reader: Reader, good: Path, work: Path, seed: int, number: int) -> Path:
    """Make a folder of good files with a damaged one, or for the number -1 without; give the damaged one."""
    rng = np.random.default_rng([seed, zlib.crc32(reader.name.encode()), number + 1])
    source = good / (reader.folder or reader.name)
    folder = work / "given"
    shutil.rmtree(folder, ignore_errors=True)
    if reader.files:
        shutil.copytree(source, folder)
        name = sorted(reader.files)[int(rng.integers(len(reader.files)))]
        kind = reader.files[name]
    else:
        names = sorted(path.name for path in source.iterdir())
        name, kind = names[int(rng.integers(len(names)))], "bytes"
        folder.mkdir()
        shutil.copy(source / name, folder)
    path = folder / name
    if number >= 0:
        path.write_bytes(mutate(path.read_bytes(), kind, rng))
    return path


def attempt(reader: Reader, good: Path, work: Path, seed: int, numbers: list[int], say: Callable[[str], None]) -> None:
    """Try mutations one after the other, saying before each its number and after it what became of it."""
    warnings.simplefilter("ignore")
    (work / "outputs").unlink(missing_ok=True)
    (work / "outputs").symlink_to(good / "built")
    said = os.open(work / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(said, stream)  # decoders and Arrow write there by themselves
    for number in [-1, *numbers]:  # first the good files, with which everything is loaded that is ever needed
        if number == numbers[0]:
            limit()
        one(reader, good, work, seed, number)
        say(f"begin {number}")
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(PATIENCE)
        began = time.process_time()
        try:
            reader.read(work / "given")
            outcome = "read"
        except REFUSED as error:
            outcome = f"refused {' '.join(str(error).split())[:300]}"
        except BaseException as error:
            lines = traceback.format_exception(error)
            outcome = "found " + json.dumps("".join(lines)[-3000:])
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        say(f"{time.process_time() - began:.3f} {outcome}")


def fuzz(reader: Reader, good: Path, seed: int, numbers: list[int]) -> Tally:
    """Read a reader's mutations; a process that is killed is followed by another."""
    tally = Tally()
    waiting = list(numbers)
    with tempfile.TemporaryDirectory(prefix="stressreel-fuzz-", ignore_cleanup_errors=True) as folder:
        work = Path(folder)
        while waiting:
            begun: int | None = None
            for line in in_child(partial(attempt, reader, good, work, seed, waiting)):
                word, _, rest = line.partition(" ")
                if word == "begin":
                    begun = int(rest)
                    continue
                if begun is None:
                    raise SystemExit(f"{reader.name}: {line}\n{(work / 'said').read_text(errors='replace')[-3000:]}")
                outcome, _, detail = (line if word == "killed" else rest).partition(" ")
                if begun < 0 and outcome != "read" and reader.files:
                    raise SystemExit(f"{reader.name}: the good files are not read: {rest}")
                tally.counts["begun" if begun < 0 else "found" if outcome == "killed" else outcome] += 1
                if outcome in ("found", "killed"):
                    tally.findings[begun] = json.loads(detail) if outcome == "found" else line
                else:
                    tally.slowest = max(tally.slowest, float(word))
                waiting = waiting[waiting.index(begun) + 1 :] if begun >= 0 else waiting
                begun = None
            if begun is not None:
                raise SystemExit(f"{reader.name}: mutation {begun} ended without a word")
    return tally


def shares(readers: list[Reader], total: int) -> dict[str, int]:
    """Divide mutations among readers by their weights; each gets one at least."""
    weight = sum(reader.weight for reader in readers)
    return {reader.name: max(1, round(total * reader.weight / weight)) for reader in readers}


def last_line(finding: str) -> str:
    """Shorten a finding to its error."""
    return finding.strip().split("\n")[-1][:200]


def preload() -> None:
    """Load in this process what several readers load, so that their processes have it."""
    from stressreel.language.free_phrases import free_phrase

    for name in ("builders.parts", "builders.runtime.rebuild", "data_cards.card", "builders.clavi.benchmark"):
        importlib.import_module(f"stressreel.{name}")
    free_phrase("a man opens the door")


def main() -> int:
    """Run from the command line; 1 if something was found."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mutations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", action="append", help="only these, by the beginning of their names")
    parser.add_argument("--number", type=int, help="only this mutation of a reader")
    parser.add_argument("--quick", action="store_true", help="leave out the readers that take longer")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder for what was found")
    arguments = parser.parse_args()
    shared = Path(os.environ.get("STRESSREEL_SHARED", Path(__file__).parents[3] / "shared"))
    chosen = [
        reader
        for reader in READERS
        if not (reader.slow and arguments.quick)
        and (not arguments.reader or any(reader.name.startswith(start) for start in arguments.reader))
    ]
    count = shares(chosen, arguments.mutations)
    found = 0
    with tempfile.TemporaryDirectory(prefix="stressreel-good-") as folder:
        good = Path(folder)
        real = shared if shared.is_dir() else None
        for line in in_child(lambda say: prepare(good, real, quick=not any(reader.slow for reader in chosen))):
            raise SystemExit(f"the good files cannot be written: {line}")
        preload()
        print(f"{'reader':32} {'mutations':>9} {'read':>6} {'refused':>8} {'found':>6} {'slowest':>8}")
        for reader in chosen:
            numbers = list(range(count[reader.name])) if arguments.number is None else [arguments.number]
            tally = fuzz(reader, good, arguments.seed, numbers)
            counts = tally.counts
            print(
                f"{reader.name:32} {len(numbers):9} {counts['read']:6} {counts['refused']:8} "
                f"{counts['found']:6} {tally.slowest:6.1f} s",
                flush=True,
            )
            found += counts["found"]
            for number, finding in tally.findings.items():
                print(f"  --reader {reader.name!r} --seed {arguments.seed} --number {number}: {last_line(finding)}")
                place = arguments.keep / f"{reader.name.replace(' ', '-')}-{number}"
                place.mkdir(parents=True, exist_ok=True)
                (place / "finding.txt").write_text(finding)
                path = one(reader, good, place, arguments.seed, number)
                shutil.copy(path, place / path.name)
                shutil.rmtree(place / "given")
    print(f"{found} findings in {sum(count.values())} mutations")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

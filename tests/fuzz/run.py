"""Damage files and outputs as a stranger might, let functions and commands read them, and look for forbidden effects.

    python tests/fuzz/run.py --mutations 3000 --seed 1
    python tests/fuzz/run.py --mutations 3000 --seed 1 --only "stressreel card" --number 26      # one case again

Each case copies a good input (`targets.py`), damages it (`mutations.py`; every tenth stays unchanged and must be read)
and lets one target read it, in a forked process with 2 GB of memory and 20 s of CPU time. The target may end with a
result or an error of stressreel. It must change only what it writes to, connect to nothing, and neither print nor write
the secret that lies beside the input. Anything else is a finding: it is printed, and the input is kept.
"""

from __future__ import annotations

import argparse
import base64
import gc
import hashlib
import importlib
import io
import os
import resource
import shutil
import signal
import socket
import stat
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import targets as lines
from mutations import PORT, ROOT, SECRET, damage
from stressreel.cli import main as cli
from stressreel.core.errors import CONTROLS, StressreelError
from targets import BUILDS, Target, prepare, targets

MEMORY = 2 * 2**30  # bytes more than the process uses at its start
SECONDS = 20  # of CPU time
PATIENCE = 300  # seconds on the clock, for busy machines
MOST_SAID = 20_000  # characters on standard error
WATCHED, GOOD, TO = SECRET.parent, ROOT / "good", ROOT / "to"
TEXT = b"KEPT-SECRET-OF-THIS-MACHINE-" * 60


class Fault(Exception):
    """Something that must not happen."""


def in_child(work: Callable[[], str]) -> str:
    """Return the result of a function that runs in a forked process, or "killed by …" and the signal."""
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                text = work()
            except BaseException:
                text = f"found {traceback.format_exc()[-3000:]}"
            with suppress(BaseException):
                file.write(text.encode("utf-8", "backslashreplace"))
                file.flush()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
        file.seek(0)
        return file.read().decode()


def limit() -> None:
    """Limit memory and time, and forbid Python's connections except between processes."""
    with open("/proc/self/statm") as status:
        used = int(status.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(PATIENCE)


def guard(allowed: int = 0) -> None:
    """Forbid connections to all but a port of loopback; the listener detects those of other languages to `PORT`."""

    def guarded(name: str) -> Any:
        real = getattr(socket.socket, name)

        def refused(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not (allowed and address[1] == allowed):
                os.write(2, b"LEAK")
                raise Fault(f"connects to {address}")
            return real(self, address)

        return refused

    for name in ("connect", "connect_ex", "bind"):
        setattr(socket.socket, name, guarded(name))


def execute(line: str, endpoint: str = "") -> None:
    """Run a line in this process.

    Raises:
        StressreelError, click.ClickException: It was refused.
        Fault: It ended or printed as it must not.
    """
    paths = {"IN": WATCHED / "in", "GOOD": GOOD, "TO": TO}
    name, *words = line.split()
    if undo := name == "resume":
        name, *words = words
    arguments: list[Any] = []
    for word in words:
        label, equals, value = word.rpartition("=")
        first, slash, rest = value.partition("/")
        value = str(paths[first] / rest) if slash and first in paths else value.replace("ENDPOINT", endpoint)
        arguments.append(f"{label}{equals}{value}")
    if undo:
        Path(arguments[arguments.index("--out") + 1], "build.json").unlink(missing_ok=True)
    if name == "stressreel" or name.startswith("build-"):
        _command(name, arguments)
        return
    module, _, function = name.rpartition(".")
    found = getattr(importlib.import_module(f"stressreel.{module}") if module else lines, function)
    result = found(Path(arguments[0]), *([tuple(arguments[1:])] if arguments[1:] else []))
    if isinstance(result, Iterator):
        list(result)


def _command(name: str, arguments: list[Any]) -> None:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", errors) for errors in ("strict", "backslashreplace"))
    sys.argv = [name, *arguments]
    code: Any = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            cli.main() if name == "stressreel" else cli.build()
        except SystemExit as end:
            code = end.code
    out.flush()
    err.flush()
    written, said = (stream.buffer.getvalue().decode() for stream in (out, err))
    if code not in (0, 1, 2) or "fault in stressreel" in said or "Traceback" in said:
        raise Fault(f"ended with {code}: {said[-2000:]}")
    if bad := CONTROLS.search(written + said):
        raise Fault(f"{bad[0]!r} is printed")
    if len(said) > MOST_SAID or len(written) > 50 * MOST_SAID:
        raise Fault(f"{len(said)} and {len(written)} characters are printed")
    if tells((written + said).encode()):
        raise Fault("the secret is printed")
    if code:
        raise click.ClickException(said[-2000:])


def attempt(target: Target, endpoint: str) -> str:
    """Let a target read the damaged input, in a child process: "read", "refused …" or "found …"."""
    warnings.simplefilter("ignore")
    os.chdir(WATCHED / "cwd")
    os.environ |= {"HOME": str(WATCHED / "home"), "TMPDIR": str(ROOT / "tmp")}
    if target.line.startswith("read_scene_graphs"):
        os.environ["XDG_CACHE_HOME"] = str(TO)
    said = os.open(ROOT / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(said, stream)  # decoders and Arrow write directly to the descriptors
    guard(int(endpoint.split(":")[2].split("/")[0]) if target.asks else 0)
    limit()
    try:
        execute(target.line, endpoint)
    except (StressreelError, click.ClickException) as error:
        return f"refused {error}"
    except BaseException as error:
        return "found " + "".join(traceback.format_exception(error))[-3000:]
    return "read"


def walk(folder: Path, without: Path | None = None) -> Iterator[Path]:
    """List everything below a folder; follow no links."""
    for path in sorted(folder.iterdir()):
        if path != without:
            yield path
            if path.is_dir() and not path.is_symlink():
                yield from walk(path, without)


def listing(folder: Path, without: Path | None = None) -> dict[str, str]:
    """List kind, target or hash, and time of change of everything below a folder."""
    found = {}
    for path in walk(folder, without):
        status = os.lstat(path)
        content = os.readlink(path) if path.is_symlink() else ""
        if stat.S_ISREG(status.st_mode):
            content = f"{status.st_mtime_ns} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        found[os.fsencode(path).decode("utf-8", "backslashreplace")] = f"{stat.S_IFMT(status.st_mode)} {content}"
    return found


def tells(content: bytes) -> bool:
    """Return whether the content contains the secret, or its Base64."""
    return TEXT[:28] in content or any(
        base64.b64encode((TEXT * 2)[start : start + 90])[4:60] in content for start in range(3)
    )


def lay(target: Target, seed: int, number: int) -> str:
    """Write the watched folder with a damaged input; describe the damage."""
    for folder in (WATCHED, TO, ROOT / "tmp"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for name in ("secret.txt", "home/.netrc", "cwd/secret"):
        (WATCHED / name).parent.mkdir(exist_ok=True)
        (WATCHED / name).write_bytes(TEXT)
    shutil.copytree(GOOD / target.folder, WATCHED / "in" / target.folder)
    if number % 10 == 9:
        return "unchanged"
    return damage(WATCHED / "in" / target.path, np.random.default_rng([seed, number]))


def case(target: Target, seed: int, number: int, endpoint: str, bait: socket.socket) -> tuple[str, list[str]]:
    """Run a case; return the damage and the result, and the findings."""
    damaged, given = lay(target, seed, number), WATCHED / "in" / target.folder
    without, good = given if target.writes else None, GOOD / target.folder
    before = {**listing(WATCHED, without), **listing(good)}
    result = in_child(partial(attempt, target, endpoint))
    said = (ROOT / "said").read_bytes()
    after = {**listing(WATCHED, without), **listing(good)}
    changed = [name for name in {*before, *after} if before.get(name) != after.get(name)]
    found = [f"changed {name}" for name in sorted(changed)[:5]]
    for path in [*walk(TO), *(walk(given) if target.writes and given.is_dir() and not given.is_symlink() else ())]:
        if stat.S_ISREG(os.lstat(path).st_mode) and tells(path.read_bytes()[:50_000_000]):
            found.append(f"the secret is in {path.name!r}")
    with suppress(BlockingIOError):
        bait.accept()[0].close()
        found.append("followed an address")
    if b"LEAK" in said or tells(said) or tells(result.encode()):
        found.append("connected, or the secret is printed")
    if not result.startswith(("read", "refused")) or (damaged == "unchanged" and result != "read"):
        found.append(result + said.decode(errors="backslashreplace")[-1000:])
    return f"{damaged}: {result}", found


def main() -> int:
    """Run from the command line; return 1 if there are findings."""
    from endpoint import running
    from small_wordnet import write_wordnet

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--mutations", type=int, default=500, metavar="N", help="number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="only targets whose line contains this text")
    parser.add_argument("--number", type=int, help="run only this case")
    parser.add_argument("--quick", action="store_true", help="only one output, without slow targets")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-findings"), help="folder for findings")
    options = parser.parse_args()
    builds = ("clavi",) if options.quick else tuple(BUILDS)
    chosen = [target for target in targets(builds, quick=options.quick) if options.only in target.line]
    keep, counts, findings = options.keep.absolute(), Counter[str](), 0
    os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))  # for samples; HOME is another later
    os.environ |= {"HF_HOME": str(ROOT / "hub"), "NLTK_DATA": str(ROOT / "nltk"), "OMP_NUM_THREADS": "1"}
    with running(lambda request, before: "A") as endpoint, socket.create_server(("127.0.0.1", PORT)) as bait:
        bait.setblocking(False)
        try:
            write_wordnet(ROOT / "nltk")
            GOOD.mkdir(parents=True)
            prepare(GOOD, execute, builds, quick=options.quick)
            gc.collect()
            gc.freeze()  # keeps the garbage collection of children off shared objects
            for number in range(options.mutations) if options.number is None else [options.number]:
                target = chosen[int(np.random.default_rng([options.seed, number, 1]).integers(len(chosen)))]
                began = time.monotonic()
                result, found = case(target, options.seed, number, endpoint.url, bait)
                counts["found" if found else "refused" if ": refused" in result else "read"] += 1
                counts["seconds"] += round(time.monotonic() - began)
                if found or options.number is not None:
                    findings += bool(found)
                    print(f"--seed {options.seed} --only {options.only!r} --number {number}  {target.line}\n  {result}")
                    print("".join(f"  {finding.strip()}\n" for finding in found), flush=True)
                if found:
                    place = keep / f"{options.seed}-{number}"
                    place.mkdir(parents=True, exist_ok=True)
                    (place / "finding.txt").write_text(f"{target.line}\n{result}\n" + "\n".join(found))
                    lay(target, options.seed, number)
                    shutil.make_archive(str(place / "in"), "tar", WATCHED / "in")
        finally:
            shutil.rmtree(ROOT, ignore_errors=True)
    print(f"{findings} findings in {sum(counts.values()) - counts['seconds']} cases; {dict(counts)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""Run every command on maliciously changed outputs and look for forbidden effects.

    python tests/fuzz/campaign.py --mutations 3000 --seed 1
    python tests/fuzz/campaign.py --seed 1 --number 26                    # one case again

Small outputs of the four benchmarks are built once from the built-in samples. Each case changes one of them where it is
read (`tests/fuzz/outputs.py` has the kinds); every tenth case is unchanged, and every command must succeed on it. Some
of the commands that take an output then run on it, each in a forked process with 2 GB, 20 s of CPU and, where the
system allows it, a network of its own. A command may end with a result or one of our errors. It must not change
anything outside its target folder, open connections, or reveal files outside the output. Anything else is a finding; it
is printed with the command that repeats it, and the output is kept.
"""

from __future__ import annotations

import argparse
import faulthandler
import gc
import importlib
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from endpoint import running
from outputs import KINDS, PLAIN, Bait, damage
from readers import MOST_SAID, REFUSED, ran
from run import SECONDS, in_child, last_line, limit
from small_wordnet import write_wordnet
from stressreel.core.errors import CONTROLS
from watch import TEXT, Network, changes, guard, listing, telling, tells

QUIET = "--no-progress"
BUILDS: dict[str, tuple[str, ...]] = {
    "clavi": ("build-clavi", "--charades", "sample", "--limit", "2", "--split", "test"),
    "clavi-plain": ("build-clavi", "--charades", "sample", "--limit", "2", "--split", "test", "--no-render"),
    "perturbed": (
        *("build-perturbed", "--msrvtt", "sample", "--modality", "all", "--perturbations", "jpeg", "--severity", "3"),
        *("--text-perturbations", "typos", "--pairs", "jpeg:typos", "--limit", "6"),
    ),
    "causal": (
        *("build-causal", "--annotations", "sample", "--splits", "UD", "--negatives", "random", "--num-options", "3"),
        *("--pool", "all", "--limit", "10"),
    ),
    "causal-plain": (
        *("build-causal", "--annotations", "sample", "--splits", "UD", "--negatives", "random", "--num-options", "3"),
        *("--pool", "all", "--limit", "10", "--no-render"),
    ),
    "decomp": (
        *("build-decomp", "--charades", "sample", "--max-questions-per-video", "3", "--limit", "3", "--split", "test"),
    ),
}  # fmt: skip
FILMS = ("clavi", "perturbed", "causal", "decomp")
ASKED = ("clavi", "clavi-plain", "causal", "causal-plain", "decomp")
CHEAP = ("clavi", "clavi-plain")
LONG = ("verify", "verify with sources", "push --dry-run", "audit", "--fresh", "resume without build.json")
AT_ONCE = 4  # number of commands per case
PATIENCE = 300  # wall-clock limit of a command in seconds, for busy machines; shortly before it, the stack is printed


@dataclass(frozen=True)
class Place:
    """Paths that a command uses.

    Attributes:
        name: Name of the output among the builds.
        out: The changed output.
        good: The unchanged output.
        to: Folder for results.
        answers: Predictions for the unchanged output.
        endpoint: URL of the model on loopback.
    """

    name: str
    out: Path
    good: Path
    to: Path
    answers: Path
    endpoint: str

    @property
    def port(self) -> int:
        return int(self.endpoint.split(":")[2].split("/")[0])


@dataclass(frozen=True)
class Step:
    """A command to run on an output.

    Attributes:
        run: A Python function, or the command lines, each run only if the previous one succeeded.
        on: Names of the outputs on which the command succeeds.
        writes: Whether the command may write to the output itself.
        asks: Whether the command may connect to the model.
        weight: Relative frequency of the step.
    """

    run: Callable[[Place], list[list[Any]]] | Callable[[Place], None]
    on: tuple[str, ...] = tuple(BUILDS)
    writes: bool = False
    asks: bool = False
    weight: float = 1.0


def _line(words: str) -> Callable[[Place], list[list[Any]]]:
    """Return a function that replaces OUT, GOOD, TO and ANSWERS in a command line by paths."""

    def lines(place: Place) -> list[list[Any]]:
        paths = {"OUT": place.out, "GOOD": place.good, "TO": place.to / "to", "ANSWERS": place.answers}
        paths["TO.jsonl"] = place.to / "answers.jsonl"
        stand = {**paths, "a=TO": f"a={paths['TO']}", "ENDPOINT": place.endpoint}
        return [["stressreel", *(stand.get(word, word) for word in words.split())]]

    return lines


def _scores(*more: Callable[[Place], list[list[Any]]]) -> Callable[[Place], list[list[Any]]]:
    score = _line("score OUT --predictions ANSWERS --partial --resamples 100 --split all --out TO")
    return lambda place: [line for each in (score, *more) for line in each(place)]


def _build(*more: str, undo: bool = False) -> Callable[[Place], list[list[Any]]]:
    def lines(place: Place) -> list[list[Any]]:
        if undo:
            with suppress(OSError):
                (place.out / "build.json").unlink()
        return [[*BUILDS[place.name], "--out", place.out, QUIET, "--workers", "1", *more]]

    return lines


def _modalities(place: Place) -> list[list[Any]]:
    files = [f"{name}={place.answers}" for name in ("video+text", "video", "text")]
    return [["stressreel", "score", "modalities", place.out, *files, "--resamples", 100]]


def _permuted(place: Place) -> list[list[Any]]:
    to = place.to / "permuted.jsonl"
    return [["stressreel", "permute", place.out, "--to", to, "--sets", 1, "--split", "all"]]


def _load(place: Place) -> None:
    import stressreel
    from stressreel.builders.perturbed.load import load

    output = stressreel.read(place.out)
    for config, splits in output.configs.items():
        for split in splits:
            for _ in output.rows(config, split):
                pass
    with suppress(*REFUSED):
        output.items()
    if place.name == "perturbed":
        from stressreel.annotations.samples.cache import cached_sample

        clips = load(place.out, "jpeg", videos=cached_sample("msrvtt"), frames=2)
        for at in range(min(len(clips), 2)):
            clips[at]


def _with_datasets(place: Place) -> None:
    """Read rows with pyarrow, as exported harness files do."""
    from stressreel.core.output import reading

    with reading(place.out) as output:
        for config in output.info["counts"]:
            for _ in output.whole(config):
                pass


STEPS: dict[str, Step] = {
    "verify": Step(_line("verify OUT --workers 1"), weight=0.6),
    "verify without decoding": Step(_line("verify OUT --no-decode --json"), weight=0.8),
    "verify with sources": Step(_line("verify OUT --sources sample --sample 1 --workers 1"), weight=0.3),
    "card": Step(_line("card OUT"), writes=True, weight=1.5),
    "export lmms-eval": Step(_line("export lmms-eval OUT --to TO"), FILMS),
    "export inspect": Step(_line("export inspect OUT --to TO"), FILMS),
    "withhold": Step(_line("withhold OUT --to TO"), FILMS),
    "export released": Step(_line("export released OUT --to TO"), ("decomp",), weight=3),
    "export files": Step(_line("export files OUT --to TO --no-progress"), FILMS, weight=1.5),
    "export webdataset": Step(_line("export webdataset OUT --to TO --no-progress"), FILMS, weight=1.5),
    "gallery": Step(_line("gallery OUT --to TO --limit 3 --no-progress"), weight=1.5),
    "gallery with videos": Step(_line("gallery OUT --to TO --limit 3 --embed videos --no-progress"), FILMS),
    "score": Step(_scores(), ASKED, weight=1.5),
    "score, table, compare": Step(
        _scores(_line("table a=TO TO"), _line("compare TO TO --resamples 100")), ASKED
    ),
    "score modalities": Step(_modalities, ASKED),
    "score text-shift": Step(_line("score text-shift OUT --no-progress"), ("perturbed",), writes=True),
    "score open-ended": Step(
        _line("score open-ended OUT --predictions ANSWERS --no-sbert --meteor nltk --partial --out TO --resamples 100"),
        ("causal", "causal-plain"),
        weight=2,
    ),
    "audit": Step(_line("audit OUT --no-sbert --resamples 100 --to TO"), ASKED),
    "permute": Step(_permuted, ("clavi-plain",)),
    "diff": Step(_line("diff OUT GOOD")),
    "diff from the good": Step(_line("diff GOOD OUT --json --decode")),
    "push --dry-run": Step(_line("push OUT a/b --dry-run --no-decode --workers 1 --no-progress"), weight=0.5),
    "ask --dry-run": Step(
        _line("ask OUT --dry-run --to TO.jsonl --endpoint ENDPOINT --model m --frames 2 --limit 2 --no-progress"),
        FILMS,
    ),
    "ask": Step(
        _line("ask OUT --to TO.jsonl --endpoint ENDPOINT --model m --frames 2 --limit 2 --retries 0 --no-progress"),
        FILMS,
        asks=True,
    ),
    "ask about videos": Step(
        _line("ask OUT --to TO.jsonl --endpoint ENDPOINT --model m --send video --limit 2 --retries 0 --no-progress"),
        FILMS,
        asks=True,
    ),
    "resume": Step(_build(), writes=True),
    "resume without build.json": Step(_build(undo=True), writes=True),
    "--fresh": Step(_build("--fresh"), ("clavi-plain", "perturbed"), writes=True, weight=0.8),
    "stressreel.read and load": Step(_load),
    "rows": Step(_with_datasets),
}  # fmt: skip


@dataclass
class Campaign:
    """State shared by all cases.

    Attributes:
        folder: Temporary folder.
        endpoint: URL of the model on loopback.
        network: Detector of forbidden connections.
        counts: Number of results by command, kind of change and result.
        seconds: Durations by command.
    """

    folder: Path
    endpoint: str
    network: Network
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    @property
    def watched(self) -> Path:
        return self.folder / "watched"

    @property
    def out(self) -> Path:
        return self.watched / "outputs" / "out"

    @property
    def bait(self) -> Bait:
        return Bait(self.watched / "outputs" / "secret.txt", self.watched / "secrets", self.watched / "plain")

    def build(self, names: Iterable[str]) -> None:
        for name in names:
            arguments = BUILDS[name]
            out = self.folder / "good" / name
            for line in in_child(partial(_run_lines, [[*arguments, "--out", out, "--workers", "1", QUIET]])):
                code, _, detail = line.partition(" ")
                if code != "0":
                    raise SystemExit(f"{name} cannot be built: {line} {detail}")
            _predict(name, out, self.folder / "answers" / f"{name}.jsonl")

    def warm(self) -> None:
        """Run commands on unchanged outputs in this process, so that children inherit imports and caches."""
        for line in ("audit GOOD --no-sbert --resamples 100 --to TO", "card OUT", "score text-shift OUT --no-progress"):
            name = "perturbed" if "text-shift" in line else "clavi"
            good, out = self.folder / "good" / name, self.folder / "warm" / name
            shutil.copytree(good, out, dirs_exist_ok=True)
            place = Place(name, out, good, self.folder / "warm", self.folder / "answers", self.endpoint)
            ran(*_line(line)(place)[0])

    def lay(self, name: str, kind: str, seed: int, number: int) -> str:
        """Create the watched folder with a changed output; return a description of the change."""
        shutil.rmtree(self.watched, ignore_errors=True)
        for folder in ("outputs", "secrets", "home/.config", "cwd"):
            (self.watched / folder).mkdir(parents=True)
        for place in ("outputs/secret.txt", "secrets/secret.txt", "home/.netrc", "home/.config/secret", "cwd/secret"):
            (self.watched / place).write_bytes(TEXT)
        good = self.folder / "good" / name
        shutil.copytree(good, self.out)
        shutil.copytree(good, self.bait.plain)
        if kind == PLAIN:
            return PLAIN
        return damage(self.out, kind, self.bait, np.random.default_rng([seed, number]))

    def run(self, name: str, step_name: str, kind: str) -> tuple[str, list[str]]:
        """Run a step on the output; return its result and its violations."""
        step = STEPS[step_name]
        to = self.folder / "to"
        for folder in (to, self.folder / "tmp"):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        place = Place(
            name, self.out, self.folder / "good" / name, to, self.folder / "answers" / f"{name}.jsonl", self.endpoint
        )
        allowed = (self.out,) if step.writes else ()
        before, good = listing(self.watched, *allowed), listing(place.good)
        self.network.came()
        opened, began = self.network.opened(), time.perf_counter()
        said = list(in_child(partial(_attempt, step, place, self.watched, self.folder / "said")))
        self.seconds[step_name].append(time.perf_counter() - began)
        ended, _, detail = (said[-1] if said else "killed without a word").partition(" ")
        found = [] if ended in ("0", "1", "2") else [f"{_detail(ended, detail)}{self._printed()}"]
        if kind == PLAIN and ended in ("1", "2"):
            found.append(f"an untouched output is refused: {_detail(ended, detail)}")
        if self.network.came():
            found.append("connected to the bait")
        elif self.network.opened() != opened and not step.asks:
            found.append("opened a connection")
        found += [f"in the watched folder {change}" for change in changes(before, listing(self.watched, *allowed))[:5]]
        found += [f"in the good output {change}" for change in changes(good, listing(place.good))[:5]]
        found += [f"the secret is in {where}" for where in telling(to)[:5]]
        if step.writes and self.out.is_dir() and not self.out.is_symlink():
            found += [f"the secret is in the output's {where}" for where in telling(self.out)[:5]]
        printed = (self.folder / "said").read_bytes() + "\n".join(said).encode("utf-8", "replace")
        if tells(printed):
            found.append("the secret is printed")
        return ended, found

    def _printed(self) -> str:
        """Return the end of the output that bypassed Python's streams, such as the stack of a killed command."""
        text = (self.folder / "said").read_text(encoding="utf-8", errors="backslashreplace")[-3000:]
        return f"\n{text}" if text else ""


def _detail(ended: str, detail: str) -> str:
    with suppress(ValueError):
        return str(json.loads(detail))
    return f"{ended} {detail}"


def _run_lines(lines: list[list[Any]], say: Callable[[str], None]) -> None:
    """Run command lines while they succeed; report the last exit code and output."""
    for line in lines:
        code, written, said = ran(*line)
        if bad := CONTROLS.search(written + said):
            raise RuntimeError(f"{bad[0]!r} is printed: {(written + said)[max(0, bad.start() - 80) :][:200]!r}")
        if len(written) > 50 * MOST_SAID:
            raise RuntimeError(f"{len(written)} characters are printed")
        if code or line is lines[-1]:
            say(f"{code} {json.dumps((said + written)[-3000:])}")
            return


def _attempt(step: Step, place: Place, watched: Path, printed: Path, say: Callable[[str], None]) -> None:
    """Run a step in this child process with limits, and report its ending."""
    warnings.simplefilter("ignore")
    os.chdir(watched / "cwd")
    os.environ["HOME"] = str(watched / "home")
    descriptor = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(descriptor, stream)  # decoders and Arrow write directly to the descriptors
    guard(place.port if step.asks else 0)
    limit()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(PATIENCE)
    faulthandler.dump_traceback_later(PATIENCE - 5, file=descriptor)
    try:
        lines = step.run(place)
        if lines is None:
            say("0")
        else:
            _run_lines(lines, say)
    except REFUSED as error:
        say(f"1 {json.dumps(str(error)[-3000:])}")
    except BaseException as error:
        say("found " + json.dumps("".join(traceback.format_exception(error))[-3000:]))


def _predict(name: str, out: Path, file: Path) -> None:
    """Write a correct answer to each question of an output."""
    import stressreel

    file.parent.mkdir(exist_ok=True)
    rows: list[dict[str, str]] = []
    if name in ASKED:
        items = stressreel.read(out).items(split="all")
        for identity, options, right in zip(items.ids, items.options, items.truth, strict=True):
            rows.append({"id": identity, "answer": str(options[int(right)]) if len(options) else "yes"})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def case_of(seed: int, number: int, kind: str | None, *, cheap: bool) -> tuple[str, str, list[str]]:
    """Sample a case: the output, the kind of change, and the commands."""
    rng = np.random.default_rng([seed, number, zlib.crc32(b"case")])
    drawn = PLAIN if number % 10 == 9 else list(KINDS)[(number - number // 10) % len(KINDS)]
    names = FILMS if drawn == "video" or rng.random() < 0.5 else tuple(BUILDS)
    if cheap:
        names = tuple(name for name in names if name in CHEAP)
    name = names[int(rng.integers(len(names)))]
    steps = [step for step, each in STEPS.items() if name in each.on and not (cheap and step in LONG)]
    weights = np.array([STEPS[step].weight for step in steps])
    chosen = rng.choice(len(steps), AT_ONCE, replace=False, p=weights / weights.sum())
    return name, (drawn if kind is None or drawn == PLAIN else kind), [steps[int(at)] for at in chosen]


def preload(*, torch: bool) -> None:
    """Import the modules that commands use before forking; PyTorch only on request."""
    import datasets  # noqa: F401
    import matplotlib.figure
    import stressreel

    for module in pkgutil.walk_packages(stressreel.__path__, "stressreel."):
        parts = module.name.split(".")
        if parts[1] in ("tests", "benchmarks", "docs", "probes", "examples") or "ray_cluster" in parts:
            continue
        with suppress(Exception):
            importlib.import_module(module.name)
    with suppress(ImportError):
        importlib.import_module("torch" if torch else "stressreel")  # datasets imports PyTorch when it streams
    for name in ("decord", "lemminflect", "nltk", "scipy.sparse", "sklearn.linear_model", "textblob"):
        with suppress(ImportError):
            importlib.import_module(name)
    matplotlib.figure.Figure().canvas.draw()  # loads the fonts


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--mutations", type=int, default=3000, metavar="N", help="number of cases")
    parser.add_argument("--first", type=int, default=0, metavar="K", help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, metavar="K", help="run only this case")
    parser.add_argument("--kind", choices=list(KINDS), help="make all cases of this kind")
    parser.add_argument("--command", action="append", choices=list(STEPS), help="run only these commands")
    parser.add_argument("--cheap", action="store_true", help="only CLAVI, without slow commands")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start no case after this many seconds")
    parser.add_argument("--keep", type=Path, default=Path("hostile-findings"), help="folder for findings")
    arguments = parser.parse_args()
    keep = arguments.keep.absolute()
    with tempfile.TemporaryDirectory(prefix="stressreel-hostile-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))  # for samples; HOME changes later
        os.environ |= {"HF_HOME": str(folder / "hub"), "MPLCONFIGDIR": str(folder / "mpl")}
        os.environ |= {"TMPDIR": str(folder / "tmp"), "NLTK_DATA": str(folder / "nltk"), "OMP_NUM_THREADS": "1"}
        (folder / "tmp").mkdir()
        tempfile.tempdir = str(folder / "tmp")
        write_wordnet(folder / "nltk")
        network = Network()
        with running(lambda request, before: "A") as endpoint:
            campaign = Campaign(folder, endpoint.url, network)
            preload(torch=not arguments.cheap)
            campaign.build(CHEAP if arguments.cheap else BUILDS)
            if not arguments.cheap:
                campaign.warm()
            gc.collect()
            gc.freeze()  # keeps the garbage collection of children off shared objects
            return _cases(campaign, arguments, keep)


def _cases(campaign: Campaign, arguments: argparse.Namespace, keep: Path) -> int:
    numbers = range(arguments.first, arguments.first + arguments.mutations)
    began, found, done = time.monotonic(), 0, 0
    kinds: Counter[str] = Counter()
    for number in numbers if arguments.number is None else [arguments.number]:
        if time.monotonic() - began > arguments.seconds:
            break
        done += 1
        name, kind, steps = case_of(arguments.seed, number, arguments.kind, cheap=arguments.cheap)
        kinds[kind] += 1
        for step in arguments.command or steps:
            changed = campaign.lay(name, kind, arguments.seed, number)
            ended, findings = campaign.run(name, step, kind)
            campaign.counts[step, kind, "found" if findings else ended] += 1
            if not findings:
                continue
            found += 1
            repeat = f"--seed {arguments.seed} --number {number} --command {step!r}"
            repeat += f" --kind {arguments.kind}" if arguments.kind else ""
            print(f"{repeat}  [{name}: {changed!r}]", flush=True)
            for finding in findings:
                print(f"    {last_line(finding)}", flush=True)
            place = keep / f"{arguments.seed}-{number}-{step.replace(' ', '-')}"
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            (place / "finding.txt").write_text("\n\n".join([repeat, changed, *findings]), errors="backslashreplace")
            campaign.lay(name, kind, arguments.seed, number)
            subprocess.run(["cp", "-a", campaign.out, place / "out"], check=False)
    took = time.monotonic() - began
    _report(campaign, kinds)
    print(
        f"{found} findings in {done} cases, {sum(campaign.counts.values())} commands, {took:.0f} s, "
        f"{took / max(done, 1):.2f} s a case; a network of its own: {'yes' if campaign.network.own else 'no'}"
    )
    return 1 if found else 0


def _report(campaign: Campaign, kinds: Counter[str]) -> None:
    """Print the number of results by command and kind of change: succeeded/refused/findings."""
    names = [*KINDS, PLAIN]
    print(f"{'':26} {'seconds':>8} " + " ".join(f"{f'{name} ({kinds[name]})':>16}" for name in names))
    for step in STEPS:
        ended = {kind: [campaign.counts[step, kind, end] for end in ("0", "1", "2", "found")] for kind in names}
        ends = [f"{done}/{failed + wrong}/{found}" for done, failed, wrong, found in ended.values()]
        seconds = campaign.seconds.get(step, [0.0])
        print(f"{step:26} {sum(seconds) / len(seconds):8.2f} " + " ".join(f"{end:>16}" for end in ends))


if __name__ == "__main__":
    sys.exit(main())

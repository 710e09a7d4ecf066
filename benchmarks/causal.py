"""Measure the CPU time of commands by stage, and the accuracy of blind baselines on CausalChaos.

    python benchmarks/causal.py --annotations Annotations.csv --audit       # with the embeddings that are cached
    python benchmarks/causal.py --annotations Annotations.csv --cold        # with an empty cache
    python benchmarks/causal.py --annotations Annotations.csv -- --splits UD
    python benchmarks/causal.py --command stressreel mine mine.csv --out mined.jsonl

Each command runs in a separate process. CPU time includes all its threads; it depends less than wall time on what else
the machine is doing. The time of a stage excludes the stages inside it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

SHOWN = 8  # number of baselines shown for each part


def staged(arguments: list[str]) -> None:
    """Run a command, starting with its program, in this process and print the CPU time of each of its stages."""
    from stressreel.cli.main import execute
    from stressreel.core import progress

    spent, texts, running = Counter[str](), Counter[str](), ["the rest"]
    last = time.process_time()

    def lap() -> None:
        nonlocal last
        now = time.process_time()
        spent[running[-1]] += now - last
        last = now

    enter, leave = progress.Progress.__enter__, progress.Progress.__exit__

    def entered(self: progress.Progress) -> progress.Progress:
        lap()
        running.append(self.label)
        texts[self.label] += self.total
        return enter(self)

    def left(self: progress.Progress, *error: object) -> None:
        leave(self, *error)
        lap()
        running.pop()

    progress.Progress.__enter__, progress.Progress.__exit__ = entered, left
    code = execute(arguments[0], arguments[1:])
    lap()
    for label, seconds in spent.most_common():
        print(f"{seconds:9.1f} s  {label}" + f" ({texts[label]:,})" * (label in texts), file=sys.stderr)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{sum(spent.values()):9.1f} s  in total, peak memory {usage.ru_maxrss / 1024:.0f} MB", file=sys.stderr)
    sys.exit(code)


def run(arguments: list[str], environment: dict[str, str]) -> None:
    print(" ".join(arguments), file=sys.stderr, flush=True)
    job = [sys.executable, "-W", "ignore", __file__, "--job", json.dumps(arguments)]
    subprocess.run(job, check=True, env=environment, stdout=subprocess.DEVNULL)


def show(folder: Path) -> None:
    for one in json.loads((folder / "audit.json").read_text(encoding="utf-8"))["audits"]:
        print(f"{one['config']} {one['part']}: {one['questions']} questions, chance {one['chance']:.3f}")
        for figure in sorted(one["guessers"], key=lambda figure: -figure["right"]["value"])[:SHOWN]:
            balanced = figure["right_balanced"]
            inside = f" ({100 * balanced['value']:.1f})" if balanced else ""
            print(f"    {figure['guesser']:30}{100 * figure['right']['value']:6.1f}{inside}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotations", help="path of the released Annotations.csv")
    parser.add_argument("--cold", action="store_true", help="start with an empty cache")
    parser.add_argument("--audit", action="store_true", help="also audit the build")
    parser.add_argument("--command", nargs=argparse.REMAINDER, help="measure this command instead of the build")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments, more = parser.parse_known_args()
    if arguments.job:
        staged(json.loads(arguments.job))
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "XDG_CACHE_HOME": f"{scratch}/cache"} if arguments.cold else {**os.environ}
        if arguments.command:
            run(arguments.command, environment)
            return
        if not arguments.annotations:
            parser.error("needs --annotations or --command")
        out = f"{scratch}/out"
        options = ["--annotations", arguments.annotations, "--no-render", *(one for one in more if one != "--")]
        run(["build-causal", *options, "--out", out], environment)
        if arguments.audit:
            run(["stressreel", "audit", out, "--to", f"{scratch}/audit"], environment)
            show(Path(scratch) / "audit")


if __name__ == "__main__":
    main()

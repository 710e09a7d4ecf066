"""Measure the cost and the quality of CausalChaos: stages of a command, nearest neighbours, causal confusion.

    python benchmarks/causal.py stages --annotations Annotations.csv [--cold] [--audit] [-- --splits UD]
    python benchmarks/causal.py command stressreel mine mine.csv --out mined.jsonl

`stages` builds CausalChaos, `command` runs any command. Both print the CPU time of each stage, which includes all
threads and excludes the stages inside it. The embeddings are those in the cache unless `--cold` empties it; `--audit`
also prints the accuracy of blind baselines.

    pip install -c constraints.txt -e '.[sbert]' faiss-cpu         # faiss is optional
    python benchmarks/causal.py neighbours --sizes 5000 50000      # 500000 with --queries 5000: half an hour

`neighbours` compares the search for the exact ten nearest other rows of each row in 384 dimensions with other
libraries, each in a separate process. Beyond `--queries` rows, the other libraries search only some rows, and their
times are extrapolated linearly.

    python benchmarks/causal.py confusion --annotations Annotations.csv --before Splits/UD/A_test.csv \
        --released CausalConfusion_A_test_first_371.csv [--mismatches]

`confusion` counts how often the rules produce the released options. `--released` contains rows of the released
causal-confusion test, `--before` the same rows before confusion. Options that differ are confusions: negations if the
number of negative words differs, otherwise swaps. Capitals, apostrophes and final periods are ignored. Speed is in
texts per second for both kinds, on one core, with parsing.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from measuring import again, peak_mb
from numpy.typing import NDArray

SHOWN = 8  # number of baselines shown for each part
DIMENSIONS, K, CHECKED = 384, 10, 200
NEGATIVE = re.compile(r"\b(?:not|cannot|never|no|didnt|wasnt|without)\b")


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
    print(f"{sum(spent.values()):9.1f} s  in total, peak memory {peak_mb():.0f} MB", file=sys.stderr)
    sys.exit(code)


def run_staged(arguments: list[str], environment: dict[str, str]) -> None:
    print(" ".join(arguments), file=sys.stderr, flush=True)
    again(__file__, "staged", arguments, environment=environment)


def print_stages(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "XDG_CACHE_HOME": f"{scratch}/cache"} if options.cold else {**os.environ}
        out, more = f"{scratch}/out", (word for word in options.more if word != "--")
        build = ["build-causal", "--annotations", str(options.annotations), "--no-render", *more, "--out", out]
        run_staged(build, environment)
        if options.audit:
            run_staged(["stressreel", "audit", out, "--to", f"{scratch}/audit"], environment)
            print_audit(Path(scratch) / "audit")


def print_audit(folder: Path) -> None:
    for audit in json.loads((folder / "audit.json").read_text(encoding="utf-8"))["audits"]:
        print(f"{audit['config']} {audit['part']}: {audit['questions']} questions, chance {audit['chance']:.3f}")
        for baseline in sorted(audit["guessers"], key=lambda baseline: -baseline["right"]["value"])[:SHOWN]:
            balanced = baseline["right_balanced"]
            inside = f" ({100 * balanced['value']:.1f})" if balanced else ""
            print(f"    {baseline['guesser']:30}{100 * baseline['right']['value']:6.1f}{inside}")


def synthetic(rows: int) -> NDArray[np.float32]:
    """Return vectors that form clusters of about twenty, as similar questions do."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((max(rows // 20, 1), DIMENSIONS), dtype=np.float32)
    vectors = centres[rng.integers(0, len(centres), rows)]
    vectors += 1.2 * rng.standard_normal((rows, DIMENSIONS), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def search(library: str, rows: int, queries: int) -> dict[str, Any]:
    """Time one search, not counting imports and the reading of data."""
    vectors = synthetic(rows)
    queries = rows if library == "stressreel" else min(rows, queries)
    work: Callable[[], NDArray[np.int64]]
    if library == "stressreel":
        from stressreel.language.embeddings import nearest

        work = lambda: nearest(vectors, None, K)  # noqa: E731
    elif library == "sentence_transformers":
        import torch
        from sentence_transformers.util import semantic_search

        corpus = torch.from_numpy(vectors)

        def work() -> NDArray[np.int64]:
            hits = semantic_search(corpus[:queries], corpus, top_k=K + 1)
            return np.array([[hit["corpus_id"] for hit in row] for row in hits])
    else:
        import faiss

        def work() -> NDArray[np.int64]:
            index = faiss.IndexFlatIP(DIMENSIONS)
            index.add(vectors)
            return index.search(vectors[:queries], K + 1)[1]

    wall, cpu = time.perf_counter(), time.process_time()
    neighbours = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    checked = np.linspace(0, queries - 1, min(CHECKED, queries)).astype(int)
    best = {int(row): sorted(int(i) for i in neighbours[row] if i != row) for row in checked}
    return {"wall": wall * rows / queries, "cpu": cpu * rows / queries, "peak": peak_mb(), "best": best}


def print_neighbours(options: argparse.Namespace) -> None:
    libraries = ["stressreel", *(name for name in ("sentence_transformers", "faiss") if find_spec(name))]
    print(f"{'rows':>8} {'':21}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}{'wall':>8}{'CPU':>8}")
    for rows in options.sizes:
        results: dict[str, list[dict[str, Any]]] = {library: [] for library in libraries}
        for _ in range(options.rounds):
            for library in libraries:
                results[library].append(json.loads(again(__file__, "search", library, rows, options.queries)))
        medians = {
            library: {name: statistics.median(run[name] for run in runs) for name in ("wall", "cpu", "peak")}
            for library, runs in results.items()
        }
        own, ours = results["stressreel"][0]["best"], medians["stressreel"]
        for library, median in medians.items():
            best = results[library][0]["best"]
            shared = best.keys() & own.keys()
            same = all(best[row] == own[row] for row in shared)
            print(
                f"{rows:8,} {library:21}{median['wall']:9.2f}{median['cpu']:9.2f}{median['peak']:9.0f}"
                f"{median['wall'] / ours['wall']:7.2f}x{median['cpu'] / ours['cpu']:7.2f}x"
                + ("" if same else f"  neighbours differ in some of {len(shared)} rows"),
                flush=True,
            )


def folded(text: str) -> str:
    return " ".join(re.sub("['’]", "", text.lower()).split()).rstrip(". ")


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def print_confusion(options: argparse.Namespace) -> None:
    from stressreel.language.parse import load_parser
    from stressreel.language.people import derive_cast
    from stressreel.negatives.confusion import Confuser, Confusion

    annotations = read_rows(options.annotations)
    confuser = Confuser(derive_cast(row[name] for row in annotations for name in ("Question", "Answer", "Explanation")))
    print(f"parser {load_parser().name}; cast of {len(confuser.cast.names)} names")
    before = {row["qid"]: row for row in read_rows(options.before)}
    released: dict[str, list[tuple[str, str, str]]] = {"negation": [], "swap": []}
    for row in read_rows(options.released):
        right = row[f"a{row['answer']}"]
        for option in (f"a{index}" for index in range(5)):
            if row[option] != before[row["qid"]][option]:
                counts = {len(NEGATIVE.findall(folded(text))) for text in (row[option], right)}
                released["negation" if len(counts) > 1 else "swap"].append((row["qid"], right, row[option]))
    for kind, rows in released.items():
        mismatches = []
        for qid, right, theirs in rows:
            confusion = getattr(confuser, kind)(right)
            ours = confusion.text if isinstance(confusion, Confusion) else f"({confusion.reason})"
            if folded(ours) != folded(theirs):
                mismatches.append(f"  {qid}: {right}\n    released: {theirs}\n    ours:     {ours}")
        same = len(rows) - len(mismatches)
        print(f"{kind}: {same} of {len(rows)} as released, {same / len(rows):.1%}")
        if options.mismatches:
            print(*mismatches, sep="\n")
    answers = [row["Answer"] for row in annotations][:2000]
    began = time.process_time()
    for text in answers:
        confuser.negation(text)
        confuser.swap(text)
    print(f"{len(answers) / (time.process_time() - began):.0f} answers per second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    stages = what.add_parser("stages")
    stages.add_argument("--annotations", type=Path, required=True, help="path of the released Annotations.csv")
    stages.add_argument("--cold", action="store_true", help="start with an empty cache")
    stages.add_argument("--audit", action="store_true", help="also audit the build")
    stages.add_argument("more", nargs="*", help="more options of the build, after --")
    command = what.add_parser("command")
    command.add_argument("command", nargs=argparse.REMAINDER)
    neighbours = what.add_parser("neighbours")
    neighbours.add_argument("--sizes", type=int, nargs="*", default=(5_000, 50_000))
    neighbours.add_argument("--rounds", type=int, default=3)
    neighbours.add_argument("--queries", type=int, default=50_000)
    confusion = what.add_parser("confusion")
    for name in ("annotations", "before", "released"):
        confusion.add_argument(f"--{name}", type=Path, required=True)
    confusion.add_argument("--mismatches", action="store_true", help="print the mismatches")
    job = what.add_parser("job")  # run by `again`
    job.add_argument("job", type=json.loads)
    options = parser.parse_args()
    if options.what == "stages":
        print_stages(options)
    elif options.what == "command":
        run_staged(options.command, {**os.environ})
    elif options.what == "neighbours":
        print_neighbours(options)
    elif options.what == "confusion":
        print_confusion(options)
    elif options.job[0] == "staged":
        staged(options.job[1])
    else:
        print(json.dumps(search(*options.job[1:])))


if __name__ == "__main__":
    main()

"""Compare the cost of the nearest-neighbour search with other libraries.

    pip install -c constraints.txt -e '.[sbert]' faiss-cpu        # faiss is optional
    python benchmarks/mining.py                                   # 5,000 and 50,000 rows
    python benchmarks/mining.py --sizes 500000 --queries 5000     # half an hour

Every figure comes from a separate process, and the libraries alternate. A search returns the exact ten nearest other
rows of each row in 384 dimensions; ours uses all rows as queries. Beyond --queries rows, the other libraries search
only some rows, and their times are extrapolated linearly. CPU time includes all threads, which is fairer on a busy
machine.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

SIZES = (5_000, 50_000)
DIMENSIONS = 384
K = 10
CHECKED = 200


def synthetic(rows: int) -> NDArray[np.float32]:
    """Return vectors that form clusters of about twenty, as similar questions do."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((max(rows // 20, 1), DIMENSIONS), dtype=np.float32)
    found = centres[rng.integers(0, len(centres), rows)]
    found += 1.2 * rng.standard_normal((rows, DIMENSIONS), dtype=np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def search(side: str, rows: int, queries: int) -> dict[str, object]:
    """Time one search, not counting imports and the reading of data."""
    vectors = synthetic(rows)
    queries = rows if side == "stressreel" else min(rows, queries)
    if side == "stressreel":
        from stressreel.language.embeddings import nearest

        def work() -> NDArray[np.int64]:
            return nearest(vectors, None, K)
    elif side == "semantic_search":
        import torch
        from sentence_transformers.util import semantic_search

        corpus = torch.from_numpy(vectors)

        def work() -> NDArray[np.int64]:
            hits = semantic_search(corpus[:queries], corpus, top_k=K + 1)
            return np.array([[hit["corpus_id"] for hit in some] for some in hits])
    else:
        import faiss

        def work() -> NDArray[np.int64]:
            index = faiss.IndexFlatIP(DIMENSIONS)
            index.add(vectors)
            return index.search(vectors[:queries], K + 1)[1]

    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    places = np.linspace(0, queries - 1, min(CHECKED, queries)).astype(int)
    best = {int(p): sorted(int(i) for i in found[p] if i != p) for p in places}
    return {"wall": wall * rows / queries, "cpu": cpu * rows / queries, "peak": peak(), "best": best}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(*job: object) -> dict[str, object]:
    command = [sys.executable, "-W", "ignore", __file__, "--job", json.dumps(job)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=50_000)
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(search(*json.loads(arguments.job))))
        return
    sides = ["stressreel"]
    sides += ["semantic_search"] * bool(find_spec("sentence_transformers")) + ["faiss"] * bool(find_spec("faiss"))
    print(f"{'rows':>8} {'':16}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}{'wall':>8}{'CPU':>8}")
    for rows in arguments.sizes:
        results: dict[str, list[dict[str, object]]] = {side: [] for side in sides}
        for _ in range(arguments.rounds):
            for side in sides:
                results[side].append(run(side, rows, arguments.queries))
        median = {
            side: {name: statistics.median(one[name] for one in found) for name in ("wall", "cpu", "peak")}
            for side, found in results.items()
        }
        own = results["stressreel"][0]["best"]
        for side in sides:
            shared = [place for place in results[side][0]["best"] if place in own]
            same = all(results[side][0]["best"][place] == own[place] for place in shared)
            this, ours = median[side], median["stressreel"]
            print(
                f"{rows:8,} {side:16}{this['wall']:9.2f}{this['cpu']:9.2f}{this['peak']:9.0f}"
                f"{this['wall'] / ours['wall']:7.2f}x{this['cpu'] / ours['cpu']:7.2f}x"
                + ("" if same else f"  neighbours differ in some of {len(shared)} rows"),
                flush=True,
            )


if __name__ == "__main__":
    main()

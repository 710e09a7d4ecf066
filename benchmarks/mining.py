"""Compare the cost of the nearest-neighbour search with other libraries, and measure mining of real annotations.

    pip install -c constraints.txt -e '.[sbert]' faiss-cpu        # faiss is optional
    python benchmarks/mining.py                                   # 5,000 and 50,000 rows
    python benchmarks/mining.py --sizes 500000 --queries 5000     # half an hour
    python benchmarks/mining.py --annotations Annotations.csv
    python benchmarks/mining.py --annotations Annotations.csv --copies 1 2 4     # how balanced mining grows

Every figure comes from a separate process, and the libraries alternate. A search returns the exact ten nearest other
rows of each row in 384 dimensions; ours uses all rows as queries. Beyond --queries rows, the other libraries search
only some rows, and their times are extrapolated linearly. With --copies, the questions are repeated with other episodes
and names, and embeddings are sums of random word vectors, so that only the rest of `--balance strict` is timed. CPU
time includes all threads, which is fairer on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

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
        from stressreel.negatives.search import nearest

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


def real(annotations: str) -> dict[str, object]:
    """Time embedding and mining of real annotations. Cached embeddings are used if there are any."""
    from stressreel.annotations.causalchaos import overlaps, read_causalchaos
    from stressreel.negatives.embeddings_cache import embed
    from stressreel.negatives.mining import Item, MiningSettings, mine_by_score

    rows = read_causalchaos(Path(annotations)).rows
    start = time.perf_counter()
    vectors = {name: embed([getattr(row, name) for row in rows]) for name in ("question", "answer", "explanation")}
    embedded = time.perf_counter()
    for name in ("answer", "explanation"):
        items = [Item(row.qid, row.question, getattr(row, name)) for row in rows]
        mine_by_score(items, vectors["question"], vectors[name], MiningSettings(), kept_apart=overlaps(rows))
    return {"rows": len(rows), "embed": embedded - start, "mine": time.perf_counter() - embedded, "peak": peak()}


def balanced(annotations: str, copies: int) -> dict[str, object]:
    from stressreel.annotations.causalchaos import read_causalchaos
    from stressreel.language.cast import derive_cast
    from stressreel.language.tagger import load_tagger
    from stressreel.negatives.balanced_mining import mine_balanced
    from stressreel.negatives.candidates import AdaptableTexts, Candidates
    from stressreel.negatives.confuser import Confuser
    from stressreel.negatives.options import QuestionRow
    from stressreel.negatives.settings import MiningSettings

    rows = read_causalchaos(Path(annotations)).rows
    names = derive_cast(text for row in rows for text in (row.question, row.answer, row.explanation)).names
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, names)) + r")\b")
    found = []
    for copy in range(copies):

        def renamed(text: str, ending: str = "aeiou"[copy % 5] * (copy > 0) + "n" * (copy // 5)) -> str:
            return pattern.sub(lambda match: match[0] + ending, text)

        for place, row in enumerate(rows):
            split = ("train", "train", "train", "train", "train", "validation", "test")[place % 7]
            texts = {"answer": renamed(row.answer), "explanation": renamed(row.explanation)}
            episode = f"{row.episode}-{copy}"
            found.append(QuestionRow(f"{row.qid}-{copy}", renamed(row.question), texts, split, episode, split))
    cast = derive_cast(text for row in found for text in (row.question, *row.texts.values()))
    confuser = Confuser(tagger=load_tagger("auto"), cast=cast)
    wall, cpu = time.perf_counter(), time.process_time()
    settings, texts = MiningSettings(), AdaptableTexts(found, confuser, one_style=True)
    made = Candidates(found, texts, made_up, seed=0, same_question=settings.same_question, kept_apart={})
    mine_balanced(found, made, made_up, settings, train="train")
    return {"rows": len(found), "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "peak": peak()}


@cache
def _word(word: str) -> NDArray[np.float64]:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(DIMENSIONS)


def made_up(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return embeddings of length 1 that are similar if texts have words in common."""
    found = np.empty((len(texts), DIMENSIONS), np.float32)
    for place, text in enumerate(texts):
        vector = np.sum([_word(word) for word in ("", *text.lower().split())], axis=0)
        found[place] = vector / np.linalg.norm(vector)
    return found


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
    parser.add_argument("--annotations")
    parser.add_argument("--copies", type=int, nargs="*", default=[])
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        kind, *rest = json.loads(arguments.job)
        print(json.dumps({"real": real, "balanced": balanced, "search": search}[kind](*rest)))
        return
    if arguments.copies:
        if not arguments.annotations:
            parser.error("--copies needs --annotations")
        for copies in arguments.copies:
            found = run("balanced", arguments.annotations, copies)
            print(
                f"{found['rows']:,} rows: balanced mining took {found['cpu']:.0f} s of CPU time and "
                f"{found['wall']:.0f} s of wall time; peak memory {found['peak']:.0f} MB",
                flush=True,
            )
        return
    if arguments.annotations:
        for _ in range(2):
            found = run("real", arguments.annotations)
            print(
                f"{found['rows']} rows: embeddings {found['embed']:.1f} s, mining of answers and explanations "
                f"{found['mine']:.1f} s, peak {found['peak']:.0f} MB",
                flush=True,
            )
        return
    sides = ["stressreel"]
    sides += ["semantic_search"] * bool(find_spec("sentence_transformers")) + ["faiss"] * bool(find_spec("faiss"))
    print(f"{'rows':>8} {'':16}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}{'wall':>8}{'CPU':>8}")
    for rows in arguments.sizes:
        results: dict[str, list[dict[str, object]]] = {side: [] for side in sides}
        for _ in range(arguments.rounds):
            for side in sides:
                results[side].append(run("search", side, rows, arguments.queries))
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

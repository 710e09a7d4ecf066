"""Measure the cost and quality of `attention_distance` on synthetic attention maps.

    OMP_NUM_THREADS=1 python benchmarks/attention_distances.py            # half a minute
    OMP_NUM_THREADS=1 python benchmarks/attention_distances.py --quality  # seconds

Maps are the softmax of products of random queries and keys, causal where noted. The second map of a pair has the same
tokens with little noise (near), the same tokens permuted with more noise (moved), or other tokens (far). Times are CPU
seconds: the median over heads, times the heads of a pair. Quality is relative to the best of all permutations of 4 + 3
tokens.
"""

from __future__ import annotations

import argparse
import time
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray
from stressreel.evaluation.probes.alignment import align

Map = NDArray[np.float32]
SIZES = ((10, 32, False, 144), (256, 32, False, 144), (1000, 60, True, 336))
"""Video tokens, text tokens, whether attention is causal, and the number of heads in all layers."""
KINDS = {"near": 0.1, "moved": 0.5, "far": None}
WIDTH = 16


def pair(rng: np.random.Generator, video: int, text: int, causal: bool, kind: str) -> tuple[Map, Map]:
    tokens = rng.standard_normal((video + text, WIDTH))
    places = np.sin(np.arange(video + text)[:, None] * np.linspace(0.02, 1, WIDTH)) / 2
    query, key = rng.standard_normal((2, WIDTH, WIDTH)) / np.sqrt(WIDTH)

    def attention(inputs: NDArray[np.float64]) -> Map:
        placed = inputs + places
        scores = 1.5 * (placed @ query) @ (placed @ key).T / np.sqrt(WIDTH)
        scores = np.where(np.tri(len(scores)) > 0, scores, -np.inf) if causal else scores
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)

    noise, other = KINDS[kind], rng.standard_normal(tokens.shape)
    if noise is not None:
        order = np.arange(len(tokens))
        if kind == "moved":
            order = np.concatenate([rng.permutation(video), video + rng.permutation(text)])
        other = tokens[order] + noise * other
    return attention(tokens), attention(other)


def cost(heads: int) -> None:
    print("tokens\theads\tkind\trounds\ts a pair\tdistance\tbound\tsettled")
    for video, text, causal, of_pair in SIZES:
        groups = [slice(0, video), slice(video, video + text)]
        for kind in KINDS:
            rng = np.random.default_rng(0)
            tried = heads if video < 1000 else max(heads // 8, 2)
            drawn = [pair(rng, video, text, causal, kind) for _ in range(tried)]
            for rounds in (None, 10):
                seconds, found = [], []
                for one in drawn:
                    start = time.process_time()
                    found.append(align(*one, groups, rounds))
                    seconds.append(time.process_time() - start)
                size = np.sqrt(video + text)
                distance, lowest = (np.mean([getattr(each, name) for each in found]) for name in ("distance", "lowest"))
                print(
                    f"{video} + {text}{' causal' if causal else ''}\t{of_pair}\t{kind}\t{rounds}\t"
                    f"{np.median(seconds) * of_pair:.2f}\t{distance / size:.3f}\t{lowest / size:.3f}\t"
                    f"{np.mean([each.settled for each in found]):.0%}",
                    flush=True,
                )


def quality(pairs: int) -> None:
    groups = [slice(0, 4), slice(4, 7)]
    every = [np.concatenate(one) for one in product(permutations(range(4)), permutations(range(4, 7)))]
    print("kind\tpairs\tbest found\tmean ratio\tworst ratio\tmean bound")
    for kind in KINDS:
        rng = np.random.default_rng(0)
        ratios, bounds = [], []
        for _ in range(pairs):
            first, second = pair(rng, 4, 3, False, kind)
            best = min(float(np.linalg.norm(first - second[np.ix_(order, order)])) for order in every)
            found = align(first, second, groups)
            ratios.append(found.distance / best)
            bounds.append(found.lowest / best)
        print(
            f"{kind}\t{pairs}\t{np.mean(np.array(ratios) < 1 + 1e-5):.1%}\t{np.mean(ratios):.3f}\t{max(ratios):.2f}\t"
            f"{np.mean(bounds):.2f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--heads",
        type=int,
        default=24,
        help="number of heads of each kind to measure; with 1,060 tokens, an eighth of that",
    )
    parser.add_argument(
        "--quality", action="store_true", help="only compare the distances with those found by brute force"
    )
    options = parser.parse_args()
    quality(500)
    if not options.quality:
        cost(options.heads)

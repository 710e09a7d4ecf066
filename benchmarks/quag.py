"""Measure the cost of QUAG as ratios of time, memory and FLOPs, which are medians of interleaved runs.

    python benchmarks/quag.py [--rounds 5] [--layers 2]

Models are random and of realistic width: BERT base with 256 video and 32 text tokens, and a causal one (Qwen2, width
896) with 1,000 and 60. Each has only `--layers` layers, since the cost per layer is the same. Memory is the peak of
torch's CPU allocations during a run (by its profiler). FLOPs are those of matrix products, counted by torch; those of
attention include its projections. CPU time is more reliable than wall time on a busy machine; set OMP_NUM_THREADS=1,
since idle threads are counted too.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
import transformers
from stressreel.evaluation.probes import TEXT, VIDEO, quag
from stressreel.evaluation.probes.interception import eager_attention
from stressreel.evaluation.probes.layers import attention_modules
from torch.utils.flop_counter import FlopCounterMode, sdpa_flop_count

Way = Callable[[], AbstractContextManager[Any]]


def bert(layers: int, tokens: int) -> Any:
    config = transformers.BertConfig(num_hidden_layers=layers, max_position_embeddings=tokens, vocab_size=100)
    return transformers.BertModel(config).eval()


def causal(layers: int, tokens: int) -> Any:
    config = transformers.Qwen2Config(
        hidden_size=896,
        intermediate_size=4864,
        num_hidden_layers=layers,
        num_attention_heads=14,
        num_key_value_heads=2,
        vocab_size=100,
        max_position_embeddings=tokens,
    )
    return transformers.Qwen2Model(config).eval()


def peak(run: Callable[[], Any]) -> float:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        run()
    held = most = 0
    for event in profile.profiler.kineto_results.events():  # type: ignore[union-attr]
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most / 2**20


def flops(model: Any, run: Callable[[], Any]) -> tuple[int, int]:
    """Return the FLOPs of matrix products in the attention modules and in the whole model."""
    fused = {
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: lambda query, key, value, *_, **__: sdpa_flop_count(
            query, key, value
        )
    }
    with FlopCounterMode(display=False, custom_mapping=fused) as counter:
        run()
    by_module = counter.get_flop_counts()
    names = [f"{type(model).__name__}.{name}" for name in attention_modules(model, None)]
    return sum(sum(by_module[name].values()) for name in names), counter.get_total_flops()


def compare(title: str, model: Any, tokens: int, ways: dict[str, Way], rounds: int) -> None:
    """Run all variants alternately. Print their medians and the ratios to the first variant."""
    ids = torch.ones(1, tokens, dtype=torch.long)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(rounds + 1):  # one additional round to warm up
        for name, way in ways.items():
            with torch.no_grad(), way():
                started = time.perf_counter(), time.process_time()
                model(input_ids=ids, use_cache=False)
                ended = time.perf_counter(), time.process_time()
                times[name].append((ended[0] - started[0], ended[1] - started[1]))
    first, work = next(iter(ways)), {}
    print(f"{title}\n  {'':26}    clock      x    CPU x   memory, MB   FLOPs: attention  all")
    for name, way in ways.items():
        with torch.no_grad(), way():
            memory = peak(lambda: model(input_ids=ids, use_cache=False))
        with torch.no_grad(), way():
            work[name] = flops(model, lambda: model(input_ids=ids, use_cache=False))
        pairs = list(zip(times[name][1:], times[first][1:], strict=True))
        clock, cpu = (statistics.median(a[one] / b[one] for a, b in pairs) for one in (0, 1))
        median = statistics.median(one for one, _ in times[name][1:]) * 1000
        saved = "".join(f"{100 * (a / b - 1):+12.1f}%" for a, b in zip(work[name], work[first], strict=True))
        print(f"  {name:26} {median:6.0f} ms {clock:6.2f} {cpu:8.2f} {memory:12.1f} {saved}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--layers", type=int, default=2)
    options = parser.parse_args()
    for kind, make, video, text in (("BERT base", bert, 256, 32), ("causal", causal, 1000, 60)):
        model, tokens = make(options.layers, video + text), video + text
        labels = np.array([VIDEO] * video + [TEXT] * text)

        def probe(quadrants: str, model: Any = model, labels: Any = labels, **more: Any) -> AbstractContextManager[Any]:
            return quag(model, quadrants, modality=labels, **more)

        ways: dict[str, Way] = {"eager": lambda model=model: eager_attention(model), "sdpa": nullcontext}
        ways["crossmodal, unmeasured"] = lambda probe=probe: probe("crossmodal", measure=False)
        ways["crossmodal, measured"] = lambda probe=probe: probe("crossmodal")
        ways["crossmodal knockout"] = lambda probe=probe: probe("crossmodal", operator="knockout", measure=False)
        compare(f"{kind}, {video:,} + {text} tokens, {options.layers} layers", model, tokens, ways, options.rounds)


if __name__ == "__main__":
    main()

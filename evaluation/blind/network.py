"""A small network that learns which option is right from embeddings of question and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.extras import import_extra
from ...core.seeds import rng_for
from .asked import Arranged, Embedded, Floats, Vectors

HIDDEN = 128
EPOCHS = 8
BATCH = 64
RATE = 1e-3
DECAY = 0.05
DROPOUT = 0.3


@dataclass(frozen=True, eq=False)
class Inputs:
    """What the network sees of arranged questions.

    Attributes:
        rows: The questions.
        vectors: Their embeddings.
        besides: Numbers of each option besides, shape (questions, most options, numbers).
        compares: Whether it sees the question: products and differences of the embeddings; else the embeddings of the
            options alone.
    """

    rows: Arranged
    vectors: Embedded
    besides: Vectors
    compares: bool

    def batch(self, chosen: NDArray[np.int64]) -> Vectors:
        """Return the inputs of some questions, float32 of shape (questions, most options, inputs)."""
        scale = np.float32(np.sqrt(self.vectors.options.shape[2]))  # entries of about 1
        options, besides = self.vectors.options[chosen] * scale, self.besides[chosen]
        if not self.compares:
            return np.concatenate([options, besides], axis=2)
        asked = self.vectors.questions[chosen][:, None] * scale
        return np.concatenate([options * asked, np.abs(options - asked), besides], axis=2)

    def take(self, chosen: NDArray[np.int64]) -> Inputs:
        """Return some of the questions."""
        vectors = Embedded(self.vectors.questions[chosen], self.vectors.options[chosen])
        return Inputs(self.rows.take(chosen), vectors, self.besides[chosen], self.compares)


def learn_and_score(learnt: Inputs, asked: Inputs, *key: str, seed: int = 0) -> Floats:
    """Train a network with one hidden layer and score options; on one thread, the same every time.

    It minimises the cross-entropy of the softmax over the options of a question (AdamW, dropout on inputs and hidden
    units).

    Args:
        learnt: What it learns from.
        asked: What it scores.
        *key: Key of the draws.
        seed: Their seed.

    Returns:
        Scores, shape (questions, most options) of `asked`.

    Raises:
        MissingExtraError: torch is not installed.
    """
    torch = import_extra("torch", what="a trained network", extra="sbert")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return _trained(torch, learnt, asked, rng_for(seed, "blind", "network", *key))
    finally:
        torch.set_num_threads(threads)


def _trained(torch: Any, learnt: Inputs, asked: Inputs, rng: np.random.Generator) -> Floats:
    width = learnt.batch(np.arange(1)).shape[2]
    draw = torch.Generator().manual_seed(int(rng.integers(1 << 62)))
    first = torch.tensor(rng.normal(0, np.sqrt(2 / width), (width, HIDDEN)).astype(np.float32), requires_grad=True)
    bias = torch.zeros(HIDDEN, requires_grad=True)
    last = torch.tensor(rng.normal(0, np.sqrt(1 / HIDDEN), HIDDEN).astype(np.float32), requires_grad=True)
    adam = torch.optim.AdamW([first, bias, last], lr=RATE, weight_decay=DECAY)
    count = len(learnt.rows.asked)
    steps = EPOCHS * -(-count // BATCH)
    slowing = torch.optim.lr_scheduler.OneCycleLR(adam, max_lr=3 * RATE, total_steps=steps)

    def scores(inputs: Any, keep: float) -> Any:
        dropped = torch.rand(inputs.shape, generator=draw) < keep if keep < 1 else 1.0
        hidden = torch.relu((inputs * dropped / keep) @ first + bias)
        dropped = torch.rand(hidden.shape, generator=draw) < keep if keep < 1 else 1.0
        return (hidden * dropped / keep) @ last

    for _ in range(EPOCHS):
        order = rng.permutation(count)
        for start in range(0, count, BATCH):
            chosen = order[start : start + BATCH]
            found = scores(torch.from_numpy(learnt.batch(chosen)), 1 - DROPOUT)
            found = found.masked_fill(torch.from_numpy(~learnt.rows.there[chosen]), -1e9)
            loss = torch.nn.functional.cross_entropy(found, torch.from_numpy(learnt.rows.right[chosen]))
            adam.zero_grad()
            loss.backward()
            adam.step()
            slowing.step()
    with torch.no_grad():
        parts = [
            scores(torch.from_numpy(asked.batch(np.arange(start, min(start + 512, len(asked.rows.asked))))), 1.0)
            for start in range(0, len(asked.rows.asked), 512)
        ]
    return np.asarray(torch.cat(parts).numpy(), np.float64)

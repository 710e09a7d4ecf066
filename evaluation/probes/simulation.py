"""Simulate how the cost of crossmodal short-circuiting increases with the coupling of two modalities.

Rawal et al. 2024, §3, §A.5, Figure 2. Two modalities of 15 tokens with 100 numbers each are mixed by a coupling α. A
small transformer predicts one number for each unmixed token, which requires the token at the same position in the other
modality.

Differences from the paper: every step samples new data (the paper has 24,000 samples and 2,000 epochs), so there is no
overfitting and no dropout, whose rate the paper does not report; batches of 8 instead of 1,024; Adam's learning rate
rises to .003 and decays to 0 along a cosine; pre-norm instead of post-norm layers; positions restart in each modality.
The paper does not report the number of heads; this study uses 1, which learns fastest.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ...core.progress import Progress
from ...core.seeds import rng_for
from ...core.workers import worker_pool
from .quadrants import TEXT, VIDEO
from .short_circuits import quag

Singles = NDArray[np.float32]
TOKENS, WIDTH, LAYERS, HIDDEN, HEADS = 15, 100, 4, 400, 1
STEPS, BATCH, RATE = 4000, 8, 0.003
RISING = 40  # the learning rate rises during this fraction of the steps
WEIGHTS = (10 * np.sin(np.arange(1, WIDTH + 1) * math.pi / 202) / WIDTH).astype(np.float32)
"""Weights with which the numbers of a token are summed to its target."""


class Samples(NamedTuple):
    """Inputs t and v, concatenated to shape (samples, 30, 100), and outputs of shape (samples, 30)."""

    inputs: Singles
    outputs: Singles


@dataclass(frozen=True)
class Outcome:
    """The losses of one trained model.

    Attributes:
        loss: Mean squared error on new samples.
        impaired: Mean squared error under crossmodal short-circuiting.
    """

    alpha: float
    seed: int
    loss: float
    impaired: float

    @property
    def increase(self) -> float:
        """Increase of the loss under short-circuiting, in percent."""
        return 100 * (self.impaired / self.loss - 1)

    @property
    def learnt(self) -> bool:
        """Whether the loss is below half of `linear_loss`, which requires single tokens of the other modality."""
        return self.loss < linear_loss(self.alpha) / 2


def linear_loss(alpha: float) -> float:
    """Return the mean squared error of the best linear predictor of m₁ᵢ's number from tᵢ and the means of t and v.

    These are the inputs that remain under crossmodal short-circuiting. All variables are jointly Gaussian: the means
    determine the mean of m₁, and only tᵢ is informative about the deviation from it. With σ² the variance of the number
    and n tokens, the error is σ² (n − 1) / n · α² / ((1 − α)² + α²). It is a reference rather than a bound, since a
    network may transmit single tokens through means of features that depend on position.
    """
    variance = float((WEIGHTS.astype(np.float64) ** 2).sum())
    return variance * (TOKENS - 1) / TOKENS * alpha**2 / ((1 - alpha) ** 2 + alpha**2)


def draw(rng: np.random.Generator, count: int, alpha: float) -> Samples:
    """Generate random samples (§3, steps 1 to 3).

    m₁ and m₂ are standard normal, (15, 100) each. The target of each of their 30 tokens is the weighted mean of its
    numbers, with weights 10 sin(jπ / 202), j = 1 … 100. The inputs are t = (1 − α) m₁ − α m₂ and v = (1 − α) m₂ − α m₁.
    """
    unmixed = rng.standard_normal((count, 2, TOKENS, WIDTH), dtype=np.float32)
    mixed = (1 - alpha) * unmixed - alpha * unmixed[:, ::-1]
    outputs = unmixed.reshape(count, 2 * TOKENS, WIDTH) @ WEIGHTS
    return Samples(mixed.reshape(count, 2 * TOKENS, WIDTH).astype(np.float32), outputs)


class SimulationAttention(torch.nn.Module):
    """Self-attention over the tokens of both modalities."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = torch.nn.Linear(WIDTH, 3 * WIDTH), torch.nn.Linear(WIDTH, WIDTH)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Apply attention to tokens of shape (samples, tokens, 100)."""
        parts = self.inner(tokens).unflatten(-1, (3, HEADS, WIDTH // HEADS)).permute(2, 0, 3, 1, 4)
        mixed: torch.Tensor = self.outer(
            torch.nn.functional.scaled_dot_product_attention(parts[0], parts[1], parts[2]).transpose(1, 2).flatten(2)
        )
        return mixed


class Block(torch.nn.Module):
    """Transformer block with pre-norm attention, a feed-forward layer and residual connections."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = SimulationAttention()
        self.before, self.between = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
        self.inner, self.outer = torch.nn.Linear(WIDTH, HIDDEN), torch.nn.Linear(HIDDEN, WIDTH)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Apply the block to tokens of shape (samples, tokens, 100)."""
        tokens = tokens + self.attention(self.before(tokens))
        changed: torch.Tensor = tokens + self.outer(torch.relu(self.inner(self.between(tokens))))
        return changed


class Model(torch.nn.Module):
    """The transformer that learns the task of the simulation."""

    positions: torch.Tensor

    def __init__(self, rng: np.random.Generator):
        """Initialize weights uniformly in ±√(1 / inputs), and biases to 0."""
        super().__init__()
        with torch.random.fork_rng(devices=[]):  # the layers draw random weights too
            self.embedding = torch.nn.Linear(WIDTH, WIDTH)
            self.modality = torch.nn.Embedding(2, WIDTH)
            self.blocks = torch.nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.last = torch.nn.LayerNorm(WIDTH)
            self.head = torch.nn.Linear(WIDTH, 1)
        angles = np.arange(TOKENS)[:, None] / 10_000 ** (np.arange(0, WIDTH, 2) / WIDTH)
        positions = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(TOKENS, WIDTH)
        self.register_buffer("positions", torch.from_numpy(np.tile(positions, (2, 1)).astype(np.float32)))
        with torch.no_grad():
            for name, parameter in self.named_parameters():
                if name.endswith("bias"):
                    parameter.zero_()
                elif parameter.ndim > 1:
                    bound = math.sqrt(1 / parameter.shape[-1])
                    drawn = rng.uniform(-bound, bound, tuple(parameter.shape)).astype(np.float32)
                    parameter.copy_(torch.from_numpy(drawn))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Predict a number for each token, shape (samples, 30)."""
        kinds = torch.arange(2, device=inputs.device).repeat_interleave(TOKENS)
        tokens = self.embedding(inputs) + self.positions + self.modality(kinds)
        predicted: torch.Tensor = self.head(self.last(self.blocks(tokens))).squeeze(-1)
        return predicted


def simulate(alpha: float, seed: int, *, steps: int = STEPS, tested: int = 1024) -> Outcome:
    """Train a model at one coupling (0 to .5), and measure its loss without and with crossmodal short-circuiting.

    Training uses one thread, so that results do not depend on the number of threads. Each step of Adam uses 8 new
    samples.
    """
    with _one_thread():
        model = Model(rng_for(seed, "quag simulation", "weights"))
        rng = rng_for(seed, "quag simulation", "train")
        optimiser = torch.optim.Adam(model.parameters())
        for step in range(steps):
            rising = min(1, RISING * (step + 1) / steps)
            optimiser.param_groups[0]["lr"] = RATE * rising * (1 + math.cos(math.pi * step / steps)) / 2
            inputs, outputs = map(torch.from_numpy, draw(rng, BATCH, alpha))
            loss = torch.nn.functional.mse_loss(model(inputs), outputs)
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
        model.eval()
        test = draw(rng_for(seed, "quag simulation", "test"), tested, alpha)
        plain = _loss(model, test)
        labels = [TEXT] * TOKENS + [VIDEO] * TOKENS
        with quag(model, "crossmodal", modality=labels, measure=False):
            impaired = _loss(model, test)
    return Outcome(alpha, seed, plain, impaired)


def sweep(alphas: Sequence[float], seeds: Sequence[int], *, steps: int = STEPS, workers: int = 1) -> list[Outcome]:
    """Run the simulation for every coupling and seed, and return the outcomes in that order."""
    wanted = [(alpha, seed) for alpha in alphas for seed in seeds]
    found: dict[tuple[float, int], Outcome] = {}
    with worker_pool(workers) as pool, Progress("training", len(wanted), "model", brief=True) as progress:
        for future in as_completed([pool.submit(simulate, *one, steps=steps) for one in wanted]):
            outcome = future.result()
            found[outcome.alpha, outcome.seed] = outcome
            progress.advance()
    return [found[one] for one in wanted]


def draw_figure(outcomes: Sequence[Outcome]) -> bytes:
    """Draw Figure 2 as PNG, the increase of the loss against the coupling, for each seed and on average."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), dpi=120, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.plot([one.alpha for one in outcomes], [one.increase for one in outcomes], "o", color="#b8c0c9", label="a seed")
    means = mean_increases(outcomes)
    axes.plot(list(means), list(means.values()), "-o", color="#3b76af", label="mean")
    axes.set_xlabel("coupling α")
    axes.set_yscale("symlog", linthresh=1)
    axes.set_ylabel("increase of the test loss, %")
    axes.set_title("Cost of crossmodal short-circuiting")
    axes.grid(color="#e4e7eb")
    axes.legend(frameon=False)
    picture = io.BytesIO()
    figure.savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()


def mean_increases(outcomes: Sequence[Outcome]) -> dict[float, float]:
    """Return the increase of the loss for each coupling, averaged over seeds."""
    by_alpha: dict[float, list[float]] = {}
    for one in outcomes:
        by_alpha.setdefault(one.alpha, []).append(one.increase)
    return {alpha: sum(found) / len(found) for alpha, found in sorted(by_alpha.items())}


@contextmanager
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _loss(model: Model, samples: Samples) -> float:
    total = 0.0
    with torch.no_grad():
        for begin in range(0, len(samples.inputs), 256):
            inputs, outputs = (torch.from_numpy(part[begin : begin + 256]) for part in samples)
            total += float(((model(inputs) - outputs) ** 2).sum())
    return total / samples.outputs.size

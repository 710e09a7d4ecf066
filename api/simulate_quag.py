"""Reproduce the simulation study of QUAG."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from ..core.errors import UsageError
from ..core.extras import import_extra
from ..core.functions import public
from ..core.results import Result, Table
from ..core.settings import Seed, Workers, parsed, within

ALPHAS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


@dataclass(frozen=True)
class Simulation(Result):
    """Result of `simulate_quag`, with the losses of the trained models.

    Attributes:
        picture: The written figure. A JSON file beside it contains the numbers.
        outcomes: For each model, the coupling (`alpha`), seed, test loss (`mse`), loss under crossmodal
            short-circuiting, its increase in per cent, linear loss, and whether the task was learnt.
    """

    picture: Path
    steps: int
    outcomes: tuple[dict[str, Any], ...]

    @property
    def written(self) -> tuple[str, ...]:  # type: ignore[override]
        """Message that names the written files."""
        return (f"{self.picture} and {self.picture.with_suffix('.json')}",)

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table with one row per model."""
        rows = tuple(tuple(one.values()) for one in self.outcomes)
        return (Table("simulation", f"Models after {self.steps:,} steps", tuple(self.outcomes[0]), rows),)

    def as_json(self) -> dict[str, Any]:
        """Return the content of the JSON file."""
        return {"steps": self.steps, "outcomes": list(self.outcomes)}

    def __str__(self) -> str:
        lines = ["alpha  seed  test loss  crossmodal    increase  linear loss"]
        lines += [
            f"{one['alpha']:5g}  {one['seed']:4}  {one['mse']:9.6f}  {one['crossmodal']:10.5f}  "
            f"{one['increase']:+9,.0f}%  {one['linear']:11.5f}{'' if one['learnt'] else '  not learnt'}"
            for one in self.outcomes
        ]
        if not all(one["learnt"] for one in self.outcomes):
            lines.append("Models that did not learn the task say nothing about fusion. Increase --steps.")
        return "\n".join(lines)


def read_alphas(given: Sequence[Any]) -> tuple[float, ...]:
    """Parse couplings between 0 and 0.5, from a comma-separated text or from numbers."""
    try:
        found = sorted({float(one) for one in (given.split(",") if isinstance(given, str) else given)})
    except ValueError:
        raise ValueError("must be numbers separated by commas, such as 0.05,0.2") from None
    if not found or not all(0 < one < 0.5 for one in found):
        raise ValueError("must be numbers between 0 and 0.5 (exclusive)")
    return tuple(found)


@public
def simulate_quag(
    *,
    out: Path | str = Path("quag-simulation.png"),
    alphas: Annotated[Sequence[float] | str, parsed(read_alphas)] = ALPHAS,
    seed: Seed = 0,
    seeds: Annotated[int, within(1, 1000)] = 1,
    steps: Annotated[int, within(1, 10_000_000)] = 4000,
    workers: Workers = None,
    progress: bool = True,
) -> Simulation:
    """Reproduce the simulation study of QUAG (Rawal et al. 2024, §3, Figure 2).

    Small transformers learn a task in which α determines how strongly two modalities are coupled. Their test loss is
    then measured without and with crossmodal short-circuiting. The paper's figure shows that the increase grows with
    α. The linear loss is the closed-form loss of a linear predictor without single tokens of the other modality.

    For example::

        stressreel simulate-quag --alphas 0.1,0.3 --steps 300

    Args:
        out: PNG file to write; the numbers are written beside it as JSON.
        alphas: Couplings, between 0 and 0.5.
        seed: Random seed of the first model.
        seeds: Number of models for each coupling, with consecutive seeds.
        steps: Training steps, each of 8 samples.
        workers: Number of worker processes; it does not affect the result.
        progress: Show progress.

    Raises:
        UsageError: A value is not allowed.
        MissingExtraError: torch is not installed.
        OutputError: The figure cannot be written.
    """
    from ..core.files import write_atomic
    from ..core.progress import showing

    picture = Path(out)
    if picture.suffix.lower() != ".png":
        raise UsageError(f"out: {picture.name} must end in .png.")
    simulation = import_extra("..evaluation.probes.simulation", __package__, what="simulate-quag", extra="probes")
    couplings = read_alphas(alphas)
    with showing(progress):
        processes = min(workers or os.cpu_count() or 1, len(couplings) * seeds)
        outcomes = simulation.sweep(couplings, range(seed, seed + seeds), steps=steps, workers=processes)
    rows = [
        {
            "alpha": one.alpha,
            "seed": one.seed,
            "mse": one.loss,
            "crossmodal": one.impaired,
            "increase": one.increase,
            "linear": simulation.linear_loss(one.alpha),
            "learnt": one.learnt,
        }
        for one in outcomes
    ]
    result = Simulation(picture, steps, tuple(rows))
    write_atomic(picture, simulation.draw_figure(outcomes))
    write_atomic(picture.with_suffix(".json"), json.dumps(result.as_json(), indent=1) + "\n")
    return result

"""`stressreel simulate-quag`: the simulation study of QUAG."""

from __future__ import annotations

from pathlib import Path

import click


def read_alphas(ctx: click.Context, param: click.Parameter, value: str) -> tuple[float, ...]:
    """Read couplings, numbers between 0 and .5 with commas between."""
    try:
        found = tuple(float(one) for one in value.split(","))
    except ValueError as error:
        raise click.BadParameter(f"{value}: expected numbers with commas between, such as 0.05,0.2") from error
    wrong = [one for one in found if not 0 < one < 0.5]
    if wrong:
        raise click.BadParameter(f"{wrong[0]}: expected numbers between 0 and 0.5, both excluded")
    return tuple(sorted(set(found)))


@click.command("simulate-quag")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("quag-simulation.png"),
    show_default=True,
    help="PNG to write; the numbers go beside it as JSON.",
)
@click.option(
    "--alphas",
    default="0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4",
    show_default=True,
    callback=read_alphas,
    help="Couplings, between 0 and 0.5.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the first model.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Models for each coupling, by seeds in a row.",
)
@click.option(
    "--steps", type=click.IntRange(min=1), default=4000, show_default=True, help="Steps of training, of 8 samples."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=None,
    show_default="one a core",
    help="Processes. The result does not depend on it.",
)
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path,
    alphas: tuple[float, ...],
    seed: int,
    seeds: int,
    steps: int,
    workers: int | None,
    progress: bool,
    debug: bool,
) -> None:
    """Repeat the simulation study of Rawal et al. 2024 (§3, Figure 2).

    Small transformers learn a task that couples two modalities by α; then their test loss is measured without and with
    crossmodal short-circuiting. The paper's figure shows that the increase grows with α. The loss that is called linear
    is the closed form of what a linear predictor reaches without single tokens of the other modality.

    \b
    Example:
      stressreel simulate-quag --alphas 0.1,0.3 --steps 300 --out simulation.png
    """  # noqa: D301
    import json
    import os

    from ..extras import import_extra
    from ..progress import showing
    from ..records.files import write_atomic

    if out.suffix.lower() != ".png":
        raise click.BadParameter(f"{out.name}: expected the ending .png", param_hint="--out")
    simulation = import_extra("..probes.simulation", __package__, what="simulate-quag", extra="probes")
    with showing(progress):
        processes = min(workers or os.cpu_count() or 1, len(alphas) * seeds)
        outcomes = simulation.sweep(alphas, range(seed, seed + seeds), steps=steps, workers=processes)
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
    write_atomic(out, simulation.draw_figure(outcomes))
    write_atomic(out.with_suffix(".json"), json.dumps({"steps": steps, "outcomes": rows}, indent=1) + "\n")
    click.echo("alpha  seed  test loss  crossmodal    increase  linear loss")
    for one, row in zip(outcomes, rows, strict=True):
        click.echo(
            f"{one.alpha:5g}  {one.seed:4}  {one.loss:9.6f}  {one.impaired:10.5f}  {one.increase:+9,.0f} %"
            f"  {row['linear']:11.5f}{'' if one.learnt else '  not learnt'}"
        )
    if not all(one.learnt for one in outcomes):
        click.echo("What is not learnt says nothing about fusion: give more --steps.")
    click.echo(f"{out} and {out.with_suffix('.json')}")

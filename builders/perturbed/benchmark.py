"""Define MSRVTT-P and YouCook2-P as benchmarks."""

from __future__ import annotations

from ..base import Benchmark
from .card import PerturbedCard
from .clips import RecipeClips
from .decided import decided
from .derived import derived, shown
from .gallery import gallery
from .prepare import prepare
from .requirements import requirements
from .scores import scoring
from .settings import PerturbedSettings
from .tables import caption_tables, configs, public
from .tasks import choices, items, tasks

BENCHMARK = Benchmark(
    name="perturbed",
    summary="MSRVTT-P, YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations.",
    settings=PerturbedSettings,
    decide=decided,
    prepare=prepare,
    requirements=requirements,
    configs=configs,
    public=public,
    derived=derived,
    shown=shown,
    items=items,
    choices=choices,
    question_tables=lambda info: [next(iter(info["counts"]))],
    card=PerturbedCard,
    scoring=scoring,
    tasks=tasks,
    gallery=gallery,
    clips=RecipeClips,
    captions=caption_tables,
    sample={"msrvtt": "sample"},
    drawn_sample="msrvtt",
    result_table="gaussian_noise",
)

"""Define CausalChaos as a benchmark."""

from __future__ import annotations

from ...evaluation.metrics.inputs import read_whole
from ..base import Benchmark
from .card import CausalCard
from .derived import derived
from .gallery import gallery
from .items import choices, items
from .prepare import prepare
from .requirements import requirements
from .scores import scoring
from .settings import CausalSettings, decided
from .tables import configs, public, question_tables
from .tasks import tasks

BENCHMARK = Benchmark(
    name="causal",
    summary="CausalChaos: why-questions with hard negatives and causal confusion, three divisions, and the clips.",
    settings=CausalSettings,
    decide=decided,
    prepare=prepare,
    requirements=requirements,
    configs=configs,
    public=public,
    derived=derived,
    items=items,
    choices=choices,
    question_tables=question_tables,
    card=CausalCard,
    scoring=scoring,
    tasks=tasks,
    gallery=gallery,
    references=read_whole,
    written_table="open_ended",
    sample={"annotations": "sample"},
    drawn_sample="causal",
)

"""Define CLAVI as a benchmark."""

from __future__ import annotations

from ..base import Benchmark
from .card import ClaviCard
from .derived import derived, shown
from .gallery import gallery
from .items import choices, complements, items, tasks
from .prepare import prepare
from .requirements import requirements
from .scores import scoring
from .settings import ClaviSettings, decided
from .tables import PUBLIC, configs

BENCHMARK = Benchmark(
    name="clavi",
    summary="CLAVI: complement videos with two actions exchanged, and 19 yes/no questions per video.",
    settings=ClaviSettings,
    decide=decided,
    prepare=prepare,
    requirements=requirements,
    configs=configs,
    public=lambda info: PUBLIC,
    derived=derived,
    shown=shown,
    items=items,
    choices=choices,
    question_tables=lambda info: ["questions"],
    card=ClaviCard,
    scoring=scoring,
    complements=complements,
    tasks=tasks,
    gallery=gallery,
    sample={"charades": "sample"},
    drawn_sample="charades",
    result_table="videos",
)

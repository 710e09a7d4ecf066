"""Define AGQA-Decomp as a benchmark."""

from __future__ import annotations

from ..base import Benchmark
from .card import DecompCard
from .clips import clips
from .derived import derived
from .gallery import gallery
from .hierarchies import published_layout
from .items import choices, items
from .prepare import prepare
from .scores import scoring
from .settings import DecompSettings, decided
from .tables import PUBLIC, configs
from .tasks import tasks

BENCHMARK = Benchmark(
    name="decomp",
    summary="AGQA-Decomp: compositional questions decomposed into graphs of sub-questions.",
    settings=DecompSettings,
    decide=decided,
    prepare=prepare,
    configs=configs,
    public=lambda info: PUBLIC,
    derived=derived,
    items=items,
    choices=choices,
    question_tables=lambda info: ["questions"],
    card=DecompCard,
    scoring=scoring,
    tasks=tasks,
    gallery=gallery,
    clips=clips,
    layout=published_layout,
    sample={"charades": "sample"},
    drawn_sample="charades",
    result_table="graphs",
)

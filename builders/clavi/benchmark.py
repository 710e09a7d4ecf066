"""CLAVI, as the rest of stressreel knows it."""

from __future__ import annotations

from ..base import Benchmark, late
from .settings import ClaviSettings, decided

BENCHMARK = Benchmark(
    name="clavi",
    summary="CLAVI: complement videos with two actions exchanged, and 19 yes/no questions a video.",
    description="""Build the CLAVI benchmark from Charades, or from any annotated segments.

    Every pair of actions becomes two videos, the original segment and its complement with the two actions exchanged,
    and 19 yes/no questions a video, as a Parquet dataset that datasets.load_dataset opens.

    \b
    Examples:
      build-clavi --charades sample --out out/clavi
      build-clavi --charades ~/Charades --dry-run
      build-clavi --charades ~/Charades --out out/clavi --workers 8
      build-clavi --charades ~/Charades --pairs test_annotations.json --out out/clavi-test
      build-clavi --segments annotations.csv --videos ~/videos --out out/own
      build-clavi --causalchaos Annotations.csv --videos ~/episodes --out out/events
      build-clavi --youcook2 youcookii_annotations_trainval.json --no-render --out out/steps
    """,
    settings=ClaviSettings,
    decide=decided,
    prepare=late(".prepare", "prepare", __package__),
    configs=late(".tables", "configs", __package__),
    derived=late(".derived", "derived", __package__),
    shown=late(".derived", "shown", __package__),
    items=late(".items", "items", __package__),
    choices=late(".items", "choices", __package__),
    question_tables=lambda info: ["questions"],
    card=late(".card", "card", __package__),
    scoring=late(".scores", "scoring", __package__),
    complements=late(".complements", "complements", __package__),
    tasks=late(".tasks", "tasks", __package__),
    gallery=late(".gallery", "gallery", __package__),
    sample={"charades": "sample"},
    drawn_sample="charades",
    result_table="videos",
)

"""AGQA-Decomp, as the rest of stressreel knows it."""

from __future__ import annotations

from ..base import Benchmark, late
from .settings import DecompSettings, decided

BENCHMARK = Benchmark(
    name="decomp",
    summary="AGQA-Decomp: compositional questions taken apart into graphs of sub-questions.",
    description="""Take compositional questions about videos apart into graphs of sub-questions.

    The questions are AGQA's, or are made from Charades' actions; or published graphs are read. Every question becomes a
    graph in which parents are composed of their children, so that scores tell where a model's answer goes wrong, and
    where it contradicts itself.

    \b
    Examples:
      build-decomp --charades sample --out out/decomp
      build-decomp --charades ~/Charades --out out/charades-graphs
      build-decomp --agqa ~/AGQA_balanced --graphs ~/AGQA_scene_graphs --out out/agqa-decomp
      build-decomp --release-hierarchies ~/test_hierarchies --out out/published
    """,
    settings=DecompSettings,
    decide=decided,
    prepare=late(".prepare", "prepare", __package__),
    configs=late(".tables", "configs", __package__),
    derived=late(".derived", "derived", __package__),
    items=late(".items", "items", __package__),
    choices=late(".items", "choices", __package__),
    question_tables=lambda info: ["questions"],
    card=late(".card", "card", __package__),
    scoring=late(".scores", "scoring", __package__),
    tasks=late(".tasks", "tasks", __package__),
    gallery=late(".gallery", "gallery", __package__),
    clips=late(".clips", "clips", __package__),
    layout=late(".hierarchies", "published_layout", __package__),
    sample={"charades": "sample"},
    drawn_sample="charades",
    result_table="graphs",
)

"""Build the benchmark `decomp`."""

from __future__ import annotations

from ..builders.decomp.settings import DecompSettings
from .build import Built, builds, run_build


@builds(DecompSettings)
def build_decomp(settings: DecompSettings) -> Built:
    """Decompose compositional questions about videos into graphs of sub-questions.

    The questions are AGQA's, or are generated from Charades' actions; published graphs can also be read. In a graph,
    parents are composed of their children, so scores show where a model's answer goes wrong and where it contradicts
    itself.

    For example::

        build-decomp --charades sample --out out/decomp
        build-decomp --charades ~/Charades --out out/charades-graphs
        build-decomp --agqa ~/AGQA --graphs ~/AGQA_scene_graphs --out out/agqa
        build-decomp --release-hierarchies ~/test_hierarchies --out out/published
    """
    return run_build("decomp", settings)

"""Build the benchmark `decomp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..builders import load_benchmark
from ..builders.decomp.settings import DecompSettings
from ..core.share import Unfinished
from .build import DryRun, builds, run_build

if TYPE_CHECKING:
    from .outputs import Output


@builds(DecompSettings)
def build_decomp(settings: DecompSettings) -> Output | DryRun | Unfinished:
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
    return run_build(load_benchmark("decomp"), settings)

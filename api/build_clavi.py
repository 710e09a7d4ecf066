"""Build the benchmark `clavi`."""

from __future__ import annotations

from ..builders.clavi.settings import ClaviSettings
from .build import Built, builds, run_build


@builds(ClaviSettings)
def build_clavi(settings: ClaviSettings) -> Built:
    """Build the CLAVI benchmark from Charades, or from any annotated segments.

    Each pair of actions yields two videos, the original segment and its complement with the two actions swapped, and 19
    yes/no questions per video. The output is a Parquet dataset that datasets.load_dataset opens.

    For example::

        build-clavi --charades sample --out out/clavi
        build-clavi --charades ~/Charades --dry-run
        build-clavi --charades ~/Charades --out out/clavi --workers 8
        build-clavi --charades ~/Charades --pairs test.json --out out/test
        build-clavi --segments annotations.csv --videos ~/videos --out out/own
        build-clavi --causalchaos Annotations.csv --videos ~/episodes --out out/events
        build-clavi --youcook2 youcook2.json --no-render --out out/steps
    """
    return run_build("clavi", settings)

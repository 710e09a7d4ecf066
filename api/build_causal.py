"""Build the benchmark `causal`."""

from __future__ import annotations

from ..builders.causal.settings import CausalSettings
from .build import Built, builds, run_build


@builds(CausalSettings)
def build_causal(settings: CausalSettings) -> Built:
    """Build CausalChaos: why-questions with five answers and five explanations to choose from, and the clips.

    Each division becomes a config (`ud`, `ps`, `un`) of a Parquet dataset that datasets.load_dataset opens, next to
    `causal_confusion`, `open_ended` and `clips`. Distractors are the correct options of similar questions.

    For example::

        build-causal --annotations sample --out out/causal
        build-causal --annotations Annotations.csv --no-render --out out/causalchaos
        build-causal --annotations Annotations.csv --videos ~/episodes --splits UD --out out/ud
        build-causal --annotations Annotations.csv --no-render --imitate-release --out out/same
    """
    return run_build("causal", settings)

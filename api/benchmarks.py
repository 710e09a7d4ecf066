"""Build the benchmarks of stressreel, each with its own settings as keywords."""

from __future__ import annotations

from ..builders.causal.settings import CausalSettings
from ..builders.clavi.settings import ClaviSettings
from ..builders.decomp.settings import DecompSettings
from ..builders.perturbed.settings import PerturbedSettings
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


@builds(PerturbedSettings)
def build_perturbed(settings: PerturbedSettings) -> Built:
    """Build MSRVTT-P or YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations.

    Each perturbation becomes a config of a Parquet dataset that datasets.load_dataset opens, next to the config
    `clean`. Combinations are rows of the config `multimodal`, each naming a clip and a caption of the other configs. By
    default only the visual half is built; see --modality. --split all means the benchmark's own split: test of MSR-VTT,
    validation of YouCook2.

    For example::

        build-perturbed --msrvtt sample --severity 3 --out out/perturbed
        build-perturbed --msrvtt ~/MSRVTT --modality all --out out/msrvtt-p --workers 8
        build-perturbed --msrvtt ~/MSRVTT --modality text --out out/msrvtt-text
        build-perturbed --youcook2 ~/YouCook2 --no-render --out out/youcook2-p
        build-perturbed --captions mine.csv --videos ~/clips --out out/mine-p
    """
    return run_build("perturbed", settings)


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

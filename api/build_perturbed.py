"""Build the benchmark `perturbed`."""

from __future__ import annotations

from ..builders.perturbed.settings import PerturbedSettings
from .build import Built, builds, run_build


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

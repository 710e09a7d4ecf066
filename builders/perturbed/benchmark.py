"""MSRVTT-P and YouCook2-P, as the rest of stressreel knows them."""

from __future__ import annotations

from ..base import Benchmark, Info, late
from .settings import PerturbedSettings


def caption_tables(info: Info) -> list[str]:
    """Name the tables with perturbed captions."""
    return [name for name in info["settings"]["text_perturbations"] if name in info["counts"]]


BENCHMARK = Benchmark(
    name="perturbed",
    summary="MSRVTT-P, YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations.",
    description="""Build MSRVTT-P or YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations.

    Every perturbation becomes a config of a Parquet dataset that datasets.load_dataset opens, beside the config
    `clean`; combinations are rows of the config `multimodal`, which name a clip and a caption of the others. By default
    the visual half is built; see --modality. --split all means the benchmark's own split: test of MSR-VTT, validation
    of YouCook2.

    \b
    Examples:
      build-perturbed --msrvtt sample --severity 3 --out out/perturbed
      build-perturbed --msrvtt ~/MSRVTT --modality all --out out/msrvtt-p --workers 8
      build-perturbed --msrvtt ~/MSRVTT --modality text --text-perturbations change_char,typos --out out/msrvtt-text
      build-perturbed --youcook2 ~/YouCook2 --no-render --out out/youcook2-p
      build-perturbed --captions mine.csv --videos ~/clips --perturbations noise,jpeg --out out/mine-p
    """,  # noqa: E501
    settings=PerturbedSettings,
    decide=late(".decided", "decided", __package__),
    prepare=late(".prepare", "prepare", __package__),
    configs=late(".tables", "configs", __package__),
    derived=late(".derived", "derived", __package__),
    shown=late(".derived", "shown", __package__),
    items=late(".items", "items", __package__),
    choices=late(".items", "choices", __package__),
    question_tables=lambda info: [next(iter(info["counts"]))],
    card=late(".card", "card", __package__),
    scoring=late(".scores", "scoring", __package__),
    tasks=late(".tasks", "tasks", __package__),
    gallery=late(".gallery", "gallery", __package__),
    clips=late(".clips", "RecipeClips", __package__),
    captions=caption_tables,
    sample={"msrvtt": "sample"},
    drawn_sample="msrvtt",
    result_table="gaussian_noise",
)

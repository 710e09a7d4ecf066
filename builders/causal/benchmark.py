"""CausalChaos, as the rest of stressreel knows it."""

from __future__ import annotations

from ..base import Benchmark, Info, late
from .settings import CausalSettings, decided


def question_tables(info: Info) -> list[str]:
    """Name the tables with questions to choose an answer to, the first division before the others."""
    from .tables import choice_tables

    return [name for name in choice_tables() if name in info["counts"]]


BENCHMARK = Benchmark(
    name="causal",
    summary="CausalChaos: why-questions with hard negatives and causal confusion, three divisions, and the clips.",
    description="""Build CausalChaos: why-questions with five answers and five explanations to choose from, and the clips.

    Every division becomes a config (`ud`, `ps`, `un`) of a Parquet dataset that datasets.load_dataset opens, beside
    `causal_confusion`, `open_ended` and `clips`. Wrong options are right ones of similar questions.

    \b
    Examples:
      build-causal --annotations sample --out out/causal
      build-causal --annotations Annotations.csv --no-render --out out/causalchaos
      build-causal --annotations Annotations.csv --videos ~/episodes --splits UD --out out/ud --workers 8
      build-causal --annotations Annotations.csv --no-render --ps-by rows --pool all --tau .75 \\
        --rank-by explanation --no-keep-apart --same-text 2 --max-lend 0 --ties id --out out/as-released
    """,  # noqa: E501
    settings=CausalSettings,
    decide=decided,
    prepare=late(".prepare", "prepare", __package__),
    configs=late(".tables", "configs", __package__),
    derived=late(".derived", "derived", __package__),
    items=late(".items", "items", __package__),
    choices=late(".items", "choices", __package__),
    question_tables=question_tables,
    card=late(".card", "card", __package__),
    scoring=late(".scores", "scoring", __package__),
    tasks=late(".tasks", "tasks", __package__),
    gallery=late(".gallery", "gallery", __package__),
    references=late(".scores", "read_whole", __package__),
    written_table="open_ended",
    sample={"annotations": "sample"},
    drawn_sample="causal",
)

"""Define CausalChaos as a benchmark."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ...core.extras import package
from ...evaluation.metrics.items import read_whole
from ...evaluation.metrics.scores import BenchmarkScoring
from ...language.embeddings import encoder_requirements
from ...language.parse import parser_requirements
from ...negatives.llm import local_requirements
from ..base import Benchmark
from .card import CausalCard
from .derived import derived
from .gallery import gallery
from .items import choices, items, tasks
from .prepare import prepare
from .scores import measure, score_answers
from .settings import CausalSettings, decided
from .tables import configs, public, question_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...core.extras import Requirement
    from ...core.output import FinishedOutput
    from ...core.schema import Config, Public, Row
    from ...data_cards.gallery.answers import Answers
    from ...data_cards.gallery.exhibits import Gallery
    from ...evaluation.blind.blind_questions import BlindQuestion
    from ...evaluation.metrics.items import Items
    from ...evaluation.tasks import Task
    from ..base import Info, Prepared
    from ..runtime.table_checks import Derivation


class Causal(Benchmark):
    """CausalChaos: why-questions with hard negatives and causal confusion, three divisions, and the clips."""

    name = "causal"
    summary = "CausalChaos: why-questions with hard negatives and causal confusion, three divisions, and the clips."
    settings = CausalSettings
    sample = MappingProxyType({"annotations": "sample"})
    drawn_sample = "causal"
    written_table = "open_ended"

    def prepare(self, settings: CausalSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Load the annotations and plan the build."""
        return prepare(settings, dry_run=dry_run, progress=progress)

    def configs(self, info: Info) -> Sequence[Config]:
        """Return the tables of an output."""
        return configs(info)

    def question_tables(self, info: Info) -> Sequence[str]:
        """Return the multiple-choice tables of an output, starting with the first division."""
        return question_tables(info)

    def items(self, output: FinishedOutput, table: str, split: str) -> Items:
        """Return the questions of a table and split with their answer options."""
        return items(output, table, split)

    def decide(self, settings: CausalSettings) -> CausalSettings:
        """Resolve the options that depend on others."""
        return decided(settings)

    def requirements(self, settings: CausalSettings) -> list[Requirement]:
        """Return what the settings need: an encoder, a parser of English, and a language model if it is a local one."""
        settings = decided(settings)
        needs = encoder_requirements(settings.model, "choosing distractors", "planning")
        needs += parser_requirements("choosing distractors")
        if settings.confuse and settings.llm_base_url is not None:
            needs.append(package("openai", "--llm-base-url"))
        elif settings.confuse and settings.llm_model is not None:
            needs += local_requirements(settings.llm_model)
        return needs

    def public(self, info: Info) -> Mapping[str, Public]:
        """Return the columns that stay visible where answers are withheld."""
        return public(info)

    def derived(self, output: FinishedOutput) -> Iterator[Derivation]:
        """Yield the rows that follow from other rows."""
        return derived(output)

    def choices(self, output: FinishedOutput, table: str, split: str) -> list[BlindQuestion]:
        """Return the questions twice, with answer options and with explanation options."""
        return choices(output, table, split)

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return the tasks of every division, of the confusions, and of the open-ended table."""
        return tasks(output, split)

    def scoring(self) -> BenchmarkScoring:
        """Return how answers and explanations are scored."""
        return BenchmarkScoring(answers=score_answers, measure=lambda cells: measure, by_table=True)

    def references(self, output: FinishedOutput, table: str) -> tuple[list[Row], list[str]]:
        """Return the open-ended questions with their answers, and their splits."""
        return read_whole(output, table)

    def card(self) -> CausalCard:
        """Return the text and statistics of the dataset card."""
        return CausalCard()

    def gallery(self, output: FinishedOutput, answers: Answers) -> Gallery:
        """Return a page for each clip."""
        return gallery(output, answers)

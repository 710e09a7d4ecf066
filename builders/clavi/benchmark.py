"""Define CLAVI as a benchmark."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ...core.extras import workbook
from ...evaluation.metrics.scores import BenchmarkScoring
from ...language.embeddings import encoder_requirements
from ...language.parse import parser_requirements
from ..base import Benchmark
from .card import ClaviCard
from .derived import derived, shown
from .gallery import gallery
from .items import choices, complements, items, tasks
from .prepare import prepare
from .scores import measure, score_answers
from .settings import AMBIGUOUS, ClaviSettings, decided
from .tables import PUBLIC, QUESTIONS, configs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...core.extras import Requirement
    from ...core.output import FinishedOutput
    from ...core.schema import Config, Public
    from ...data_cards.gallery.answers import Answers
    from ...data_cards.gallery.exhibits import Gallery
    from ...evaluation.blind.blind_questions import BlindQuestion
    from ...evaluation.metrics.items import Items
    from ...evaluation.models.distances import Complement
    from ...evaluation.tasks import Task
    from ..base import Info, Prepared
    from ..runtime.table_checks import Derivation
    from ..runtime.video_checks import ShownFrames


class Clavi(Benchmark):
    """CLAVI: complement videos with two actions exchanged, and 19 yes/no questions per video."""

    name = "clavi"
    summary = "CLAVI: complement videos with two actions exchanged, and 19 yes/no questions per video."
    settings = ClaviSettings
    sample = MappingProxyType({"charades": "sample"})
    drawn_sample = "charades"
    result_table = "videos"

    def prepare(self, settings: ClaviSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Load the annotations and plan the build."""
        return prepare(settings, dry_run=dry_run, progress=progress)

    def configs(self, info: Info) -> Sequence[Config]:
        """Return the tables of an output."""
        return configs(info)

    def question_tables(self, info: Info) -> Sequence[str]:
        """Return the table of questions."""
        return [QUESTIONS.name]

    def items(self, output: FinishedOutput, table: str, split: str) -> Items:
        """Return the questions of a split as items."""
        return items(output, table, split)

    def decide(self, settings: ClaviSettings) -> ClaviSettings:
        """Resolve the options that depend on others."""
        return decided(settings)

    def requirements(self, settings: ClaviSettings) -> list[Requirement]:
        """Return what the settings need: a parser for free phrases, and an encoder to compare their meanings."""
        settings = decided(settings)
        needs = workbook(settings.segments)
        if settings.collection != "charades" or settings.source == "sta":
            what = "--source sta" if settings.source == "sta" else f"--{settings.collection}"
            needs += parser_requirements(what)
        if settings.same_by == "sbert":
            needs += encoder_requirements(None, "--same-by sbert")
        return needs

    def public(self, info: Info) -> Mapping[str, Public]:
        """Return the columns that stay visible where answers are withheld."""
        return PUBLIC

    def derived(self, output: FinishedOutput) -> Iterator[Derivation]:
        """Yield the rows that follow from other rows."""
        return derived(output)

    def shown(self, output: FinishedOutput) -> Iterator[ShownFrames]:
        """Yield the frames of the sources that each video shows."""
        return shown(output)

    def choices(self, output: FinishedOutput, table: str, split: str) -> list[BlindQuestion]:
        """Return the questions of a split, grouped by wording."""
        return choices(output, table, split)

    def complements(self, output: FinishedOutput, split: str) -> list[Complement]:
        """Return the complement pairs of the before/after questions (§B.7)."""
        return complements(output, split)

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return a task with all questions of a split."""
        return tasks(output, split)

    def scoring(self) -> BenchmarkScoring:
        """Return how answers are scored: accuracy, balanced and consistent accuracies."""
        return BenchmarkScoring(answers=score_answers, measure=lambda cells: measure, flags=(AMBIGUOUS,))

    def card(self) -> ClaviCard:
        """Return the text and statistics of the dataset card."""
        return ClaviCard()

    def gallery(self, output: FinishedOutput, answers: Answers) -> Gallery:
        """Return a page for each pair of complements."""
        return gallery(output, answers)

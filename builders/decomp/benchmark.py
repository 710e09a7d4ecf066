"""Define AGQA-Decomp as a benchmark."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ...annotations.charades import CHARADES
from ...evaluation.models.clip_sources import clips_in_folder
from ..base import Benchmark
from .card import DecompCard
from .derived import derived
from .gallery import gallery
from .hierarchies import published_layout
from .items import choices, items, tasks
from .prepare import prepare
from .scores import scoring
from .settings import DecompSettings, decided
from .tables import PUBLIC, QUESTIONS, configs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ...core.output import FinishedOutput
    from ...core.schema import Config, Public
    from ...data_cards.gallery.answers import Answers
    from ...data_cards.gallery.exhibits import Gallery
    from ...evaluation.blind.blind_questions import BlindQuestion
    from ...evaluation.metrics.items import Items
    from ...evaluation.metrics.scoring import BenchmarkScoring
    from ...evaluation.models.clip_sources import FolderClips
    from ...evaluation.models.question_set import Question
    from ...evaluation.tasks import Task
    from ..base import Info, Prepared
    from ..runtime.table_checks import Derivation


class Decomp(Benchmark):
    """AGQA-Decomp: compositional questions decomposed into graphs of sub-questions."""

    name = "decomp"
    summary = "AGQA-Decomp: compositional questions decomposed into graphs of sub-questions."
    settings = DecompSettings
    sample = MappingProxyType({"charades": "sample"})
    drawn_sample = "charades"
    result_table = "graphs"

    def prepare(self, settings: DecompSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Load the annotations and plan the build."""
        return prepare(settings, dry_run=dry_run, progress=progress)

    def configs(self, info: Info) -> Sequence[Config]:
        """Return the tables of an output."""
        return configs(info)

    def question_tables(self, info: Info) -> Sequence[str]:
        """Return the table of questions."""
        return [QUESTIONS.name]

    def items(self, output: FinishedOutput, table: str, split: str) -> Items:
        """Return the questions of a split that have two possible answers."""
        return items(output, table, split)

    def decide(self, settings: DecompSettings) -> DecompSettings:
        """Resolve the options that depend on others."""
        return decided(settings)

    def public(self, info: Info) -> Mapping[str, Public]:
        """Return the columns that stay visible where answers are withheld."""
        return PUBLIC

    def derived(self, output: FinishedOutput) -> Iterator[Derivation]:
        """Yield the rows that follow from other rows."""
        return derived(output)

    def choices(self, output: FinishedOutput, table: str, split: str) -> list[BlindQuestion]:
        """Return the questions with two possible answers, each with its category."""
        return choices(output, table, split)

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return tasks with all questions of a split, one of them with the yes/no questions."""
        return tasks(output, split)

    def clips(self, output: FinishedOutput, questions: Sequence[Question], folder: Path) -> FolderClips:
        """Find the videos that the questions refer to in a folder of Charades videos."""
        return clips_in_folder(questions, folder, CHARADES.video_folders)

    def scoring(self) -> BenchmarkScoring:
        """Return how answers are scored: compositional accuracy, right for the wrong reasons, internal consistency."""
        return scoring()

    def card(self) -> DecompCard:
        """Return the text and statistics of the dataset card."""
        return DecompCard()

    def gallery(self, output: FinishedOutput, answers: Answers) -> Gallery:
        """Return a page for each question graph."""
        return gallery(output, answers)

    def layout(self, output: FinishedOutput, split: str) -> Iterator[tuple[str, bytes]]:
        """Yield the graphs of a split in the layout of AGQA-Decomp."""
        return published_layout(output, split)

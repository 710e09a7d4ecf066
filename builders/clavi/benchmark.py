"""Define CLAVI as a benchmark."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ...core.extras import workbook
from ...evaluation.blind.blind_questions import BlindQuestion, blind_questions
from ...evaluation.metrics.items import Items, read_columns
from ...evaluation.metrics.scores import BenchmarkScoring
from ...evaluation.models.distances import Complement
from ...evaluation.tasks import Task, VideoColumn, lost_rows, one_split, row_keys
from ...language.embeddings import encoder_requirements
from ...language.parse import parser_requirements
from ..base import Benchmark
from .card import ClaviCard
from .derived import derived, shown
from .gallery import gallery
from .prepare import prepare
from .scores import measure, score_answers
from .settings import AMBIGUOUS, ClaviSettings, decided
from .tables import PUBLIC, QUESTIONS, VARIANTS, VIDEOS, configs, items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...core.extras import Requirement
    from ...core.output import FinishedOutput
    from ...core.schema import Config, Public
    from ...data_cards.gallery.answers import Answers
    from ...data_cards.gallery.exhibits import Gallery
    from ..base import Info, Prepared
    from ..runtime.table_checks import Derivation
    from ..runtime.video_checks import ShownFrames

LINKS = ("question_id", "type", "variant", "complement_question_id", "counterpart_question_id")


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
        kinds, _ = read_columns(output, table, ("template_id",), split)
        return blind_questions(items(output, table, split), kinds["template_id"])

    def complements(self, output: FinishedOutput, split: str) -> list[Complement]:
        """Return the complement pairs of the before/after questions (§B.7).

        They consist of the same question about V and V′, or of Q and Q′ about the same video.
        """
        columns, _ = read_columns(output, QUESTIONS.name, LINKS, split)
        couples = []
        for name, kind, variant, opposite, counterpart in zip(*(columns[column] for column in LINKS), strict=True):
            if kind == "BA":
                if variant == VARIANTS[0]:
                    couples.append(Complement("video", name, counterpart))
                if name < opposite:
                    couples.append(Complement("text", name, opposite))
        return couples

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return a task with all questions of a split.

        Raises:
            UsageError: The split does not exist.
            InputError: Rows of the questions or of their videos are missing.
        """
        split = one_split(output, QUESTIONS.name, split)
        videos = row_keys(output, QUESTIONS.name, ("video_id",), split)
        if VIDEOS.name in output.info["counts"] and (lost := videos - row_keys(output, VIDEOS.name, ("video_id",))):
            raise lost_rows(output, VIDEOS.name, lost)
        return [Task(QUESTIONS.name, QUESTIONS.name, split, "yes_no", VideoColumn(VIDEOS.name, "video_id"))]

    def scoring(self) -> BenchmarkScoring:
        """Return how answers are scored: accuracy, balanced and consistent accuracies."""
        return BenchmarkScoring(answers=score_answers, measure=lambda cells: measure, flags=(AMBIGUOUS,))

    def card(self) -> ClaviCard:
        """Return the text and statistics of the dataset card."""
        return ClaviCard()

    def gallery(self, output: FinishedOutput, answers: Answers) -> Gallery:
        """Return a page for each pair of complements."""
        return gallery(output, answers)

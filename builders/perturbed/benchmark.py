"""Define MSRVTT-P and YouCook2-P as benchmarks."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ...core.extras import listed, package, workbook
from ...corruptions.registry import check_name, check_text_name
from ...language.parse import parser_requirements
from ...video.transcode import ffmpeg_requirements
from ..base import Benchmark
from .card import PerturbedCard
from .derived import derived, shown
from .gallery import gallery
from .items import choices, items, tasks
from .load import RecipeClips
from .prepare import check_together, decided, prepare
from .scores import scoring
from .selection import tools_named
from .settings import PerturbedSettings, settings_of
from .tables import caption_tables, public, suite_configs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ...core.extras import Requirement
    from ...core.output import FinishedOutput
    from ...core.schema import Config, Public
    from ...data_cards.gallery.answers import Answers
    from ...data_cards.gallery.exhibits import Gallery
    from ...evaluation.blind.blind_questions import BlindQuestion
    from ...evaluation.metrics.items import Items
    from ...evaluation.metrics.scores import BenchmarkScoring
    from ...evaluation.models.question_set import Question
    from ...evaluation.tasks import Task
    from ..base import Info, Prepared
    from ..runtime.table_checks import Derivation
    from ..runtime.video_checks import ShownFrames


class Perturbed(Benchmark):
    """MSRVTT-P, YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations."""

    name = "perturbed"
    summary = "MSRVTT-P, YouCook2-P: 18 visual perturbations at five severities, 35 of captions, 66 combinations."
    settings = PerturbedSettings
    sample = MappingProxyType({"msrvtt": "sample"})
    drawn_sample = "msrvtt"
    result_table = "gaussian_noise"

    def prepare(self, settings: PerturbedSettings, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Load the annotations and plan the build."""
        return prepare(settings, dry_run=dry_run, progress=progress)

    def configs(self, info: Info) -> Sequence[Config]:
        """Return the tables of an output."""
        return suite_configs(settings_of(info))

    def question_tables(self, info: Info) -> Sequence[str]:
        """Return the first table, which holds the clips."""
        return [next(iter(info["counts"]))]

    def items(self, output: FinishedOutput, table: str, split: str) -> Items:
        """Return the clips of a split and their captions as items."""
        return items(output, table, split)

    def decide(self, settings: PerturbedSettings) -> PerturbedSettings:
        """Expand names and families to perturbations."""
        return decided(settings)

    def requirements(self, settings: PerturbedSettings) -> list[Requirement]:
        """Return what the settings need: for videos OpenCV and FFmpeg's program, and for captions tools and models."""
        check_together(settings)
        settings = decided(settings)
        needs = workbook(settings.captions)
        if settings.shows:
            needs.append(package("cv2", "perturbing videos"))
        if settings.render and (coded := [name for name in settings.perturbations if check_name(name).scope == "file"]):
            needs += ffmpeg_requirements(listed(coded))
        if settings.worded:
            names = map(check_text_name, settings.text_perturbations)
            needs += parser_requirements("perturbing captions")  # its name is recorded in any case
            needs += tools_named(settings).requirements([*names], settings.text_mode)
        return needs

    def public(self, info: Info) -> Mapping[str, Public]:
        """Return the columns that stay visible where answers are withheld."""
        return public(info)

    def derived(self, output: FinishedOutput) -> Iterator[Derivation]:
        """Yield the rows that follow from other rows."""
        return derived(output)

    def shown(self, output: FinishedOutput) -> Iterator[ShownFrames]:
        """Yield the frames of the clean clips that temporally perturbed ones show."""
        return shown(output)

    def choices(self, output: FinishedOutput, table: str, split: str) -> list[BlindQuestion]:
        """Return the caption choices of a split in the clean setting."""
        return choices(output, table, split)

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return the tasks of choosing a clip's caption in every setting."""
        return tasks(output, split)

    def clips(self, output: FinishedOutput, questions: Sequence[Question], folder: Path) -> RecipeClips:
        """Generate the frames of perturbed clips from their sources."""
        return RecipeClips(output, questions, folder)

    def scoring(self) -> BenchmarkScoring:
        """Return how retrieval is scored: recall and robustness."""
        return scoring()

    def captions(self, info: Info) -> Sequence[str]:
        """Return the names of the tables with perturbed captions."""
        return caption_tables(info)

    def card(self) -> PerturbedCard:
        """Return the text and statistics of the dataset card."""
        return PerturbedCard()

    def gallery(self, output: FinishedOutput, answers: Answers) -> Gallery:
        """Return a page for each clip."""
        return gallery(output, answers)

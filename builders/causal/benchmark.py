"""Define CausalChaos as a benchmark."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ...core.errors import InputError
from ...core.extras import package
from ...evaluation.blind.blind_questions import BlindQuestion
from ...evaluation.metrics.items import read_whole
from ...evaluation.metrics.scores import BenchmarkScoring
from ...evaluation.tasks import Task, VideoColumn, one_split, row_keys
from ...language.embeddings import encoder_requirements
from ...language.parse import parser_requirements
from ...negatives.llm import local_requirements
from ..base import Benchmark
from .card import CausalCard
from .derived import derived
from .gallery import gallery
from .prepare import prepare
from .scores import measure, score_answers
from .settings import CausalSettings, decided
from .tables import CLIPS, NAMES, OPEN, choice_tables, configs, items, public, question_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...core.extras import Requirement
    from ...core.output import FinishedOutput
    from ...core.schema import Config, Public, Row
    from ...data_cards.gallery.answers import Answers
    from ...data_cards.gallery.exhibits import Gallery
    from ...evaluation.metrics.items import Items
    from ..base import Info, Prepared
    from ..runtime.table_checks import Derivation

SHOWN = VideoColumn(CLIPS, "clip_id")


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
        """Return the questions of a table and split twice, with answer options and with explanation options.

        A question is in the balanced subset if its `blind_guessable` is false.
        """
        return [
            BlindQuestion(
                id=row["qid"],
                question=row["question"],
                options=tuple(row[options]),
                right=row[index],
                source=row["episode"],
                part=target,
                balanced=None if row.get("blind_guessable") is None else not row["blind_guessable"],
            )
            for target, (options, index, _) in NAMES.items()
            for row in output.whole(table, None, split)
        ]

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return the tasks of every division, of the confusions, and of the open-ended table."""
        tables = [name for name in (*choice_tables(), OPEN) if name in output.info["counts"]]
        if split is not None and not any(split in output.splits(name) for name in tables):
            one_split(output, tables[0], split)
        stored = CLIPS in output.info["counts"]
        clips = row_keys(output, CLIPS, ("clip_id",)) if stored else set()
        tasks: list[Task] = []
        for table in tables:
            if split is not None and split not in output.splits(table):
                continue
            chosen = one_split(output, table, split)
            questions = row_keys(output, table, ("qid", "clip_id"), chosen)
            gone = tuple(sorted(str(qid) for qid, clip in questions if stored and (clip,) not in clips))
            if len(gone) == len(questions):
                raise InputError(
                    f"{output.path}: all clips for the questions in table {table}, split {chosen}, were skipped. Build "
                    "again with their videos, or choose another --split."
                )
            kinds = ("open_answer", "open_explanation") if table == OPEN else ("answer", "explanation")
            for kind in kinds:
                why = "their clips were skipped in the build" if gone else ""
                tasks.append(
                    Task(f"{table}_{kind.removeprefix('open_')}", table, chosen, kind, SHOWN, left_out=gone, why=why)
                )
        return tasks

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

"""Define AGQA-Decomp as a benchmark."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ...annotations.charades import CHARADES
from ...evaluation.blind.blind_questions import BlindQuestion, blind_questions
from ...evaluation.metrics.items import Items, items_of, read_columns
from ...evaluation.metrics.predictions import BANNED_CATEGORY, NO_OPTIONS
from ...evaluation.metrics.scores import BenchmarkScoring
from ...evaluation.models.clip_sources import clips_in_folder
from ...evaluation.tasks import Doc, Task, one_split
from ..base import Benchmark
from .card import DecompCard
from .compositional_accuracy import measure
from .gallery import gallery
from .prepare import prepare
from .question_graphs import ANSWERED_YES_NO, BANNED
from .scores import explain, score_answers
from .settings import DecompSettings, decided, settings_of
from .tables import PUBLIC, QUESTIONS, VIDEOS, decomp_configs
from .verification import derived
from .video_graphs import published_layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ...core.output import FinishedOutput
    from ...core.schema import Config, Public
    from ...data_cards.gallery.answers import Answers
    from ...data_cards.gallery.exhibits import Gallery
    from ...evaluation.models.clip_sources import FolderClips
    from ...evaluation.models.question_set import Question
    from ..base import Info, Prepared
    from ..runtime.table_checks import Derivation

COLUMNS = ("key", "video_id", "question", "answer", "options", "banned")
TASK_COLUMNS = ("key", "video_id", "question", "answer", "kind")


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
        return decomp_configs(settings_of(info))

    def question_tables(self, info: Info) -> Sequence[str]:
        """Return the table of questions."""
        return [QUESTIONS.name]

    def items(self, output: FinishedOutput, table: str, split: str) -> Items:
        """Return the questions of a split that have two possible answers.

        Predictions for open questions are ignored here. Only `stressreel score` scores them.
        """
        rows, _ = read_columns(output, table, COLUMNS, split)
        withheld = bool(output.withheld)
        indices = [
            index
            for index, (answer, options) in enumerate(zip(rows["answer"], rows["options"], strict=True))
            if options and (answer in options or withheld)
        ]
        chosen = {name: [rows[name][index] for index in indices] for name in COLUMNS}
        choices = items_of(
            output,
            table,
            split,
            id_column="key",
            ids=chosen["key"],
            sources=chosen["video_id"],
            videos=chosen["video_id"],
            texts=chosen["question"],
            options=[tuple(options) for options in chosen["options"]],
            truth=[
                options.index(answer) if answer in options else None
                for options, answer in zip(chosen["options"], chosen["answer"], strict=True)
            ],
        )
        reasons = (BANNED_CATEGORY if banned else NO_OPTIONS for banned in rows["banned"])
        left_out = dict(zip(rows["key"], reasons, strict=True))
        for key in chosen["key"]:
            del left_out[key]
        return replace(choices, others={**choices.others, **left_out})

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
        """Return the questions of a split with two possible answers, each with its category."""
        columns, _ = read_columns(output, table, ("key", "kind"), split)
        kind_of = dict(zip(columns["key"], columns["kind"], strict=True))
        items = self.items(output, table, split)
        return blind_questions(items, [kind_of[name] for name in items.ids])

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return tasks with all questions of a split, except those of excluded categories.

        Options are not listed, as a choice question names them in its text and answers are scored by their words.

        Raises:
            UsageError: The split does not exist.
            InputError: Rows are missing.
        """
        split = one_split(output, QUESTIONS.name, split)
        columns, _ = read_columns(output, QUESTIONS.name, TASK_COLUMNS, split)
        docs: dict[str, list[Doc]] = {"node_yes_no": [], "node": []}
        for key, video, question, answer, kind in zip(*(columns[name] for name in TASK_COLUMNS), strict=True):
            if kind not in BANNED:
                docs["node_yes_no" if kind in ANSWERED_YES_NO else "node"].append(
                    {
                        "id": key,
                        "config": QUESTIONS.name,
                        "table": VIDEOS.name,
                        "key": VIDEOS.columns[0].name,
                        "video": video,
                        "question": question,
                        "answer": answer,
                    }
                )
        names = {"node_yes_no": "yes_no", "node": "words"}
        return [Task(names[kind], QUESTIONS.name, split, kind, docs=listed) for kind, listed in docs.items() if listed]

    def clips(self, output: FinishedOutput, questions: Sequence[Question], folder: Path) -> FolderClips:
        """Find the videos that the questions refer to in a folder of Charades videos."""
        return clips_in_folder(questions, folder, CHARADES.video_folders)

    def scoring(self) -> BenchmarkScoring:
        """Return how answers are scored: compositional accuracy, right for the wrong reasons, internal consistency."""
        return BenchmarkScoring(answers=score_answers, measure=measure, released=True, explain=explain)

    def card(self) -> DecompCard:
        """Return the text and statistics of the dataset card."""
        return DecompCard()

    def gallery(self, output: FinishedOutput, answers: Answers) -> Gallery:
        """Return a page for each question graph."""
        return gallery(output, answers)

    def layout(self, output: FinishedOutput, split: str) -> Iterator[tuple[str, bytes]]:
        """Yield the graphs of a split in the layout of AGQA-Decomp."""
        return published_layout(output, split)

"""Define the interface that every benchmark implements.

Commands, verification, cards, scores, exports and probes receive a `Benchmark` as an argument, and none depends on a
specific one. A benchmark is a folder in `builders/`, or a package with an entry point in the group
`stressreel.benchmarks`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, UsageError
from ..core.plan import LEFT_OUT
from ..video.source_files import searched
from .runtime.source_videos import first_of

if TYPE_CHECKING:
    from pathlib import Path

    from ..core.build_settings import BuildSettings
    from ..core.extras import Requirement
    from ..core.output import FinishedOutput
    from ..core.plan import Builder, BuildEstimate, Plan
    from ..core.schema import Config, Public, Row
    from ..data_cards.card import Card
    from ..data_cards.gallery.answers import Answers
    from ..data_cards.gallery.exhibits import Gallery
    from ..evaluation.blind.blind_questions import BlindQuestion
    from ..evaluation.metrics.items import Items
    from ..evaluation.metrics.scores import BenchmarkScoring
    from ..evaluation.models.clip_sources import ClipSource
    from ..evaluation.models.distances import Complement
    from ..evaluation.models.question_set import Question
    from ..evaluation.tasks import Task
    from .runtime.table_checks import Derivation
    from .runtime.video_checks import ShownFrames

Info = Mapping[str, Any]
"""Content of `build.json`."""


@dataclass(frozen=True)
class Prepared:
    """A planned build whose annotations have been loaded. A subclass defines the methods that apply to it.

    Attributes:
        builder: Renders the units and generates their rows.
        settings: The resolved options.
        source_paths: Path of each source video that was found, by id.
        folders: Folders that were searched for source videos, in each of `subfolders`.
        recorded: Values to record in the command for options that the user did not fully specify.
        warnings: Warnings to print before work starts.
    """

    plan: Plan
    builder: Builder
    settings: Any = None
    source_paths: Mapping[str, Path] = field(default_factory=dict)
    folders: Sequence[Path] = ()
    subfolders: Sequence[str] = (".",)
    recorded: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()

    def describe(self) -> str:
        """Return the text of a dry run, except sizes and times."""
        return "\n".join([f"Plan (nothing was written): {len(self.plan.units):,} {self.plan.noun}s", *self.videos()])

    def videos(self) -> list[str]:
        """Describe how many source videos were found, which ones are missing, and which folders were searched."""
        needed = {unit.source_id for unit in self.plan.units if unit.source_id}
        lines = [f"  source videos found: {len(self.source_paths):,} of {len(needed):,}"]
        if missing := sorted(needed - self.source_paths.keys()):
            lines.append(f"    missing: {first_of(missing)}")
            lines += [f"    {line}" for line in self.searched()]
        return lines

    def searched(self) -> list[str]:
        """Return a line on each folder that was searched for source videos; see `video.source_files.searched`."""
        return searched(self.folders, self.subfolders, self.plan.sources)

    def estimate(self, workers: int, *, probe: bool) -> BuildEstimate | None:
        """Estimate size, time and disk space, and with `probe` encode a few frames; None if nothing is encoded."""
        return None

    def as_chosen(self, output: FinishedOutput) -> Plan | None:
        """Return the plan with the choices of an output; None if choices do not depend on floating-point rounding."""
        return None


class Benchmark(ABC):
    """A benchmark: a subclass defines the attributes and the first four methods, and whichever others apply to it.

    Attributes:
        name: Name, as in `stressreel build NAME`, `build-NAME` and `build.json`.
        summary: One-line description for lists.
        settings: Options; see `core.build_settings`.
        description: Help of `stressreel build NAME`, with examples; by default the summary. For a built-in benchmark,
            it is the docstring of the function.
        written_table: Table with open questions, which harnesses answer in free text.
        sample: Options that build the built-in sample.
        drawn_sample: Name of the built-in sample (in `annotations.samples.SAMPLES`) that these options use.
        result_table: Table, besides the first, for which the build prints how to load it.
    """

    name: str
    summary: str
    settings: type[BuildSettings]
    description = ""
    written_table = ""
    sample: Mapping[str, Any] = MappingProxyType({})
    drawn_sample = ""
    result_table = ""

    @abstractmethod
    def prepare(self, settings: Any, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Load the annotations and plan the build. With `dry_run`, nothing may be downloaded or paid for."""

    @abstractmethod
    def configs(self, info: Info) -> Sequence[Config]:
        """Return the tables that an output may have, given `build.json`."""

    @abstractmethod
    def question_tables(self, info: Info) -> Sequence[str]:
        """Return the tables with questions, the default first."""

    @abstractmethod
    def items(self, output: FinishedOutput, table: str, split: str) -> Items:
        """Return the items of a table and split: question, video, options, correct answer."""

    def decide(self, settings: Any) -> Any:
        """Resolve settings, such as families of names, into those stored in the plan, without reading files."""
        return settings

    def requirements(self, settings: Any) -> Sequence[Requirement]:
        """Return the packages, data and models that the settings need besides the core, checked before `prepare`."""
        return ()

    def public(self, info: Info) -> Mapping[str, Public]:
        """Return the columns of each table that are published if answers are withheld, the table of questions first.

        Other tables are omitted. If the mapping is empty, answers cannot be withheld.
        """
        return {}

    def derived(self, output: FinishedOutput) -> Iterator[Derivation] | None:
        """Yield the rows that can be derived from other rows, in the order of their tables; None if there are none.

        Only derived columns are included, with their storage values. Contradictions that concern no single column are
        yielded as text.
        """
        return None

    def shown(self, output: FinishedOutput) -> Iterator[ShownFrames] | None:
        """Yield the videos that show frames of other videos, and the order of these frames; None if there are none."""
        return None

    def choices(self, output: FinishedOutput, table: str, split: str) -> list[BlindQuestion]:
        """Return the multiple-choice questions of a table and split for an audit, once for each set of options."""
        from ..evaluation.blind.blind_questions import blind_questions

        return blind_questions(self.items(output, table, split))

    def complements(self, output: FinishedOutput, split: str) -> Sequence[Complement]:
        """Return the complement pairs among the questions of a split."""
        return ()

    def tasks(self, output: FinishedOutput, split: str | None) -> list[Task]:
        """Return the tasks of a split for evaluation harnesses: by default, one for the items of each table."""
        from ..evaluation.tasks import item_tasks

        return item_tasks(output, self.items, self.question_tables(output.info), self.tables(output), split)

    def clips(self, output: FinishedOutput, questions: Sequence[Question], folder: Path) -> ClipSource:
        """Return a source of frames from a folder of source videos, for an output without videos.

        Raises:
            UsageError: Only the build can create the videos, or the folder does not exist.
        """
        raise UsageError(
            f"{output.path} has no videos (built with --no-render), which can only be created by the build. Build it "
            "again with videos, or use --modalities blind."
        )

    def scoring(self) -> BenchmarkScoring:
        """Return how predictions are scored: by default, by the accuracy on the items."""
        from ..evaluation.metrics.scores import accuracy_scoring

        return accuracy_scoring(self.items)

    def references(self, output: FinishedOutput, table: str) -> tuple[list[Row], list[str]]:
        """Return the rows of a table with the reference texts of open questions, and their splits.

        Raises:
            InputError: The benchmark has no open questions.
        """
        raise InputError(
            f"{output.path} is an output of build-{self.name}, which has no open-ended questions. Score it with "
            "`stressreel score`."
        )

    def captions(self, info: Info) -> Sequence[str]:
        """Return the names of the tables with perturbed captions, given `build.json`."""
        return ()

    def card(self) -> Card:
        """Return the benchmark's part of the dataset card: by default, its summary."""
        from ..data_cards.card import Card

        return Card(self.summary)

    def gallery(self, output: FinishedOutput, answers: Answers) -> Gallery:
        """Return the pages of a gallery for an output and answers to it: by default, one page per item."""
        from ..data_cards.gallery.exhibits import item_gallery

        tables = self.question_tables(output.info)
        return item_gallery(output, self.items, tables, self.declared(output.info), answers)

    def layout(self, output: FinishedOutput, split: str) -> Iterator[tuple[str, bytes]]:
        """Yield the files of a split, by name, in the layout of the authors' release.

        Raises:
            InputError: The benchmark has no such layout.
        """
        raise InputError(f"{output.path} is an output of build-{self.name}, which has no published layout.")

    def defines(self, method: str) -> bool:
        """Return whether the benchmark has an optional method of its own."""
        return getattr(type(self), method) is not getattr(Benchmark, method)

    def declared(self, info: Info) -> tuple[Config, ...]:
        """Return all tables that an output may have, given `build.json`: `configs`, and what was left out."""
        return (*self.configs(info), LEFT_OUT)

    def tables(self, output: FinishedOutput) -> list[Config]:
        """Return the tables that an output contains."""
        return [config for config in self.declared(output.info) if config.name in output.info["counts"]]

    @property
    def program(self) -> str:
        """Return the build command. Only the built-in benchmarks have a program of their own."""
        own = self.settings.__module__.startswith(__name__.rpartition(".")[0])
        return f"build-{self.name}" if own else f"stressreel build {self.name}"

"""Define the interface that every benchmark implements.

Commands, verification, cards, scores, exports and probes receive a `Benchmark` as an argument, and none depends on a
specific one. A benchmark is a folder in `builders/`, or a package with an entry point in the group
`stressreel.benchmarks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..core.left_out import LEFT_OUT

if TYPE_CHECKING:
    from pathlib import Path

    from ..core.build_settings import BuildSettings
    from ..core.output import FinishedOutput
    from ..core.plan import Builder, Plan
    from ..core.requirements import Requirement
    from ..core.schema import Config, Public, Row
    from ..data_cards.card import Card
    from ..data_cards.gallery.answers import Answers
    from ..data_cards.gallery.exhibits import Gallery
    from ..evaluation.blind.questions import BlindQuestion
    from ..evaluation.metrics.items import Items
    from ..evaluation.metrics.scoring import BenchmarkScoring
    from ..evaluation.models.clips import ClipSource
    from ..evaluation.models.distances import Complement
    from ..evaluation.models.questions import Question
    from ..evaluation.tasks import Task
    from ..video.estimate import BuildEstimate
    from .runtime.row_checks import Derivation
    from .runtime.video_checks import ShownFrames

Info = Mapping[str, Any]
"""Content of `build.json`."""


@dataclass(frozen=True)
class Prepared:
    """A planned build whose annotations have been loaded.

    Attributes:
        builder: Renders the units and generates their rows.
        describe: Returns the text of a dry run, except sizes and times.
        estimate: Estimates size, time and disk space, given the number of workers and whether to encode a few frames;
            None if no videos are rendered.
        recorded: Values to record in the command for options that the user did not fully specify.
        warnings: Warnings to print before work starts.
        searched: Returns the folders searched for source videos; see `video.source_files.searched`.
        as_chosen: If choices depend on floating-point rounding: returns the plan with the choices of an output, where
            another machine can have made them.
    """

    plan: Plan
    builder: Builder
    describe: Callable[[], str]
    estimate: Callable[[int, bool], BuildEstimate] | None = None
    recorded: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    searched: Callable[[], Sequence[str]] = tuple
    as_chosen: Callable[[FinishedOutput], Plan] | None = None


class Prepare(Protocol):
    """Function that loads the annotations and plans a build."""

    def __call__(self, settings: Any, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Plan a build. With `dry_run`, nothing may be downloaded or paid for."""


@dataclass(frozen=True)
class Benchmark:
    """A benchmark. Optional parts are None, are empty or have a default.

    Attributes:
        name: Name, as in `stressreel build NAME`, `build-NAME` and `build.json`.
        summary: One-line description for lists.
        description: Help of the build command, with examples.
        settings: Options; see `core.build_settings`.
        prepare: Loads the annotations and plans the build.
        configs: Returns the tables that an output may have, given `build.json`.
        items: Returns the items of a table and split: question, video, options, correct answer.
        question_tables: Returns the tables with questions, the default first.
        decide: Resolves settings, such as families of names, into those stored in the plan, without reading files.
        description: Help of `stressreel build NAME`, with examples; by default the summary. For a built-in benchmark,
            it is the docstring of the function.
        requirements: Returns the packages, data and models that the settings need besides stressreel's core. They are
            checked before `prepare` is called.
        derived: Yields the rows that can be derived from other rows, in the order of their tables. Only derived columns
            are included, with their storage values. Contradictions that concern no single column are yielded as text.
        shown: Yields the videos that show frames of other videos, and the order of these frames.
        card: Returns the benchmark's part of the dataset card.
        scoring: Returns how predictions are scored; by default, by the accuracy on the items.
        choices: Returns the multiple-choice questions of a table and split for an audit, once for each set of options;
            by default, the items.
        tasks: Returns the tasks of a split for evaluation harnesses; by default, one task made from the items.
        clips: Returns a source of frames if the output has no videos, given questions and a folder of source videos.
        complements: Returns the complement pairs among the questions of a split.
        references: Returns the rows of a table with the reference texts of open questions, and their splits.
        written_table: Table with open questions, which harnesses answer in free text.
        gallery: Returns the pages of a gallery for an output and answers to it; by default, one page per item.
        layout: Yields the files of a split, by name, in the layout of the authors' release.
        public: Returns, given `build.json`, the columns of each table that are published if answers are withheld, the
            table of questions first. Other tables are omitted.
        captions: Returns the names of the tables with perturbed captions, given `build.json`.
        sample: Options that build the built-in sample.
        drawn_sample: Name of the built-in sample (in `samples.SAMPLES`) that these options use.
        result_table: Table, besides the first, for which the build prints how to load it.
    """

    name: str
    summary: str
    settings: type[BuildSettings]
    prepare: Prepare
    configs: Callable[[Info], Sequence[Config]]
    items: Callable[[FinishedOutput, str, str], Items]
    question_tables: Callable[[Info], Sequence[str]]
    decide: Callable[[Any], Any] = lambda settings: settings
    description: str = ""
    requirements: Callable[[Any], Sequence[Requirement]] = lambda settings: ()
    derived: Callable[[FinishedOutput], Iterator[Derivation]] | None = None
    shown: Callable[[FinishedOutput], Iterator[ShownFrames]] | None = None
    card: Callable[[], Card] | None = None
    scoring: Callable[[], BenchmarkScoring] | None = None
    choices: Callable[[FinishedOutput, str, str], list[BlindQuestion]] | None = None
    tasks: Callable[[FinishedOutput, str | None], list[Task]] | None = None
    clips: Callable[[FinishedOutput, Sequence[Question], Path], ClipSource] | None = None
    complements: Callable[[FinishedOutput, str], Sequence[Complement]] | None = None
    references: Callable[[FinishedOutput, str], tuple[list[Row], list[str]]] | None = None
    written_table: str = ""
    gallery: Callable[[FinishedOutput, Answers], Gallery] | None = None
    layout: Callable[[FinishedOutput, str], Iterator[tuple[str, bytes]]] | None = None
    public: Callable[[Info], Mapping[str, Public]] | None = None
    captions: Callable[[Info], Sequence[str]] | None = None
    sample: Mapping[str, Any] = field(default_factory=dict)
    drawn_sample: str = ""
    result_table: str = ""

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

"""The interface of a benchmark.

Commands, verification, cards, scores, exports and probes receive a `Benchmark` as an argument; none of them names a
particular one. A benchmark is a folder of `builders/` with a row in the table there, or a package with an entry point
in the group `stressreel.benchmarks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from ..core.checks import Chosen
    from ..core.options import BuildSettings
    from ..core.output import FinishedOutput
    from ..core.plan import Builder, Plan
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
    from .runtime.decoded import ShownFrames
    from .runtime.derived import Derivation

Info = Mapping[str, Any]
"""The content of `build.json`."""


@dataclass(frozen=True)
class Prepared:
    """A build whose annotations have been loaded, ready to run.

    Attributes:
        builder: Builder that renders the units and makes their rows.
        describe: Function that returns the text of a dry run, except sizes and times.
        estimate: Function that estimates size, time and disk space for a number of workers, from a few encoded frames
            or from typical contents; None if no videos are rendered.
        recorded: Values for underspecified options in the recorded command.
        warnings: Warnings to print before work starts.
        searched: Function that lists the folders searched for source videos; see `video.source_files.searched`.
        chosen: Choices that depend on floating-point rounding, or None.
    """

    plan: Plan
    builder: Builder
    describe: Callable[[], str]
    estimate: Callable[[int, bool], BuildEstimate] | None = None
    recorded: Mapping[str, str | None] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    searched: Callable[[], Sequence[str]] = tuple
    chosen: Chosen | None = None


class Prepare(Protocol):
    """Function that loads the annotations and plans a build."""

    def __call__(self, settings: Any, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Return a build that is ready to run."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: Name, as in `stressreel build NAME`, `build-NAME` and `build.json`.
        summary: One-line description for lists.
        description: Help of the build command, with examples.
        settings: Options; see `core.options`.
        prepare: Function that loads the annotations and plans the build. Its arguments are the settings, `dry_run` (if
            true, nothing may be downloaded or paid for) and `progress` (whether to show progress).
        configs: Function that returns the tables that an output may have, from `build.json`.
        items: Function that returns the items of an output's table and split: question, video, options, correct answer.
        question_tables: Function that returns the tables with questions, the default first.
        decide: Function that resolves settings, such as families of names, into those stored in the plan, without
            reading files, so that the recorded command can be checked. By default settings are unchanged.
        derived: Function that yields the rows that follow from other rows of an output, as storage values in the order
            of their tables with only the derived columns, and a line per contradiction that concerns no single column.
            None if there is no such check.
        shown: Function that yields the videos of an output that show frames of other videos, with their order. None if
            there are none.
        card: Function that returns the benchmark's part of the card.
        scoring: Function that returns the scoring of predictions; None for accuracy on the items.
        choices: Function that returns the multiple-choice questions of a table and split for an audit, once per set of
            options; None to use the items.
        tasks: Function that returns the tasks of a split for evaluation harnesses; None to derive one from the items.
        clips: Function that returns the source of frames for an output without videos, given questions and a folder of
            source videos; None if videos only exist in the build.
        complements: Function that returns the complement pairs of questions in a split; None if there are none.
        references: Function that returns the rows of a table with the reference texts of open questions, and the split
            of each row; None if there are no open questions.
        written_table: Table whose open questions harnesses ask for free text; "" if there is none.
        gallery: Function that returns the pages of a gallery for an output and answers to it; None for one page per
            item.
        layout: Function that yields the files of a split, by name, in the layout of the authors' release, or None.
        public: Function that returns, from `build.json`, the parts of tables that a split with withheld answers shows,
            the table of questions first; unlisted tables are omitted. None if answers cannot be withheld.
        captions: Function that returns the names of the tables with perturbed captions, from `build.json`; None if
            there are none.
        sample: Options that build the built-in sample; empty if there is none.
        drawn_sample: Name of the built-in sample (in `samples.SAMPLES`) that these options use.
        result_table: Table, besides the first, for which the build prints how to load it.
    """

    name: str
    summary: str
    description: str
    settings: type[BuildSettings]
    prepare: Prepare
    configs: Callable[[Info], Sequence[Config]]
    items: Callable[[FinishedOutput, str, str], Items]
    question_tables: Callable[[Info], Sequence[str]]
    decide: Callable[[Any], Any] = lambda settings: settings
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

    def tables(self, output: FinishedOutput) -> list[Config]:
        """Return the tables that an output has."""
        return [config for config in self.configs(output.info) if config.name in output.info["counts"]]

    @property
    def program(self) -> str:
        """The build command; only stressreel's own benchmarks have a separate program."""
        own = self.settings.__module__.startswith(__name__.rpartition(".")[0])
        return f"build-{self.name}" if own else f"stressreel build {self.name}"

"""The interface of a benchmark.

Commands, verification, cards, scores, exports and probes get a `Benchmark` as an argument; none of them names one. A
benchmark is a folder of `builders/` with a row in the table there, or a package with an entry point in the group
`stressreel.benchmarks`.
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
    from ..core.schema import Config, Row
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
    """A build that has read its annotations and is ready to run.

    Attributes:
        plan: Its units.
        builder: Renders the units and makes their rows.
        describe: Returns the output of a dry run, except sizes and times.
        estimate: Estimates size, time and disk space for a number of workers, from a few encoded frames or from typical
            contents; None if no videos are made.
        recorded: Values for underspecified options in the recorded command.
        warnings: Warnings to print before work starts.
        searched: Lists the folders that were searched for source videos; see `video.source_files.searched`.
        chosen: Choices that depend on floating-point rounding; None if there are none.
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
    """Reads the annotations and plans a build."""

    def __call__(self, settings: Any, *, dry_run: bool = False, progress: bool = False) -> Prepared:
        """Return a build that is ready to run."""


@dataclass(frozen=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: Name, as in `stressreel build NAME`, `build-NAME` and `build.json`.
        summary: One line for lists.
        description: Help of its command, with examples.
        settings: Its options; see `core.options`.
        prepare: Reads the annotations and plans the build. Takes the settings, `dry_run` (then nothing may be
            downloaded or paid for) and `progress` (whether to show it).
        configs: Returns the tables that an output may have, from `build.json`.
        items: Returns the items of an output's table and split: question, video, options, correct answer.
        question_tables: Returns the tables with questions, the default first.
        decide: Resolves settings, such as families of names, into those that the plan keeps, without reading any file,
            so that the recorded command can be checked. By default they are unchanged.
        derived: Yields the rows that follow from other rows of an output, as storage values in the order of their
            tables with only the derived columns; and a line per contradiction that concerns no single column. None if
            there is no such check.
        shown: Yields the videos of an output that show frames of other videos, and in which order; None if there are
            none.
        card: Returns the benchmark's part of the card.
        scoring: Returns how predictions are scored; None for the accuracy on its items.
        choices: Returns the multiple-choice questions of a table and split for an audit, once per set of options; None
            to use its items.
        tasks: Returns its tasks for evaluation harnesses, for a split; None to make one from its items.
        clips: Returns the source of frames for an output without videos, given questions and a folder of source videos;
            None if videos are only made in the build.
        complements: Returns the complement pairs of questions of a split; None if it has none.
        references: Returns the rows of a table with the reference texts of its open questions, and the split of each;
            None if it has no such questions.
        written_table: Table whose open questions are answered in free text by harnesses; empty if there is none.
        gallery: Returns the pages of a gallery for an output and answers to it; None for one page per item.
        layout: Yields the files of a split, by name, in the layout of its authors' release; None if there is none.
        captions: Returns the names of its tables with perturbed captions, from `build.json`; None if it has none.
        sample: Options that build its built-in sample; empty if it has none.
        drawn_sample: The built-in sample (of `samples.SAMPLES`) that these options use.
        result_table: The table, besides the first, that the end of a build shows how to load.
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
    captions: Callable[[Info], Sequence[str]] | None = None
    sample: Mapping[str, Any] = field(default_factory=dict)
    drawn_sample: str = ""
    result_table: str = ""

    def tables(self, output: FinishedOutput) -> list[Config]:
        """Return the tables that an output has."""
        return [config for config in self.configs(output.info) if config.name in output.info["counts"]]

    @property
    def program(self) -> str:
        """The command that builds it; only our own benchmarks have a separate program."""
        own = self.settings.__module__.startswith(__name__.rpartition(".")[0])
        return f"build-{self.name}" if own else f"stressreel build {self.name}"

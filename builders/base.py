"""What the rest of stressreel knows of a benchmark.

Commands, verification, cards, scores, exports and probes get a `Benchmark` as an argument; none of them names one. A
benchmark is one folder of `builders/` and one row of the table there, or a package of somebody else's that the
entry-point group `stressreel.benchmarks` names.
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
    from ..video.estimate import Estimate
    from .runtime.decoded import Shown
    from .runtime.derived import Derivation

Info = Mapping[str, Any]
"""The content of `build.json`."""


@dataclass(frozen=True)
class Prepared:
    """A build that has read its annotations and is ready to run.

    Attributes:
        plan: Its units.
        builder: Renders and describes them.
        describe: Writes what a dry run prints, but for sizes and times.
        estimate: Estimates size, time and disk space for a number of workers, either from a few encoded frames or from
            usual contents; None if no videos are made.
        recorded: Texts for options in the recorded command, where what was given does not say enough.
        warnings: What the user has to know before work starts.
        searched: Describes the folders in which source videos were looked for; see `video.source_files.searched`.
        chosen: What floating point decides of it; None if nothing.
    """

    plan: Plan
    builder: Builder
    describe: Callable[[], str]
    estimate: Callable[[int, bool], Estimate] | None = None
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
        name: Its name, also in `build.json`: `stressreel build NAME`, `build-NAME`.
        summary: One line for lists of commands.
        description: What its command's help says, with examples.
        settings: Its options; see `core.options`.
        prepare: Reads the annotations and plans the build. Gets the settings, `dry_run` (nothing may be fetched or
            paid for then) and `progress` (whether to show it).
        configs: The tables that an output may have, from `build.json`.
        items: The items of an output's table and split: what is asked, about which video, what is right.
        question_tables: The tables with questions, the default first.
        decide: Turns settings as given into those that the plan keeps (families of names into names, for example)
            without a look at any file, so that the recorded command can be checked. By default they stay as they are.
        derived: The rows of its tables that follow from other rows of an output, in storage values and in the order of
            their tables, with the columns that do; and a line for each contradiction that is none of a column. None if
            nothing is checked so.
        shown: Which videos of an output show the frames of others, in which order; None if none does.
        card: What the card says besides what all cards say.
        scoring: How predictions are scored; None for the accuracy on its items.
        choices: What a table and split asks with options, for an audit of blind guessing: each question as often as it
            has sets of options; None for its items.
        tasks: Its tasks for evaluation harnesses, for a split; None for one of its items.
        clips: Where the frames of an output without videos come from, for questions and a folder of source videos; None
            if videos are made in the build, so that it has to hold them.
        complements: The complement pairs of questions of a split; None if it has none.
        references: The rows of a table with the right texts of its open questions, and the split of each; None if it
            has no such questions.
        written_table: The table whose open questions harnesses let a model answer in writing; empty if there is none.
        gallery: What a gallery shows of an output and of answers to it; None for a page for each of its items.
        layout: The files, by name, in which its authors publish a split of theirs; None if there is no such layout.
        captions: Names of its tables with perturbed captions, from `build.json`; None if it has none.
        sample: The options that build its built-in sample; empty if it has none.
        drawn_sample: The built-in sample (of `samples.SAMPLES`) that it is built from then.
        result_table: The table that the end of a build shows how to open, beside the first.
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
    shown: Callable[[FinishedOutput], Iterator[Shown]] | None = None
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
        """What builds it on the command line: a benchmark of another package has no program of its own."""
        own = self.settings.__module__.startswith(__name__.rpartition(".")[0])
        return f"build-{self.name}" if own else f"stressreel build {self.name}"

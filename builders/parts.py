"""Apply the parts of a benchmark to an output, with defaults for parts that the benchmark does not define."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.build_settings import check_record
from ..core.errors import InputError, UsageError
from ..core.files import EVAL
from ..core.output import Check, Finding, NotChecked, NotRun, refuse_withheld
from ..core.output_files import TEXT_SHIFT
from ..core.progress import Working
from . import benchmark_of, load_benchmark

if TYPE_CHECKING:
    from ..core.output import FinishedOutput
    from ..core.schema import Config
    from ..data_cards.card import Card, Cell
    from ..evaluation.blind.blind_questions import BlindQuestion
    from ..evaluation.metrics.bootstrap import Measure
    from ..evaluation.metrics.items import Items
    from ..evaluation.metrics.open_ended import OpenRows
    from ..evaluation.metrics.predictions import Predictions
    from ..evaluation.metrics.scores import Explanation, ScoreOptions, Scores
    from ..evaluation.metrics.text_shift import LanguageModel
    from .base import Benchmark
    from .rebuild import RebuildOptions, Sources


def items_of_output(output: FinishedOutput, config: str | None, split: str | None) -> Items:
    """Return the items of an output; see `Output.items`."""
    from ..evaluation.metrics.items import choose_config, choose_split

    benchmark = benchmark_of(output)
    table = choose_config(output, benchmark.question_tables(output.info), config)
    chosen = choose_split(output, table, split)
    refuse_withheld(output, chosen)
    return benchmark.items(output, table, chosen)


def choices_of_output(output: FinishedOutput, config: str, split: str) -> list[BlindQuestion]:
    """Return the multiple-choice questions of a table and split; see `Benchmark.choices`."""
    refuse_withheld(output, split)
    return benchmark_of(output).choices(output, config, split)


def checks_for(output: FinishedOutput, sources: Sources | None, again: RebuildOptions) -> dict[str, Check]:
    """Return all checks that apply to an output, the inexpensive ones first.

    Checks that only read rows are omitted if the output can be rebuilt from `sources`.
    """
    from ..data_cards.card_checks import card_checks
    from ..data_cards.leaderboard import check_eval_file
    from .runtime.verify import common_checks, row_checks
    from .runtime.video_checks import check_decoded, check_decord
    from .runtime.withhold import check_withheld

    benchmark = benchmark_of(output)
    configs = benchmark.tables(output)
    has_videos = any(config.videos for config in configs)
    checks = common_checks(configs)
    decoded = partial(check_decoded, configs=configs, workers=again.workers)
    last = checks.pop("load_dataset")
    if sources and output.withheld:
        raise UsageError(
            "--sources cannot be used with copies made by `stressreel withhold`, which cannot be rebuilt. Verify the "
            "original."
        )
    rebuilt = rebuild_checks(output, benchmark, sources, again) if sources else {}
    if output.withheld:
        checks |= row_checks(configs)
        checks["withheld"] = partial(check_withheld, configs=configs, public=benchmark.public(output.info))
        if has_videos and again.decode:
            checks["decoded"] = decoded
    elif "rows" not in rebuilt:
        checks |= {**row_checks(configs), "settings": partial(check_settings, benchmark=benchmark)}
        if benchmark.derived(output) is not None:
            checks["derived"] = partial(check_derived_rows, benchmark=benchmark, configs=configs)
        if has_videos and again.decode:
            checks["decoded"] = decoded
            if benchmark.shown(output) is not None:
                checks["shown"] = partial(
                    check_shown_frames, benchmark=benchmark, configs=configs, workers=again.workers
                )
    if (output.path / TEXT_SHIFT).is_file():
        checks["text_shift"] = partial(check_text_shift, benchmark=benchmark)
    if (output.path / EVAL).is_file():
        checks["eval"] = partial(
            check_eval_file, tables=benchmark.question_tables(output.info), summary=benchmark.summary
        )
    if has_videos and again.decode:
        checks["decord"] = partial(check_decord, workers=again.workers)
    cards = card_checks(benchmark.declared(output.info), card_of(benchmark, output.info))
    return {**checks, **rebuilt, **cards, "load_dataset": last}


def shift_of_captions(
    output: FinishedOutput,
    benchmark: Benchmark,
    model: LanguageModel | None = None,
    each: Callable[[str], None] = lambda name: None,
) -> dict[str, Any]:
    """Compare all perturbed captions with their originals; see `evaluation.metrics.text_shift.shift_report`."""
    from ..core.source import source_of
    from ..corruptions.registry import check_text_name
    from ..evaluation.metrics.text_shift import shift_report, table7

    names = benchmark.captions(output.info)
    origin = source_of(output.info).key
    return {
        "canary": output.info.get("canary"),
        **shift_report(
            {
                name: [(row["caption"], row["original"]) for row in output.whole(name, ["caption", "original"])]
                for name in names
            },
            {name: check_text_name(name).family for name in names},
            fingerprint=output.info["fingerprint"],
            paper=origin if origin in table7() else None,
            model=model,
            each=each,
        ),
    }


def check_text_shift(output: FinishedOutput, benchmark: Benchmark) -> Iterator[Finding]:
    """Check the scores in `text_shift.json`, except for perplexities, which need a language model."""
    from ..evaluation.metrics.text_shift import read_text_shift, scorer_versions, unlike_report

    stated = read_text_shift(output.path, output.info["fingerprint"])
    if stated is None:
        return  # `check_files` reports an outdated file
    judge = stated["tools"].get("language model")
    tools = {name: version for name, version in stated["tools"].items() if name != "language model"}
    try:
        here = scorer_versions()
    except InputError as error:
        yield NotRun(f"the scores in {TEXT_SHIFT}: {error}")
        return
    if tools != here:
        yield NotChecked(f"the scores in {TEXT_SHIFT}, which were computed with {tools}; here are {here}", "tools")
        return
    again = shift_of_captions(output, benchmark)
    yield from (f"{TEXT_SHIFT}: {line}" for line in unlike_report(stated, again))
    if judge:
        yield NotRun(f"the perplexities in {TEXT_SHIFT}, which need {judge}")


def check_settings(output: FinishedOutput, benchmark: Benchmark) -> Iterator[Finding]:
    """Check that the command and other entries of `build.json` follow from the settings."""
    from .rebuild import other_version

    if version_note := other_version(output):  # whose options may have other defaults
        yield NotChecked(f"the settings: {version_note}", "version")
    else:
        yield from check_record(output.info, benchmark.program, benchmark.settings, benchmark.decide)


def check_derived_rows(output: FinishedOutput, benchmark: Benchmark, configs: Sequence[Config]) -> Iterator[Finding]:
    """Check the rows that follow from others. This requires the version of stressreel that built the output."""
    from .rebuild import other_version
    from .runtime.table_checks import check_derived

    if version_note := other_version(output):
        yield NotChecked(f"rows derived from other rows: {version_note}", "version")
    else:
        yield from check_derived(output, configs, benchmark.derived(output) or ())


def check_shown_frames(
    output: FinishedOutput, benchmark: Benchmark, configs: Sequence[Config], workers: int
) -> Iterator[Finding]:
    """Check the videos that show frames of others."""
    from .runtime.video_checks import at_once, check_shown

    yield from check_shown(output, benchmark.shown(output) or (), at_once(output, configs, workers))


def rebuild_checks(
    output: FinishedOutput, benchmark: Benchmark, sources: Sources, again: RebuildOptions
) -> dict[str, Check]:
    """Return the checks that repeat the build or, if it cannot be repeated, one check that reports why."""
    from .rebuild import Rebuild, prepare_again

    with Working("preparing the build again"):
        repeated = prepare_again(output, benchmark, sources)
    if not isinstance(repeated, tuple):
        return {"sources": lambda output: [repeated]}
    prepared, info = repeated
    rebuild = Rebuild(prepared, info, output, again)
    choices = {"choices": rebuild.check_choices} if rebuild.chosen_elsewhere else {}
    return {"rows": rebuild.check_rows, **choices, "record": rebuild.check_record, "videos": rebuild.check_videos}


@dataclass(frozen=True)
class ScoredTable:
    """Scores, and any figures that the benchmark draws of them, as PNG by file name."""

    scores: Scores
    config: str
    figures: Mapping[str, bytes] | None


def score_output(
    output: FinishedOutput,
    predictions: Predictions | None,
    similarity: Path | None,
    split: str | None,
    options: ScoreOptions,
) -> ScoredTable:
    """Score predictions or similarities on an output; see `evaluation.metrics.scores.score`."""
    from ..evaluation.metrics.items import choose_config
    from ..evaluation.metrics.scores import score

    refuse_withheld(output, split)
    benchmark = benchmark_of(output)
    scoring = benchmark.scoring()
    config = choose_config(output, benchmark.question_tables(output.info), options.config)
    with Working("scoring"):
        scores = score(output, scoring, config, predictions, similarity, split, options)
        return ScoredTable(scores, config, scoring.figures(scores) if scoring.figures else None)


def measure_of(name: str, cells: Sequence[str]) -> Measure:
    """Return a function that computes the scores from the mean of each cell of a tally."""
    from ..evaluation.metrics import open_ended

    return open_ended.measure if name == open_ended.NAME else load_benchmark(name).scoring().measure(cells)


def open_rows(output: FinishedOutput, config: str | None) -> OpenRows:
    """Return the rows of a table with open questions and their correct texts.

    Raises:
        InputError: The benchmark has no open questions.
    """
    from ..evaluation.metrics.items import choose_config
    from ..evaluation.metrics.open_ended import OpenRows

    refuse_withheld(output)
    benchmark = benchmark_of(output)
    table = choose_config(output, benchmark.question_tables(output.info), config)
    return OpenRows(table, *benchmark.references(output, table), benchmark.written_table)


def card_of(benchmark: Benchmark, info: Mapping[str, Any] | None = None) -> Card:
    """Return the benchmark's part of the card: by default its summary, and no statistics if answers are withheld."""
    if info and info.get("withheld"):
        from .runtime.withhold import withheld_card

        return withheld_card(info)
    card = benchmark.card()
    card.trained = lambda output: trained_baselines(output, benchmark.question_tables(output.info))
    return card


def trained_baselines(output: FinishedOutput, tables: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Return the accuracies of `word_baseline` as table rows, for each table and part of questions with options."""
    from ..evaluation.blind.audit import part_of
    from ..evaluation.blind.word_baselines import word_baseline

    rows: dict[str, dict[str, Cell]] = {}
    for table in (name for name in tables if name in output.info["counts"]):
        splits = output.splits(table)
        tested = next((name for name in ("test", "validation") if name in splits), splits[-1])
        trains = "train" in splits and tested != "train"
        try:
            tests = choices_of_output(output, table, tested)
            trains_on = choices_of_output(output, table, "train") if trains else []
        except InputError:  # too few captions to choose from
            continue
        for part, yes_no in dict.fromkeys((part_of(question), question.yes_no) for question in tests):
            some, learnt = (
                [question for question in all_of if (part_of(question), question.yes_no) == (part, yes_no)]
                for all_of in (tests, trains_on)
            )
            if (baseline := word_baseline(some, learnt)) is None:
                continue
            rows[f"{table}, {part}"] = {
                "trained on": "train" if learnt else f"other sources of {tested}",
                "tested on": f"{baseline.questions:,} of {tested}",
                "without words": baseline.usual,
                "accuracy": baseline.accuracy,
            }
    return rows


def layout_of(benchmark: Benchmark, output: FinishedOutput, split: str | None) -> Iterator[tuple[str, bytes]]:
    """Return the files of an output in the layout of the authors' release.

    Raises:
        InputError: The benchmark has no such layout.
        UsageError: The split does not exist, or the output has several and none was specified.
    """
    from ..evaluation.metrics.items import ALL, choose_split

    refuse_withheld(output, split)
    table = benchmark.question_tables(output.info)[0]
    chosen = choose_split(output, table, split)
    splits = output.splits(table)
    if chosen == ALL and len(splits) > 1:
        raise UsageError(f"the published layout holds a single split. Choose one with --split: {', '.join(splits)}.")
    return benchmark.layout(output, splits[0] if chosen == ALL else chosen)


def explain_answer(output: FinishedOutput, predictions: Predictions, question: str) -> Explanation:
    """Explain how the answer to one question was scored.

    Raises:
        InputError: The question does not exist.
        UsageError: The benchmark cannot explain answers.
    """
    from ..evaluation.metrics.predictions import of_output

    refuse_withheld(output)
    benchmark = benchmark_of(output)
    scoring = benchmark.scoring()
    if scoring.explain is None:
        raise UsageError(f"{benchmark.name} does not support explanations of single answers.")
    table = benchmark.question_tables(output.info)[0]
    return scoring.explain(output, question, of_output(predictions, table, output.asked))

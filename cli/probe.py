"""`stressreel probe`: what a model's answers lose when its fusion is impaired."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .question_options import Asked, Scorable, check_target, find_clips, question_options, read_questions
from .score_options import bootstrap_options

if TYPE_CHECKING:
    from ..asking.clips import Clips
    from ..asking.distances import Complement
    from ..asking.journal import Journal
    from ..asking.probed import Condition, ProbedModel
    from ..asking.run import Call, How
    from ..metrics.bootstrap import Estimate
    from ..metrics.distance_table import DistanceRow
    from ..metrics.scores import Table

BASELINE = "baseline"
MARK = 0.02
LEGEND = "* a drop of two points or more, as the paper marks it, whose interval, if there is one, is below 0."


@click.command("probe")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--transformers", metavar="NAME_OR_DIR", required=True, help="A model of transformers that runs here.")
@click.option("--to", type=click.Path(path_type=Path), required=True, help="Folder for predictions and tables.")
@click.option(
    "--short-circuits",
    default="all",
    show_default=True,
    help="Which, between commas: unimodal, crossmodal, video, text; all: these four.",
)
@click.option(
    "--operators",
    default="average,knockout",
    show_default=True,
    help="average (QUAG), knockout (masked), merge (as QUAG-attention), between commas.",
)
@click.option("--layer", "layers", multiple=True, help="Impair these attention modules only: a number or a pattern.")
@click.option(
    "--attention-distances",
    is_flag=True,
    help="Measure how far apart attention lies on the two sides of complement pairs (the paper's Table 16); CLAVI's.",
)
@click.option(
    "--pairs",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="With --attention-distances: complement pairs of each kind at most, a seeded draw.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=0),
    help="With --attention-distances: rounds of swaps for a head at most; faster, and farther.  [default: no limit]",
)
@click.option("--revision", default="", help="Commit, tag or branch of the hub.")
@click.option("--device", default="", help="Such as cuda:0.  [default: a GPU where there is one]")
@click.option("--dtype", default="auto", show_default=True, help="Such as bfloat16.")
@question_options
@click.option("--max-tokens", type=click.IntRange(min=1), help="Longest answer.  [default: 16; in sentences 96]")
@bootstrap_options
@click.option("--fresh", is_flag=True, help="Ask all again; answers so far are thrown away.")
@click.option("--json", "as_json", is_flag=True, help="Print probe.json instead of tables.")
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(out: Path, to: Path, **options: Any) -> None:
    """Ask a model the questions of OUT with its fusion impaired, and show what its scores lose (QUAG).

    Rows are those of the paper's Table 1: nothing changed; the question without frames, and frames without the
    question; attention short-circuited within modalities, across them, and over each. Differences are paired over
    source videos.

    \b
    Example:
      stressreel probe out/clavi --transformers llava-hf/llava-onevision-qwen2-0.5b-ov-hf --to probe
    """  # noqa: D301
    from ..asking.journal import Journal
    from ..asking.local import LocalModel
    from ..asking.probed import ProbedModel, conditions, mean_effects
    from ..asking.questions import chosen_modalities
    from ..asking.run import Call
    from ..errors import UsageError
    from ..metrics.robustness import CLEAN

    asked = read_questions(out, **{name: options[name] for name in ("configs", "split", "settings", "limit")})
    if not asked.fingerprint:
        raise UsageError(f"{out} is a file of questions. Probe the output of a build, which knows how it is scored.")
    asked = without_written(asked)
    if not asked.questions:
        raise UsageError(f"{out}: answers in words are not right or wrong. Choose another --config.")
    settings = {question.about["setting"] for question in asked.questions if "setting" in question.about}
    if settings and not (CLEAN in settings and len(settings) > 1):
        raise UsageError(
            f"robustness is measured against {CLEAN}; asked would be {', '.join(sorted(settings))}. Name {CLEAN} and "
            "at least one other --setting."
        )
    check_target(to, asked)
    for remark in asked.remarks:
        click.echo(f"note: {remark}", err=True)
    (usual,) = chosen_modalities("", asked.questions)
    under = conditions(options["short_circuits"], options["operators"], usual)
    clips = find_clips(asked, options["videos"])
    layers = [int(one) if one.isdigit() else one for one in options["layers"]] or None
    pairs = _complements(asked, options) if options["attention_distances"] else []
    local = LocalModel(options["transformers"], options["revision"], options["device"], options["dtype"])
    model = ProbedModel(local, {condition.name: condition for condition in under}, layers)
    calls = [
        Call(question, condition.modalities, condition.name)
        for condition in under
        for question in asked.questions
        if condition.modalities != "unasked" or question.unasked != question.text
    ]
    how = _how(options)
    about = {**asked.identity, **model.about, **how.as_json()}
    with Journal(to / "answers.journal", about, fresh=options["fresh"]) as journal:
        _ask(asked, calls, model, clips, how, journal, to, options)
        distances = _distances(asked, pairs, calls, model, clips, how, journal, options)
    have = {call.condition for call in calls}
    measured = Measured(
        conditions=[condition for condition in under if condition.name in have],
        about={**asked.identity, **model.about},
        effects=mean_effects(calls, journal.replies),
        distances=distances,
    )
    _report(asked, measured, to, options)


@dataclass(frozen=True)
class Measured:
    """What a probe found out, beside the predictions."""

    conditions: list[Condition]
    about: dict[str, Any]
    effects: dict[str, dict[str, float]]
    distances: tuple[DistanceRow, ...]


def _complements(asked: Asked, options: dict[str, Any]) -> list[Complement]:
    """Draw the complement pairs whose attention is compared."""
    from ..asking.distances import drawn
    from ..builders import benchmark_of
    from ..errors import UsageError
    from ..records.output import open_output

    output = open_output(asked.path)
    benchmark = benchmark_of(output)
    if benchmark.complements is None:
        raise UsageError(f"--attention-distances: {benchmark.name} has no complement pairs. CLAVI has.")
    pairs = [pair for each in asked.tables for pair in benchmark.complements(output, each.split)]
    found = drawn(pairs, [question.about["id"] for question in asked.questions], options["pairs"])
    if not found:
        raise UsageError("--attention-distances: no complement pair is asked on both sides. Raise --limit.")
    return found


def without_written(asked: Asked) -> Asked:
    """Leave out what is answered in words: `score open-ended` judges it by references, not right or wrong."""
    kept = tuple(question for question in asked.questions if not question.kind.startswith("open_"))
    return replace(asked, questions=kept, tables=tuple(each for each in asked.tables if not each.written))


def _how(options: dict[str, Any]) -> How:
    from ..asking.clips import Sampling
    from ..asking.run import How

    return How(Sampling(options["frames"], options["size"]), max_tokens=options["max_tokens"])


def _ask(
    asked: Asked,
    calls: list[Call],
    model: ProbedModel,
    clips: Clips,
    how: How,
    journal: Journal,
    to: Path,
    options: dict[str, Any],
) -> None:
    """Ask under every condition, and write the predictions."""
    from ..asking.run import ask, write_predictions
    from ..errors import BuildError
    from ..progress import Progress

    with Progress("probing", len(calls), "question", shown=options["progress"]) as progress:
        failures = ask(calls, model, clips, how, journal, progress=progress.advance)
    if failures:
        raise BuildError(
            f"{len(failures):,} of {len(calls):,} questions got no answer, the first ({failures[0].key}) because: "
            f"{failures[0].reason} The other answers are kept; run the same command again to ask these."
        )
    for name in {call.condition: None for call in calls}:
        write_predictions(
            to / f"{name}.jsonl", [call for call in calls if call.condition == name], journal, asked.fingerprint
        )


def _distances(
    asked: Asked,
    pairs: list[Complement],
    calls: list[Call],
    model: ProbedModel,
    clips: Clips,
    how: How,
    journal: Journal,
    options: dict[str, Any],
) -> tuple[DistanceRow, ...]:
    """Measure the distances of complement pairs, by whether both sides were answered rightly."""
    from ..api import items_of_output
    from ..asking.distances import measure_distances, table_of
    from ..progress import Progress
    from ..records.output import reading

    if not pairs:
        return ()
    usual = {call.question.about["id"]: call for call in calls if call.condition == BASELINE}
    with Progress("comparing attention", len(pairs), "pair", shown=options["progress"]) as progress:
        found = measure_distances(
            pairs,
            usual,
            model.local,
            clips,
            how,
            journal,
            layers=model.layers,
            rounds=options["rounds"],
            progress=progress.advance,
        )
    (place,) = asked.tables
    with reading(asked.path) as output:
        items = items_of_output(output, place.config, place.split)
    answers = {name: journal.replies[call.key].text for name, call in usual.items()}
    return table_of(found, answers, items, seed=options["seed"], resamples=options["resamples"])


def _report(asked: Asked, measured: Measured, to: Path, options: dict[str, Any]) -> None:
    """Score every condition, and write and print what it loses."""
    from ..metrics.distance_table import as_table, row_json
    from ..metrics.scores import dump, interval_line, markdown_table, text_table
    from ..records.files import write_atomic

    tables: list[Table] = []
    listed: list[dict[str, Any]] = []
    sources = 0
    for each in asked.tables:
        shown, rows, sources = _compared(asked, measured.conditions, to, each, options)
        tables += shown
        listed.append({"table": each.config, "split": each.split, "conditions": rows})
    interval = {"sources": sources, "resamples": options["resamples"], "seed": options["seed"]}
    content = {**measured.about, "interval": interval, "effects": measured.effects, "tables": listed}
    if measured.distances:
        tables.append(as_table(measured.distances))
        content["attention_distances"] = [row_json(row) for row in measured.distances]
    content_text = dump(content)
    write_atomic(to / "probe.json", content_text)
    texts = [markdown_table(table) for table in tables]
    write_atomic(to / "probe.md", "\n\n".join([*texts, LEGEND, interval_line(interval)]) + "\n")
    if options["as_json"]:
        click.echo(content_text, nl=False)
        return
    for table in tables:
        click.echo(text_table(table) + "\n")
    click.echo(f"{LEGEND}\n{interval_line(interval)}")
    for name, effect in measured.effects.items():
        if not effect["moved"]:
            click.echo(f"note: {name} moved nothing: its quadrants are empty in this model.")
    click.echo(f"Wrote {to / 'probe.md'}, {to / 'probe.json'} and the predictions beside them.")


def _compared(
    asked: Asked, under: list[Condition], to: Path, scorable: Scorable, options: dict[str, Any]
) -> tuple[list[Table], list[dict[str, Any]], int]:
    """Score every condition on a table, and compare it with the baseline.

    Returns:
        A table for each score, the same as JSON, and the number of source videos.
    """
    from ..api import measure_of
    from ..metrics.bootstrap import differences, estimates
    from ..metrics.folder import pair_up
    from ..metrics.inputs import ScoreOptions
    from ..metrics.scores import Table, cell_json
    from .compare import read

    drawn = {"seed": options["seed"], "resamples": options["resamples"]}
    how = ScoreOptions(config=scorable.config, partial=asked.part, **drawn)
    scored = {each.name: read(to / f"{each.name}.jsonl", asked.path, scorable.split, how) for each in under}
    baseline = scored[BASELINE]
    found, rows = {}, []
    for name, other in scored.items():
        first, second, _ = pair_up(baseline, other)
        measure = measure_of(baseline.about["benchmark"], first.cells)
        found[name] = estimates(second, measure, **drawn), differences(first, second, measure, **drawn)
        both = {"scores": found[name][0], "changes": found[name][1]}
        rows.append(
            {"condition": name} | {what: {k: cell_json(v) for k, v in each.items()} for what, each in both.items()}
        )
    named = ", ".join(filter(None, (scorable.config, scorable.split)))
    tables = []
    for score in baseline.about["headline"]:
        if all(score in values for values, _ in found.values()):
            lines = tuple(
                (name, values[score], *((None, "") if name == BASELINE else (gaps[score], marked(gaps[score]))))
                for name, (values, gaps) in found.items()
            )
            headings = ("condition", "value [95 % interval]", "change [95 % interval]", "")
            tables.append(Table(score, f"{score} ({named})", headings, lines))
    return tables, rows, len(baseline.tally.sources)


def marked(change: Estimate) -> str:
    """Mark a drop as the legend says."""
    return "*" if change.value <= -MARK and (change.high < 0 or change.high != change.high) else ""

"""The main form of `stressreel score`: predictions on an output, or retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .completion import complete_tables
from .score_options import bootstrap_options, first_index_option, split_option

if TYPE_CHECKING:
    from ..metrics.predictions import Predictions
    from ..metrics.scores import Scores
    from ..records.output import FinishedOutput

SHOWN_ROWS = 40


def common(command: Any) -> Any:
    """Add the options that all scores of predictions share."""
    options = (
        split_option,
        click.option("--partial", is_flag=True, help="Score what is there: gaps, doubled and unknown ids are counted."),
        bootstrap_options,
        click.option("--force", is_flag=True, help="Write over the scores of other predictions in the folder."),
        click.option("--json", "as_json_text", is_flag=True, help="Print scores.json instead of tables."),
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
    )
    return reduce(lambda wrapped, option: option(wrapped), reversed(options), command)


@click.command("answers")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--predictions",
    type=click.Path(path_type=Path),
    help="JSON lines, JSON, CSV or Parquet with id and answer; or logs of lmms-eval or inspect-ai, or their folder.",
)
@click.option(
    "--config",
    shell_complete=complete_tables,
    help="Table to score, where an output has several with questions. [default: the first]",
)
@click.option(
    "--similarity",
    type=click.Path(path_type=Path),
    help="Where retrieval is scored: folder with <setting>.npy or .safetensors (clips x captions), or .jsonl (ranked).",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder for the scores. [default: <predictions>[.<config>][.<split>].scores beside them]",
)
@click.option(
    "--released", is_flag=True, help="Score as the benchmark's published scorer does, where that differs from ours."
)
@click.option("--question", help="Explain how one question was answered, and score nothing.")
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    help="With --question: draw it to this PNG file.",
)
@first_index_option("")
@common
def command(
    out: Path,
    predictions: Path | None,
    config: str | None,
    similarity: Path | None,
    folder: Path | None,
    released: bool,
    question: str | None,
    picture: Path | None,
    first_index: str,
    split: str | None,
    partial: bool,
    seed: int,
    resamples: int,
    force: bool,
    as_json_text: bool,
    debug: bool,
) -> None:
    """Score answers (or retrieval) on the output of a build in OUT."""
    from ..api import score_output
    from ..metrics.inputs import ScoreOptions
    from ..metrics.predictions import read_predictions
    from ..records.output import reading

    if (predictions is None) == (similarity is None):
        raise click.UsageError("Give either --predictions FILE or --similarity DIR.")
    if question is not None and predictions is None:
        raise click.UsageError("--question explains a prediction: give --predictions FILE.")
    if picture is not None and question is None:
        raise click.UsageError("--picture draws how a question was answered: give --question ID.")
    given = predictions or similarity or Path()
    with reading(out) as output:
        rows = read_predictions(predictions, expected=output.num_rows) if predictions else None
        if question is not None and rows is not None:
            show_question(output, rows, question, picture)
            return
        target = target_folder(folder, given, output.path, config, split)
        options = ScoreOptions(
            partial=partial, first=int(first_index), seed=seed, resamples=resamples, config=config, released=released
        )
        scored = score_output(output, rows, similarity, split, options)
        subject = {
            "config": scored.config,
            "output": {name: output.info[name] for name in ("dataset_version", "fingerprint")},
        }
    finish(
        scored.scores,
        subject,
        given,
        target,
        figures=scored.figures,
        beside=folder is None,
        seed=seed,
        resamples=resamples,
        force=force,
        as_json_text=as_json_text,
    )


def show_question(output: FinishedOutput, rows: Predictions, question: str, picture: Path | None) -> None:
    """Print, and draw if wanted, how one question was answered."""
    from ..api import explain_answer
    from ..errors import UsageError
    from ..records.files import write_atomic

    if picture is not None and picture.resolve().is_relative_to(output.path.resolve()):
        raise UsageError(f"{picture} would lie in the output itself. Give another file with --picture.")
    found = explain_answer(output, rows, question)
    click.echo(found.text)
    if picture is not None:
        write_atomic(picture, found.picture)
        click.echo(f"Wrote {picture}")


def target_folder(folder: Path | None, given: Path, output: Path, *parts: str | None) -> Path:
    """Choose where scores are written: never into the output, which holds nothing but what was built.

    Args:
        folder: What the user asked for.
        given: The predictions; by default the folder is beside them.
        output: The output.
        *parts: What of it is scored, where the user said so: part of the default name.

    Raises:
        UsageError: The folder lies in the output.
    """
    from ..errors import UsageError

    given = given.resolve()  # "." has no name
    stem = given.name if given.is_dir() else given.stem
    target = folder or given.with_name(".".join([stem, *filter(None, parts), "scores"]))
    if target.resolve().is_relative_to(output.resolve()):
        raise UsageError(f"scores would be written to {target}, in the output itself. Give another folder with --out.")
    return target


def finish(
    scores: Scores,
    subject: Mapping[str, Any],
    given: Path,
    target: Path,
    *,
    figures: Mapping[str, bytes] | None = None,
    beside: bool,
    seed: int,
    resamples: int,
    force: bool,
    as_json_text: bool,
) -> None:
    """Write and print a score.

    Args:
        scores: The score.
        subject: What was scored: `config`, and `output` with its fingerprint.
        given: The predictions.
        target: Folder to write to.
        figures: Pictures of the benchmark's own; by default those that every score has.
        beside: Whether it is the default one, beside the predictions.
        seed: Seed of the bootstrap.
        resamples: Number of its resamples.
        force: Whether to write over the scores of other predictions.
        as_json_text: Whether to print JSON instead of tables.
    """
    from ..data_cards.score_figures import score_figures
    from ..metrics.folder import write_scores
    from ..metrics.inputs import predictions_identity
    from ..metrics.scores import answers_line, as_json, dump, headline_table, interval_line, text_table

    figures = score_figures(scores) if figures is None else figures
    about: dict[str, Any] = {
        **subject,
        "predictions": predictions_identity(given),
        "interval": {
            "level": 0.95,
            "method": "paired percentile bootstrap over source videos",
            "sources": len(scores.tally.sources),
            "resamples": resamples,
            "seed": seed,
        },
        "figures": list(figures),
    }
    write_scores(target, scores, about, figures, beside=beside, force=force)
    if as_json_text:
        click.echo(dump(as_json(scores, about)), nl=False)
        return
    click.echo(answers_line(scores))
    for counts in (scores.answers, scores.answers.get("explanations", {})):
        for row in counts.get("unreadable_first", [])[:5]:
            click.echo(f"  cannot read {row['id']}: {row['answer']!r}")
    for table in (headline_table(scores), *scores.tables):
        click.echo()
        if len(table.rows) > SHOWN_ROWS:
            click.echo(f"{table.title}: {len(table.rows)} rows, in scores.md and scores.json")
        else:
            click.echo(text_table(table))
    click.echo()
    for note in scores.notes:
        click.echo(note)
    click.echo(interval_line(about["interval"]))
    click.echo(f"Wrote {target}")

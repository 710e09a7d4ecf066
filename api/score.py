"""Score predictions on an output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ..core.errors import UsageError
from ..core.files import check_outside, resolved, write_atomic
from ..core.functions import public
from ..core.rows import AnyPath
from ..core.settings import Beside, ColumnNames, FirstIndex, PathOrRows, Resamples, Seed
from ..core.tabular import columns_of
from .agreement import answered_by, beside_people, of_people, read_agreement

if TYPE_CHECKING:
    from ..evaluation.metrics.predictions import Predictions
    from ..evaluation.metrics.scores import Explanation, Scores


@public
def score(
    out: AnyPath,
    /,
    predictions: PathOrRows | None = None,
    *,
    similarity: Path | str | None = None,
    config: str | None = None,
    split: str | None = None,
    without: str | None = None,
    people: Path | str | None = None,
    to: Annotated[Path | str | None, Parameter("--out")] = None,
    released: bool = False,
    columns: ColumnNames = (),
    first_index: FirstIndex = 0,
    partial: bool = False,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    force: bool = False,
    beside: Beside = False,
    eval_results: str | None = None,
) -> Scores:
    """Score a model's answers, or its retrieval results, on an output.

    For example::

        stressreel score out/clavi --predictions answers.jsonl
        stressreel score out/perturbed --similarity similarities

    Args:
        out: The output of a build.
        predictions: CSV, JSON lines, JSON, Parquet or .xlsx file with id and answer. Logs of lmms-eval, inspect-ai or
            VLMEvalKit, or a folder with logs, can also be given. From Python, the rows themselves can be passed, for
            example as a list of dicts, a dict from id to answer, or a data frame.
        similarity: For retrieval: folder with a file per setting, either .npy or .safetensors (clips x captions) or
            .jsonl (ranked lists).
        config: Table to score, if the output has several with questions; by default the first.
        split: Split to score, or all; by default test if there is one, else all.
        without: Column that flags questions to leave out, such as ambiguous in outputs of build-clavi. These questions
            need no prediction.
        people: agreement.json of `stressreel agreement`, or its folder. Only the questions that people answered are
            scored, and a table shows the scores of both.
        to: Folder for the scores. By default, the command writes next to the predictions, to
            <predictions>[.<config>][.<split>][.without-<column>][.people].scores; the Python function writes nothing
            unless `beside`.
        released: Follow the benchmark's published scorer where it differs from ours.
        columns: Columns that have other names in the predictions, such as answer=output,id=sample.
        first_index: Index of the first option in numeric answers.
        partial: Score incomplete predictions, and count missing, repeated and unknown ids.
        seed: Random seed of the bootstrap.
        resamples: Number of bootstrap resamples over source videos.
        force: Overwrite the scores of other predictions in the folder.
        beside: Write the scores next to the predictions if `to` is not given, as the command does.
        eval_results: The dataset on the Hub, as ORG/NAME: write a file to `.eval_results` in the folder for the scores,
            which states the main score for the repository of the model.

    Raises:
        UsageError: The output, a file, table or split does not exist.
        InputError: The predictions cannot be read, or do not match the output.
        OutputError: The scores cannot be written.
    """
    from ..builders.parts import score_output
    from ..core.output import reading
    from ..evaluation.metrics.predictions import predictions_of
    from ..evaluation.metrics.scores import ScoreOptions
    from ..exports.hub import check_repository

    if eval_results is not None:
        check_repository(eval_results)
    if (predictions is None) == (similarity is None):
        raise UsageError("Specify either predictions (--predictions FILE) or similarities (--similarity DIR).")
    if similarity is not None and columns:
        raise UsageError("--columns requires --predictions FILE; similarities have no columns.")
    if similarity is not None and people is not None:
        raise UsageError("--people requires --predictions FILE; people answer questions, and rank nothing.")
    folder = None if similarity is None else Path(similarity)
    chosen = config, split
    with reading(Path(out)) as output:
        named = columns_of(tuple(columns))
        rows = None if predictions is None else predictions_of(predictions, expected=output.num_rows, columns=named)
        check_outside(to, output.path, option="--out")
        humans = None if people is None else read_agreement(people, output)
        if humans is not None and rows is not None:
            config, split = of_people(humans, config, split)
            rows = answered_by(humans, rows)
        options = ScoreOptions(
            partial=partial or humans is not None,
            first=first_index,
            seed=seed,
            resamples=resamples,
            config=config,
            released=released,
            without=without,
        )
        scored = score_output(output, rows, folder, split, options)
        scores = scored.scores if humans is None else beside_people(scored.scores, humans)
        subject = {
            "config": scored.config,
            **({"without": without} if without else {}),
            "output": {name: output.info[name] for name in ("dataset_version", "fingerprint")},
        }
        splits = output.splits(scored.config)
    return finished(
        scores,
        subject,
        rows or folder or Path(),
        eval_results=None if eval_results is None else (eval_results, splits),
        to=to,
        beside=beside,
        parts=(*chosen, without and f"without-{without}", "people" if humans else None),
        figures=scored.figures,
        resamples=resamples,
        seed=seed,
        force=force,
    )


@public
def explain(out: AnyPath, predictions: PathOrRows, *, question: str, columns: ColumnNames = ()) -> Explanation:
    """Explain a model's answer to one question of `out`.

    For example::

        stressreel score explain out/decomp --predictions a.jsonl --question SR0A1-24

    Args:
        out: The output of a build.
        predictions: JSON lines, JSON, CSV or Parquet file with id and answer, or logs of a harness; from Python,
            also rows.
        question: Id of the question.
        columns: Columns that have other names in the predictions, such as answer=output,id=sample.

    Raises:
        UsageError: The output or a file does not exist, or the benchmark has no explanations.
        InputError: The question does not exist.
    """
    from ..builders.parts import explain_answer
    from ..core.output import reading
    from ..evaluation.metrics.predictions import predictions_of

    with reading(Path(out)) as output:
        rows = predictions_of(predictions, expected=output.num_rows, columns=columns_of(tuple(columns)))
        return explain_answer(output, rows, question)


def default_folder(given: Path, *parts: str | None) -> Path:
    """Return the default folder for scores, beside the predictions. Its name includes `parts`."""
    given = resolved(given)  # "." has no name
    stem = given.name if given.is_dir() else given.stem
    return given.with_name(".".join([stem, *filter(None, parts), "scores"]))


def finished(
    scores: Scores,
    subject: Mapping[str, Any],
    given: Predictions | Path,
    *,
    to: Path | str | None,
    beside: bool,
    parts: Sequence[str | None],
    figures: Mapping[str, bytes] | None,
    resamples: int,
    seed: int,
    force: bool,
    eval_results: tuple[str, Sequence[str]] | None = None,
) -> Scores:
    """Add metadata to scores, and write them if a folder is given.

    `subject` contains `config`, and `output` with its fingerprint. `given` are the predictions, or the folder of
    similarities. The default folder, whose name includes `parts`, is used if `beside`, and is overwritten if it
    contains scores of predictions with the same name. If `figures` is None, all scores are drawn. `eval_results` is
    the dataset on the Hub, and the splits of the table.
    """
    from ..data_cards.figures import score_figures
    from ..data_cards.leaderboard import results_file
    from ..evaluation.metrics.predictions import predictions_identity
    from ..evaluation.metrics.scores import write_scores

    interval = {
        "level": 0.95,
        "method": "paired percentile bootstrap over source videos",
        "sources": len(scores.tally.sources),
        "resamples": resamples,
        "seed": seed,
    }
    about = {**subject, "predictions": predictions_identity(given), "interval": interval, "figures": []}
    scores = replace(scores, about=about)
    path = given if isinstance(given, Path) else given.path
    if to is None and beside and isinstance(path, Path):
        to = default_folder(path, *parts)
    results = None if eval_results is None else results_file(scores, eval_results[1], eval_results[0])
    if to is None:
        if results is not None:
            raise UsageError("eval_results requires `to`, the folder for the scores, or `beside`.")
        return scores
    pictures = score_figures(scores) if figures is None else figures
    scores = replace(scores, about={**about, "figures": list(pictures)})
    default = isinstance(path, Path) and resolved(Path(to)) == default_folder(path, *parts)
    write_scores(Path(to), scores, pictures, beside=default, force=force)
    if results is None:
        return replace(scores, written=(f"Wrote {to}",))
    write_atomic(Path(to) / results[0], results[1])
    return replace(scores, written=(f"Wrote {to}", f"Wrote {Path(to) / results[0]}, for the repository of the model"))

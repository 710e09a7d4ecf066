"""Score predictions on an output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import UsageError
from ..core.functions import FirstIndex, Natural, Resamples, public
from .files import check_place

if TYPE_CHECKING:
    from ..evaluation.metrics.scores import Scores
    from ..evaluation.metrics.scoring import Explanation


@public
def score(
    out: Path | str,
    predictions: Path | str | None = None,
    *,
    similarity: Path | str | None = None,
    config: str | None = None,
    split: str | None = None,
    to: Path | str | None = None,
    released: bool = False,
    first_index: FirstIndex = 0,
    partial: bool = False,
    seed: Natural = 0,
    resamples: Resamples = 1000,
    force: bool = False,
) -> Scores:
    """Score answers (or retrieval) on the output of a build in `out`.

    Args:
        out: The output.
        predictions: JSON lines, JSON, CSV or Parquet with id and answer; or logs of lmms-eval or inspect-ai, or their
            folder.
        similarity: Where retrieval is scored: folder with <setting>.npy or .safetensors (clips x captions), or .jsonl
            (ranked).
        config: Table to score, where an output has several with questions; by default the first.
        split: Split to score, or all; by default test where there is one, else all.
        to: Folder for the scores. The command writes them beside the predictions by default, in
            <predictions>[.<config>][.<split>].scores; from Python nothing is written unless it is given.
        released: Score as the benchmark's published scorer does, where that differs from ours.
        first_index: Number of the first option in answers that are numbers.
        partial: Score what is there: missing, repeated and unknown ids are counted.
        seed: Seed of the bootstrap.
        resamples: Resamples of the bootstrap over source videos.
        force: Write over the scores of other predictions in the folder.

    Raises:
        UsageError: There is no such output, file, table or split.
        InputError: The predictions cannot be read, or do not fit the output.
        OutputError: The scores cannot be written.
    """
    from ..builders.parts import score_output
    from ..core.output import reading
    from ..evaluation.metrics.inputs import ScoreOptions
    from ..evaluation.metrics.predictions import read_predictions

    if (predictions is None) == (similarity is None):
        raise UsageError("Give either predictions or similarity: --predictions FILE or --similarity DIR.")
    given = Path(predictions or similarity or "")
    with reading(Path(out)) as output:
        rows = read_predictions(given, expected=output.num_rows) if predictions else None
        check_folder(to, output.path)
        options = ScoreOptions(
            partial=partial, first=first_index, seed=seed, resamples=resamples, config=config, released=released
        )
        scored = score_output(output, rows, None if predictions else given, split, options)
        subject = {
            "config": scored.config,
            "output": {name: output.info[name] for name in ("dataset_version", "fingerprint")},
        }
    return finished(
        scored.scores,
        subject,
        given,
        to=to,
        parts=(config, split),
        figures=scored.figures,
        resamples=resamples,
        seed=seed,
        force=force,
    )


@public
def explain(
    out: Path | str, predictions: Path | str, *, question: str, picture: Path | str | None = None
) -> Explanation:
    """Explain how one question was answered.

    Args:
        out: The output.
        predictions: See `score`.
        question: Explain how this question was answered, by its id, and score nothing.
        picture: With `question`: draw it to this PNG file.

    Raises:
        UsageError: There is no such output or file, or the benchmark has no more to say than right or wrong.
        InputError: There is no such question.
    """
    from ..builders.parts import explain_answer
    from ..core.files import write_atomic
    from ..core.output import reading
    from ..evaluation.metrics.predictions import read_predictions

    with reading(Path(out)) as output:
        if picture is not None:
            check_place(Path(picture), output.path, [Path(predictions)], option="--picture", endings=(".png",))
        rows = read_predictions(Path(predictions), expected=output.num_rows)
        found = explain_answer(output, rows, question)
    if picture is None:
        return found
    write_atomic(Path(picture), found.picture)
    return replace(found, written=(f"Wrote {picture}",))


def default_folder(given: Path, *parts: str | None) -> Path:
    """Return the folder beside predictions that their scores are written to.

    Args:
        given: The predictions, a file or a folder.
        *parts: What of the output is scored, where the user said so.
    """
    given = given.resolve()  # "." has no name
    stem = given.name if given.is_dir() else given.stem
    return given.with_name(".".join([stem, *filter(None, parts), "scores"]))


def check_folder(folder: Path | str | None, output: Path) -> None:
    """Refuse to write scores into the output, which holds nothing but what was built.

    Raises:
        UsageError: The folder lies in it.
    """
    if folder is not None and Path(folder).resolve().is_relative_to(output.resolve()):
        raise UsageError(f"scores would be written to {folder}, in the output itself. Give another folder with --out.")


def finished(
    scores: Scores,
    subject: Mapping[str, Any],
    given: Path,
    *,
    to: Path | str | None,
    parts: Sequence[str | None],
    figures: Mapping[str, bytes] | None,
    resamples: int,
    seed: int,
    force: bool,
) -> Scores:
    """Add to scores what they are of, and write them to a folder if there is one.

    Args:
        scores: The scores.
        subject: What was scored: `config`, and `output` with its fingerprint.
        given: The predictions, a file or a folder.
        to: The folder. That beside the predictions belongs to them, so that these are the same there if their name is.
        parts: What of the output is scored, where the user said so; in the name of the folder beside the predictions.
        figures: Pictures of the benchmark's own; by default those that every score has.
        resamples: Resamples of the bootstrap.
        seed: Its seed.
        force: Whether to write over the scores of other predictions.
    """
    from ..data_cards.figures import score_figures
    from ..evaluation.metrics.folder import write_scores
    from ..evaluation.metrics.inputs import predictions_identity

    interval = {
        "level": 0.95,
        "method": "paired percentile bootstrap over source videos",
        "sources": len(scores.tally.sources),
        "resamples": resamples,
        "seed": seed,
    }
    about = {**subject, "predictions": predictions_identity(given), "interval": interval, "figures": []}
    scores = replace(scores, about=about)
    if to is None:
        return scores
    pictures = score_figures(scores) if figures is None else figures
    scores = replace(scores, about={**about, "figures": list(pictures)})
    beside = Path(to).resolve() == default_folder(given, *parts)
    write_scores(Path(to), scores, pictures, beside=beside, force=force)
    return replace(scores, written=(f"Wrote {to}",))

"""Score generated answers and explanations by comparing them with the correct ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ..core.extras import MissingExtraError
from ..core.functions import public
from ..core.rows import AnyPath
from ..core.settings import Beside, ColumnNames, PathOrRows, Resamples, Seed
from ..core.tabular import columns_of
from .files import check_outside
from .score import finished

if TYPE_CHECKING:
    from ..evaluation.metrics.open_ended import Encode, Generated
    from ..evaluation.metrics.scores import Scores


@public
def score_open_ended(
    out: AnyPath,
    /,
    predictions: PathOrRows,
    *,
    config: str | None = None,
    split: str | None = None,
    to: Annotated[Path | str | None, Parameter("--out")] = None,
    sbert: Annotated[str | None, Parameter(show_default="the encoder of stressreel[sbert]")] = None,
    no_sbert: bool = False,
    meteor: Annotated[Literal["1.5", "nltk"] | None, Parameter(show_default="1.5 if Java is installed")] = None,
    spice: bool = False,
    columns: ColumnNames = (),
    partial: bool = False,
    seed: Seed = 0,
    resamples: Resamples = 1000,
    force: bool = False,
    beside: Beside = False,
) -> Scores:
    """Score generated texts with BLEU-1 to BLEU-3, METEOR, ROUGE-L, SPICE, CIDEr, SBERT and CapsMIX.

    `out` is an output with open questions, or a file with id, answer, explanation (the correct texts) and source_id.

    For example::

        stressreel score open-ended out/causal --predictions said.jsonl

    Args:
        out: The output, or a file with correct texts.
        predictions: JSON lines, JSON, CSV or Parquet file with id, answer and, if generated, explanation; from Python,
            also rows.
        config: Table that defines the splits, if the output has several; by default the first.
        split: Split to score, or all; by default test if there is one, else all.
        to: Folder for the scores; see `stressreel score`.
        sbert: Sentence encoder, given by a folder or by its name on the Hub.
        no_sbert: Omit SBERT.
        meteor: Implementation of METEOR: 1.5, which requires Java, or that of NLTK, which yields other scores.
        spice: Compute SPICE, which requires Java and, on first use, a network connection.
        columns: Columns that have other names in the predictions, such as answer=output,id=sample.
        partial: Score incomplete predictions, and count missing, repeated and unknown ids.
        seed: Random seed of the bootstrap.
        resamples: Number of bootstrap resamples over source videos.
        force: Overwrite the scores of other predictions in the folder.
        beside: Write the scores next to the predictions if `to` is not given, as the command does.

    Raises:
        UsageError: The output, a file, table or split does not exist.
        InputError: The predictions cannot be read, or do not match the output.
        MissingExtraError: A package that a score needs is not installed.
        OutputError: The scores cannot be written.
    """
    from ..builders.parts import open_rows
    from ..evaluation.metrics.open_ended import JAVA, NLTK, read_generated, read_references
    from ..evaluation.metrics.predictions import predictions_of

    references = read_references(Path(out), open_rows, config, split)
    check_outside(to, Path(out), option="--out")
    expected = len(references.ids) + len(references.others)
    rows = predictions_of(predictions, expected=expected, columns=columns_of(tuple(columns)))
    generated = read_generated(rows, references, partial=partial)
    encode = None if no_sbert else encoder_of(sbert)
    name = {"1.5": JAVA, "nltk": NLTK, None: None}[meteor]
    scores = scores_of(generated, encode=encode, spice=spice, meteor=name, seed=seed, resamples=resamples)
    subject = {"config": references.config, "output": references.output}
    parts = (config, split)
    return finished(
        scores,
        subject,
        rows,
        to=to,
        beside=beside,
        parts=parts,
        figures=None,
        resamples=resamples,
        seed=seed,
        force=force,
    )


def encoder_of(name: str | None) -> Encode:
    """Load a sentence encoder, or raise MissingExtraError if a package for it is not installed."""
    from ..language.embeddings import load_encoder

    try:
        return (load_encoder(name) if name else load_encoder()).encode
    except MissingExtraError as error:
        raise MissingExtraError(f"{error}, or omit SBERT with --no-sbert.") from None


def scores_of(
    generated: Generated, *, encode: Encode | None, spice: bool, meteor: str | None, seed: int, resamples: int
) -> Scores:
    """Score generated texts against their references."""
    from ..evaluation.metrics import open_ended
    from ..evaluation.metrics.bootstrap import estimates
    from ..evaluation.metrics.scores import Scores

    references = generated.references
    tally = open_ended.count(
        references.sources, generated.texts, references.texts, encode=encode, spice=spice, meteor=meteor
    )
    headline = estimates(tally, open_ended.measure, seed=seed, resamples=resamples)
    return Scores(
        benchmark=open_ended.NAME,
        split=references.split,
        answers=generated.answers,
        headline=headline,
        tables=(),
        tally=tally,
        footnotes=references.notes + open_ended.notes(headline),
    )

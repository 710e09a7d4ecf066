"""Score generated answers by comparing them with the correct ones, and perturbed captions with their originals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..core.errors import InputError, UsageError
from ..core.extras import MissingExtraError
from ..core.files import check_outside
from ..core.functions import public
from ..core.results import Result, Table
from ..core.rows import AnyPath
from ..core.settings import Beside, ColumnNames, PathOrRows, Resamples, Seed
from ..core.tabular import columns_of
from .score import finished

if TYPE_CHECKING:
    from ..evaluation.metrics.open_ended import Encode, Generated
    from ..evaluation.metrics.scores import Scores


METRICS = {"bleu4": "BLEU-4", "meteor": "METEOR", "rouge_l": "ROUGE-L"}


@dataclass(frozen=True)
class TextShift(Result):
    """Result of `score_text_shift`.

    Attributes:
        report: The content of `text_shift.json`; see `evaluation.metrics.text_shift.shift_report`.
        written: Message that names the figure, if one was written.
    """

    report: Mapping[str, Any]
    written: tuple[str, ...] = ()

    def __str__(self) -> str:
        return shift_table(self.report)

    def as_json(self) -> dict[str, Any]:
        """Return the content of `text_shift.json`."""
        return dict(self.report)

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table with one row per perturbation."""
        rows = tuple(
            (name, shift["family"], float(shift["changed"]), *(float(shift[metric]) for metric in METRICS))
            for name, shift in self.report["perturbations"].items()
        )
        headings = ("perturbation", "family", "changed", *METRICS.values())
        return (Table("perturbations", "Captions against their originals", headings, rows),)


@public
def score_text_shift(
    out: AnyPath,
    *,
    lm: str | None = None,
    figure: Path | str | None = None,
    card: bool = True,
    progress: bool = True,
) -> TextShift:
    """Measure how similar the perturbed captions in `out` are to their originals.

    The table contains BLEU-4, METEOR and ROUGE-L of the perturbed captions against their originals, averaged per
    perturbation and family, next to the paper's numbers (Table 7). The results are also written to
    `out`/text_shift.json.

    For example::

        stressreel score text-shift out/msrvtt-p

    Args:
        out: The output of a build.
        lm: Causal language model that computes perplexities, given by a folder or by its name on the Hub.
        figure: With `lm`: PNG file to write with a figure of the perplexities (Figure 11).
        card: Update the dataset card with the numbers.
        progress: Show progress.

    Raises:
        UsageError: The output does not exist, or the figure cannot be drawn.
        InputError: The output has no perturbed captions.
        MissingExtraError: A package that the scores need is not installed.
        OutputError: A file cannot be written.
    """
    from ..builders import benchmark_of
    from ..builders.parts import card_of, shift_of_captions
    from ..core.files import check_place, write_atomic, write_json
    from ..core.output import reading, writable
    from ..core.output_files import TEXT_SHIFT, note_signed
    from ..core.progress import Progress
    from ..data_cards.card import render_card
    from ..data_cards.figures import perplexity_png
    from ..evaluation.metrics.text_shift import load_language_model, scorer_versions

    folder = Path(out)
    if figure is not None:
        if lm is None:
            raise UsageError("--figure plots perplexities, which require a language model. Specify one with --lm.")
        check_place(Path(figure), folder, option="--figure", endings=(".png",))
    writable(folder)
    with reading(folder) as output:
        benchmark = benchmark_of(output)
        names = benchmark.captions(output.info)
        if not names:
            advice = "Its benchmark has none."
            if benchmark.defines("captions"):
                advice = f"`build-{benchmark.name} --help` describes how to build them."
            raise InputError(f"{out} has no perturbed captions. {advice}")
        scorer_versions()
        model = load_language_model(lm) if lm else None
        with Progress("score text-shift", len(names), "perturbation", shown=progress) as shown:
            report = shift_of_captions(output, benchmark, model, lambda name: shown.advance())
        note_signed(folder)
        write_json(output.path / TEXT_SHIFT, report)
        if figure is not None:
            write_atomic(Path(figure), perplexity_png(report))
        if card:
            content = render_card(output, benchmark.declared(output.info), card_of(benchmark, output.info))
            write_atomic(output.path / "README.md", content)
    return TextShift(report, () if figure is None else (f"Wrote {figure}",))


def shift_table(report: Mapping[str, Any]) -> str:
    """Format a report of `evaluation.metrics.text_shift.shift_report` as text."""
    judged = report["originals"]["perplexity"]
    lines: list[list[str]] = [["", "changed", *METRICS.values(), *(["perplexity"] if judged else [])]]
    for family, means in report["families"].items():
        lines.append([family, "", *(f"{means[metric]:.2f}" for metric in METRICS)])
        paper = report["paper"].get(family)
        if paper:
            lines.append(["  (Table 7)", "", *(f"{paper[metric]:.2f}" for metric in METRICS)])
        for name, shift in report["perturbations"].items():
            if shift["family"] == family:
                cells = [f"  {name}", f"{shift['changed']:.0%}", *(f"{shift[metric]:.2f}" for metric in METRICS)]
                lines.append([*cells, *([perplexity_cell(shift["perplexity"])] if judged else [])])
    if judged:
        lines.append(["originals", "", "", "", "", perplexity_cell(judged)])
    widths = [max(len(line[column]) for line in lines if column < len(line)) for column in range(len(lines[0]))]
    table = [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=False))
        ).rstrip()
        for line in lines
    ]
    legend = "Each caption is compared with its original. The score of a family is the mean over its perturbations."
    return "\n".join([*table, "", legend])


def perplexity_cell(perplexity: dict[str, float]) -> str:
    """Format a mean perplexity, followed by the mean without outliers if there are any."""
    inner = f"{perplexity['mean_without_outliers']:.1f} without {perplexity['outliers']:.0%}"
    return f"{perplexity['mean']:.1f}" + (f" ({inner})" if perplexity["outliers"] else "")


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

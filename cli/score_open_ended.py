"""`stressreel score open-ended`: generated answers and explanations against the right ones."""

from __future__ import annotations

from pathlib import Path

import click

from .completion import complete_tables
from .score_answers import common, finish, target_folder


@click.command("open-ended")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--predictions",
    type=click.Path(path_type=Path),
    required=True,
    help="JSON lines, JSON, CSV or Parquet with id, answer and, if explanations are generated, explanation.",
)
@click.option(
    "--config",
    shell_complete=complete_tables,
    help="Table whose splits count, where an output has several. [default: the first]",
)
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder for the scores. [default: <predictions>[.<config>][.<split>].scores beside them]",
)
@click.option("--sbert", help="Sentence encoder, a name or folder. [default: the one of stressreel[sbert]]")
@click.option("--no-sbert", is_flag=True, help="Leave SBERT out.")
@click.option(
    "--meteor",
    type=click.Choice(["1.5", "nltk"]),
    help="METEOR 1.5, a Java program, or NLTK's, another score. [default: 1.5 where Java is found]",
)
@click.option("--spice", is_flag=True, help="Compute SPICE; needs Java and, once, the network.")
@common
def command(
    out: Path,
    predictions: Path,
    config: str | None,
    folder: Path | None,
    sbert: str | None,
    no_sbert: bool,
    meteor: str | None,
    spice: bool,
    split: str | None,
    partial: bool,
    seed: int,
    resamples: int,
    force: bool,
    as_json_text: bool,
    debug: bool,
) -> None:
    """Score texts that a model wrote for OUT's questions: BLEU-1..3, METEOR, ROUGE-L, SPICE, CIDEr, SBERT, CapsMIX.

    OUT is an output with open questions, or a file with id, answer, explanation (the right texts) and source_id.
    """
    from ..api import open_rows
    from ..metrics import open_ended
    from ..metrics.bootstrap import estimates
    from ..metrics.meteor import JAVA, NLTK
    from ..metrics.references import read_generated, read_references
    from ..metrics.scores import Scores

    references = read_references(out, open_rows, config, split)
    target = target_folder(folder, predictions, out, config, split)
    generated = read_generated(predictions, references, partial=partial)
    references = generated.references
    encode = None
    if not no_sbert:
        from ..language.embeddings import load_encoder

        encode = (load_encoder(sbert) if sbert else load_encoder()).encode
    counted = open_ended.count(
        references.sources,
        generated.texts,
        references.texts,
        encode=encode,
        spice=spice,
        meteor={"1.5": JAVA, "nltk": NLTK, None: None}[meteor],
    )
    headline = estimates(counted, open_ended.measure, seed=seed, resamples=resamples)
    scores = Scores(
        benchmark=open_ended.NAME,
        split=references.split,
        answers=generated.answers,
        headline=headline,
        tables=(),
        tally=counted,
        notes=references.notes + open_ended.notes(headline),
    )
    subject = {"config": references.config, "output": references.output}
    finish(
        scores,
        subject,
        predictions,
        target,
        beside=folder is None,
        seed=seed,
        resamples=resamples,
        force=force,
        as_json_text=as_json_text,
    )

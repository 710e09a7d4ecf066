"""`stressreel score open-ended`: generated answers and explanations against the right ones."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("open-ended")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--predictions",
    type=click.Path(path_type=Path),
    required=True,
    help="JSON lines, JSON, CSV or Parquet with id, answer and, if explanations are generated, explanation.",
)
@click.option("--split", help="Split to score, or all. [default: test where there is one, else all]")
@click.option("--sbert", help="Sentence encoder, a name or folder. [default: the one of stressreel[sbert]]")
@click.option("--no-sbert", is_flag=True, help="Leave SBERT out.")
@click.option("--spice", is_flag=True, help="Compute SPICE; needs Java and, once, the network.")
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path,
    predictions: Path,
    split: str | None,
    sbert: str | None,
    no_sbert: bool,
    spice: bool,
    as_json: bool,
    debug: bool,
) -> None:
    """Score texts that a model wrote for OUT's questions: BLEU-1..3, METEOR, ROUGE-L, SPICE, CIDEr, SBERT, CapsMIX.

    OUT is the output of build-causal, or a file with id, answer and explanation: the right texts.
    """
    from ..metrics import causal
    from ..metrics.captions import caption_scores
    from ..metrics.references import read_generated, read_references
    from ..metrics.scores import Cell, Table, cell_json, dump, text_table

    encode = None
    if not no_sbert:
        from ..language.embeddings import load_encoder

        encoder = load_encoder(sbert) if sbert else load_encoder()
        encode = encoder.encode
    references = read_references(out, split)
    generated = read_generated(predictions, references)
    scores = {
        letter: caption_scores(texts, references.texts[letter], encode=encode, spice=spice)
        for letter, texts in generated.items()
    }
    rows: list[tuple[Cell, ...]] = [
        (name, *(found.get(name) for found in scores.values())) for name in causal.CAPTION_SCORES
    ]
    table = Table("open_ended", f"Open-ended, {len(references.ids):,} questions", ("score", *scores), tuple(rows))
    both = list(scores.values())
    missing = [name for name in causal.CAPTION_SCORES if any(name not in found for found in both)]
    mixed: dict[str, float] = {}
    if len(both) == 2 and not missing:
        mixed = {"CapsMIX": causal.capsmix(*both), "normalised mean": causal.normalised_mean(*both)}
    note = (
        ""
        if mixed
        else "CapsMIX needs all eight scores of answers and of explanations; missing: "
        + ", ".join(missing or ["explanations"])
    )
    if as_json:
        values = {letter: {name: found.get(name) for name in causal.CAPTION_SCORES} for letter, found in scores.items()}
        click.echo(dump({"scores": values, **{name: cell_json(value) for name, value in mixed.items()}}), nl=False)
        return
    click.echo(text_table(table))
    click.echo()
    for name, value in mixed.items():
        click.echo(f"{name}: {value:.4f}")
    if note:
        click.echo(note)

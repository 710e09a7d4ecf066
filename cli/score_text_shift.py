"""`stressreel score text-shift`: how far the captions of a suite were moved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

METRICS = {"bleu4": "BLEU-4", "meteor": "METEOR", "rouge_l": "ROUGE-L"}


@click.command("text-shift")
@click.argument("out", type=click.Path(path_type=Path))
@click.option(
    "--lm", metavar="DIR", help="Causal language model for perplexity: a folder, or a name on the hub.  [default: none]"
)
@click.option(
    "--figure", type=click.Path(path_type=Path), help="With --lm: draw the perplexities (Figure 11) to this PNG file."
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON.")
@click.option("--card/--no-card", default=True, show_default=True, help="Write the dataset card again, with them.")
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path, lm: str | None, figure: Path | None, as_json: bool, card: bool, progress: bool, debug: bool
) -> None:
    """Measure how far the perturbed captions in OUT are from their originals.

    BLEU-4, METEOR and ROUGE-L of every perturbed caption against its original, on average for each perturbation and
    family, beside the paper's numbers (Table 7). They are kept in OUT/text_shift.json.
    """
    from ..api import card_of
    from ..builders import benchmark_of
    from ..corruptions.registry import check_text_name
    from ..data_cards.card import render_card
    from ..data_cards.shift_figure import perplexity_png
    from ..errors import InputError
    from ..metrics.text_shift import FILE, load_language_model, scorer_versions, shift_report, table7
    from ..progress import Progress
    from ..records.files import write_atomic, write_json
    from ..records.output import reading, writable
    from ..records.source import source_of
    from .permute import check_place

    if figure is not None:
        if lm is None:
            raise click.UsageError("--figure draws perplexities: give a language model with --lm.")
        check_place(figure, out, option="--figure", endings=(".png",))
    writable(out)
    with reading(out) as output:
        benchmark = benchmark_of(output)
        names = benchmark.captions(output.info) if benchmark.captions else []
        if not names:
            advice = "Its benchmark makes none."
            if benchmark.captions:
                advice = f"`build-{benchmark.name} --help` says how to build some."
            raise InputError(f"{out} has no perturbed captions. {advice}")
        scorer_versions()
        model = load_language_model(lm) if lm else None
        tables = {
            name: [(row["caption"], row["original"]) for row in output.whole(name, ["caption", "original"])]
            for name in names
        }
        origin = source_of(output.info).key
        with Progress("score text-shift", len(tables), "perturbation", shown=progress) as shown:
            report = shift_report(
                tables,
                {name: check_text_name(name).family for name in names},
                fingerprint=output.info["fingerprint"],
                paper=origin if origin in table7() else None,
                model=model,
                each=lambda name: shown.advance(),
            )
        write_json(output.path / FILE, report)
        if figure is not None:
            write_atomic(figure, perplexity_png(report))
        if card:
            content = render_card(output, benchmark.configs(output.info), card_of(benchmark))
            write_atomic(output.path / "README.md", content)
    click.echo(json.dumps(report, indent=2, ensure_ascii=False) if as_json else shift_table(report))
    if figure is not None:
        click.echo(f"Wrote {figure}", err=as_json)


def shift_table(report: dict[str, Any]) -> str:
    """Write the numbers of `metrics.text_shift.shift_report` for people."""
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
    return "\n".join([*table, "", "Each caption against its own original; a family is the mean of its perturbations."])


def perplexity_cell(perplexity: dict[str, float]) -> str:
    """Write a mean, and the mean without the outliers of Figure 11 and their share."""
    inner = f"{perplexity['mean_without_outliers']:.1f} without {perplexity['outliers']:.0%}"
    return f"{perplexity['mean']:.1f}" + (f" ({inner})" if perplexity["outliers"] else "")

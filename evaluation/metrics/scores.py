"""Represent the result of scoring, with the main scores, further tables, and the sums behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...core.markdown import as_code, as_text
from ...core.results import Estimate, Result, Table, json_value, markdown_table, rows_json, text_table
from .bootstrap import FEW, FEWEST, Tally
from .predictions import NOT_SCORED

SHOWN_ROWS = 40


@dataclass(frozen=True)
class Scores(Result):
    """The scores of one predictions file on one output.

    Attributes:
        answers: Counts as in `predictions.PickedOptions.summary`.
        headline: The main scores with their intervals.
        tally: Sums by source video, for comparisons.
        about: Config, output, predictions, interval and names of figures.
        written: Messages that name the written files.
    """

    benchmark: str
    split: str
    answers: dict[str, Any]
    headline: dict[str, Estimate]
    tables: tuple[Table, ...]
    tally: Tally
    footnotes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    written: tuple[str, ...] = ()

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table of the main scores, followed by the other tables."""
        rows = tuple(self.headline.items())
        title = f"{self.benchmark}, {self.split}"
        return (Table("headline", title, ("score", "value [95% interval]"), rows), *self.tables)

    @property
    def notes(self) -> Sequence[str]:  # type: ignore[override]
        """A warning that quotes the first answer, if no answer could be parsed."""
        first = next(iter(self.answers.get("unreadable_first", ())), None)
        if first is None or self.answers["unreadable"] < self.answers["scored"]:
            return ()
        return (
            f"none of the {self.answers['scored']:,} answers could be parsed, so all count as incorrect. The first, to "
            f"{first['id']}, is {first['answer']!r}.",
        )

    def __str__(self) -> str:
        lines = [answers_line(self)]
        for counts in (self.answers, self.answers.get("explanations", {})):
            for row in counts.get("unreadable_first", [])[:5]:
                lines.append(f"  cannot read {row['id']}: {row['answer']!r}")
        for table in self.as_tables():
            long = f"{table.title}: {len(table.rows)} rows, in scores.md and scores.json"
            lines += ["", long if len(table.rows) > SHOWN_ROWS else text_table(table)]
        return "\n".join([*lines, "", *self.footnotes, interval_line(self.about["interval"])])

    def as_json(self) -> dict[str, Any]:
        """Return the content of `scores.json`."""
        return {
            "benchmark": self.benchmark,
            "split": self.split,
            **self.about,
            "answers": self.answers,
            "headline": {name: json_value(estimate) for name, estimate in self.headline.items()},
            "tables": {table.name: rows_json(table) for table in self.tables},
            "notes": list(self.footnotes),
        }


def as_markdown(scores: Scores, pictures: Sequence[str]) -> str:
    """Return the content of `scores.md`, with links to the pictures."""
    about = scores.about
    output, predictions = about["output"], about["predictions"]
    lines = [
        f"# Scores: {scores.benchmark}, {about['config']}, {scores.split}",
        "",
        f"Predictions {as_code(predictions['file'])} on "
        + (f"version {output['dataset_version']}" if "dataset_version" in output else as_code(output["file"]))
        + f", fingerprint `{output['fingerprint'][:16]}`.",
        answers_line(scores),
        interval_line(about["interval"]),
        "",
        *(line for picture in pictures for line in (f"![{picture.removesuffix('.png')}]({picture})", "")),
    ]
    for table in scores.as_tables():
        lines += [markdown_table(table), ""]
    for note in scores.footnotes:
        lines += [f"* {as_text(note)}"]
    return "\n".join(lines).rstrip() + "\n"


def answers_line(scores: Scores) -> str:
    """Describe how many answers and explanations were scored, unreadable or missing."""
    explanations = scores.answers.get("explanations")
    line = counts_line(scores.answers, "answers")
    return f"{line}\n{counts_line(explanations, 'explanations')}" if explanations else line


def counts_line(counts: Mapping[str, Any], what: str) -> str:
    """Format the counts of `predictions.PickedOptions.summary` on one line."""
    parts = [f"{counts['scored']:,} {what} scored"]
    for key, words in (
        ("unreadable", "unreadable (count as incorrect)"),
        ("empty", "empty"),
        ("missing", "missing (left out)"),
        ("doubled", "given more than once (the first counts)"),
        ("unknown", "not in this output (left out)"),
        *NOT_SCORED.items(),
    ):
        if counts.get(key):
            parts.append(f"{counts[key]:,} {words}")
    return ", ".join(parts) + "."


def interval_line(interval: Mapping[str, Any]) -> str:
    """Describe how intervals were computed, or why they are missing or unreliable."""
    sources: int = interval["sources"]
    if sources < FEWEST:
        there = "is" if sources == 1 else "are"
        return f"No intervals: they need at least {FEWEST} source videos; there {there} {sources}."
    few = f" With fewer than {FEW} source videos, intervals are too narrow." * (sources < FEW)
    return (
        f"Intervals: 95%, paired bootstrap over {sources:,} source videos, {interval['resamples']:,} resamples, "
        f"seed {interval['seed']}.{few} A dash or a missing interval means that the score is "
        "undefined, in the sample or in more than 5% of the resamples."
    )

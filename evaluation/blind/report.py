"""Format an audit as tables, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.results import Cell, Estimate, Result, Table, as_text, json_value, markdown_table, text_table
from ..metrics.scores import interval_line
from .audit import Audited, Figure

SHOWN = 12  # baselines printed; the file contains all
VERSION = 1
LOWER_BOUND = "The highest accuracy is a lower bound on what can be guessed without the video."


@dataclass(frozen=True, eq=False)
class Titled:
    """The audit of one table and split. Both are "" if the audited file does not name them."""

    config: str
    split: str
    audit: Audited

    @property
    def title(self) -> str:
        """Table, split and part, separated by commas."""
        return ", ".join(filter(None, (self.config, self.split, self.audit.part)))


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """The accuracies of all blind baselines.

    Attributes:
        audits: One audit for each table, split and part.
        about: The audited output or file, and how intervals were computed.
        written: Message that names the folder, if the audit was written.
    """

    audits: tuple[Titled, ...]
    about: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    written: tuple[str, ...] = ()

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table of the accuracies in descending order, and one of the contributions of cues."""
        figures: list[tuple[Cell, ...]] = []
        worth: list[tuple[Cell, ...]] = []
        for titled in self.audits:
            part = (titled.config, titled.split, titled.audit.part)
            for figure in sorted(titled.audit.figures, key=lambda figure: -figure.share.value):
                row = (
                    figure.guesser,
                    figure.family,
                    titled.audit.chance,
                    figure.share,
                    figure.balanced,
                    figure.meaning,
                )
                figures.append((*part, *row))
            worth += [(*part, cue.cue, cue.alone, cue.lost) for cue in titled.audit.worth]
        of_part = ("config", "split", "part")
        of_baseline = ("baseline", "family", "chance", "accuracy [95% interval]", "balanced subset", "description")
        cues = ("cue", "alone", "lost without")
        title = f"Accuracy without the video: {self.about['name']}"
        return (
            Table("guessers", title, of_part + of_baseline, tuple(figures)),
            Table("worth", "Contribution of each cue", of_part + cues, tuple(worth)),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the content of `audit.json`."""
        return {"version": VERSION, **self.about, "audits": [_audit_json(titled) for titled in self.audits]}

    def __str__(self) -> str:
        tables = [headline(self.audits), *(figures_table(titled, SHOWN) for titled in self.audits)]
        lines = ["\n\n".join(map(text_table, tables))]
        for reason, names in _left_out(self.audits).items():
            lines.append(f"left out: {', '.join(names)} ({reason})")
        return "\n".join([*lines, "", interval_line(self.about["interval"])])

    def as_markdown(self) -> str:
        """Return the content of `audit.md`."""
        interval = interval_line(self.about["interval"])
        lines = [f"# Accuracy without the video: {as_text(self.about['name'])}", "", interval, ""]
        lines += ["![Accuracy of the baselines](audit.png)", "", markdown_table(headline(self.audits)), ""]
        for titled in self.audits:
            lines += [markdown_table(figures_table(titled)), ""]
            if titled.audit.worth:
                lines += [markdown_table(worth_table(titled)).replace("## ", "### ", 1), ""]
        lines += [f"* Left out: {', '.join(names)}: {reason}." for reason, names in _left_out(self.audits).items()]
        return "\n".join(lines).rstrip() + "\n"


def percent(share: Estimate | float | None) -> str:
    """Format a share as a percentage with its interval, or as a dash if it is undefined."""
    if share is None:
        return "–"
    if isinstance(share, Estimate):
        interval = f" [{100 * share.low:.1f}, {100 * share.high:.1f}]" if share.low == share.low else ""
        return percent(share.value) + interval
    return f"{100 * share:.1f}" if share == share else "–"


def headline(audits: Sequence[Titled]) -> Table:
    """Return a table with the highest accuracy in each audit."""
    subsets = any(titled.audit.best_balanced for titled in audits)
    rows: list[tuple[Cell, ...]] = []
    for titled in audits:
        audit = titled.audit
        row: list[Cell] = [
            titled.title,
            f"{len(audit.ids):,}",
            percent(audit.chance),
            percent(audit.best.share),
            audit.best.guesser,
            percent(audit.elsewhere.value),
        ]
        if subsets:
            best = audit.best_balanced
            row += [
                f"{audit.num_balanced or 0:,}",
                percent(best.balanced if best else None),
                best.guesser if best else "",
            ]
        rows.append(tuple(row))
    headings = ("asked", "questions", "chance", "highest, % [95% interval]", "baseline", "best elsewhere")
    more = ("balanced subset", "highest there", "baseline there")
    return Table("highest", "Accuracy without the video", headings + more * subsets, tuple(rows), LOWER_BOUND)


def figures_table(titled: Titled, most: int | None = None) -> Table:
    """Return a table of the accuracies in one audit, in descending order, limited to `most` rows."""
    audit = titled.audit
    ranked = sorted(audit.figures, key=lambda figure: -figure.share.value)
    subset = audit.num_balanced is not None
    rows = tuple(
        (figure.guesser, percent(figure.share), *([percent(figure.balanced)] if subset else []), figure.meaning)
        for figure in ranked[:most]
    )
    learnt = (
        f"trained on {audit.learnt:,} questions of train"
        if audit.learnt
        else "trained baselines learn from the other source videos"
    )
    title = f"{titled.title}: {len(audit.ids):,} questions, chance {percent(audit.chance)}%; {learnt}"
    headings = ("baseline", "accuracy, % [95% interval]", *(["balanced subset"] if subset else []), "description")
    more = f"{len(ranked) - most} more baselines score lower." if most and len(ranked) > most else ""
    return Table("guessers", title, headings, rows, more)


def worth_table(titled: Titled) -> Table:
    """Return a table that shows how much each cue contributes."""
    rows = tuple((cue.cue, percent(cue.alone), f"{100 * cue.lost:+.1f}") for cue in titled.audit.worth)
    note = (
        "Conditional logits, cross-fitted: on one cue only, and the difference between all cues and all but this one."
    )
    return Table(
        "worth", f"{titled.title}: contribution of each cue", ("cue", "alone, %", "to all, points"), rows, note
    )


def _audit_json(titled: Titled) -> dict[str, Any]:
    audit = titled.audit
    best = audit.best_balanced
    choices = {name: chosen.tolist() for name, chosen in audit.choices.items()}
    return {
        "config": titled.config,
        "split": titled.split,
        "part": audit.part,
        "questions": len(audit.ids),
        "sources": audit.sources,
        "chance": audit.chance,
        "learnt_from_train": audit.learnt,
        "highest": {"guesser": audit.best.guesser, **json_value(audit.best.share)},
        "best_elsewhere": json_value(audit.elsewhere),
        "balanced": None
        if best is None
        else {"questions": audit.num_balanced, "guesser": best.guesser, **json_value(best.balanced)},
        "guessers": [_figure_json(figure) for figure in audit.figures],
        "worth": [vars(worth) for worth in audit.worth],
        "left_out": dict(audit.left_out),
        "choices": {
            name: [{"guesser": guesser, "choice": chosen[row]} for guesser, chosen in choices.items()]
            for row, name in enumerate(audit.ids)
        },
    }


def _figure_json(figure: Figure) -> dict[str, Any]:
    return {
        "guesser": figure.guesser,
        "meaning": figure.meaning,
        "family": figure.family,
        "right": json_value(figure.share),
        "right_balanced": json_value(figure.balanced),
    }


def _left_out(audits: Sequence[Titled]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for titled in audits:
        for name, reason in titled.audit.left_out.items():
            if name not in reasons.setdefault(reason, []):
                reasons[reason].append(name)
    return reasons

"""Write the dataset card of an output: `README.md`, its figures and `croissant.json`.

Cards show stored results and counts only. Baselines that need scikit-learn or embeddings are run by `stressreel audit`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import fsum, inf, isnan, sqrt
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, UndefinedError

from ..core.documents import parse_yaml, read_own
from ..core.files import write_atomic
from ..core.output import FinishedOutput
from ..core.output_files import CARD, data_files, marked, notes_of
from ..core.plan import LEFT_OUT, in_words, summary
from ..core.results import EscapedMarkdown, Estimate, as_address, as_block, as_code, as_text, without_tags
from ..core.schema import Column, Config
from ..core.source import licence_link, source_of
from .croissant import FILE as CROISSANT
from .croissant import render_croissant

SIZES = {1e3: "n<1K", 1e4: "1K<n<10K", 1e5: "10K<n<100K", 1e6: "100K<n<1M", 1e7: "1M<n<10M", inf: "n>10M"}
SKIPS = {  # reasons shown in cards
    "disputed": "people disputed it, or all that shows it",
    "missing_video": "the source video is missing",
    "unreadable_video": "the source video cannot be opened",
    "unreadable_object": "the source video, in object storage, cannot be opened",
    "undecodable": "the source video cannot be decoded",
    "too_short": "the source video does not show all that is annotated",
    "codec_refused": "the codec rejects the frames",
    "codec_lost_frames": "the codec returns a different number of frames",
}
HERE = Path(__file__).parent


Cell = Estimate | float | str | None
"""A share with its interval, a share, a text, or nothing."""


@dataclass(frozen=True)
class Distribution:
    """The mean, population standard deviation, minimum and maximum of numbers."""

    mean: float
    sd: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Distribution:
        """Compute the statistics of a non-empty sequence."""
        mean = fsum(values) / len(values)
        variance = fsum((value - mean) ** 2 for value in values) / len(values)
        return cls(mean, sqrt(variance), min(values), max(values))


class Card:
    """A benchmark's part of the dataset card, which benchmarks extend. `fields` below is what the method returns.

    Attributes:
        folder: Folder with `card.md.j2`, a template that extends `base.md.j2`, and with `card.yaml`, the words of the
            YAML header and of `notes`; or None to use `base.md.j2` itself.
        introduction: First paragraph of a card without a template.
        trained: Function that returns the accuracies of a trained blind baseline, as table rows.
    """

    folder: Path | None = None

    def __init__(self, introduction: str = "") -> None:
        self.introduction = introduction
        self.trained: Callable[[FinishedOutput], Mapping[str, Mapping[str, Cell]]] = lambda output: {}

    @cached_property
    def words(self) -> dict[str, Any]:
        """Return the content of `card.yaml`."""
        return dict(parse_yaml(read_own(self.folder / "card.yaml"))) if self.folder else {}

    @property
    def notes(self) -> Mapping[str, str]:
        """Describe the counts from loading and planning."""
        return dict(self.words.get("notes", {}))

    @property
    def template(self) -> Template:
        """Return the template of the card."""
        return environment(self.folder or HERE).get_template("card.md.j2" if self.folder else "base.md.j2")

    def fields(self, output: FinishedOutput) -> dict[str, Any]:
        """Compute the fields of the template that are specific to this benchmark."""
        return {}

    def front_matter(self, output: FinishedOutput) -> dict[str, Any]:
        """Return the fields of the YAML header that are specific to this benchmark."""
        words, key = self.words, source_of(output.info).key
        if not words:
            return {}
        titles = words["titles"]
        head = {name: words[name] for name in ("language", "task_categories", "tags")}
        return {"pretty_name": titles[key if key in titles else "other"], **head}

    def figures(self, output: FinishedOutput, fields: Mapping[str, Any]) -> dict[str, bytes]:
        """Draw the figures, and return PNG files by name."""
        return {}

    def biases(self, output: FinishedOutput, fields: Mapping[str, Any]) -> list[str]:
        """Describe measured biases in sentences, for `croissant.json`."""
        return []


def write_card(output: FinishedOutput, configs: Sequence[Config], card: Card) -> None:
    """Write `README.md`, `figures/*.png` and `croissant.json`, preserving the user's notes.

    `output` must contain all shards, but its `build.json` may not exist yet.
    """
    fields = card.fields(output)
    for name, content in card.figures(output, fields).items():
        write_atomic(output.path / "figures" / name, content)
    write_atomic(output.path / CARD, render_card(output, configs, card, fields))
    write_atomic(output.path / CROISSANT, croissant_of(output, configs, card, fields))


def croissant_of(output: FinishedOutput, configs: Sequence[Config], card: Card, fields: Mapping[str, Any]) -> str:
    """Return the text of `croissant.json`. `fields` are those of the card."""
    return render_croissant(output, configs, _head(output, card), card.biases(output, fields))


def _head(output: FinishedOutput, card: Card) -> dict[str, Any]:
    source = source_of(output.info)
    return {
        "pretty_name": f"{output.info['builder']}, built with stressreel",
        **source.license,
        **card.front_matter(output),
        **({"pretty_name": source.title} if source.title else {}),
    }


def render_card(
    output: FinishedOutput, configs: Sequence[Config], card: Card, fields: Mapping[str, Any] | None = None
) -> str:
    """Return the text of the card, which depends only on the shards, `build.json` and the user's notes.

    `fields` are the result of `card.fields`, if it has been called already.
    """
    info = output.info
    built = [config for config in configs if config.name in info["counts"]]
    head = {**_head(output, card), **hub_fields(built, info)}
    try:
        return card.template.render(
            **{**shared_fields(output, built, card), **(card.fields(output) if fields is None else fields)},
            title=head["pretty_name"],
            head=EscapedMarkdown(yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=120).rstrip()),
            info={name: as_block(value) if name == "command" else value for name, value in info.items()},
            own_text=EscapedMarkdown(marked(notes_of(output.path / CARD))),
        )
    except UndefinedError as error:
        raise LookupError(f"build.json lacks a field of the card: {error}") from error


def shared_fields(output: FinishedOutput, built: Sequence[Config], card: Card) -> dict[str, Any]:
    """Return the fields that all templates use. Benchmarks may override some of them."""
    info = output.info
    left_out = left_out_table(output, card)
    shown = {row["reason"] for row in left_out}
    by_columns: dict[tuple[Column, ...], list[Config]] = {}
    for config in built:
        by_columns.setdefault(tuple(config.columns), []).append(config)
    notes = {
        name: count
        for name, count in info["notes"].items()
        if isinstance(count, int) and "/" not in name and name not in shown
    }
    skips = {reason: count for reason, count in info["skips"]["by_reason"].items() if reason not in shown}
    return {
        "introduction": card.introduction,
        "configs": built,
        "by_columns": list(by_columns.values()),
        "source": source_of(info),
        "settings": info["settings"],
        "splits": output.all_splits(),
        "footage": any(column.kind == "video" for config in built for column in config.columns),
        "notes": named(notes, card.notes),
        "trained": card.trained(output),
        "left_out": left_out,
        "skips": named(skips, SKIPS),
    }


def named(counts: Mapping[str, int], words: Mapping[str, str]) -> dict[str, int]:
    """Return the nonzero counts under their descriptions in `words` and in that order, followed by all others."""
    order = sorted(counts, key=lambda name: (list(words).index(name) if name in words else len(words), name))
    return {words.get(name, in_words(name)): counts[name] for name in order if counts[name]}


def left_out_table(output: FinishedOutput, card: Card) -> list[dict[str, str | int]]:
    """Return what was left out by stage, kind and reason, with a description of the reason."""
    if LEFT_OUT.name not in output.info["counts"]:
        return []
    words = {**card.notes, **SKIPS}
    counts = summary(output.rows(LEFT_OUT.name, ["stage", "kind", "reason", "count"]))
    return [
        {
            "stage": stage,
            "kind": kind,
            "reason": reason,
            "words": words.get(reason, in_words(reason)).rpartition("left out: ")[2],
            "count": count,
        }
        for (stage, kind, reason), count in counts.items()
    ]


PEOPLE = "<!-- people: written by `stressreel card --people` -->", "<!-- end of people -->"


def with_people(notes: str, answered: Mapping[str, Any]) -> str:
    """Return a user's notes with a section on the scores of people, which replaces an earlier one.

    `answered` is the content of `agreement.json`, with estimates in `headline`. Cards cannot contain it otherwise,
    because they follow from the output.
    """
    count, alpha = len(answered["people"]), answered["alpha"]
    rows: dict[str, dict[str, Cell]] = {
        name: {f"people ({count})": value} for name, value in answered["headline"].items() if not isnan(value.value)
    }
    agree = "" if alpha is None else f" Krippendorff's alpha is {alpha:.2f}."
    text = (
        f"{count} people answered {len(answered['questions']):,} questions of config {as_code(answered['config'])}, "
        f"split {as_code(answered['split'])}, fingerprint {as_code(answered['output']['fingerprint'][:16])} (shown: "
        f"{as_text(answered['condition'])}).{agree}"
    )
    section = "\n".join([PEOPLE[0], "## People\n", text + "\n", baseline_table(rows, "score"), PEOPLE[1]])
    before, begin, rest = notes.partition(PEOPLE[0])
    if begin and PEOPLE[1] in rest:
        return before + section + rest.partition(PEOPLE[1])[2]
    return "\n\n".join(filter(None, [notes, section]))


def hub_fields(configs: list[Config], info: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the YAML header that `datasets` and the Hub read: dataset size and shards."""
    counts = info["counts"]
    rows = max(sum(counts[config.name].values()) for config in configs if not config.unsplit)
    return {
        "size_categories": [next(name for limit, name in SIZES.items() if rows < limit)],
        "configs": data_files(configs, counts, info["fingerprint"]),
    }


@cache
def environment(folder: Path) -> Environment:
    """Return the Jinja environment for the templates in a folder. Undefined fields are errors."""
    templates = Environment(
        loader=FileSystemLoader([folder, HERE], encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # for HTML only; Markdown is escaped by the filters
        finalize=without_tags,
    )
    filters: dict[str, Callable[..., str]] = {
        "count": lambda number: f"{int(number):,}",
        "percent": percent,
        "spread": lambda spread: f"{spread.mean:.2f} ± {spread.sd:.2f} s, {spread.low:.2f} to {spread.high:.2f} s",
        "baselines": baseline_table,
        "share_of": _share,
        "cell": _cell,
        "meaning": lambda text: EscapedMarkdown(_cell(text)),  # column descriptions written by us
        "caption": as_code,
        "text": as_text,
        "block": as_block,
        "address": as_address,
        "licence": licence_name,
        "kind": column_kind,
    }
    templates.filters |= filters
    return templates


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def column_kind(column: Column) -> str:
    """Describe the type of a column, as in "list of string"."""
    if column.kind == "label":
        return "ClassLabel: " + ", ".join(f"{number} = {name}" for number, name in enumerate(column.names))
    names = {"strings": "list of string", "integers": "list of int32", "records": "list of rows", "video": "Video"}
    return names.get(column.kind, column.kind)


def licence_name(fields: Mapping[str, str]) -> EscapedMarkdown:
    """Return the name of a licence, with a link to its text if known."""
    name = as_text(fields.get("license_name") or fields["license"])
    link = as_address(licence_link(fields))
    return EscapedMarkdown(f"{name} ({link})" if link else name)


def baseline_table(rows: Mapping[str, Mapping[str, Cell]], first: str = "baseline") -> EscapedMarkdown:
    """Format a table with one row per baseline and one column per score. `first` is its first heading."""
    columns = list(next(iter(rows.values()), {}))
    lines = [
        [first, *columns],
        *([name, *(_share(cells[column]) for column in columns)] for name, cells in rows.items()),
    ]
    head, *body = [f"| {' | '.join(map(as_text, line))} |" for line in lines]
    return EscapedMarkdown("\n".join([head, f"|---|{'--:|' * len(columns)}", *body]))


def _share(cell: Cell) -> str:
    """Format a cell. Estimates from too few source videos have no interval."""
    if isinstance(cell, Estimate):
        interval = "" if isnan(cell.low) else f" ({percent(cell.low)} to {percent(cell.high)})"
        return f"{percent(cell.value)}{interval}"
    return "–" if cell is None else cell if isinstance(cell, str) else percent(cell)


def percent(share: float) -> str:
    """Format a share as a percentage with one decimal."""
    return f"{100 * share:.1f}%"

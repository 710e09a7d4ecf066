"""Dataset cards: `README.md` and its figures, made from the shards and `build.json` of an output and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError

from ..builders.causal import card as causal
from ..builders.causal.settings import settings_of
from ..builders.causal.tables import causal_configs
from ..builders.clavi import card as clavi
from ..builders.perturbed import card as perturbed
from ..builders.perturbed.figures import perturbed_figures
from ..builders.perturbed.settings import PerturbedSettings
from ..builders.perturbed.tables import suite_configs
from ..errors import InputError
from ..records.files import write_atomic
from ..records.output import FinishedOutput
from ..records.schema import Column, Config

SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
LARGEST = "n>10M"


@dataclass(frozen=True)
class CardKind:
    """What a benchmark adds to its card. Its template is `<builder>.md.j2` in this folder.

    Attributes:
        configs: Gives the tables that it may have, from `build.json`.
        measure: Counts what the card says.
        context: Gives the template's own fields, from the output and what was measured.
        front_matter: Gives the benchmark's part of the YAML head.
        figures: Draws the PNG files, by name, from the output and what was measured.
    """

    configs: Callable[[Mapping[str, Any]], Sequence[Config]]
    measure: Callable[[FinishedOutput], Any]
    context: Callable[[FinishedOutput, Any], dict[str, Any]]
    front_matter: Callable[[FinishedOutput], dict[str, Any]]
    figures: Callable[[FinishedOutput, Any], Mapping[str, bytes]]


KINDS = {
    "causal": CardKind(
        configs=lambda info: causal_configs(settings_of(info)),
        measure=causal.measure_causal,
        context=causal.context,
        front_matter=causal.front_matter,
        figures=causal.figures,
    ),
    "clavi": CardKind(
        configs=lambda info: clavi.CONFIGS,
        measure=clavi.measure_clavi,
        context=clavi.context,
        front_matter=clavi.front_matter,
        figures=lambda output, measured: clavi.figures(measured),
    ),
    "perturbed": CardKind(
        configs=lambda info: suite_configs(PerturbedSettings(**info["settings"])),
        measure=perturbed.measure_perturbed,
        context=perturbed.context,
        front_matter=perturbed.front_matter,
        figures=lambda output, measured: perturbed_figures(output),
    ),
}


def write_card(out: Path, info: dict[str, Any]) -> None:
    """Write `README.md` and `figures/*.png`, each atomically.

    Args:
        out: Output folder with all its shards.
        info: The content of `build.json`, which need not be there yet.

    Raises:
        InputError: This version knows no card for the builder.
        OutputError: The folder cannot be written.
    """
    output = FinishedOutput(out, info)
    kind = kind_of(output)
    measured = kind.measure(output)
    for name, content in kind.figures(output, measured).items():
        write_atomic(out / "figures" / name, content)
    write_atomic(out / "README.md", _render(output, kind, measured))


def render_card(out: Path, info: dict[str, Any]) -> str:
    """Give the text of the card: the same for the same shards and `info`.

    Raises:
        InputError: This version knows no card for the builder.
    """
    output = FinishedOutput(out, info)
    kind = kind_of(output)
    return _render(output, kind, kind.measure(output))


def kind_of(output: FinishedOutput) -> CardKind:
    """Find the card of an output's builder."""
    if output.info["builder"] not in KINDS:
        known = ", ".join(KINDS)
        raise InputError(
            f"{output.path} was built by {output.info['builder']!r}; this version writes cards for {known} only. "
            "Use the version of stressreel that built it (`tools` in build.json)."
        )
    return KINDS[output.info["builder"]]


def _render(output: FinishedOutput, kind: CardKind, measured: Any) -> str:
    configs = [config for config in kind.configs(output.info) if config.name in output.info["counts"]]
    head = {**kind.front_matter(output), **hub_fields(configs, output.info["counts"])}
    template = environment().get_template(f"{output.info['builder']}.md.j2")
    try:
        return template.render(
            head=yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=120).rstrip(),
            info=output.info,
            configs=configs,
            **kind.context(output, measured),
        )
    except UndefinedError as error:
        raise LookupError(f"build.json lacks what the card says: {error}") from error


def hub_fields(configs: list[Config], counts: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """Give the fields of the YAML head that `datasets` and the Hub read: size, and the shards of every config."""
    rows = max(sum(splits.values()) for splits in counts.values())
    return {
        "size_categories": [next((name for limit, name in SIZES if rows < limit), LARGEST)],
        "configs": [
            {
                "config_name": config.name,
                **({"default": True} if config.default else {}),
                "data_files": [
                    {"split": split, "path": f"{config.name}/{split}-*.parquet"} for split in counts[config.name]
                ],
            }
            for config in configs
        ],
    }


@cache
def environment() -> Environment:
    """Give the Jinja environment of the cards: a field that is missing is an error."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    found.filters |= {
        "count": lambda number: f"{int(number):,}",
        "percent": lambda share: f"{100 * share:.1f} %",
        "spread": lambda spread: f"{spread.mean:.2f} ± {spread.sd:.2f} s, {spread.low:.2f} to {spread.high:.2f} s",
        "cell": lambda text: str(text).replace("|", "\\|").replace("\n", " "),
        "caption": lambda text: "`" + str(text).replace("`", "'").replace("|", "\\|").replace("\n", " ") + "`",
        "kind": column_kind,
    }
    return found


def column_kind(column: Column) -> str:
    """Name the type of a column as readers know it."""
    if column.kind == "label":
        return "ClassLabel: " + ", ".join(f"{number} = {name}" for number, name in enumerate(column.names))
    return {"strings": "list of string", "records": "list of rows", "video": "Video"}.get(column.kind, column.kind)

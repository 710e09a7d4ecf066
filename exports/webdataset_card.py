"""`README.md` beside tar shards: what `load_dataset(DIR, TABLE)` reads of their splits and columns.

Without it `datasets` takes the types of columns from the first five samples, and fails at a value where those had none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from ..core.output import FinishedOutput
from ..core.schema import Column
from ..core.source import source_of
from .media import Part

LISTS = {"strings": "string", "integers": "int32"}


def webdataset_card(output: FinishedOutput, parts: Sequence[Part]) -> str:
    """Return the text of `README.md` for the parts with videos."""
    tables = {part.config.name: part for part in parts if part.video}
    source = source_of(output.info)
    title = f"{output.info['builder']}, built with stressreel, as WebDataset"
    head = {
        "pretty_name": title,
        **source.license,
        "configs": [
            {
                "config_name": name,
                "data_files": [
                    {"split": part.split, "path": f"{name}/{part.split}-*.tar"}
                    for part in parts
                    if part.config.name == name and part.rows
                ],
            }
            for name in tables
        ],
        "dataset_info": [
            {"config_name": name, "features": sample_features(part.config.columns)} for name, part in tables.items()
        ],
    }
    terms = f"Its terms: {source.terms}." if source.terms else ""
    lines = [
        f"# {title}",
        "",
        f"Source: {source.name}{f', {source.link}' if source.link else ''}. {terms}".rstrip(),
        f"Version {output.info['dataset_version']}, fingerprint {output.info['fingerprint']}.",
    ]
    return (
        f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True, width=120)}---\n\n" + "\n".join(lines) + "\n"
    )


def sample_features(columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Describe a sample as `datasets` writes features in YAML; labels are strings there."""
    return [
        {"name": "mp4", "dtype": "video"},
        {"name": "json", "struct": [feature(column) for column in columns if column.kind != "video"]},
        {"name": "__key__", "dtype": "string"},
        {"name": "__url__", "dtype": "string"},
    ]


def feature(column: Column) -> dict[str, Any]:
    """Describe a column."""
    if column.kind == "records":
        return {"name": column.name, "list": [feature(field) for field in column.fields]}
    if column.kind in LISTS:
        return {"name": column.name, "list": LISTS[column.kind]}
    return {"name": column.name, "dtype": "string" if column.kind == "label" else column.kind}

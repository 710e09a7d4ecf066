"""The files that the YAML head of a card names, which `datasets` and the Hub read as those of the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .documents import parse_yaml, read_own, shortened
from .notes import CARD
from .schema import Config

HEAD = re.compile(r"^\s*---(?:\r\n|\r|\n)([\S\s]*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$)")  # as huggingface_hub has it
INSTEAD = ".huggingface.yaml"


def data_files(
    configs: Sequence[Config], counts: Mapping[str, Mapping[str, int]], fingerprint: str = ""
) -> list[dict[str, Any]]:
    """Return what a head says of the shards of every config that was built.

    `datasets` keeps what it loaded by what the head says, not by the files: without the fingerprint an output built
    anew in the same folder would be loaded as it was before.
    """
    return [
        {
            "config_name": config.name,
            **({"description": f"fingerprint {fingerprint}"} if fingerprint else {}),
            **({"default": True} if config.default else {}),
            "data_files": [
                {"split": split, "path": f"{config.name}/{split}-*.parquet"} for split in counts[config.name]
            ],
        }
        for config in configs
        if config.name in counts
    ]


def other_files(folder: Path, configs: Sequence[Config], counts: Mapping[str, Mapping[str, int]]) -> str:
    """Say what would lead `load_dataset` to other files than the shards; empty if nothing does.

    It follows the addresses and the paths that a card names, wherever they lead.

    Args:
        folder: An output.
        configs: Its tables.
        counts: Rows by table and split, as its `build.json` has them.

    Raises:
        InputError: The card cannot be read.
    """
    if not (folder / CARD).is_file():
        return f"there is no {CARD}"
    if (folder / INSTEAD).exists():
        return f"{INSTEAD} takes the place of what {CARD} says"
    found = HEAD.match(read_own(folder / CARD))
    try:
        head = parse_yaml(found[1] if found else "")
    except ValueError as error:
        return f"the head of {CARD} cannot be used ({shortened(str(error))})"
    named = head.get("configs") if isinstance(head, dict) else None
    if isinstance(named, list) and all(isinstance(config, dict) for config in named):
        named = [{key: value for key, value in config.items() if key != "description"} for config in named]
    if named != data_files(configs, counts):
        return f"{CARD} names other files than the shards of this output"
    return ""

"""Read back the YAML header and the user's notes of a dataset card (README.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .documents import parse_yaml, read_own, shortened
from .files import write_atomic
from .schema import Config

HEAD = re.compile(r"^\s*---(?:\r\n|\r|\n)([\S\s]*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$)")  # as in huggingface_hub
INSTEAD = ".huggingface.yaml"
CARD = "README.md"
BEGIN = "<!-- notes: your own text goes below this line; it stays when this card is written again -->"
END = "<!-- end of notes -->"
BEGINS = re.compile(rf"^{re.escape(BEGIN)}", re.MULTILINE)  # elsewhere in a line, the marker may be part of a caption


def data_files(
    configs: Sequence[Config], counts: Mapping[str, Mapping[str, int]], fingerprint: str = ""
) -> list[dict[str, Any]]:
    """Return the `configs` entry of the YAML header: the shards of every config that was built.

    `datasets` uses this entry as its cache key. The fingerprint prevents it from loading a stale copy after a rebuild.
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
    """Explain why `load_dataset` would load files other than the shards; return "" if it would not.

    `load_dataset` follows any URL or path in a card. `counts` maps tables to rows per split, as in `build.json`.
    """
    if not (folder / CARD).is_file():
        return f"there is no {CARD}"
    if (folder / INSTEAD).exists():
        return f"{INSTEAD} overrides the head of {CARD}"
    found = HEAD.match(read_own(folder / CARD))
    try:
        head = parse_yaml(found[1] if found else "")
    except ValueError as error:
        return f"the YAML head of {CARD} is invalid ({shortened(str(error))})"
    named = head.get("configs") if isinstance(head, dict) else None
    if isinstance(named, list) and all(isinstance(config, dict) for config in named):
        named = [{key: value for key, value in config.items() if key != "description"} for config in named]
    if named != data_files(configs, counts):
        return f"{CARD} lists files other than the shards of this output"
    return ""


def notes_of(card: Path) -> str:
    """Return the user's notes, or "" if the card or the marker is missing.

    Generated text never starts a line with a marker (see `data_cards.card`), so the notes start at the first such
    marker. They may contain both markers again.
    """
    if not card.is_file():
        return ""
    text = read_own(card, errors="replace")
    begin = BEGINS.search(text)
    notes, end, _ = text[begin.end() :].rpartition(END) if begin else ("", "", "")
    return notes.strip("\n") if end else ""


def marked(notes: str) -> str:
    """Enclose notes in their markers."""
    return "\n\n".join([BEGIN, notes, END] if notes else [BEGIN, END])


def holds_notes_alone(card: Path) -> bool:
    """Check whether a file contains only notes, as written by `keep_notes_alone`."""
    return card.is_file() and read_own(card, errors="replace") == marked(notes_of(card)) + "\n"


def keep_notes_alone(card: Path) -> None:
    """Reduce a card to its notes, or remove it if there are none."""
    notes = notes_of(card)
    if notes:
        write_atomic(card, marked(notes) + "\n")
    else:
        card.unlink(missing_ok=True)

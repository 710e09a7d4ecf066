"""Read the YAML header and the user's notes from an existing dataset card (README.md)."""

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
    """Return the `configs` entry of a card's YAML header, which lists the shards of every config.

    `datasets` uses this entry as its cache key, so the fingerprint keeps it from loading a stale copy after a rebuild.
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
    """Return the reason why `load_dataset` would read files other than the shards, or "" if there is none.

    `load_dataset` follows any URL or path that the card lists. `counts` has the rows per table and split, as in
    `build.json`.
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
    """Return the notes that the user added to a card, or "" if there are none.

    The notes start at the first line that begins with the marker, because generated text never begins a line with it
    (see `data_cards.card`). The notes themselves may contain the markers.
    """
    if not card.is_file():
        return ""
    text = read_own(card, errors="replace")
    begin = BEGINS.search(text)
    notes, end, _ = text[begin.end() :].rpartition(END) if begin else ("", "", "")
    return notes.strip("\n") if end else ""


def generated_part(card: str) -> str:
    """Return the text of a card without the user's notes."""
    begin = BEGINS.search(card)
    return card[: begin.start()] + card[begin.end() :].rpartition(END)[2] if begin else card


def marked(notes: str) -> str:
    """Put the markers before and after the notes."""
    return "\n\n".join([BEGIN, notes, END] if notes else [BEGIN, END])


def holds_notes_alone(card: Path) -> bool:
    """Return whether a card contains nothing except the user's notes, as left by `keep_notes_alone`."""
    return card.is_file() and read_own(card, errors="replace") == marked(notes_of(card)) + "\n"


def keep_notes_alone(card: Path) -> None:
    """Remove everything except the user's notes from a card, or delete the card if it has no notes."""
    notes = notes_of(card)
    if notes:
        write_atomic(card, marked(notes) + "\n")
    else:
        card.unlink(missing_ok=True)

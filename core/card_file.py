"""The file of a card, README.md, as others than its writer see it.

Its YAML head names files, which `datasets` and the Hub read as those of the tables; and what the user wrote between
two marks outlives whatever writes the card again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .documents import parse_yaml, read_own, shortened
from .files import write_atomic
from .schema import Config

HEAD = re.compile(r"^\s*---(?:\r\n|\r|\n)([\S\s]*?)(?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$)")  # as huggingface_hub has it
INSTEAD = ".huggingface.yaml"
CARD = "README.md"
BEGIN = "<!-- notes: your own text goes below this line; it stays when this card is written again -->"
END = "<!-- end of notes -->"
BEGINS = re.compile(rf"^{re.escape(BEGIN)}", re.MULTILINE)  # elsewhere it is a text of somebody who knows the mark


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


def notes_of(card: Path) -> str:
    """Read the text between the marks of a card; empty if there is no card, or if it lacks a mark.

    What a card says of an output holds no mark at the beginning of a line (see `data_cards.card`), so the first such
    one is that of the notes, in which both marks may come again.
    """
    if not card.is_file():
        return ""
    text = read_own(card, errors="replace")
    begin = BEGINS.search(text)
    notes, end, _ = text[begin.end() :].rpartition(END) if begin else ("", "", "")
    return notes.strip("\n") if end else ""


def marked(notes: str) -> str:
    """Return notes between their marks, as a card has them."""
    return "\n\n".join([BEGIN, notes, END] if notes else [BEGIN, END])


def holds_notes_alone(card: Path) -> bool:
    """Return whether a file is what `keep_notes_alone` leaves."""
    return card.is_file() and read_own(card, errors="replace") == marked(notes_of(card)) + "\n"


def keep_notes_alone(card: Path) -> None:
    """Remove a card but for the notes in it; all of it if it has none.

    Raises:
        OutputError: It cannot be written.
    """
    notes = notes_of(card)
    if notes:
        write_atomic(card, marked(notes) + "\n")
    else:
        card.unlink(missing_ok=True)

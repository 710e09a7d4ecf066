"""Distinguish an output's own files from those of others, and read the header and the user's notes of its card."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from .documents import check_shape, parse_own, parse_yaml, read_own, shortened
from .errors import InputError, OutputError, printable
from .files import EVAL, SIGNATURE, write_atomic
from .fingerprint import FILE as UNITS
from .output import FinishedOutput, check_name
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
    match = HEAD.match(read_own(folder / CARD))
    try:
        head = parse_yaml(match[1] if match else "")
    except ValueError as error:
        return f"the YAML head of {CARD} is invalid ({shortened(str(error))})"
    declared = head.get("configs") if isinstance(head, dict) else None
    if isinstance(declared, list) and all(isinstance(config, dict) for config in declared):
        declared = [{key: value for key, value in config.items() if key != "description"} for config in declared]
    if declared != data_files(configs, counts):
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


BUILD, CROISSANT, FIGURES, TEXT_SHIFT = "build.json", "croissant.json", "figures", "text_shift.json"
LICENCES = ("LICENSE", "LICENSE.md", "LICENSE.txt")
FIGURE = re.compile(rf"\]\(({FIGURES}/[A-Za-z0-9_.-]+\.png)\)")  # as in Markdown
SHARD = re.compile(r"(?P<split>.+)-[0-9]{5}(-of-[0-9]{5}\.parquet|\.part)")
USUAL_SPLITS = ("train", "validation", "test")
BESIDE = (".build", ".cache/huggingface", ".git", ".gitattributes", ".gitignore")
"""Files of resumable builds, Hub downloads and git, which are never loaded as tables."""
STATE = re.compile(r"\.build/(plan\.json|journal(-\d+-of-\d+)?\.jsonl|lock(-\d+-of-\d+)?|staging/.+)")


@dataclass(frozen=True)
class WrittenFiles:
    """Recognizes the files that a build wrote, so that no others are removed with them."""

    tables: frozenset[str] = frozenset()
    splits: frozenset[str] = frozenset()
    reports: frozenset[str] = frozenset()
    figures: frozenset[str] = frozenset()

    @classmethod
    def of(cls, stored: Mapping[str, Any], where: str) -> Self:
        """Return the files of a build from its plan or `build.json`. Raise OutputError if a name is not valid.

        The entry "tables" of `build.json` contains hashes of tables of words; its tables are those of "counts".
        """
        counts = stored.get("counts")
        try:
            names = {
                "tables": stored.get("tables", ()) if counts is None else counts,
                "splits": stored.get(
                    "splits", [*USUAL_SPLITS, *(split for splits in (counts or {}).values() for split in splits)]
                ),
                "reports": stored.get("reports", ()),
                "figures": stored.get("figures", ()),
            }
            return cls(**{kind: frozenset(map(check_name, given)) for kind, given in names.items()})
        except (AttributeError, TypeError, ValueError) as error:
            raise OutputError(
                f"{where} was not written by stressreel ({error}), so nothing was removed. Remove the folder yourself "
                "after checking it, or use another --out."
            ) from error

    def with_card(self, card: str) -> WrittenFiles:
        """Return these files and the figures of a card, except those in the user's notes."""
        drawn = (name.removeprefix(f"{FIGURES}/") for name in FIGURE.findall(generated_part(card)))
        return self | WrittenFiles(figures=frozenset(drawn))

    def __or__(self, other: WrittenFiles) -> WrittenFiles:
        """Return the files of both."""
        return WrittenFiles(*(getattr(self, each.name) | getattr(other, each.name) for each in fields(self)))

    def __contains__(self, name: str) -> bool:
        """Return whether the build wrote a file, given by its path in the output."""
        folder, _, file = name.rpartition("/")
        if folder in self.tables:
            shard = SHARD.fullmatch(file)
            return shard is not None and shard["split"] in self.splits
        if folder == FIGURES:
            return file in self.figures
        return not folder and file in (BUILD, CROISSANT, UNITS, EVAL, *self.reports)

    @property
    def folders(self) -> list[str]:
        """The folders that contain files of the build, besides the output itself."""
        return [*sorted(self.tables), FIGURES]

    def as_json(self) -> dict[str, list[str]]:
        """Return the names as `of` reads them."""
        return {each.name: sorted(getattr(self, each.name)) for each in fields(self)}


def own_names(output: FinishedOutput) -> list[str]:
    """Return the names of all files that an output should have, and of the optional files that it does have."""
    shards = [path for config in output.info["counts"] for path in output.shards(config)]
    card = output.path / CARD
    figures = FIGURE.findall(read_own(card, errors="replace")) if card.is_file() else []
    more = [name for name in (SIGNATURE, EVAL, *LICENCES) if (output.path / name).is_file()]
    if read_report(output.path / TEXT_SHIFT, output.info["fingerprint"]):
        more.append(TEXT_SHIFT)
    names = [BUILD, CARD, CROISSANT, UNITS, *figures, *more]
    return [*names, *(path.relative_to(output.path).as_posix() for path in shards)]


def read_report(file: Path, fingerprint: str) -> dict[str, Any] | None:
    """Return a report that another command added to an output, or None if it is missing or about another output.

    Raises:
        InputError: The file is damaged.
    """
    if not file.is_file():
        return None
    try:
        report: dict[str, Any] = parse_own(read_own(file))
        check_shape(report, {"fingerprint": str})
    except ValueError as error:
        raise InputError(f"{file} is damaged ({error}). Score again, or remove it.") from error
    return report if report["fingerprint"] == fingerprint else None


def lies_in(name: str, places: Iterable[str]) -> bool:
    """Return whether a file is one of the places or is inside one of them."""
    return any(name == place or name.startswith(f"{place}/") for place in places)


def unaccounted(output: FinishedOutput) -> Iterator[str]:
    """Yield files that do not belong to an output, such as extra shards."""
    known = set(own_names(output))
    for name in output.files():
        if name not in known and not (STATE.fullmatch(name) if lies_in(name, [".build"]) else lies_in(name, BESIDE)):
            yield name


def note_signed(folder: Path, say: Callable[[str], None] | None = None) -> None:
    """Warn, before its files are rewritten, that an output is signed. By default, print to standard error."""
    if (folder / SIGNATURE).is_file():
        tell_signed(folder, say or (lambda text: print(printable(text), file=sys.stderr, flush=True)))


def tell_signed(name: Path | str, say: Callable[[str], None]) -> None:
    """Warn that writing to an output invalidates its signature."""
    say(
        f"note: {name} is signed ({SIGNATURE}). If its files change, the signature becomes invalid; sign again with "
        "`stressreel sign`."
    )

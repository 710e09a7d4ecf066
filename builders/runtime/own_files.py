"""Distinguish an output's own files from those of others, and detect its signature."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from ...core.card_file import CARD, generated_part
from ...core.documents import read_own
from ...core.errors import OutputError, printable
from ...core.fingerprint import FILE as UNITS
from ...core.inside import SIGNATURE
from ...core.output import FinishedOutput, check_name
from ...evaluation.metrics.text_shift import FILE as TEXT_SHIFT
from ...evaluation.metrics.text_shift import read_report

BUILD, CROISSANT, FIGURES = "build.json", "croissant.json", "figures"
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
    def of(cls, stored: Mapping[str, Any], file: str) -> Self:
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
            return cls(**{kind: frozenset(map(check_name, values)) for kind, values in names.items()})
        except (AttributeError, TypeError, ValueError) as error:
            raise OutputError(
                f"{file} was not written by stressreel ({error}), so nothing was removed. Remove the folder yourself "
                "after checking it, or use another --out."
            ) from error

    def with_card(self, card: str) -> WrittenFiles:
        """Return these files and the figures of a card, except those in the user's notes."""
        figures = (name.removeprefix(f"{FIGURES}/") for name in FIGURE.findall(generated_part(card)))
        return self | WrittenFiles(figures=frozenset(figures))

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
        return not folder and file in (BUILD, CROISSANT, UNITS, *self.reports)

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
    more = [name for name in (SIGNATURE, *LICENCES) if (output.path / name).is_file()]
    if read_report(output.path, output.info["fingerprint"]):
        more.append(TEXT_SHIFT)
    names = [BUILD, CARD, CROISSANT, UNITS, *figures, *more]
    return [*names, *(path.relative_to(output.path).as_posix() for path in shards)]


def lies_in(name: str, paths: Iterable[str]) -> bool:
    """Return whether a file is one of the paths or is inside one of them."""
    return any(name == path or name.startswith(f"{path}/") for path in paths)


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

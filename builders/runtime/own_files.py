"""The files that an output holds: which are its own, which may lie beside them, and what says that it was signed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ...core.card_file import CARD
from ...core.documents import read_own
from ...core.errors import printable
from ...core.fingerprint import FILE as UNITS
from ...core.inside import SIGNATURE
from ...core.output import FinishedOutput
from ...evaluation.metrics.text_shift import FILE as TEXT_SHIFT
from ...evaluation.metrics.text_shift import read_report

BUILD, CROISSANT, FIGURES = "build.json", "croissant.json", "figures"
LICENCES = ("LICENSE", "LICENSE.md", "LICENSE.txt")
FIGURE = re.compile(rf"\]\(({FIGURES}/[A-Za-z0-9_.-]+\.png)\)")  # as Markdown shows it
BESIDE = (".build", ".cache/huggingface", ".git", ".gitattributes", ".gitignore")
"""What resumes, the Hub's downloads and git leave; no program takes any of it for tables."""


def own_names(output: FinishedOutput) -> list[str]:
    """Name the files that every output has, its shards and figures, there or not; and what else there is of it."""
    shards = [path for config in output.info["counts"] for path in output.shards(config)]
    card = output.path / CARD
    figures = FIGURE.findall(read_own(card, errors="replace")) if card.is_file() else []
    more = [name for name in (SIGNATURE, *LICENCES) if (output.path / name).is_file()]
    if read_report(output.path, output.info["fingerprint"]):
        more.append(TEXT_SHIFT)
    names = [BUILD, CARD, CROISSANT, UNITS, *figures, *more]
    return [*names, *(path.relative_to(output.path).as_posix() for path in shards)]


def lies_in(name: str, places: Iterable[str]) -> bool:
    """Whether a file is one of these, or lies in one of them."""
    return any(name == each or name.startswith(f"{each}/") for each in places)


def unaccounted(output: FinishedOutput) -> Iterator[str]:
    """Name the files of an output that neither a build nor a command of ours leaves there, such as other shards."""
    known = set(own_names(output))
    yield from (name for name in output.files() if name not in known and not lies_in(name, BESIDE))


def note_signed(folder: Path, say: Callable[[str], None] | None = None) -> None:
    """Say that an output is signed, before its files are written again; on standard error, if nobody else says it."""
    if (folder / SIGNATURE).is_file():
        tell_signed(folder, say or (lambda text: print(printable(text), file=sys.stderr, flush=True)))


def tell_signed(name: Path | str, say: Callable[[str], None]) -> None:
    """Warn that the signature of an output becomes invalid when it is written to."""
    say(
        f"note: {name} is signed ({SIGNATURE}): once its files change, the signature no longer holds. It is left as it "
        "is; sign again with `stressreel sign`."
    )

"""Distinguish an output's own files from other files that are tolerated, and detect its signature."""

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
FIGURE = re.compile(rf"\]\(({FIGURES}/[A-Za-z0-9_.-]+\.png)\)")  # as in Markdown
BESIDE = (".build", ".cache/huggingface", ".git", ".gitattributes", ".gitignore")
"""Files of resumable builds, Hub downloads and git, which are never loaded as tables."""
STATE = re.compile(r"\.build/(plan\.json|journal(-\d+-of-\d+)?\.jsonl|lock(-\d+-of-\d+)?|staging/.+)")


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


def lies_in(name: str, places: Iterable[str]) -> bool:
    """Return whether a file is one of the places or is inside one of them."""
    return any(name == each or name.startswith(f"{each}/") for each in places)


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

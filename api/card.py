"""Rewrite the dataset card of a finished output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..core.functions import public
from ..core.results import Result
from ..core.rows import AnyPath


@dataclass(frozen=True)
class Card(Result):
    """Result of `card`, with the path of the written README.md."""

    path: Path

    def __str__(self) -> str:
        return f"Wrote {self.path}, its figures and croissant.json."

    def _repr_html_(self) -> None:
        """Return None, so that notebooks display the Markdown."""

    def _repr_markdown_(self) -> str:
        return self.path.read_text(encoding="utf-8").partition("\n---\n")[2]


@public
def card(out: AnyPath) -> Card:
    """Rewrite the dataset card of an output.

    README.md, its figures and croissant.json are made from the shards and build.json. Nothing else in `out` changes,
    and your notes between the marks at the end of README.md are preserved.

    For example::

        stressreel card out/clavi

    Args:
        out: The output of a build.

    Raises:
        InputError: `out` is not a finished output.
        OutputError: `out` cannot be written.
    """
    from ..builders import benchmark_of
    from ..builders.parts import card_of
    from ..core.output import reading, writable
    from ..core.output_files import note_signed
    from ..data_cards.card import write_card

    folder = Path(out)
    writable(folder)
    with reading(folder) as output:
        benchmark = benchmark_of(output)
        note_signed(folder)
        write_card(output, benchmark.declared(output.info), card_of(benchmark, output.info))
    return Card(folder / "README.md")

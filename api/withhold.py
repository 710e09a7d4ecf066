"""Withhold the answers of a split, for a leaderboard."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import InputError
from ..core.functions import public
from ..core.results import Result
from ..core.rows import AnyPath
from .files import check_outside


@dataclass(frozen=True)
class Withheld(Result):
    """Result of `withhold`, with the paths of both copies.

    Attributes:
        public: The output to publish.
        private: The output with which to score predictions.
    """

    public: Path
    private: Path
    split: str

    def __str__(self) -> str:
        return (
            f"Wrote {self.public}, without the answers of {self.split}: publish it.\n"
            f"Wrote {self.private}, with the answers: keep it and the original private.\n"
            f"  stressreel score {self.private} --predictions FILE --split {self.split}"
        )


@public
def withhold(out: AnyPath, *, to: Path | str, split: str = "test", contact: str = "") -> Withheld:
    """Write a public copy of an output without answers, and a private one for scoring.

    In the public copy, columns that reveal answers are null, tables that reveal answers are omitted, ids are replaced,
    and rows and options are shuffled. Predictions on it are scored with `stressreel score` on the private copy. Copying
    the same output again yields the same copies. Both appear together when they are complete; the same command removes
    what an interrupted run has left.

    For example::

        stressreel withhold out/clavi --to out/leaderboard

    Args:
        out: The output of a build, which is not changed.
        to: Folder for the copies, `public` and `private`; new or empty.
        split: Split whose answers are withheld.
        contact: Where to send predictions, such as an e-mail address. It appears in the card and in error messages.

    Raises:
        UsageError: There is no such output or split, answers are withheld already, or the folder is in the output.
        InputError: The benchmark cannot withhold answers, rows are missing, or the folder is not empty.
        OutputError: The folder cannot be written.
    """
    from ..builders import benchmark_of
    from ..builders.runtime.withhold import withhold as write
    from ..builders.runtime.withhold import withholding
    from ..core.export_folder import new_folder
    from ..core.output import reading

    folder = Path(to)
    with reading(Path(out)) as output:
        check_outside(folder, output.path)
        benchmark = benchmark_of(output)
        if not benchmark.defines("public"):
            raise InputError(
                f"the benchmark {benchmark.name!r} does not declare which columns may be shown without answers. Set "
                "`Benchmark.public`."
            )
        if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} is not empty. Choose a new or empty folder with --to.")
        work = withholding(output, benchmark.tables(output), benchmark.public(output.info), split, contact)
        output.complete()
        with new_folder(folder) as new:
            write(work, new)
    return Withheld(folder / "public", folder / "private", split)

"""Show several models in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..core.errors import UsageError
from ..core.functions import public
from ..core.options import Option

if TYPE_CHECKING:
    from ..evaluation.metrics.folder import SavedScores
    from ..evaluation.metrics.model_table import ModelTable


@public
def table(
    models: Mapping[str, Sequence[Path | str] | Path | str] | Sequence[Path | str],
    *,
    of: str = "headline",
    only: Sequence[str] | str = (),
    transpose: bool = False,
    figure: Path | str | None = None,
    against: Annotated[str | None, Option("", metavar="SCORE")] = None,
) -> ModelTable:
    """Show the scores of several models in one table: the mean ± the standard deviation over each model's runs.

    Scores are folders that `stressreel score` wrote, on one output. Several folders of one model are its runs; a group
    of models is averaged in the same way. A folder that is given without a model is called by its name.

    Args:
        models: One folder of scores or several for each model, by its name; or a list of folders, or of words such as
            "JustAsk=a.scores".
        of: Table of the scores to show, by its key.
        only: Label or column to keep, such as R@5 or γr; several may be given.
        transpose: Models in rows, scores in columns.
        figure: Draw the table as bars to this PNG file.
        against: With `figure`: draw the scores of each model against this one.

    Raises:
        UsageError: There is no such folder, table, label or score, or the figure may not be written there.
        InputError: The scores are damaged, or not of the same output and questions.
        OutputError: The figure cannot be written.
    """
    from ..core.files import write_atomic
    from ..data_cards.figures import against_png, models_png
    from ..evaluation.metrics.folder import read_scores
    from ..evaluation.metrics.model_table import model_table

    if against is not None and figure is None:
        raise UsageError("--against draws a picture: give --figure FILE.png.")
    runs: dict[str, list[SavedScores]] = {}
    folders: set[tuple[str, Path]] = set()
    listed = [models] if isinstance(models, str | Path) else models
    given = listed if isinstance(listed, Mapping) else models_of(listed)
    pairs = [(model, path) for model, one in given.items() for path in ([one] if isinstance(one, str | Path) else one)]
    if not pairs:
        raise UsageError("there are no scores: give at least one folder that `stressreel score` wrote.")
    for model, path in pairs:
        if (model, Path(path).resolve()) in folders:
            raise UsageError(f"{path} is given twice as a run of {model}.")
        folders.add((model, Path(path).resolve()))
        runs.setdefault(model, []).append(replace(read_scores(Path(path)), name=str(path)))
    picture = None if figure is None else Path(figure)
    if picture is not None:
        if picture.suffix.lower() != ".png":
            raise UsageError(f"{picture} must end in .png. Give another with --figure.")
        if any(picture.resolve().is_relative_to(folder) for _, folder in folders):
            raise UsageError(f"{picture} would lie in a folder of scores. Give another place with --figure.")
    found = model_table(runs, of, [only] if isinstance(only, str) else only)
    if picture is not None:
        write_atomic(picture, models_png(found) if against is None else against_png(found, against))
    return replace(found, transposed=transpose, written=() if picture is None else (f"Wrote {picture}",))


def models_of(words: Sequence[Path | str]) -> dict[str, list[Path | str]]:
    """Read folders of scores as the command line names them: MODEL=SCORES, or SCORES alone.

    Raises:
        UsageError: One has no model, or no folder.
    """
    models: dict[str, list[Path | str]] = {}
    for text in map(str, words):
        model, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            model, path = Path(text).resolve().name.removesuffix(".scores"), text
        if not model.strip() or not path:
            raise UsageError(f"{text!r} is not MODEL=SCORES, such as JustAsk=answers.scores.")
        models.setdefault(model.strip(), []).append(path)
    return models

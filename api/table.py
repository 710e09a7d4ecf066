"""Tabulate the scores of several models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ..core.errors import UsageError
from ..core.files import resolved
from ..core.functions import public
from ..core.results import Result
from ..core.rows import AnyPath, is_path

if TYPE_CHECKING:
    from ..evaluation.metrics.folder import SavedScores
    from ..evaluation.metrics.model_table import ModelTable


@public
def table(
    models: Annotated[
        Mapping[str, Sequence[AnyPath | Result] | AnyPath | Result] | Sequence[AnyPath],
        Parameter(converter=lambda kind, tokens: [token.value for token in tokens], n_tokens=-1, accepts_keys=False),
    ],
    *,
    of: str = "headline",
    only: Sequence[str] | str = (),
    transpose: bool = False,
    markdown: bool = False,
    figure: Path | str | None = None,
    against: str | None = None,
) -> ModelTable:
    """Tabulate the scores of several models, as the mean ± standard deviation over the runs of each.

    The scores are folders that `stressreel score` wrote for the same output. Several folders with the same model name
    are averaged, as runs of one model or as models of one group. A folder without a model name is listed under its own
    name.

    For example::

        stressreel table JustAsk=j1.scores JustAsk=j2.scores FrozenBiLM=f1.scores
        stressreel table a.scores b.scores --of families --only R@5 --transpose

    Args:
        models: One or more score folders by model name. A list of folders, or of strings such as "JustAsk=a.scores",
            can also be given. In a mapping, `Scores` can be passed instead of folders.
        of: Key of the score table to show.
        only: Label or column to keep, such as R@5 or γr; may be repeated.
        transpose: Show models in rows and scores in columns.
        markdown: Print the table in Markdown.
        figure: PNG file to write with a bar chart of the table.
        against: With `figure`: plot each model's scores against this score.

    Raises:
        UsageError: A folder, table, label or score does not exist, or the figure may not be written there.
        InputError: The scores are damaged, or belong to different outputs or questions.
        OutputError: The figure cannot be written.
    """
    from ..core.files import write_atomic
    from ..data_cards.figures import against_png, models_png
    from ..evaluation.metrics.folder import saved_scores
    from ..evaluation.metrics.model_table import model_table

    if against is not None and figure is None:
        raise UsageError("--against requires --figure FILE.png.")
    runs: dict[str, list[SavedScores]] = {}
    folders: set[tuple[str, Path]] = set()
    given = models if isinstance(models, Mapping) else models_of([models] if is_path(models) else models)
    pairs = [
        (model, scores)
        for model, runs_of in given.items()
        for scores in (runs_of if isinstance(runs_of, list | tuple) else [runs_of])
    ]
    if not pairs:
        raise UsageError("no scores were given. Specify at least one folder written by `stressreel score`.")
    for model, scores in pairs:
        if is_path(scores):
            folder = (model, resolved(Path(scores)))
            if folder in folders:
                raise UsageError(f"{scores} is given twice as a run of {model}.")
            folders.add(folder)
        runs.setdefault(model, []).append(saved_scores(scores))
    picture = None if figure is None else Path(figure)
    if picture is not None:
        if picture.suffix.lower() != ".png":
            raise UsageError(f"{picture} must end in .png. Choose another file name with --figure.")
        if any(resolved(picture).is_relative_to(folder) for _, folder in folders):
            raise UsageError(f"{picture} is inside a score folder. Choose another path with --figure.")
    found = model_table(runs, of, [only] if isinstance(only, str) else only)
    if picture is not None:
        write_atomic(picture, models_png(found) if against is None else against_png(found, against))
    written = () if picture is None else (f"Wrote {picture}",)
    return replace(found, transposed=transpose, markdown=markdown, written=written)


def models_of(words: Sequence[AnyPath]) -> dict[str, list[AnyPath]]:
    """Parse texts such as "MODEL=SCORES" or "SCORES" into score folders by model.

    Raises:
        UsageError: The model or the folder is empty, or a value is not a text or path.
    """
    models: dict[str, list[AnyPath]] = {}
    if any(not is_path(word) for word in words):
        raise UsageError('pass scores that are not in folders with names of their models: {"JustAsk": scores, …}.')
    for text in map(str, words):
        model, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            model, path = resolved(Path(text)).name.removesuffix(".scores"), text
        if not model.strip() or not path:
            raise UsageError(f"{text!r} does not have the form MODEL=SCORES, such as JustAsk=answers.scores.")
        models.setdefault(model.strip(), []).append(path)
    return models

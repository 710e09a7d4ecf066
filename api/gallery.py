"""Show an output as a gallery of web pages."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from ..core.errors import UsageError
from ..core.files import check_outside, resolved
from ..core.functions import public
from ..core.results import Result
from ..core.rows import AnyPath, Rows
from ..core.settings import IN_MEMORY, ColumnNames, FirstIndex, Limit
from ..core.tabular import columns_of

if TYPE_CHECKING:
    from ..core.output import FinishedOutput
    from ..data_cards.gallery.answers import Answers
    from ..data_cards.gallery.exhibits import Gallery
    from ..data_cards.gallery.site import About


@dataclass(frozen=True)
class GalleryPages(Result):
    """Result of `gallery`.

    Attributes:
        page: The page to open.
        noun: Noun for the displayed items, such as "pair".
        shown: Number of displayed items.
        total: Number of items in the output.
        videos: Number of videos, or of their thumbnails.
        answered: Number of items that the model answered, or None if answers are not shown.
    """

    page: Path
    noun: str
    shown: int
    total: int
    videos: int
    answered: int | None = None
    notes: tuple[str, ...] = ()

    def _counts(self) -> list[str]:
        part = f" of {self.total:,}" if self.shown != self.total else ""
        wrote = f"Wrote {self.shown:,}{part} {self.noun}s with {self.videos:,} videos to {self.page.parent}."
        return [wrote, *([] if self.answered is None else [f"The model answered {self.answered:,} of them."])]

    def __str__(self) -> str:
        return "\n".join([*self._counts(), f"Open {self.page} in a browser."])

    def _repr_html_(self) -> str:
        link = f'<a href="{escape(resolved(self.page).as_uri())}" target="_blank">{escape(str(self.page))}</a>'
        return f"<p>{escape(' '.join(self._counts()))}</p><p>Open {link}.</p>"


@public
def gallery(
    out: AnyPath,
    *,
    to: Path | str,
    split: Annotated[str | None, Parameter(show_default="all")] = None,
    limit: Limit = None,
    embed: Literal["none", "thumbnails", "videos"] = "videos",
    scores: Path | str | None = None,
    predictions: Annotated[
        AnyPath | Rows | None, IN_MEMORY, Parameter(show_default="the file named by --scores")
    ] = None,
    config: Annotated[str | None, Parameter(show_default="the table that --scores refers to, or the first one")] = None,
    columns: ColumnNames = (),
    first_index: FirstIndex = 0,
    audit: Path | str | None = None,
    open: bool = False,
    force: bool = False,
    progress: bool = True,
) -> GalleryPages:
    """Show an output as a gallery of web pages.

    Open index.html in a browser, from disk or from any web server. To continue an interrupted gallery, run the same
    command again.

    For example::

        stressreel gallery out/clavi --to gallery --open
        stressreel gallery out/clavi --to mistakes --scores answers.scores

    Args:
        out: The output of a build.
        to: Folder for the pages, new or empty.
        split: Show only this split.
        limit: Show at most this many items, evenly spaced.
        embed: What to embed in the pages: nothing, thumbnails, or thumbnails and videos.
        scores: Folder written by `stressreel score`. The gallery shows its tables and the model's answers, and can
            filter by errors.
        predictions: Predictions file with answers to show beside the questions; from Python, also rows.
        config: Table to which `predictions` belong.
        columns: Columns that have other names in `predictions`, such as answer=output,id=sample.
        first_index: Index of the first option in numeric `predictions`.
        audit: audit.json written by `stressreel audit`, or its folder. The gallery shows the options that blind
            baselines choose.
        open: Open the gallery in the browser.
        force: Overwrite an earlier gallery in the folder, but keep other files.
        progress: Show progress.

    Raises:
        UsageError: The output, a file, table or split does not exist, or the folder is inside the output.
        InputError: A file cannot be read or belongs to another output, there are no items to show, or the folder
            contains other files.
        OutputError: The folder cannot be written.
    """
    import webbrowser

    from ..builders import benchmark_of
    from ..core.output import reading, refuse_withheld
    from ..data_cards.gallery.answers import read_answers
    from ..data_cards.gallery.site import PAGE, licence_notice, write_gallery
    from ..evaluation.metrics.predictions import predictions_of

    folder = Path(to)
    with reading(Path(out)) as output:
        check_outside(folder, Path(out))
        check_split(output, split)
        refuse_withheld(output)
        scored, audited = (None if path is None else Path(path) for path in (scores, audit))
        names = columns_of(tuple(columns))
        rows = None if predictions is None else predictions_of(predictions, expected=output.num_rows, columns=names)
        answers = read_answers(
            output, scores=scored, predictions=rows, config=config, first=first_index, columns=names, audit=audited
        )
        items = benchmark_of(output).gallery(output, answers)
        about, known = about_gallery(output, items, answers, embed), answers.identity
        written = write_gallery(
            output, items, about, folder, split=split, limit=limit, inputs=known, force=force, progress=progress
        )
    page = folder / PAGE
    if open:
        webbrowser.open(resolved(page).as_uri())
    notice = licence_notice(about.source, pictures=about.embed != "none")
    notes = tuple(filter(None, (notice and f"{notice} The pages state this too.", answers.remark)))
    answered = written.answered if about.answered else None
    return GalleryPages(page, items.noun, written.shown, written.total, written.films, answered, notes)


def check_split(output: FinishedOutput, split: str | None) -> None:
    """Raise UsageError if an output does not have this split."""
    if split is not None and split not in (splits := output.all_splits()):
        raise UsageError(f"{output.path} has no split {split!r}. Available splits: {', '.join(splits)}.")


def about_gallery(output: FinishedOutput, items: Gallery, answers: Answers, embed: str) -> About:
    """Describe the gallery of an output. Without videos, nothing is embedded, and its licence only concerns texts."""
    from ..builders import benchmark_of
    from ..core.output import describe_counts
    from ..core.source import source_of
    from ..data_cards.gallery.site import About

    benchmark, info = benchmark_of(output), output.info
    has_videos = any(column.kind == "video" for table in benchmark.declared(info) for column in table.columns)
    return About(
        title=benchmark.name,
        summary=f"{benchmark.summary.partition(':')[0]}: {describe_counts(info['counts'])}",
        version=info["dataset_version"],
        fingerprint=info["fingerprint"],
        source=source_of(info),
        embed=embed if has_videos else "none",
        total=items.count,
        scores=answers.scores,
        answered=answers.predictions is not None,
        canary=info.get("canary") or "",
    )

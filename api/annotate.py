"""Write web pages on which people answer the questions of an output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from ..core.files import check_outside
from ..core.functions import public
from ..core.results import Result
from ..core.rows import AnyPath
from ..core.settings import Count, within

SAFE = 2**53 - 1  # the largest integer of JavaScript


@dataclass(frozen=True)
class AnnotationPages(Result):
    """Result of `annotate`.

    Attributes:
        page: The page to open.
        config: Table of the questions, and `split` its split.
        questions: Number of questions.
        repeats: Number of questions that are asked again.
        videos: Number of videos.
    """

    page: Path
    config: str
    split: str
    questions: int
    repeats: int
    videos: int
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f"{self.config}, split {self.split}"
        return (
            f"Wrote {self.questions:,} questions of {where}, and {self.repeats:,} of them a second time, with "
            f"{self.videos:,} videos to {self.page.parent}.\nSend the folder to each person, who opens "
            f"{self.page.name} in a browser and sends back the file that it saves."
        )


@public
def annotate(
    out: AnyPath,
    *,
    to: Path | str,
    items: Count = 200,
    seed: Annotated[int, within(0, SAFE)] = 1,
    condition: Literal["video+text", "video", "text"] = "video+text",
    force: bool = False,
    progress: bool = True,
) -> AnnotationPages:
    """Write web pages on which people answer the questions of an output.

    Any number of people can use the same pages, from disk or from any web server. The pages contain neither answers nor
    ids. Each person gets another order and saves one file, which `stressreel agreement` reads. The questions are drawn
    from the first table, and from split test if it exists; 5% of them, at least two, are asked twice.

    For example::

        stressreel annotate out/clavi --items 200 --to pages

    Args:
        out: The output of a build.
        to: Folder for the pages, new or empty.
        items: Number of questions. If the output has fewer, all are asked.
        seed: Seed of the draw. The same seed draws the same questions under every condition.
        condition: What people see besides the options: the video and the question, only the video, or only the question
            (text).
        force: Overwrite earlier pages in the folder, but keep other files.
        progress: Show progress.

    Raises:
        UsageError: The output does not exist, or the folder is inside it.
        InputError: The output has no videos or no questions with options, or the folder contains other files.
        OutputError: The folder cannot be written.
    """
    from ..builders import benchmark_of
    from ..core.output import reading
    from ..data_cards.annotate.pages import about_pages, write_pages
    from ..data_cards.gallery.site import PAGE, licence_notice
    from ..evaluation.people import plan

    folder = Path(to)
    with reading(Path(out)) as output:
        check_outside(folder, Path(out))
        benchmark = benchmark_of(output)
        drawn = plan(output, benchmark, items=items, seed=seed, condition=condition)
        tables = benchmark.declared(output.info)
        videos = write_pages(output, drawn, tables, folder, force=force, progress=progress)
        about = about_pages(output, drawn)
    notice = licence_notice(about.source, pictures=about.embed != "none")
    return AnnotationPages(
        folder / PAGE,
        drawn.config,
        drawn.split,
        drawn.count,
        len(drawn.items) - drawn.count,
        videos,
        (f"{notice} The pages state this too.",) * bool(notice),
    )

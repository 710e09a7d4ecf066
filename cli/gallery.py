"""`stressreel gallery`: an output as pages that a browser shows."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("gallery")
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--to", "folder", type=click.Path(path_type=Path), required=True, help="Folder: new or empty.")
@click.option(
    "--limit", type=click.IntRange(min=1), help="Show so many items, spread evenly over the output.  [default: all]"
)
@click.option(
    "--embed",
    type=click.Choice(["none", "thumbnails", "videos"]),
    default="videos",
    show_default=True,
    help="What is copied of the videos: nothing, a picture of each, or the files too.",
)
@click.option(
    "--scores",
    type=click.Path(path_type=Path),
    help="Folder that `stressreel score` wrote: show its tables, and filter by what the model got wrong.",
)
@click.option(
    "--predictions",
    type=click.Path(path_type=Path),
    help="The answers to show.  [default: those that --scores names, beside it]",
)
@click.option("--config", help="The table that --predictions answer.  [default: that of --scores, or the first]")
@click.option(
    "--first-index",
    type=click.Choice(["0", "1"]),
    default="0",
    show_default=True,
    help="Number of the first option in --predictions that are numbers.",
)
@click.option(
    "--audit",
    type=click.Path(path_type=Path),
    help="What models that see no video choose: audit.json, or its folder.",
)
@click.option("--open", "show", is_flag=True, help="Open it in the browser.")
@click.option("--force", is_flag=True, help="Write over an earlier gallery in the folder; other files stay.")
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path,
    folder: Path,
    limit: int | None,
    embed: str,
    scores: Path | None,
    predictions: Path | None,
    config: str | None,
    first_index: str,
    audit: Path | None,
    show: bool,
    force: bool,
    progress: bool,
    debug: bool,
) -> None:
    """Write OUT as pages that a browser opens from the disk, offline, or from any web server: DIR/index.html.

    Run the same command again to go on with one that was stopped.
    """
    import webbrowser

    from ..api import gallery_of
    from ..builders import benchmark_of
    from ..data_cards.gallery.site import About, licence_notice
    from ..exports.gallery import write_gallery
    from ..exports.gallery_answers import read_given
    from ..records.output import reading
    from ..records.source import source_of
    from .export import check_outside

    with reading(out) as output:
        check_outside(folder, out)
        given = read_given(
            output, scores=scores, predictions=predictions, config=config, first=int(first_index), audit=audit
        )
        benchmark = benchmark_of(output)
        source = source_of(output.info)
        if not any(column.kind == "video" for table in benchmark.configs(output.info) for column in table.columns):
            embed = "none"  # a licence then speaks of texts alone
        if notice := licence_notice(source, pictures=embed != "none"):
            click.echo(f"Note: {notice} The pages say so too.", err=True)
        if given.remark:
            click.echo(given.remark, err=True)
        found = gallery_of(benchmark, output, given.answers)
        about = About(
            title=benchmark.name,
            summary=benchmark.summary,
            version=output.info["dataset_version"],
            fingerprint=output.info["fingerprint"],
            source=source,
            embed=embed,
            total=found.count,
            scores=given.scores,
            answered=given.answers.predictions is not None,
        )
        written = write_gallery(
            output, found, about, folder, limit=limit, given=given.identity, force=force, progress=progress
        )
    page = folder / "index.html"
    part = f" of {written.total:,}" if written.shown != written.total else ""
    click.echo(f"Wrote {written.shown:,}{part} {found.noun}s with {written.films:,} videos to {folder}.")
    if about.answered:
        click.echo(f"The model answered {written.answered:,} of them.")
    click.echo(f"Open {page} in a browser.")
    if show:
        webbrowser.open(page.resolve().as_uri())

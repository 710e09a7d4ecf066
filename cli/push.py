"""`stressreel push`: an output as a data set of the Hugging Face Hub."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..records.output import FinishedOutput
    from ..records.schema import Config
    from ..sharing.contents import File
    from ..sharing.push import Pushed, Target


@click.command("push")
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("repository", metavar="ORG/NAME")
@click.option("--tag", help="Tag of the commit.  [default: v and the dataset's version, such as v1.0.0]")
@click.option("--public", is_flag=True, help="Make a new repository public, or push to one that is.")
@click.option("--dry-run", is_flag=True, help="List what would go, and verify it; nothing is sent.")
@click.option(
    "--licence-confirmed",
    metavar="WORDS",
    help="Why you may pass this on, if stressreel does not know that you may; stands in the commit's message.",
)
@click.option(
    "--decode/--no-decode",
    default=True,
    show_default=True,
    help="Decode the videos when verifying; the commit's message says so if not.",
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=lambda: os.cpu_count() or 1,
    show_default="one a core",
    help="Processes for decoding.",
)
@click.option("--progress/--no-progress", default=True, show_default=True, help="Show progress.")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def command(
    out: Path,
    repository: str,
    tag: str | None,
    public: bool,
    dry_run: bool,
    licence_confirmed: str | None,
    decode: bool,
    workers: int,
    progress: bool,
    debug: bool,
) -> int:
    """Push the output in OUT to the data set ORG/NAME on the Hugging Face Hub, in one commit.

    The token is that of `hf auth login` or HF_TOKEN. Files that are there are not sent again; run the same command
    again to go on with a push that was stopped. A new repository is private.
    """
    from ..builders import benchmark_of
    from ..records.output import reading
    from ..records.source import source_of
    from ..sharing.contents import files_of, hashed
    from ..sharing.hub import hub
    from ..sharing.licence import permission
    from ..sharing.push import Target, check_names, inspect, push

    with reading(out) as output:
        target = Target(repository, f"v{output.info['dataset_version']}" if tag is None else tag, public)
        check_names(target)
        files = files_of(output)
        configs = benchmark_of(output).configs(output.info)
        licence = permission(source_of(output.info), videos=holds_videos(output, configs), confirmed=licence_confirmed)
    if dry_run:
        say_what_goes(files, target, licence)
        return 0 if verified(output, decode, workers) else 1
    api = hub()
    found = inspect(api, target, output.info)
    ready = [hashed(file) for file in files]
    if not verified(output, decode, workers):
        return 1
    checked = "Verified before." if decode else "Verified before, without decoding the videos."
    done = push(api, target, output.info, ready, found, [f"Licence: {licence}.", checked], progress=progress)
    say_what_went(done, target, len(files))
    return 0


def holds_videos(output: FinishedOutput, configs: Sequence[Config]) -> bool:
    """Return whether an output has rows with videos."""
    counts = output.info["counts"]
    return any(
        column.kind == "video" and any(counts.get(config.name, {}).values())
        for config in configs
        for column in config.columns
    )


def verified(output: FinishedOutput, decode: bool, workers: int) -> bool:
    """Run the checks of `stressreel verify`, and say what they found; whether all passed."""
    from ..api import checks_for
    from ..records.checks import VerifyOptions
    from ..runtime.verify import run_checks
    from .verify import line

    failed, count = [], 0
    for outcome in run_checks(output, checks_for(output, VerifyOptions(decode=decode, workers=workers))):
        click.echo(line(outcome))
        count += 1
        if not outcome.passed:
            failed.append(outcome.name)
    if failed:
        click.echo(f"Error: {len(failed)} of {count} checks failed: {', '.join(failed)}. Nothing was sent.", err=True)
    return not failed


def say_what_goes(files: Sequence[File], target: Target, licence: str) -> None:
    """Print what a push would send."""
    for file in files:
        click.echo(f"{file.size:>15,}  {file.name}")
    click.echo(f"{sum(file.size for file in files):>15,}  bytes in {len(files):,} files")
    click.echo(f"to {target.name}, {'public' if target.public else 'private'} if it is new, tag {target.tag}")
    click.echo(f"licence: {licence}")


def say_what_went(done: Pushed, target: Target, count: int) -> None:
    """Print what a push did."""
    where = f"{done.url} ({'private' if done.private else 'public'}), commit {done.commit[:12]}"
    if done.made:
        click.echo(
            f"Pushed to {where}: {done.added:,} files sent, {count - done.added:,} there already, "
            f"{done.deleted:,} deleted."
        )
    else:
        click.echo(f"Nothing to push: {where} holds this output.")
    click.echo(f"All {count:,} files were read back by their hashes.")
    if target.public and done.private:
        click.echo("It stays private: it was there before. Its settings on the Hub change that.")
    if done.kept:
        click.echo(f"Files of others that stay: {', '.join(done.kept[:5])}{', …' * (len(done.kept) > 5)}.")
    earlier = f", on commit {done.tagged[:12]}, which has the same content" if done.tagged != done.commit else ""
    click.echo(f"Tag {target.tag}{earlier}.")
    click.echo(f'  load_dataset("{target.name}", revision="{target.tag}")')

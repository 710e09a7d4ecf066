"""Import optional packages, and say which extra to install if one is missing."""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from typing import Any

from .errors import InputError

EXTRAS = {  # package and extra in `pyproject.toml`, by module
    "cv2": ("opencv-python-headless", "perturb"),
    "ffmpeg": ("ffmpeg-python", "perturb"),
    "imageio_ffmpeg": ("imageio-ffmpeg", "perturb"),
    "lemminflect": ("lemminflect", "text"),
    "nltk": ("nltk", "text"),
    "spacy": ("spacy", "text"),
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


class MissingExtraError(InputError):
    """Raised when an optional package is not installed."""


def missing(*modules: str, what: str = "this", extra: str | None = None) -> MissingExtraError:
    """Return an error that names the missing modules, all of one extra, and the command that installs them."""
    packages = " and ".join(EXTRAS[module][0] for module in modules)
    return MissingExtraError(f"{what} needs {packages}, which is not installed: {command_for(modules[0], extra)}")


def command_for(module: str, extra: str | None = None) -> str:
    """Return the pip command that installs an optional module."""
    return f"pip install 'stressreel[{extra or EXTRAS[module][1]}]'"


def import_extra(name: str, package: str | None = None, *, what: str = "this", extra: str | None = None) -> Any:
    """Import an optional module, or a stressreel module that imports one. The name may be relative to `package`.

    The error names the feature that requires the module (`what`), and the extra to install, which is the one listed in
    `EXTRAS` unless `extra` is given.

    Raises:
        MissingExtraError: A module listed in `EXTRAS` is not installed.
    """
    try:
        if _own_process and name.split(".")[0] in ("nltk", "textblob") and "nltk" not in sys.modules:
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
    return missing(module, what=what, extra=extra) if module in EXTRAS else error

"""stressreel: diagnostic benchmarks for video-language models from annotated video collections."""

from __future__ import annotations

from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .builders.perturbed.load import load as load
    from .corruptions.registry import list_corruptions as list_corruptions
    from .corruptions.text.engine import corrupt_text as corrupt_text
    from .corruptions.visual.engine import corrupt as corrupt

__version__ = _version("stressreel")
__all__ = ["__version__", "corrupt", "corrupt_text", "list_corruptions", "load"]

_HOMES = {
    "corrupt": "corruptions.visual.engine",
    "corrupt_text": "corruptions.text.engine",
    "list_corruptions": "corruptions.registry",
    "load": "builders.perturbed",
}


def __getattr__(name: str) -> Any:
    """Import a public function when it is first used, so that the commands start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)

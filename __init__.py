"""stressreel: diagnostic benchmarks for video-language models from annotated video collections.

import stressreel

out = stressreel.build("clavi", charades="sample", out="out/clavi")
all(outcome.passed for outcome in stressreel.verify(out.path))
stressreel.score(out.path, "answers.jsonl").headline["accuracy"].value
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__ as __version__

if TYPE_CHECKING:
    from .api import Output as Output
    from .api import build as build
    from .api import data_files as data_files
    from .api import diff as diff
    from .api import read as read
    from .api import score as score
    from .api import verify as verify
    from .builders.perturbed.load import load as load
    from .corruptions.registry import list_corruptions as list_corruptions
    from .corruptions.text.engine import corrupt_text as corrupt_text
    from .corruptions.visual.engine import corrupt as corrupt

_HOMES = {
    "Output": "api",
    "build": "api",
    "data_files": "api",
    "diff": "api",
    "corrupt": "corruptions.visual.engine",
    "corrupt_text": "corruptions.text.engine",
    "list_corruptions": "corruptions.registry",
    "load": "builders.perturbed.load",
    "read": "api",
    "score": "api",
    "verify": "api",
}
__all__ = [
    "Output",
    "__version__",
    "build",
    "corrupt",
    "corrupt_text",
    "data_files",
    "diff",
    "list_corruptions",
    "load",
    "read",
    "score",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Import a public function when it is first used, so that the commands start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    """List what is public, also what has not been imported yet."""
    return sorted(__all__)

"""stressreel: diagnostic benchmarks for video-language models from annotated video collections.

import stressreel

out = stressreel.build_clavi(charades="sample", out="out/clavi")
stressreel.verify(out).passed
stressreel.score(out, [{"id": "06cacb3e_1_00", "answer": "yes"}, …]).headline["accuracy"].value
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core.version import __version__ as __version__

if TYPE_CHECKING:
    from .api.public import *  # noqa: F403

IMPORT = re.compile(r"^from (\S+) import (\w+) as \2$", re.MULTILINE)
_HOMES = {
    name: module
    for module, name in IMPORT.findall(Path(__file__).with_name("api").joinpath("public.pyi").read_text("utf-8"))
}
"""The module of every public name, from `api`."""

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """Import public names on first use, so that commands start fast."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name], f"{__name__}.api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)

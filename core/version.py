"""Determine the versions of stressreel and of other software that affects the bytes of a build."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__version__ = version("stressreel")

ENGINE = "engine"
LIBRARIES = ("libavcodec", "libavformat", "libswscale", "libswresample")


def tool_versions(*, render: bool, packages: Sequence[str] = ()) -> dict[str, str]:
    """Return the versions of software that affects the content of a build, including the distributions in `packages`.

    With `render`, these include PyAV and FFmpeg's libraries, which encode videos.
    """
    versions = {"stressreel": __version__, **{name: version(name) for name in packages}}
    if render:
        import av

        versions["av"] = version("av")
        versions |= {
            name: ".".join(map(str, number)) for name, number in av.library_versions.items() if name in LIBRARIES
        }
    return versions


def engine() -> str:
    """Describe the libraries and SIMD extensions that affect floating-point rounding.

    With another processor or library, cosine similarities may differ by 1e-7, and so may choices based on them.
    """
    import numpy as np

    config: Any = np.show_config(mode="dicts")
    simd = " ".join(config.get("SIMD Extensions", {}).get("found", [])) or "no SIMD"
    packages = [f"{name} {number}" for name in ("numpy", "torch") if (number := version_here(name))]
    return ", ".join([*packages, simd])


def version_here(name: str) -> str | None:
    """Return the installed version of a tool, or None if it is not installed."""
    if name == "stressreel":
        return __version__
    try:
        return tool_versions(render=True).get(name) if name in LIBRARIES else version(name)
    except (ImportError, PackageNotFoundError, ValueError):
        return None

"""The version of stressreel, and those of whatever else decides the bytes of a build."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

__version__ = version("stressreel")

ENGINE = "engine"
LIBRARIES = ("libavcodec", "libavformat", "libswscale", "libswresample")


def tool_versions(*, render: bool, packages: Sequence[str] = ()) -> dict[str, str]:
    """Name the versions that decide a build's content.

    Args:
        render: Whether videos are made; then PyAV and FFmpeg's libraries count.
        packages: Other distributions that count.
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
    """Name what decides the last bits of floating point: libraries, and the instructions that numpy finds to use.

    Another processor or library moves a cosine by 1e-7, and what is chosen by cosines with it.
    """
    import numpy as np

    found: Any = np.show_config(mode="dicts")
    simd = " ".join(found.get("SIMD Extensions", {}).get("found", [])) or "no SIMD"
    packages = [f"{name} {number}" for name in ("numpy", "torch") if (number := version_here(name))]
    return ", ".join([*packages, simd])


def version_here(name: str) -> str | None:
    """Return the version that is installed here of something `tool_versions` names; None if there is none."""
    if name == "stressreel":
        return __version__
    try:
        return tool_versions(render=True).get(name) if name in LIBRARIES else version(name)
    except (ImportError, PackageNotFoundError, ValueError):
        return None

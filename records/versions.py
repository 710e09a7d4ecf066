"""Versions of whatever decides the bytes of a build."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from ..version import __version__

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


def version_here(name: str) -> str | None:
    """Return the version that is installed here of something `tool_versions` names; None if there is none."""
    if name == "stressreel":
        return __version__
    try:
        return tool_versions(render=True).get(name) if name in LIBRARIES else version(name)
    except (ImportError, PackageNotFoundError, ValueError):
        return None

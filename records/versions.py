"""Versions of whatever decides the bytes of a build."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

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

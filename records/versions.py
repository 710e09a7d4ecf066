"""Versions of whatever decides the bytes of a build."""

from __future__ import annotations

from importlib.metadata import version

from .. import __version__

LIBRARIES = ("libavcodec", "libavformat", "libswscale", "libswresample")


def tool_versions(*, render: bool) -> dict[str, str]:
    """Name the versions that decide a build's content; without rendering, stressreel alone does."""
    versions = {"stressreel": __version__}
    if render:
        import av

        versions["av"] = version("av")
        versions |= {
            name: ".".join(map(str, number)) for name, number in av.library_versions.items() if name in LIBRARIES
        }
    return versions

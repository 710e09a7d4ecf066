from __future__ import annotations

from importlib.metadata import version

import av
from stressreel.core.version import LIBRARIES, tool_versions, version_here


def test_rendering_depends_on_the_coder_and_its_libraries() -> None:
    versions = tool_versions(render=True)
    assert list(versions) == ["stressreel", "av", *(name for name in av.library_versions if name in LIBRARIES)]
    assert len(versions) == 2 + len(LIBRARIES)
    assert versions["av"] == version("av")
    assert versions["libavcodec"] == ".".join(str(number) for number in av.library_versions["libavcodec"])


def test_a_version_is_found_again_by_its_name() -> None:
    versions = tool_versions(render=True, packages=("numpy",))
    assert {name: version_here(name) for name in versions} == versions
    assert version_here("a tagger") is None
    assert version_here("") is None

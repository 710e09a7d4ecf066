from __future__ import annotations

from stressreel.core.version import tool_versions, version_here


def test_a_version_is_found_again_by_its_name() -> None:
    versions = tool_versions(render=True, packages=("numpy",))
    assert {name: version_here(name) for name in versions} == versions
    assert version_here("a tagger") is None
    assert version_here("") is None

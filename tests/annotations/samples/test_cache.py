import shutil
from pathlib import Path

import pytest
from stressreel.annotations.samples import cache
from stressreel.core.errors import OutputError


def test_a_sample_is_drawn_once_and_anew_when_what_draws_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = cache.cached_sample("causal-annotations")
    assert folder.parent == tmp_path / "stressreel"
    marked = folder / "mark"
    marked.touch()
    assert cache.cached_sample("causal-annotations") == folder
    assert marked.exists()
    package = tmp_path / "samples"
    shutil.copytree(Path(cache.__file__).parent, package)
    monkeypatch.setattr(cache, "__file__", str(package / "cache.py"))
    assert cache.cached_sample("causal-annotations") == folder
    (package / "causal.yaml").write_text("other: true\n")
    assert cache.cached_sample("causal-annotations") != folder


def test_a_cache_that_cannot_be_written_is_to_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stressreel").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(OutputError, match=r"cannot write .*Set XDG_CACHE_HOME to a writable folder\.$"):
        cache.cached_sample("causal-annotations")

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nltk.downloader
import pytest
from commands import run_process, succeed
from stressreel.api.data import WORDNET, fetch
from stressreel.core.errors import InputError


def answer(error: str = "") -> Any:
    """What NLTK's downloader does: writes WordNet's zip, or gives an error."""

    def incr_download(self: Any, name: str, folder: str) -> Iterator[Any]:
        if error:
            yield nltk.downloader.ErrorMessage(None, error)
            return
        path = Path(folder) / f"{WORDNET}.zip"
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name}/README", "text")
        yield nltk.downloader.SelectDownloadDirMessage(folder)

    return incr_download


def test_unknown_nltk_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.downloader.Downloader, "incr_download", answer())
    done = succeed("stressreel", "data", "download", "--to", tmp_path / "data")
    assert done.out.endswith(f"set NLTK_DATA={tmp_path / 'data'}\n")


def test_offline_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nltk.downloader.Downloader, "incr_download", answer(error="no\n   network."))
    with pytest.raises(InputError) as caught:
        fetch(tmp_path)
    assert f"WordNet cannot be downloaded into {tmp_path}: no network. Without a network" in str(caught.value)


def test_show_lists_found_and_missing_data(environment: dict[str, str], tmp_path: Path) -> None:
    bare = {**environment, "NLTK_DATA": str(tmp_path / "none"), "HOME": str(tmp_path / "home")}
    done = run_process("stressreel", "data", "show", env=bare)
    assert done.code == 0, done.err
    lines = dict(line.split("  ", 1) for line in done.out.splitlines())
    assert lines["parser"].strip().startswith("spacy")
    assert str(tmp_path / "none") in lines["NLTK looks in"]
    assert set(lines) >= {"WordNet", "sentence encoder", "NLTK looks in", "for --mlm, --translate"}

from pathlib import Path
from unicodedata import normalize

import pytest
from stressreel.core.errors import InputError
from stressreel.video.source_files import VIDEO_SUFFIXES, find_videos, searched


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


@pytest.mark.parametrize("suffix", [*VIDEO_SUFFIXES, ".MP4", ".Mts"])
def test_every_video_suffix_is_found_by_stem(suffix: str, tmp_path: Path) -> None:
    touch(tmp_path, f"A{suffix}", "A.txt", "A.mp4.part", "A.jpg", "a.mp4")
    assert find_videos([tmp_path], ["A"]) == {"A": tmp_path / f"A{suffix}"}


@pytest.mark.parametrize(
    ("files", "name", "file"),
    [
        (["X.mp4", "X.MOV"], "X.MOV", "X.MOV"),
        (["X.mp4", "X.mov"], "X.MOV", "X.mov"),
        (["X.vob", "X.mp4"], "X.vob", "X.vob"),
        (["clip.v2.mp4", "clip.v1.mp4", "clip.mp4"], "clip.v2", "clip.v2.mp4"),
        (["a.mov.mp4"], "a.mov", "a.mov.mp4"),
        (["a.mov.mp4", "a.mov"], "a.mov", "a.mov"),
        (["one/X.mov.mp4", "two/X.mov"], "X.mov", "two/X.mov"),
        (["one/X.mp4", "two/X.mp4"], "X", "one/X.mp4"),
        ([normalize("NFD", "Café.mp4")], normalize("NFC", "Café"), normalize("NFD", "Café.mp4")),
        ([normalize("NFC", "Café.mp4")], normalize("NFD", "Café.mp4"), normalize("NFC", "Café.mp4")),
    ],
)
def test_full_name_means_that_file(files: list[str], name: str, file: str, tmp_path: Path) -> None:
    touch(tmp_path, *files)
    assert find_videos([tmp_path], {"id": name}, (".", "one", "two")) == {"id": tmp_path / file}


@pytest.mark.parametrize(
    ("files", "name"),
    [
        (["X.mp4", "X.MOV"], "X"),
        (["X.mp4", "X.MP4"], "X"),
        (["X", "X.mp4"], "X"),
        (["one/X.mp4", "two/X.ts"], "X"),
        (["X.mOv", "X.mov"], "X.MOV"),
        ([normalize("NFC", "Café.mp4"), normalize("NFD", "Café.mp4")], "Café.mp4"),
    ],
)
def test_ambiguous_names_are_refused(files: list[str], name: str, tmp_path: Path) -> None:
    touch(tmp_path, *files)
    with pytest.raises(InputError) as caught:
        find_videos([tmp_path], [name], (".", "one", "two"))
    assert all(str(tmp_path / file) in str(caught.value) for file in files)


def test_similar_names_are_mentioned(tmp_path: Path) -> None:
    touch(tmp_path, "X.mp4", "img_1.MP4")
    names = {"X": "X.MOV", "IMG_1": "IMG_1", "Y": "Y"}
    assert find_videos([tmp_path], names) == {}
    lines = searched([tmp_path], names=names)
    assert lines[0] == f"searched: {tmp_path} (2 video files such as X.mp4)"
    assert "no IMG_1, but there is img_1.MP4" in lines[1]
    assert "no X.MOV, but there is X.mp4" in lines[2]
    assert len(lines) == 3

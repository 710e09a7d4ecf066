from unicodedata import normalize

import pytest
from stressreel.core.errors import InputError
from stressreel.video.source_files import VIDEO_SUFFIXES, find_videos, searched

COMPOSED, DECOMPOSED = (normalize(form, "Café.mp4") for form in ("NFC", "NFD"))


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


@pytest.mark.parametrize(
    ("files", "name", "found"),
    [
        *((f"A{suffix} A.txt A.mp4.part A.jpg a.mp4", "A", f"A{suffix}") for suffix in (*VIDEO_SUFFIXES, ".MP4")),
        ("X.mp4 X.MOV", "X.MOV", "X.MOV"),
        ("X.mp4 X.mov", "X.MOV", "X.mov"),
        ("clip.v2.mp4 clip.v1.mp4 clip.mp4", "clip.v2", "clip.v2.mp4"),
        ("a.mov.mp4", "a.mov", "a.mov.mp4"),
        ("one/X.mov.mp4 two/X.mov", "X.mov", "two/X.mov"),
        ("one/X.mp4 two/X.mp4", "X", "one/X.mp4"),
        (DECOMPOSED, COMPOSED.removesuffix(".mp4"), DECOMPOSED),
        (COMPOSED, DECOMPOSED, COMPOSED),
        ("X.mp4 X.MOV", "X", None),  # ambiguous, as are all that follow
        ("X X.mp4", "X", None),
        ("one/X.mp4 two/X.ts", "X", None),
        ("X.mOv X.mov", "X.MOV", None),
        (f"{COMPOSED} {DECOMPOSED}", "Café.mp4", None),
    ],
)
def test_a_name_means_one_file(files, name, found, tmp_path):
    touch(tmp_path, *files.split())
    folders = ".", "one", "two"
    if found:
        assert find_videos([tmp_path], {"id": name}, folders) == {"id": tmp_path / found}
        return
    with pytest.raises(InputError) as caught:
        find_videos([tmp_path], [name], folders)
    assert all(str(tmp_path / file) in str(caught.value) for file in files.split())


def test_similar_names_are_mentioned(tmp_path):
    touch(tmp_path, "X.mp4", "img_1.MP4")
    names = {"X": "X.MOV", "IMG_1": "IMG_1", "Y": "Y"}
    assert find_videos([tmp_path], names) == {}
    first, *lines = searched([tmp_path], names=names)
    assert f"{tmp_path} (2 video files such as X.mp4)" in first
    expected = ("no IMG_1, but there is img_1.MP4", "no X.MOV, but there is X.mp4")
    assert all(part in line for part, line in zip(expected, lines, strict=True))

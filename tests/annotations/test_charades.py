from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import pytest
from stressreel.annotations.charades import CHARADES, COLUMNS, class_files, read_charades
from stressreel.core.errors import InputError
from stressreel.templates import load_classes
from stressreel.video import source_files as files
from stressreel.video.source_files import VIDEO_SUFFIXES

find_videos = partial(files.find_videos, subfolders=CHARADES.video_folders)

HEADER = ",".join(COLUMNS)


def row(name: str = "46GP8", actions: str = "c092 11.90 21.20;c147 0.00 12.60", length: str = "24.83") -> str:
    return f"{name},HR43,Kitchen,6,7,Yes,A script.,food;stove,A description.,{actions},{length}"


def write(folder: Path, *rows: str, split: str = "train", header: str = HEADER) -> Path:
    path = folder / f"Charades_v1_{split}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8", newline="")
    return path


def refusal(folder: Path) -> list[str]:
    """The lines of the one error that reading a folder ends with."""
    with pytest.raises(InputError) as caught:
        read_charades(folder)
    return [line.strip() for line in str(caught.value).split("\n")]


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def test_mp4_wins_over_other_suffixes_in_the_same_folder(tmp_path: Path) -> None:
    assert VIDEO_SUFFIXES[0] == ".mp4"
    touch(*(tmp_path / f"A{suffix}" for suffix in (*VIDEO_SUFFIXES, ".txt", ".mp4.part", ".jpg")))
    for suffix in VIDEO_SUFFIXES:
        assert find_videos([tmp_path], ["A"]) == {"A": tmp_path / f"A{suffix}"}
        (tmp_path / f"A{suffix}").unlink()
    assert find_videos([tmp_path], ["A"]) == {}


@pytest.mark.parametrize("number", range(4))
def test_class_files_must_say_what_the_phrases_were_written_for(tmp_path: Path, number: int) -> None:
    write(tmp_path, row())
    for name, lines in class_files(load_classes()).items():
        (tmp_path / name).write_bytes("".join(f"{line} \r\n\n" for line in lines).encode())
    hashes = read_charades(tmp_path).hashes
    assert hashes == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.iterdir()}
    name = list(class_files(load_classes()))[number]
    (tmp_path / name).write_text((tmp_path / name).read_text() + "c157 Flying\n")
    assert f"{name}, line" in refusal(tmp_path)[1]
    assert "expected a line of Charades v1, got 'c157 Flying'" in refusal(tmp_path)[1]

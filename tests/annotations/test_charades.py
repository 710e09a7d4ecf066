from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import pytest
from stressreel.annotations.actions import AnnotatedVideo, Annotations
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


def only(annotations: Annotations) -> AnnotatedVideo:
    (video,) = annotations.videos
    return video


def spans(video: AnnotatedVideo) -> list[tuple[str, float, float]]:
    return [(s.action.key, s.start_s, s.end_s) for s in video.segments]


# What a row says


def test_a_row_becomes_a_video(tmp_path: Path) -> None:
    path = write(tmp_path, row())
    annotations = read_charades(tmp_path)
    video = only(annotations)
    assert (video.id, video.split, video.subject, video.length_s) == ("46GP8", "train", "HR43", 24.83)
    assert spans(video) == [("c092", 11.9, 21.2), ("c147", 0, 12.6)]
    assert [s.action.label for s in video.segments] == [
        "Watching/Looking outside of a window",
        "Someone is cooking something",
    ]
    assert video.verbs == {"watch", "cook"}
    assert video.objects == {"window", "food"}
    assert video.columns == dict(zip(COLUMNS, row().split(","), strict=True))
    assert annotations.hashes == {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}


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

import json
from pathlib import Path
from typing import Any

import pytest
from stressreel.annotations.youcook2 import TRAINVAL
from stressreel.annotations.youcook2 import read_steps, video_folders
from stressreel.core.errors import InputError


def write(folder: Path, **videos: list[tuple[float, float, str]]) -> Path:
    database: dict[str, Any] = {
        name: {
            "duration": 60,
            "subset": "training" if name == "a" else "validation",
            "recipe_type": "7",
            "annotations": [
                {"segment": [start, end], "id": number, "sentence": sentence}
                for number, (start, end, sentence) in enumerate(steps)
            ],
        }
        for name, steps in videos.items()
    }
    path = folder / TRAINVAL
    path.write_text(json.dumps({"database": database}), encoding="utf-8")
    return path


def test_steps_become_gerunds(tmp_path: Path) -> None:
    path = write(
        tmp_path, a=[(1, 5, "grate the carrot"), (6, 70, "stir"), (8, 9, "pour milk on it")], b=[(2, 3, "bake")]
    )
    read = read_steps(path)
    assert read == read_steps(tmp_path)
    first, second = read.videos
    assert [(s.action.phrase, s.action.asked, s.start_s, s.end_s) for s in first.segments] == [
        ("grating the carrot", "", 1, 5),
        ("stirring", "", 6, 60),
    ]
    assert (first.split, second.split, first.length_s) == ("train", "validation", 60)
    assert first.objects >= {"carrot", "milk"}
    assert read.counts["phrases_left_out_pronoun"] == 1
    assert [video.id for video in read_steps(path, ("validation",)).videos] == ["b"]
    assert video_folders(read)[:2] == ("raw_videos/training/7", "raw_videos/validation/7")


def test_a_split_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds nothing of the split validation"):
        read_steps(write(tmp_path, a=[(1, 5, "stir")]))


@pytest.mark.shared
def test_the_validation_of_the_release(shared: Path) -> None:
    read = read_steps(shared / "data/youcook2", ("validation",))
    assert read.counts["phrases"] == 3492
    assert len(read.videos) == 457
    assert sum(len(video.segments) for video in read.videos) >= 3000


@pytest.mark.full
@pytest.mark.shared
def test_the_release(shared: Path) -> None:
    read = read_steps(shared / "data/youcook2")
    assert read.counts["phrases"] == 13829
    assert len(read.videos) == 1790
    assert sum(len(video.segments) for video in read.videos) >= 12000
    assert [sum(v.split == split for v in read.videos) for split in ("train", "validation")] == [1333, 457]

from fractions import Fraction
from pathlib import Path

import pytest
from stressreel.annotations.causalchaos_events import read_events
from stressreel.core.errors import InputError

HEADER = "QID,Filename,Start Frame,End Frame,Question,Answer,Explanation"
ROWS = [
    "1,S01E01,100,200,Why was Pip running?,Pip saw Bramble.,Then Pip had to hide.",
    "2,S01E01,250,300,why did bramble grab a kite,So Bramble could fly.,Later Pip was sad and Bramble had a kite.",
    "3,S01E02,30,60,Why was Pip happy?,There Pip had a cake.,So Bramble was angry.",
    "4,S01E02,60,90,Why did Pip bow?,And Bramble was there.,So Pip was polite.",
]


def write(folder: Path, *rows: str) -> Path:
    path = folder / "Annotations.csv"
    path.write_text("\n".join([HEADER, *rows, ""]), encoding="utf-8")
    return path


def test_questions_become_events_in_seconds(tmp_path: Path) -> None:
    path = write(tmp_path, *ROWS)
    read = read_events(path, rate_of={"S01E02": Fraction(30)}, length_of={"S01E02": 2.5})
    first, second = read.videos
    assert [(s.action.phrase, s.action.asked, s.start_s, s.end_s) for s in first.segments] == [
        ("Pip was running", "Was Pip running", 4, 8),
        ("Bramble grabbed a kite", "Did Bramble grab a kite", 10, 12),
    ]
    assert (first.length_s, second.length_s) == (12, 2.5)
    assert [(s.action.key, s.action.label, s.start_s, s.end_s) for s in second.segments] == [
        ("Pip bowed", "Why did Pip bow?", 2, 2.5)
    ]
    assert first.verbs == {"run", "grab"}
    assert first.objects == {"kite"}
    assert read.counts["phrases_left_out_state"] == 1
    assert read.counts["episodes_without_a_frame_rate"] == 1
    assert set(read.hashes) == {"Annotations.csv"}
    assert {video.split for video in read.videos} <= {"train", "validation", "test"}


def test_no_event_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"at least one phrase .*left_out_state 1"):
        read_events(write(tmp_path, "1,S01E01,1,9,Why was there a fire?,Pip ran.,So Pip fell."))


@pytest.mark.shared
def test_the_release(shared: Path) -> None:
    read = read_events(shared / "data/causalchaos/Annotations.csv")
    assert len(read.videos) == 161
    assert read.counts["phrases"] == 4945
    assert sum(len(video.segments) for video in read.videos) >= 4400
    assert [sum(v.split == split for v in read.videos) for split in ("train", "validation", "test")] == [113, 24, 24]

from fractions import Fraction

import pytest
from stressreel.annotations.segments import read_segments
from stressreel.core.errors import InputError, UsageError

SHARES = (0.6, 0.2, 0.2)
HEADER = "video,start,end,phrase"


def spans(path, **options):
    videos = read_segments(path, **options).videos
    return [(segment.action.phrase, segment.start_s, segment.end_s) for video in videos for segment in video.segments]


def splits(path, **options):
    return {video.id: video.split for video in read_segments(path, **options).videos}


def test_rate_is_for_frame_numbers(write):
    with pytest.raises(UsageError, match=r"own\.csv gives all times in seconds"):
        read_segments(write("own.csv", HEADER, "a,1,3,wave"), rate=Fraction(25))
    mixed = write("own.csv", "video,start,end,start_frame,end_frame,phrase", "a,1,3,,,wave", "a,,,100,150,jump")
    assert spans(mixed, rate=Fraction(25)) == [("waving", 1, 3), ("jumping", 4, 6)]
    with pytest.raises(InputError, match=r"line 3, column fps: .* got ''"):
        read_segments(mixed)
    rows = "a,25,75,25,wave", "b,30000,60000,29.97,jump", "c,48,96,24000/1001,clap"
    stated = write("own.csv", "video,start_frame,end_frame,fps,phrase", *rows)
    assert spans(stated) == [("waving", 1, 3), ("jumping", 1001, 2002), ("clapping", 2.002, 4.004)]
    with pytest.raises(UsageError, match="--fps has no effect"):
        read_segments(stated, rate=Fraction(25))


def test_shares_fill_every_split_in_any_order(write):
    rows = [f"{name},1,3,wave" for name in "abcdefgh"]
    drawn = splits(write("own.csv", HEADER, *rows), shares=SHARES, seed=5)
    assert set(drawn.values()) == {"train", "validation", "test"}
    path = write("own.csv", HEADER, *reversed(rows))
    assert splits(path, shares=SHARES, seed=5) == drawn
    assert any(splits(path, shares=SHARES, seed=seed) != drawn for seed in range(5))
    named = write("own.csv", f"{HEADER},split", "a,1,3,wave,train", "b,1,3,wave,val", "c,1,3,bow,test")
    assert splits(named) == {"a": "train", "b": "validation", "c": "test"}
    with pytest.raises(UsageError, match=r"own\.csv .*--split-shares has no effect"):
        read_segments(named, shares=SHARES)
    with pytest.raises(UsageError, match=r"--split-shares 0\.6,0\.2,0\.2 .*own\.csv has 2"):
        read_segments(write("own.csv", HEADER, *rows[:2]), shares=SHARES)

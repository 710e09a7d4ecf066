from stressreel.annotations.msrvtt import read_msrvtt
from stressreel.annotations.samples.cache import cached_sample
from stressreel.annotations.samples.msrvtt import sample_clips
from stressreel.video.source_files import find_videos

CLIPS = sample_clips()


def test_the_sample_is_written_in_the_layout_of_msrvtt() -> None:
    folder = cached_sample("msrvtt")
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*.*")} == {
        "MSRVTT_JSFUSION_test.csv",
        "README.txt",
        *(f"videos/all/{clip.id}.mp4" for clip in CLIPS),
    }
    assert "CC0" in (folder / "README.txt").read_text(encoding="utf-8")
    read = read_msrvtt(folder)
    found = find_videos([folder], [clip.source_id for clip in read.clips], read.subfolders)
    assert set(found) == {clip.id for clip in CLIPS}

import pytest
from stressreel.annotations.charades_graphs import MERGED
from stressreel.annotations.samples.charades import SampleVideo, sample_videos
from stressreel.builders.decomp.drawn_graphs import drawn_graph
from stressreel.templates.agqa import load_agqa

VIDEOS = sample_videos()


@pytest.mark.parametrize("video", VIDEOS, ids=lambda video: video.id)
def test_actions_are_the_cues(video: SampleVideo) -> None:
    words = load_agqa().by_class
    expected = [
        (words[key].phrase, cue.start, cue.end)
        for cue in video.actions
        if (key := MERGED.get(cue.action, cue.action)) in words
    ]
    assert [(span.phrase, span.start, span.end) for span in drawn_graph(video).actions] == expected
    assert drawn_graph(video).provenance == "drawn"

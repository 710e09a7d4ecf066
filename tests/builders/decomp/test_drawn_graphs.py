import pytest
from stressreel.annotations.samples.charades import SampleVideo, sample_videos
from stressreel.builders.decomp.prepare import drawn_graph
from stressreel.templates.agqa import load_agqa

VIDEOS = sample_videos()


@pytest.mark.parametrize("video", VIDEOS, ids=lambda video: video.id)
def test_actions_are_the_cues(video: SampleVideo) -> None:
    shown = {cue.action for cue in video.actions}
    events = [(load_agqa().event(cue.action, shown), cue) for cue in video.actions]
    expected = [(event.phrase, cue.start, cue.end) for event, cue in events if event]
    assert len(expected) == len(video.actions)
    assert [(span.phrase, span.start, span.end) for span in drawn_graph(video).actions] == expected
    assert drawn_graph(video).provenance == "drawn"

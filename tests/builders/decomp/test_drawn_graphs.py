"""What the drawn graphs say must be what the drawing does."""

from __future__ import annotations

import numpy as np
import pytest
from stressreel.annotations.charades_graphs import MERGED
from stressreel.annotations.samples import acting
from stressreel.annotations.samples.acting import ACTS, picture_at
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


@pytest.mark.parametrize(
    "video",
    [pytest.param(video, marks=[] if number < 2 else pytest.mark.full) for number, video in enumerate(VIDEOS)],
    ids=lambda video: video.id,
)
def test_what_is_held_is_drawn_by_the_hand(video: SampleVideo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the performance's `hold` the picture is another one exactly while something is held or flies."""
    graph = drawn_graph(video)
    bare = {key: act._replace(hold=acting._nothing) for key, act in ACTS.items()}
    for number, time in enumerate(graph.times):
        real = picture_at(video.stage, time)
        with monkeypatch.context() as patch:
            patch.setattr(acting, "ACTS", bare)
            empty = picture_at(video.stage, time)
        held = any(bits >> number & 1 for bits in graph.relations.get("holding", {}).values())
        cue = next((cue for cue in video.actions if cue.start <= time < cue.end), None)
        share = (time - cue.start) / (cue.end - cue.start) if cue else 0
        if cue and cue.action == "c080" and share >= acting.LET_GO["pillow"]:
            assert not held
        else:
            assert held == (not np.array_equal(real, empty)), time
